import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { renderCompletion } from '../../src/cli/completion.ts'
import { completeHelp, createProgram } from '../../src/cli/program.ts'
import { optionOf, settingNames, settingSource } from '../../src/config.ts'
import { operations } from '../../src/resources/table.ts'
import { runCommandLine } from '../support/process.ts'

const program = createProgram()

/** What bash offers after words; the last one is being typed. */
function complete(...words: string[]): string[] {
  const script = `${renderCompletion(program, 'bash')}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lanekeeper; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-euc', script, 'bash', 'lanekeeper', ...words], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '')
}

test('bash completes commands, operations and options', () => {
  expect(complete('wor')).toEqual(['workspace'])
  expect(complete('workspace', '')).toEqual(['create', 'list'])
  expect(complete('workspace', 'create', '--st')).toEqual(['--storage'])
  expect(complete('check', '--q')).toEqual(['--quick'])
  expect(complete('api', '')).toEqual(operations.map(({ id }) => id))
  expect(complete('api', 'columns.re')).toEqual(['columns.read', 'columns.rename', 'columns.restore'])
  expect(complete('api', 'columns.rename', '--na')).toEqual(['--name'])
  expect(complete('api', 'columns.rename', '--name', 'x', '--col')).toEqual(['--column-id'])
  expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
})

test.each(['zsh', 'fish'])('the completion of %s names every operation', (shell) => {
  const script = renderCompletion(program, shell)
  for (const { id } of operations) expect(script).toContain(`api ${id}'`)
})

test('an unknown shell is refused', () => {
  expect(() => renderCompletion(program, 'toString')).toThrow('there is no completion for "toString": it must be bash, zsh, fish')
})

test('lanekeeper without arguments starts nothing, and prints all commands, options, variables and defaults', async () => {
  const { code, stdout } = await runCommandLine([])
  expect(code).toBe(0)
  expect(stdout).toBe(`${completeHelp(program)}\n`)
  for (const text of ['LANEKEEPER_TOKEN_RATE', 'default: 1200', '--port <port>', 'env: PORT, default: 3000', 'Exit codes:'])
    expect(stdout).toContain(text)
})

test('serve --help and the help without arguments name every setting', async () => {
  const { code, stdout } = await runCommandLine(['serve', '--help'])
  expect(code).toBe(0)
  for (const name of settingNames) {
    const { flag, env } = settingSource(name)
    for (const help of [stdout, completeHelp(program)]) {
      expect(help).toContain(flag === undefined ? env : optionOf(flag))
      if (env !== undefined) expect(help).toContain(env)
    }
  }
})
