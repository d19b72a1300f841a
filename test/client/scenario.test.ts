import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { outlineOf } from '../support/board-outline.ts'
import { blockOf } from '../support/documents.ts'
import { CommandHost, startProcess, type RunningProcess } from '../support/process.ts'

let service: RunningProcess
let host: CommandHost
let folder: string
let file: string
let url: string
let token: string
let writer: string
let other: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lanekeeper-client-'))
  file = join(folder, 'notes.txt')
  await writeFile(file, 'Peas first.')
  service = startProcess(['--json'])
  const start = JSON.parse(await service.until('\n'))
  url = start.url
  token = start.tokens.find((one: any) => one.display_name === 'Mira Patel' && one.scopes.includes('kanban:admin')).token
  writer = start.tokens.find((one: any) => one.display_name === 'Mira Patel' && one.scopes.includes('kanban:write')).token
  other = start.tokens.find((one: any) => one.display_name === 'Nora Lindqvist').user_id
  host = new CommandHost({ LANEKEEPER_URL: url, LANEKEEPER_TOKEN: token })
})
afterAll(async () => {
  host.stop()
  await service.stop()
  await rm(folder, { recursive: true })
})

/** Creates the board of the scenario. @returns its id */
type Run = () => Promise<string>

const byClient: Run = async () => {
  const lk = createClient({ url, token })
  const board_id = (await lk.boards.create({ name: 'Garden', description: 'Beds 1 to 4' })).data.id
  const column_id = (await lk.columns.create({ board_id, name: 'To do' })).data.id
  const done = (await lk.columns.create({ board_id, name: 'Done', after: column_id })).data.id
  const label_id = (await lk.labels.create({ board_id, name: 'Spring', color: '#00aa00' })).data.id
  const sow = await lk.cards.create({ board_id, column_id, title: 'Sow', due_at: '2027-03-01T09:00:00Z' })
  const card_id = sow.data.id
  await lk.cards.create({ board_id, column_id, title: 'Dig', before: card_id })
  await lk.cards.create({ board_id, column_id, title: 'Never', to: 'last' }, { dryRun: true })
  await lk.cards.update({ card_id, description: 'Peas, beans', due_at: null }, { ifMatch: sow.etag! })
  await lk.cards.assign({ card_id, user_id: other })
  await lk.cards.apply_label({ card_id, label_id })
  await lk.subtasks.create({ card_id, title: 'Water', completed: true })
  await lk.comments.create({ card_id, body: 'Next week.' })
  await lk.attachments.attach({ card_id, file: new File(['Peas first.'], 'notes.txt', { type: 'application/octet-stream' }) })
  await lk.cards.move({ card_id, column_id: done })
  await lk.cards.complete({ card_id, completed: true })
  await lk.boards.set_visibility({ board_id, visibility: 'private' })
  return board_id
}

const byCurl: Run = async () => {
  const curl = async (method: string, path: string, body?: object, ...further: string[]) => {
    const json = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)]
    const args = ['-sf', '-X', method, `${url}/v1${path}`, '-H', `Authorization: Bearer ${token}`, ...json, ...further]
    return (JSON.parse((await promisify(execFile)('curl', args)).stdout) as { data: { id: string } }).data.id
  }
  const board = await curl('POST', '/boards', { name: 'Garden', description: 'Beds 1 to 4' })
  const column = await curl('POST', `/boards/${board}/columns`, { name: 'To do' })
  const done = await curl('POST', `/boards/${board}/columns`, { name: 'Done', after: column })
  const label = await curl('POST', `/boards/${board}/labels`, { name: 'Spring', color: '#00aa00' })
  const card = await curl('POST', `/boards/${board}/cards`, { column_id: column, title: 'Sow', due_at: '2027-03-01T09:00:00Z' })
  await curl('POST', `/boards/${board}/cards`, { column_id: column, title: 'Dig', before: card })
  await curl('PATCH', `/cards/${card}`, { description: 'Peas, beans', due_at: null })
  await curl('PUT', `/cards/${card}/assignees/${other}`)
  await curl('PUT', `/cards/${card}/labels/${label}`)
  await curl('POST', `/cards/${card}/subtasks`, { title: 'Water', completed: true })
  await curl('POST', `/cards/${card}/comments`, { body: 'Next week.' })
  await curl('POST', `/cards/${card}/attachments`, undefined, '-F', `file=@${file};type=application/octet-stream`)
  await curl('POST', `/cards/${card}/move`, { column_id: done })
  await curl('PUT', `/cards/${card}/completion`, { completed: true })
  await curl('PUT', `/boards/${board}/visibility`, { visibility: 'private' })
  return board
}

const byCommandLine: Run = async () => {
  const api = async (...args: string[]) => {
    const { code, stdout, stderr } = await host.run(['api', ...args, '--json'])
    expect([args, code, stderr]).toEqual([args, 0, ''])
    return JSON.parse(stdout) as { data: { id: string }; etag?: string }
  }
  const board = ['--board-id', (await api('boards.create', '--name', 'Garden', '--description', 'Beds 1 to 4')).data.id]
  const column = ['--column-id', (await api('columns.create', ...board, '--name', 'To do')).data.id]
  const done = (await api('columns.create', ...board, '--name', 'Done', '--after', column[1]!)).data.id
  const label = ['--label-id', (await api('labels.create', ...board, '--name', 'Spring', '--color', '#00aa00')).data.id]
  const sow = await api('cards.create', ...board, ...column, '--title', 'Sow', '--due-at', '2027-03-01T09:00:00Z')
  const card = ['--card-id', sow.data.id]
  await api('cards.create', ...board, ...column, '--data', JSON.stringify({ title: 'Dug', before: card[1] }), '--title', 'Dig')
  await api('cards.create', ...board, ...column, '--title', 'Never', '--dry-run')
  await api('cards.update', ...card, '--description', 'Peas, beans', '--no-due-at', '--if-match', sow.etag!)
  await api('cards.assign', ...card, '--user-id', other)
  await api('cards.apply_label', ...card, ...label)
  await api('subtasks.create', ...card, '--title', 'Water', '--completed', 'true')
  await api('comments.create', ...card, '--body', 'Next week.')
  await api('attachments.attach', ...card, '--file', file)
  await api('cards.move', ...card, '--column-id', done)
  await api('cards.complete', ...card, '--completed', 'true')
  await api('boards.set_visibility', ...board, '--visibility', 'private')
  return board[1]!
}

test('the same scenario by the client, by curl and by "lanekeeper api" ends in the same board', async () => {
  const read = async (path: string) => {
    const response = await fetch(`${url}/v1${path}`, { headers: { authorization: `Bearer ${token}` } })
    expect([path, response.status]).toEqual([path, 200])
    return response.json() as Promise<{ data: any }>
  }
  const [client, curl, commandLine] = [await byClient(), await byCurl(), await byCommandLine()]
  const expected = await outlineOf(read, curl)
  expect(expected).toMatchObject({ board: { visibility: 'private' }, cards: [{ title: 'Dig' }, { title: 'Sow', due_at: null }] })
  expect(await outlineOf(read, client)).toEqual(expected)
  expect(await outlineOf(read, commandLine)).toEqual(expected)
})

test('the program of the page of the client works', async () => {
  const client = new URL('../../dist/client/client.js', import.meta.url).href
  const program = join(folder, 'program.mjs')
  const block = blockOf('src/client/README.md', 'lk.cards.move')
  await writeFile(program, block.replace('lanekeeper/client', client).replace('http://127.0.0.1:3000', url))
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: { LANEKEEPER_TOKEN: writer } })
  expect(stdout).toBe('Sow peas\nkanban:admin\n')
})

test('the commands with "lanekeeper api" of the page of the command line work', async () => {
  const variables: Record<string, string> = {}
  let last = ''
  for (const line of blockOf('src/cli/README.md', 'api boards.create').trimEnd().split('\n')) {
    const [, name, command] = /^(?:(\w+)=\$\()?npx lanekeeper (.*?)\)?$/.exec(line)!
    const args = [...command!.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, bare]) => quoted ?? bare!.replace(/^\$(\w+)$/, (_all, variable: string) => variables[variable]!),
    )
    const { code, stdout, stderr } = await host.run(args)
    expect([line, code, stderr.replace(/^etag: .*\n$/, '')]).toEqual([line, 0, ''])
    last = stdout.trimEnd()
    if (name !== undefined) variables[name] = last
  }
  expect(last).toBe('Sow peas')
})
