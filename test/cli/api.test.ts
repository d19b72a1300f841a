import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandOf } from '../../src/cli/api/command.ts'
import { createClient } from '../../src/client/client.ts'
import { operations } from '../../src/resources/table.ts'
import { CommandHost, runCommandLine, startService, type StartedService } from '../support/process.ts'
import { png } from '../support/pictures.ts'
import { newFolder } from '../support/run.ts'

const CARD = ['cards.create', '--board-id', 'brd_none', '--column-id', 'col_none', '--title', 'Sow']
const BATCH = ['boards.batch', '--board-id', 'brd_none', '--operations']

describe('lanekeeper api', () => {
  let service: StartedService
  let host: CommandHost
  const folder = newFolder()
  let env: Record<string, string>
  let board: string
  let reader: string
  const api = (...args: string[]) => host.run(['api', ...args])
  const json = async (...args: string[]) => JSON.parse((await api(...args, '--json')).stdout)
  const path = (name: string) => join(folder, name)

  beforeAll(async () => {
    service = await startService()
    const tokenOf = (scope: string) =>
      service.world.tokens.find((one: any) => one.display_name === 'Mira Patel' && one.scopes.includes(scope)).token as string
    env = { LANEKEEPER_URL: service.url, LANEKEEPER_TOKEN: tokenOf('kanban:admin') }
    reader = tokenOf('kanban:read')
    host = new CommandHost(env)
    board = (await json('boards.create', '--name', 'Garden')).data.id
  })
  afterAll(() => service.stop())

  test('filters and lists of names are options', async () => {
    const own = (await json('boards.create', '--name', 'Reports')).data.id
    const column = (await json('columns.create', '--board-id', own, '--name', 'To do')).data.id
    const card = ['cards.create', '--board-id', own, '--column-id', column]
    await json(...card, '--title', 'Mine', '--assignee-ids', 'me')
    await json(...card, '--title', 'Free')
    // As in a query: repeated, or with commas, or both.
    const lists = ['--fields', 'title', '--fields', 'etag,counts', '--include', 'etag', '--include', 'counts']
    const { data } = await json('cards.list', '--board-id', own, '--assignee-id', 'me', ...lists)
    expect(data.map((one: any) => [one.title, Object.keys(one).join()])).toEqual([['Mine', 'id,title,counts,etag']])
  })

  test('a list is a table for people, and the whole response for programs', async () => {
    await api('columns.create', '--board-id', board, '--name', 'To do')
    await api('columns.create', '--board-id', board, '--name', 'Do\u200dne')
    const { stdout, stderr } = await api('columns.list', '--board-id', board, '--limit', '1')
    expect(stdout.split('\n')[0]).toMatch(/^id +board_id +name +wip_limit +max_attempts +completes +position/)
    expect(stderr).toMatch(/^there are more: add --all, or --cursor \S+\n$/)
    const all = await api('columns.list', '--board-id', board, '--all', '--limit', '1')
    expect(all.stdout.trimEnd().split('\n')).toHaveLength(3)
    const changes = await api('boards.changes', '--board-id', board, '--limit', '1')
    expect(changes.stderr).toMatch(/^there are more: add --after \S+\n$/)
    expect((await api('boards.changes', '--board-id', board, '--after', changes.stderr.split(' ').at(-1)!.trim())).code).toBe(0)
    expect((await api('boards.changes', '--board-id', board, '--all')).code).toBe(2)
    const notices = await api('notices.list', '--limit', '1')
    expect(notices.stderr).toMatch(/^there are more: add --after \S+\n$/)
    expect((await api('notices.list', '--after', notices.stderr.split(' ').at(-1)!.trim())).code).toBe(0)
    // A name must not control the terminal.
    expect(all.stdout).toContain('Do\\u{200d}ne')
    const page = await json('columns.list', '--board-id', board, '--limit', '1')
    expect(page).toMatchObject({ data: [{ name: 'To do' }], page: { next_cursor: /--cursor (\S+)/.exec(stderr)![1] } })
    expect(page.request_id).toMatch(/^[0-9a-f-]{36}$/)
    expect((await api('columns.list', '--board-id', board, '--print', 'name')).stdout).toBe('To do\nDo\\u{200d}ne\n')
    const lines = (await api('columns.list', '--board-id', board, '--all', '--json')).stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).name)).toEqual(['To do', 'Do\u200dne'])
  })

  test('the members of a body come from --data as text, file or stdin, and options win', async () => {
    await writeFile(path('board.json'), '{"name":"From a file","description":"x"}')
    expect((await json('boards.create', '--data', `@${path('board.json')}`, '--description', 'y')).data).toMatchObject({
      name: 'From a file',
      description: 'y',
    })
    const piped = await runCommandLine(['api', 'boards.create', '--data', '-', '--json'], env, '{"name":"From stdin"}')
    expect(JSON.parse(piped.stdout).data.name).toBe('From stdin')
    expect((await json('boards.update', '--board-id', board, '--cover-color', '#00aa00')).data.cover_color).toBe('#00aa00')
    expect((await json('boards.update', '--board-id', board, '--no-cover-color')).data.cover_color).toBeNull()
  })

  test('--dry-run, --idempotency-key, --if-match and --if-none-match are sent', async () => {
    const etag = (await json('boards.read', '--board-id', board)).etag
    expect((await api('boards.read', '--board-id', board, '--if-none-match', etag)).stdout).toBe('not modified\n')
    expect((await api('boards.update', '--board-id', board, '--name', 'x', '--if-match', '"0"')).code).toBe(3)
    expect((await json('boards.create', '--name', 'Never', '--dry-run')).data.id).toMatch(/^brd_0{20}$/)
    const once = ['boards.create', '--name', 'Once', '--idempotency-key', 'create-once']
    const [first, second] = [await json(...once), await json(...once)]
    expect(second.data.id).toBe(first.data.id)
  })

  test('bytes are written to a file or to stdout', async () => {
    const column = (await json('columns.list', '--board-id', board)).data[0].id
    const card = (await json('cards.create', '--board-id', board, '--column-id', column, '--title', 'Sow')).data.id
    await writeFile(path('notes.txt'), 'Peas first.')
    const attachment = (await json('attachments.upload', '--card-id', card, '--file', path('notes.txt'))).data
    expect(attachment).toMatchObject({ name: 'notes.txt', size: 11 })
    await writeFile(path('photo.png'), png(3, 2))
    const picture = { name: 'photo.png', content_type: 'image/png', picture: { type: 'image/png', width: 3, height: 2 } }
    expect((await json('attachments.upload', '--card-id', card, '--file', path('photo.png'))).data).toMatchObject(picture)
    await api('attachments.download', '--attachment-id', attachment.id, '--out', path('copy.txt'))
    expect(await readFile(path('copy.txt'), 'utf8')).toBe('Peas first.')
    expect((await api('attachments.download', '--attachment-id', attachment.id)).stdout).toBe('Peas first.')
  })

  // The README states the exit codes.
  test.each([
    [2, 'there is no operation "cards.creat"; did you mean "cards.create"?', ['cards.creat']],
    [2, 'missing: --board-id, --column-id, --title', ['cards.create']],
    [2, '"board_id" is not an id', ['boards.read', '--board-id', '..']],
    [
      2,
      '--data: it must be a JSON object, @FILE with one, or - to read one from stdin; it is not JSON: ',
      ['boards.create', '--data', '{'],
    ],
    [2, '--data: it must be a JSON object, @FILE with one, or - to read one from stdin, not a list', ['boards.create', '--data', '[]']],
    [2, '--data: the file "/none.json" cannot be read: ENOENT', ['boards.create', '--data', '@/none.json']],
    [2, '--subtasks: it must be a JSON list, in square brackets; it is not JSON: ', [...CARD, '--subtasks', 'Water']],
    [2, '--label-ids: it must be a list separated by commas, such as a,b, not "a,,b"', [...CARD, '--label-ids', 'a,,b']],
    [2, '--print: boards.list returns no member "nam"; it must be one of id, name, description,', ['boards.list', '--print', 'nam']],
    [2, '--print: boards.batch returns no member "data"; it must be one of board_id, results', [...BATCH, '[]', '--print', 'data']],
    [2, '--limit: "x" is not a number', ['boards.list', '--limit', 'x']],
    [2, 'The option is given twice, and is no list.', ['cards.search', '--q', 'sow', '--q', 'beans']],
    [2, 'validation_failed', ['boards.create', '--name', '']],
    [3, 'not_found', ['boards.read', '--board-id', 'brd_none']],
  ])('exit code %i and the message %j follow from %j', async (code, message, args) => {
    const result = await api(...args)
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' })
    expect(result.stderr).toContain(message)
  })

  test('a refusal names its further members, for people and for programs', async () => {
    const call = (...further: string[]) =>
      host.run(['api', 'boards.create', '--name', 'x', '--idempotency-key', 'k', ...further], { ...env, LANEKEEPER_TOKEN: reader })
    const { code, stderr } = await call()
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/^insufficient_scope: .*\n {2}status: 403\n {2}request_id: \S+\n {2}required_scope: kanban:write\n/),
    })
    expect(JSON.parse((await call('--json')).stderr).error).toMatchObject({
      code: 'insufficient_scope',
      status: 403,
      required_scope: 'kanban:write',
      granted_scopes: ['kanban:read'],
      idempotency_key: 'k',
    })
  })

  test('without a token, a message says where it is read from', async () => {
    const result = await host.run(['api', 'account.read'], { LANEKEEPER_URL: env['LANEKEEPER_URL']! })
    expect({ code: result.code, stderr: result.stderr }).toEqual({
      code: 2,
      stderr: 'LANEKEEPER_TOKEN: it must have an access token, lk_pat_…\n',
    })
    const broken = await host.run(['api', 'account.read'], { ...env, LANEKEEPER_TOKEN: 'lk_pat_secret\n' })
    expect({ code: broken.code, stderr: broken.stderr }).toEqual({
      code: 2,
      stderr: 'LANEKEEPER_TOKEN: it has characters that no token has\n',
    })
  })
})

test('a service that answers 503 or nothing ends the command with exit code 4', async () => {
  const server = await new Promise<Server>((resolve) => {
    const one: Server = createServer((_request, response) => {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '3600' })
      response.end('{"error":{"code":"unavailable","message":"Storage is not reachable.","request_id":"r","outcome":"not_done"}}')
    }).listen(0, '127.0.0.1', () => resolve(one))
  })
  const { port } = server.address() as { port: number }
  const env = { LANEKEEPER_URL: `http://127.0.0.1:${port}`, LANEKEEPER_TOKEN: 'lk_pat_test' }
  const refused = await runCommandLine(['api', 'account.read'], env)
  expect({ code: refused.code, stderr: refused.stderr }).toEqual({
    code: 4,
    stderr: expect.stringContaining('unavailable: Storage is not reachable.\n  status: 503'),
  })
  server.close()
})

test.each<[id: string, flags: string]>([
  ['boards.batch', 'board-id operations data dry-run idempotency-key if-match url json print'],
  // An evaluation changes nothing.
  ['access.evaluate', 'subject action resource context data url json print'],
  ['labels.delete', 'label-id dry-run idempotency-key if-match url json print'],
  ['labels.read', 'label-id fields if-none-match url json print'],
  // The URL of the service has the shorter name.
  [
    'webhooks.create',
    'board-id webhook-url kinds no-kinds authorization no-authorization after data dry-run idempotency-key if-match url json print',
  ],
])('the options of the command of %s are its body, and what its method allows', (id, flags) => {
  const { options } = commandOf(operations.find((row) => row.id === id)!)
  expect(options.map(({ long }) => long)).toEqual(flags.split(' ').map((flag) => `--${flag}`))
})

test('--all is an option of the operations whose pages the client joins', () => {
  const methods = createClient({ url: 'http://localhost', token: 'x' }) as unknown as Record<string, Record<string, object>>
  for (const row of operations) {
    const [resource, name] = row.id.split('.') as [string, string]
    const takesAll = commandOf(row).options.some(({ long }) => long === '--all')
    expect([row.id, takesAll]).toEqual([row.id, 'all' in methods[resource]![name]!])
  }
})

test('each operation has a command, whose options differ', () => {
  for (const row of operations) expect(commandOf(row).helpInformation()).toContain(row.path)
})
