import { connect, type Socket } from 'node:net'
import type { ServerResponse } from 'node:http'
import { H3 } from 'h3'
import { afterEach, describe, expect, test } from 'vitest'
import { startListener, type Listener } from '../../src/listener/listener.ts'
import { fittingItems } from '../../src/listing/pages.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { memory } from '../support/memory.ts'
import type { Reply } from '../support/service.ts'

const MIB = 1024 * 1024
/** A text of three bytes per character. */
const text = (length: number) => '€'.repeat(length)

describe.each(drivers)('pages of large items, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const repeat = async (count: number, create: (i: number) => Promise<unknown>) => {
    for (let i = 0; i < count; i++) {
      setup.service.now += 10
      await create(i)
    }
  }
  const cards = (count: number, members: object = {}) =>
    repeat(count, (i) => setup.board.card(setup.columnId, `find ${i}`, { description: text(50_000), ...members }))

  const lists: [what: string, create: () => Promise<void>, path: () => string, count: number][] = [
    ['cards', () => cards(20), () => `/boards/${setup.board.id}/cards?`, 21],
    ['cards that match a search', () => cards(20), () => `/boards/${setup.board.id}/cards?q=find&`, 20],
    ['cards of all boards', () => cards(20, { assignee_ids: [setup.ann.id] }), () => '/cards?assignee_id=me&', 20],
    ['cards of all boards, by position', () => cards(20, { title: 'position' }), () => '/cards?q=position&sort=position&order=desc&', 20],
    ['comments', () => repeat(40, () => setup.board.comment(setup.cardId, text(20_000))), () => `/cards/${setup.cardId}/comments?`, 40],
  ]
  test.each(lists)('a page of %s ends at 1 MiB, and the next one goes on behind it', async (_what, create, path, count) => {
    await create()
    await expectPages(path(), count)
  })

  test('a page of boards ends at 1 MiB, and the next one goes on behind it', async () => {
    // Each test has a board.
    const before = (await setup.board.all('/boards')).length
    await repeat(60, () => setup.board.send('POST', '/boards', { name: 'x', description: text(10_000) }))
    await expectPages('/boards?', before + 60)
  })

  /** Reads a list page by page. Each page is as long as it may be, and each item is returned once. */
  const expectPages = async (path: string, count: number) => {
    const pages: Reply[] = []
    for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)!.body.page.next_cursor)
      pages.push(await setup.board.get(`${path}limit=100${cursor && `&cursor=${cursor}`}`))
    const items = pages.map(({ body }) => body.data as { id: string }[])
    const sizeOf = (data: readonly object[]) => Buffer.byteLength(JSON.stringify(data))
    expect(pages.length).toBeGreaterThan(1)
    expect(new Set(items.flat().map(({ id }) => id)).size).toBe(count)
    expect(items.flat()).toHaveLength(count)
    for (const [i, data] of items.entries()) {
      expect(sizeOf(data)).toBeLessThanOrEqual(MIB + 1)
      if (i + 1 < items.length) expect(sizeOf([...data, items[i + 1]![0]!])).toBeGreaterThan(MIB)
    }
  }
})

describe('the items that fit into a page', () => {
  test.each<[sizes: number[], maximum: number, count: number]>([
    [[], 10, 0],
    [[4, 4], 10, 2],
    [[4, 5], 10, 1],
    [[100, 1], 10, 1],
    [[1, 100, 1], 10, 1],
  ])('of items of %j bytes, at most %i bytes fit: %i', (sizes, maximum, count) => {
    // A text in JSON has two quotes, and a comma follows it.
    expect(
      fittingItems(
        sizes.map((size) => 'x'.repeat(size - 2 < 0 ? 0 : size - 2)),
        maximum,
      ),
    ).toBe(count)
  })

  test.each<[what: string, item: unknown]>([
    ['control characters', { a: '\u0001'.repeat(100) }],
    ['lone surrogates', ['\ud800'.repeat(100)]],
    ['nested members', { a: { b: [{ 'a long name': null }, true, 1.5e300] } }],
    ['a long name', { ['\u0001'.repeat(100)]: 1 }],
  ])('the size of %s is not underestimated', (_what, item) => {
    const size = Buffer.byteLength(JSON.stringify(item))
    expect(fittingItems([item, item], 2 * size + 1)).toBe(1)
    expect(fittingItems([item, item], 2 * size + 2)).toBe(2)
  })
})

describe('the issues of a request', () => {
  const setup = setUpBoard(memory)

  test('a response lists at most 100 issues, and says how many more there are', async () => {
    const members = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`m${i}`, 1]))
    const reply = await setup.board.send('POST', '/boards', { name: 'x', ...members })
    expect({ status: reply.status, issues: reply.body.error.issues.length, message: reply.body.error.message }).toEqual({
      status: 422,
      issues: 100,
      message:
        'The request does not match what this operation accepts: "m0" is not a known member. There are 8900 more issues than are listed.',
    })
    expect(reply.body.error.issues[99].path).toBe('m99')
    const { error } = (
      await setup.board.send('POST', '/boards', { name: 'x', ...Object.fromEntries(Object.entries(members).slice(0, 100)) })
    ).body
    expect({ issues: error.issues.length, hasFirst: error.message.endsWith('"m0" is not a known member.') }).toEqual({
      issues: 100,
      hasFirst: true,
    })
  })

  test('a body with more than 10,000 members is refused before it is parsed', async () => {
    const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, 1]))
    const issuesOf = async (body: object) => (await setup.board.send('POST', '/boards', body)).body.error.issues
    expect((await issuesOf({ name: 'x', ...members(9999) })).length).toBe(100)
    const tooMany = [{ in: 'body', path: '', message: 'must have at most 10000 members and items of lists, nested ones included' }]
    expect(await issuesOf({ name: 'x', ...members(10_000) })).toEqual(tooMany)
    expect(await issuesOf({ name: 'x', a: members(5000), b: [members(5000)] })).toEqual(tooMany)
  })
})

// When a slow client is dropped: listener/slow-clients.test.ts.
describe('the requests of one connection', () => {
  let listener: Listener | undefined
  let socket: Socket | undefined
  afterEach(async () => {
    socket?.destroy()
    await listener?.close()
  })
  const listenWith = async (handler: Parameters<H3['all']>[1], sendTimeout?: number) => {
    const h3 = new H3({ silent: true }).all('/**', handler)
    listener = await startListener(h3, { port: 0, host: '127.0.0.1', ...(sendTimeout === undefined ? {} : { sendTimeout }) })
    socket = connect(listener.port, '127.0.0.1')
    socket.on('error', () => undefined)
  }
  const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

  test('of 1000 requests that a client sends at once, 2 are handled at the same time, and all are answered in order', async () => {
    const waiting: (() => void)[] = []
    let begun = 0
    await listenWith(async () => {
      const number = begun++
      await new Promise<void>((resolve) => waiting.push(resolve))
      return `<${number}>`
    })
    let received = ''
    socket!.on('data', (data) => (received += data.toString()))
    socket!.write(GET.repeat(1000))
    for (let answered = 0; answered < 1000; answered++) {
      await expect.poll(() => begun, { interval: 1 }).toBe(Math.min(answered + 2, 1000))
      waiting[answered]!()
    }
    await expect.poll(() => received.match(/<\d+>/g)?.length).toBe(1000)
    expect(received.match(/<\d+>/g)).toEqual(Array.from({ length: 1000 }, (_, i) => `<${i}>`))
  })

  test('requests that wait are not handled when their connection has closed', async () => {
    const waiting: (() => void)[] = []
    await listenWith(async ({ req }) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return String(req.method)
    })
    socket!.write(GET.repeat(100))
    await expect.poll(() => waiting.length).toBe(2)
    socket!.destroy()
    await listener!.close()
    expect(waiting.length).toBe(2)
  })

  test('a response that its client does not read is dropped', async () => {
    let closed = false
    // More than the operating system buffers for a connection.
    await listenWith(({ req }) => {
      const response = req.runtime!.node!.res as ServerResponse
      response.on('close', () => (closed = true))
      return 'x'.repeat(64 * MIB)
    }, 100)
    socket!.pause()
    socket!.write(GET)
    await expect.poll(() => closed).toBe(true)
  })

  test('a connection that is idle after its response is closed', async () => {
    let ended = false
    await listenWith(() => 'done', 50)
    socket!.on('end', () => (ended = true)).on('close', () => (ended = true))
    socket!.resume()
    socket!.write(GET)
    await expect.poll(() => ended).toBe(true)
  })
})
