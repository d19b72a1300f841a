import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startListener, type Listener } from '../../../src/listener/listener.ts'
import { operations } from '../../../src/resources/table.ts'
import { TestBoard } from '../../support/board.ts'
import { memory } from '../../support/memory.ts'
import { Service, type Person } from '../../support/service.ts'

/** One line of the calls. */
interface Call {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: string | undefined
  readonly id: string
  readonly scope: string
}

const CALL = /^- `([A-Z]+) (\/[^\s?`]*)(\?[^\s`]*)?(?: (\{.*\}))?`: [^`]*\. \(([\w.]+), kanban:(\w+)\)$/gm
/** What an agent cannot do without (issue: "No silent trap"). */
const NEEDED = ['boards.create', 'columns.create', 'cards.list', 'cards.search', 'cards.complete', 'boards.changes']

let service: Service
let listener: Listener
let ann: Person
let text: string
let calls: Call[]
let board: TestBoard
let names: Readonly<Record<string, string>>

beforeAll(async () => {
  service = await Service.start(memory)
  ann = await service.person(await service.workspace(), 'member', 'Ann')
  listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  text = await (await fetch(`${listener.url}/llms.txt`, { headers: { connection: 'close' } })).text()
  calls = [...text.matchAll(CALL)].map(([, method, path, query, body, id, scope]) => {
    return { method: method!, path: path!, query: query ?? '', body, id: id!, scope: scope! }
  })
})
afterAll(async () => {
  await listener.close()
  await service.stop()
})
beforeEach(async () => {
  board = await TestBoard.create(service, ann)
  const column_id = await board.column()
  const card_id = await board.card(column_id)
  const { changes_cursor } = (await board.get(`/boards/${board.id}?include=columns`)).body.data
  await board.patch(`/cards/${card_id}`, { title: 'Changed' })
  names = { board_id: board.id, column_id, card_id, changes_cursor, user_id: ann.id }
})

/** Sends a request as curl does: each over a new connection. The service may close a kept one while a loaded machine waits. */
async function send(method: string, path: string, body?: string, headers: Record<string, string> = {}, token = ann.write) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const init = {
    method,
    headers: { authorization: `Bearer ${token}`, connection: 'close', ...type, ...headers },
    ...(body === undefined ? {} : { body }),
  }
  const response = await fetch(`${listener.url}/v1${path}`, init)
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}
/** Puts what exists in the place of each name. */
const fill = (part: string) => part.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? `no value for ${name}`)
const callOf = (id: string) => calls.find((call) => call.id === id)!

describe('/llms.txt', () => {
  test('fits on one screen, and each of its lines about a call can be read', () => {
    expect(text.split('\n').length).toBeLessThanOrEqual(50)
    expect(text.length).toBeLessThan(4500)
    expect(calls).toHaveLength(text.match(/^- `/gm)!.length)
    expect(calls.map(({ id }) => id)).toEqual(expect.arrayContaining(NEEDED))
  })

  test('has calls that do what it says, each with the scope that it names', async () => {
    for (const { method, path, query, body, id, scope } of calls) {
      expect(operations.find((row) => row.id === id)).toMatchObject({ method, path })
      const token = ann[scope as 'read' | 'write']
      const { status, body: answer } = await send(method, fill(path + query), body && fill(body), {}, token)
      expect([id, status, answer.error]).toEqual([id, method === 'POST' && !path.endsWith('/move') ? 201 : 200, undefined])
    }
  })

  test('says the truth about the scopes: a lesser one does not suffice', async () => {
    for (const { method, path, body, id } of calls.filter(({ scope }) => scope === 'write')) {
      const refused = await send(method, fill(path), body && fill(body), {}, ann.read)
      expect([id, refused.status, refused.body.error.required_scope]).toEqual([id, 403, 'kanban:write'])
    }
  })

  test('says how not to overwrite a change: If-Match, 412', async () => {
    expect(text).toMatch(/`ETag`.*`If-Match`.*412/)
    const { path, body } = callOf('cards.update')
    const etag = (await send('GET', fill(callOf('cards.read').path))).headers.get('etag')!
    const write = () => send('PATCH', fill(path), body, { 'if-match': etag })
    expect([(await write()).status, (await write()).status]).toEqual([200, 412])
  })

  test('says how a write is repeated: Idempotency-Key', async () => {
    expect(text).toMatch(/`Idempotency-Key`.*made once/)
    const { path, body } = callOf('cards.create')
    const write = () => send('POST', fill(path), fill(body!), { 'idempotency-key': 'key-1' })
    const [first, second] = [await write(), await write()]
    expect([first.status, second.body.data.id]).toEqual([201, first.body.data.id])
    expect((await send('POST', `${fill(path)}?dry_run=true`, fill(body!))).headers.get('dry-run')).toBe('true')
  })

  test('says that what is not known is an error', async () => {
    expect(text).toMatch(/not known, or malformed, is 422, and `issues` names it/)
    for (const id of ['cards.list', 'cards.search']) {
      const { status, body } = await send('GET', `${fill(callOf(id).path)}?assignee=me`)
      expect([id, status, body.error.issues[0].path]).toEqual([id, 422, 'assignee'])
    }
  })

  test('says how to know what has changed', async () => {
    expect(text).toMatch(/`changes_cursor`.*`after`.*`page\.next_cursor`/)
    const { path, query } = callOf('boards.changes')
    const { body } = await send('GET', fill(path + query))
    expect(body.data).toMatchObject([{ kind: 'card', id: names['card_id'], action: 'updated' }])
    const next = new URLSearchParams({ after: body.page.next_cursor })
    expect((await send('GET', `${fill(path)}?${next}`)).body.data).toEqual([])
  })

  test('says where MCP is', async () => {
    const [, url] = /^MCP: (\S+) /m.exec(text)!
    const headers = {
      authorization: `Bearer ${ann.read}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    const response = await fetch(url!, { method: 'POST', headers, body })
    expect([response.status, (await response.text()).includes('find_cards')]).toEqual([200, true])
  })

  test('has links that lead somewhere', async () => {
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, url]) => url!)
    expect(links).toHaveLength(2)
    for (const url of links) expect([url, (await fetch(url, { headers: { connection: 'close' } })).status]).toEqual([url, 200])
  })
})
