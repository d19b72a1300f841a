import { expect, test } from 'vitest'
import { outcomes } from '../../src/cli/exit.ts'
import { createProgram } from '../../src/cli/program.ts'
import { createServiceProgram, startsService } from '../../src/cli/service-program.ts'
import { filesBelow, readText } from '../lint/syntax.ts'

test.each<[line: string, startsIt: boolean]>([
  ['serve', true],
  ['--json', true],
  ['--storage memory init', true],
  ['--stroage memory', true],
  ['', false],
  ['--help', false],
  ['--version', false],
  ['init --storage memory', false],
  ['srve', false],
  ['--', false],
  ['-- init', false],
])('whether "%s" starts the service: %s', (line, startsIt) => {
  expect(startsService(line.split(' ').filter((word) => word !== ''))).toBe(startsIt)
})

test.each(['serve --help', '--storage memory init', '--stroage memory', '-x', '--json --port abc --no', 'serve more'])(
  '"%s" is answered as with all commands',
  async (line) => {
    const answer = async (create: typeof createProgram) => {
      const printed: string[] = []
      const program = create()
      for (const command of [program, ...program.commands])
        command.configureOutput({ writeOut: (text) => void printed.push(text), writeErr: (text) => void printed.push(text) })
      const error = await program.parseAsync(line.split(' '), { from: 'user' }).catch((reason: unknown) => reason)
      return [String(error), ...printed]
    }
    expect(await answer(createServiceProgram)).toEqual(await answer(createProgram))
  },
)

test('the names of errors that have an exit code are names of classes', () => {
  const named = new Set(
    filesBelow('src').flatMap((path) => [...readText(path).matchAll(/readonly name = '(\w+)'/g)].map(([, name]) => name!)),
  )
  expect(Object.keys(outcomes).filter((name) => name !== 'RangeError' && !named.has(name))).toEqual([])
})
