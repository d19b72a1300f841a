import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startListener, type Listener } from '../../../src/listener/listener.ts'
import { TestBoard } from '../../support/board.ts'
import { handWrittenOperations } from '../../support/hand-written-decisions.ts'
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

/** Puts what exists in the place of each name. */
const fill = (part: string) => part.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? `no value for ${name}`)

describe('/llms.txt', () => {
  test('fits on one screen, and each of its lines about a call can be read', () => {
    expect(text.split('\n').length).toBeLessThanOrEqual(50)
    expect(text.length).toBeLessThan(4500)
    expect(calls).toHaveLength(text.match(/^- `/gm)!.length)
    expect(calls.map(({ id }) => id)).toEqual(expect.arrayContaining(NEEDED))
  })

  test('has calls that do what it says, each with the scope that it names', async () => {
    for (const { method, path, query, body, id, scope } of calls) {
      expect(handWrittenOperations.find((row) => row.id === id)).toMatchObject({ method, path, scope })
      const token = ann[scope as 'read' | 'write']
      const { status, text: answer } = await service.send(token, method, fill(path + query), body && fill(body))
      expect([id, status], answer).toEqual([id, method === 'POST' && !path.endsWith('/move') ? 201 : 200])
    }
  })

  // That the service does what these say: etags.test.ts, idempotency.test.ts, fields.test.ts and resources/changes.test.ts.
  test.each([
    ['how not to overwrite a change', /`ETag`.*`If-Match`.*412/],
    ['how a write is repeated', /`Idempotency-Key`.*made once/],
    ['that what is not known is an error', /not known, or malformed, is 422, and `issues` names it/],
    ['how to know what has changed', /`changes_cursor`.*`after`.*`page\.next_cursor`/],
  ])('says %s', (_what, said) => {
    expect(text).toMatch(said)
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
