import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { complete } from '../../src/cli/init.ts'
import { blockOf } from '../support/documents.ts'
import { CommandHost, runCommandLine, startService, type StartedService } from '../support/process.ts'
import { newFolder } from '../support/run.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}-board.json`, import.meta.url))
const NEW = ['--workspace', 'Acme', '--owner', 'Olivia Stone', '--email', 'Olivia@Example.org']

describe('init', () => {
  const folder = newFolder()
  const env = { LANEKEEPER_STORAGE: `fs:${folder}/data` }
  const host = new CommandHost(env)

  test('without a terminal names the options that are missing, and creates nothing', async () => {
    const { code, stdout, stderr } = await runCommandLine(['init', '--owner', 'Olivia'], env)
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: 'without a terminal, init needs --workspace, --email\n' })
    expect((await host.run(['workspace', 'list'])).code).toBe(3)
  })

  test.each([
    [['--workspace', ' ', '--owner', 'O', '--email', 'o@example.org'], '--workspace: must not be blank'],
    [['--workspace', 'A', '--owner', 'O', '--email', 'o'], '--email: must be an e-mail address'],
    [[...NEW, '--storage', 'memory'], 'storage: this command cannot reach the memory of another process'],
    [[...NEW, '--url', 'ftp://x'], 'url'],
  ])('refuses the options %j', async (options, message) => {
    const { code, stderr } = await host.run(['init', ...options])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
  })

  test('prints the link and the next steps, and with --json the ids; a second run is refused', async () => {
    const storage = `fs:${folder}/other`
    const { code, stdout } = await host.run(['init', ...NEW, '--url', 'https://kanban.example', '--storage', storage])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Created the workspace Acme \(wsp_\w{20}\) and its owner Olivia Stone \(usr_\w{20}\)\.$/m)
    expect(stdout).toContain(`lanekeeper serve --storage ${storage}\n`)
    expect(stdout).toMatch(/^ {3}https:\/\/kanban\.example\/settings\/sign-up\?code=\S+$/m)
    expect(stdout).toContain('https://kanban.example/settings\n')
    const json = await host.run(['init', ...NEW, '--json'])
    expect(JSON.parse(json.stdout)).toEqual({
      workspace_id: expect.stringMatching(/^wsp_/),
      workspace: 'Acme',
      user_id: expect.stringMatching(/^usr_/),
      owner: 'Olivia Stone',
      email: 'olivia@example.org',
      sign_up_link: expect.stringContaining('http://127.0.0.1:3000/settings/sign-up?code='),
      link_expires_at: expect.any(String),
    })
    expect(await host.run(['init', ...NEW])).toMatchObject({ code: 3, stderr: expect.stringContaining('already') })
  })

  test('asks the terminal for values that no option states, again after an invalid answer, and the end of the input cancels it', async () => {
    const asked: string[] = []
    const answer =
      (...answers: string[]) =>
      async (question: string) => (asked.push(question), answers.shift())
    expect(await complete({ owner: 'Olivia' }, answer('', 'Acme', 'no address', 'o@example.org'), {})).toEqual({
      storage: 'fs:./data',
      answers: { workspace: 'Acme', owner: 'Olivia', email: 'o@example.org' },
    })
    expect(asked).toEqual(['Storage [fs:./data]: ', 'Name of the workspace: ', 'Your e-mail address: ', 'Your e-mail address: '])
    await expect(complete({ storage: 'fs:./x' }, answer('Acme'), {})).rejects.toThrow('cancelled')
  })
})

describe.each(['with a running service', 'without a service'])('import --from %s', (kind) => {
  const folder = newFolder()
  const env = { LANEKEEPER_STORAGE: `fs:${folder}/data`, LANEKEEPER_UPLOAD_BYTES: '1024' }
  const host = new CommandHost(env)
  let service: StartedService | undefined
  let ids: { workspace_id: string; user_id: string }
  beforeAll(async () => {
    if (kind === 'with a running service') service = await startService([], env)
    ids = JSON.parse((await host.run(['init', ...NEW, '--json'])).stdout)
  })
  afterAll(async () => void (await service?.stop()))
  const run = (from: string, file: string, ...args: string[]) =>
    host.run(['import', file, '--from', from, '--workspace', ids.workspace_id, '--as', ids.user_id, ...args])

  test('a board is imported, and the report names the parts that are not carried over', async () => {
    const planned = await run('trello', fixture('trello'), '--dry-run', '--json')
    const made = await run('trello', fixture('trello'), '--json')
    expect({ planned: planned.code, made: made.code }).toEqual({ planned: 0, made: 0 })
    const { board_id, ...rest } = JSON.parse(made.stdout)
    expect(board_id).toMatch(/^brd_/)
    expect(JSON.parse(planned.stdout)).toEqual({ ...rest, board_id: null, dry_run: true })
    const { stdout } = await run('planka', fixture('planka'), '--visibility', 'workspace', '--member', 'Mallory=Olivia Stone')
    expect(stdout).toMatch(/^cards +4$/m)
    expect(stdout).toMatch(/^visibility +workspace$/m)
    expect(stdout).toContain('Not carried as it is:\n')
    expect(stdout).toContain('3 comments that the file does not have\n    Weed\n    …\n')
    expect(stdout).not.toContain('Mallory')
  })

  test('a file of an attachment that is larger than the limit of the service stays a link', async () => {
    const file = join(folder, 'attachment.json')
    const attachments = [{ id: 'a1', name: 'large.bin', url: 'https://trello.com/1/cards/x/a1', isUpload: true }]
    const card = { id: 'c1', idList: 'l1', name: 'One', closed: false, attachments }
    await writeFile(file, JSON.stringify({ name: 'Files', lists: [{ id: 'l1', name: 'To do', closed: false }], cards: [card] }))
    await mkdir(join(folder, 'files'))
    await writeFile(join(folder, 'files', 'a1'), 'x'.repeat(1025))
    const { code, stdout } = await run('trello', file, '--attachments', join(folder, 'files'), '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).not_carried).toMatchObject([{ kind: 'attachments_too_large', examples: ['One: large.bin'] }])
  })

  test('the commands of the page work', async () => {
    const commands = blockOf('src/importers/README.md', 'import trello.json').trimEnd().split('\n')
    expect(commands).toHaveLength(2)
    for (const command of commands) {
      const text = command.replace('trello.json', fixture('trello')).replace('$workspace', ids.workspace_id).replace('$user', ids.user_id)
      const words = text.match(/(?:[^\s']|'[^']*')+/g)!.map((word) => word.replaceAll("'", '').replace('Robert Taylor', 'Olivia Stone'))
      expect(await host.run(words.slice(2))).toMatchObject({ code: 0, stderr: '' })
    }
  })

  test.each<[string, (run: typeof host.run) => ReturnType<typeof host.run>, number, string]>([
    ['an unknown program', () => run('jira', fixture('trello')), 2, '--from: must be one of trello, planka, csv, github'],
    ['a board without --from', (command) => command(['import', fixture('trello')]), 2, 'a board of another program needs --from'],
    ['no workspace', (command) => command(['import', '--from', 'trello']), 2, '--from needs --workspace and --as'],
    ['a user who is no member', () => run('trello', fixture('trello'), '--as', 'usr_00000000000000000000'), 3, 'not a member'],
  ])('%s is refused', async (_case, command, code, message) => {
    const result = await command((args) => host.run(args))
    expect({ code: result.code, stdout: result.stdout, stderr: result.stderr }).toEqual({
      code,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
  })

  test('terminal escape sequences of a file are not printed', async () => {
    const file = join(folder, 'escapes.json')
    await writeFile(
      file,
      JSON.stringify({ name: 'a\u001b[31m', lists: [], cards: [], labels: [{ id: '1', name: 'b\u001b[2J', color: 'x' }] }),
    )
    const { code, stdout } = await run('trello', file, '--dry-run')
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining('\u001b') })
    expect(stdout).toContain('\\u{1b}[2J')
  })
})
