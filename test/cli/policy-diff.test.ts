import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { blockOf } from '../support/documents.ts'
import { edit, otherFiles, policyFolder, writePolicy } from '../support/other-policy.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'
import { CommandHost, main } from '../support/process.ts'

const host = new CommandHost({})
const [before, after, broken, more] = [policyFolder(), policyFolder(), policyFolder(), policyFolder()]
beforeAll(async () => {
  await writePolicy(before, shippedFiles)
  await writePolicy(after, otherFiles)
  await writePolicy(more, { ...otherFiles, scopes: { ...otherFiles.scopes, text: `${otherFiles.scopes.text}# more\n` } })
  await writePolicy(
    broken,
    edit(shippedFiles, [['permissions', '{ board.access: true, comment.author: caller }', '{ board.access: true }']]),
  )
})

const run = (...words: string[]) => host.run(['policy', ...words])

describe('policy test', () => {
  test('a policy that holds passes each check, in every format', async () => {
    const { code, stdout } = await run('test', before)
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+ checks, 0 failed\n$/) })
    const count = Number(/^\d+/.exec(stdout)![0])
    const tap = (await run('test', before, '--format', 'tap')).stdout.split('\n')
    expect(tap.slice(0, 3)).toEqual(['TAP version 14', `1..${count}`, 'ok 1 - the policy can be loaded'])
    expect(tap.filter((line) => line.startsWith('ok '))).toHaveLength(count)
    expect((await run('test', before, '--format', 'junit')).stdout).toContain(`<testsuite name="policy" tests="${count}" failures="0">`)
    expect(JSON.parse((await run('test', before, '--json')).stdout)).toMatchObject({ ok: true, checks: { length: count } })
  })

  test('a policy that does not hold fails, and each format names the cell', async () => {
    const message = '"delete Comment", row P14: the tables answer ok by P14; the decisions say 403'
    for (const [format, text] of [
      ['text', message],
      ['tap', JSON.stringify(message).slice(1, -1)],
      ['json', JSON.stringify(message).slice(1, -1)],
      ['junit', message.replaceAll('"', '&quot;')],
    ] as const) {
      const { code, stdout, stderr } = await run('test', broken, '--format', format)
      expect({ code, stderr }).toEqual({ code: 7, stderr: 'the policy does not hold: 10 failures\n' })
      expect(stdout).toContain(text)
    }
  })

  test('a policy that cannot be loaded fails in one check, with the position', async () => {
    const folder = policyFolder()
    await writePolicy(folder, edit(shippedFiles, [['scopes', 'id: S1\n', 'id: S9\n']]))
    const { code, stdout } = await run('test', folder, '--format', 'tap')
    expect({ code, stdout }).toEqual({ code: 7, stdout: expect.stringContaining('not ok 1 - the policy can be loaded') })
    expect(stdout).toMatch(/scopes\.yaml:\d+:\d+/)
  })
})

describe('a policy that a command reads', () => {
  test.each([
    ['test'],
    ['matrix'],
    ['coverage'],
    ['report'],
    ['explain', '--operation', 'account.read', '--scope', 'read', '--any', '--policies'],
  ])('is a folder, a revision of git or "shipped": %s', async (...words) => {
    const absent = { code: 2, stdout: '', stderr: '"absent" is neither a folder nor a revision of git\n' }
    expect(await run(...words, 'absent')).toMatchObject(absent)
    expect(await run(...words, fileURLToPath(import.meta.url))).toMatchObject({ code: 2, stdout: '' })
    const [named, ofFolder] = [await run(...words, 'shipped'), await run(...words, before)]
    expect(named.stdout).toBe(ofFolder.stdout)
    expect(named.stdout).not.toBe('')
  })
})

test.each([
  ['coverage', '--lcov'],
  ['report', '--out'],
])('policy %s says that its file cannot be written', async (command, option) => {
  const file = join(before, 'absent/file')
  const stderr = `${option.slice(2)}: ${file} cannot be written (ENOENT)\n`
  expect(await run(command, option, file)).toMatchObject({ code: 2, stdout: '', stderr })
})

describe('policy diff', () => {
  test('a policy that allows less is a plan without a failure', async () => {
    const { code, stdout } = await run('diff', before, after)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(`policy ${shipped.hash.slice(0, 12)} → ${load(otherFiles).hash.slice(0, 12)}`),
    })
    expect(stdout.split('\n').filter((line) => /^[-+~]/.test(line))).toEqual([
      '- DENY restore Column [X1] when token.scope is kanban:write and board.access (403 insufficient_scope; was allowed)',
      '- DENY update Label [X4] when board.caller is member or none and board.access (403 forbidden; was allowed)',
      '~ RESPONSE restore Column [X1] when token.scope is kanban:write and not board.access (403 insufficient_scope; was 404 not_found)',
    ])
    expect(stdout).toContain('example columns.restore: POST /columns/{column_id}/restore with token.scope kanban:write, ')
    expect(stdout).toContain('  rule X4 changed (conditions)\n')
    expect(stdout).toContain('widenings: 0; narrowings: 2; other responses: 1')
  })

  test('a policy that allows more fails, until it declares the widenings of the plan', async () => {
    const { code, stdout, stderr } = await run('diff', after, before)
    expect({ code, stderr }).toEqual({ code: 10, stderr: 'not declared in widenings.yaml: 2 widenings\n' })
    const declared = policyFolder()
    await writePolicy(declared, shippedFiles, stdout.slice(stdout.indexOf('version: 1')).replaceAll('# why it is wanted', 'because'))
    const again = await run('diff', after, declared)
    expect({ code: again.code, stdout: again.stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('    declared by its author: because\n'),
    })
    expect(again.stdout).toContain('widenings: 2, 0 not declared')
    // It is for that policy only.
    const { stdout: about } = await run('diff', more, declared)
    expect(about).not.toContain('author: because')
    expect(about).toContain(
      `# widenings.yaml has declarations about other policies (${load(otherFiles).hash.slice(0, 12)}). They have no effect here.\n`,
    )
  })

  test('a declaration without a reason is refused, as the plan prints it', async () => {
    const { stdout } = await run('diff', after, before)
    const undecided = policyFolder()
    await writePolicy(undecided, shippedFiles, stdout.slice(stdout.indexOf('version: 1')))
    expect(await run('diff', after, undecided)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/widenings\.yaml:6:5: "reason": must say why it is wanted/),
    })
  })

  test('the plan can be Markdown and JSON', async () => {
    const markdown = (await run('diff', after, before, '--format', 'markdown')).stdout
    expect(markdown).toContain('| `update Label` [X4] | board.caller is member or none and board.access | 403 forbidden → allowed |')
    expect(markdown).toContain('**not declared**')
    const { changes, undeclared } = JSON.parse((await run('diff', after, before, '--json')).stdout)
    expect({ undeclared, changes: changes.map(({ kind, permission }: any) => `${kind} ${permission}`) }).toEqual({
      undeclared: 2,
      changes: ['widening restore Column', 'widening update Label', 'response restore Column'],
    })
  })

  test('an argument that is neither a folder nor a revision is refused', async () => {
    for (const name of ['absent', '--version', 'absent:policies'])
      expect(await run('diff', '--', name, before)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('neither a folder nor a revision'),
      })
  })

  test('the workflow of policies/README.md compares the base branch with the work tree', async () => {
    const workflow = parse(blockOf('policies/README.md', 'on: pull_request')) as { jobs: { policy: { steps: { run?: string }[] } } }
    const commands = workflow.jobs.policy.steps.flatMap(({ run: command }) =>
      command?.startsWith('node dist/lanekeeper.js ') ? [command] : [],
    )
    expect(commands).toHaveLength(2)
    const repository = policyFolder()
    const summary = join(repository, 'summary.md')
    const environment = { PATH: process.env['PATH'], GITHUB_BASE_REF: 'main', GITHUB_STEP_SUMMARY: summary, HOME: repository }
    const shell = (command: string) => {
      try {
        execFileSync('sh', ['-c', command.replace('dist/lanekeeper.js', main)], { cwd: repository, env: environment, stdio: 'pipe' })
        return 0
      } catch (error) {
        return (error as { status: number }).status
      }
    }
    const author = 'git -c user.name=a -c user.email=a@example.org'
    await cp(after, join(repository, 'policies'), { recursive: true })
    const prepared = `git init -q -b main && git add . && ${author} commit -qm first && git update-ref refs/remotes/origin/main main`
    expect({ prepared: shell(prepared), commands: commands.map(shell) }).toEqual({ prepared: 0, commands: [0, 0] })
    await writePolicy(join(repository, 'policies'), shippedFiles)
    expect(commands.map(shell)).toEqual([0, 10])
    expect(readFileSync(summary, 'utf8')).toContain('### Allows more')
  })
})
