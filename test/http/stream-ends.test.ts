import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startListener } from '../../src/listener/listener.ts'
import { Scene, streamOf, surfaces, ways, type End, type Surface, type Way } from '../support/access-ends.ts'
import { TestBoard } from '../support/board.ts'
import { EventReader } from '../support/event-reader.ts'
import { inTime } from '../support/in-time.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { signedIn } from '../support/visitor.ts'
import { DAY } from '../../src/model/time.ts'
import { sample } from '../support/sample.ts'

const shared = await Service.forSuite()
const begin = (way: Partial<Way> = {}) => Scene.begin(shared, way)

// A stream that does not end costs a minute: after one, the others are not tried.
let hasHung = false
beforeEach(({ skip }) => skip(hasHung, 'a stream has not ended'))
afterEach(({ task }) => {
  hasHung ||= task.result?.errors?.some(({ message }) => message.includes('has not ended')) === true
})

/** How the streams of a surface end, or go on. */
const waysOf = (surface: Surface, matches: (expected: End, way: Way) => boolean) =>
  ways.filter((way) => matches(way.ends[surface], way)).map((way) => [way.when, { ...way, expected: way.ends[surface] }] as const)
const isEnd = (expected: End) => expected !== 'goes on'
/** What a stream sends when it ends. */
const last = (expected: End) => (expected === 'without an error' ? [] : [expected])
/** The title of the card in a change, or the code of an error. */
const brief = (events: Awaited<ReturnType<EventReader['rest']>>) =>
  events.flatMap(({ event, data }) => {
    if (event === 'error') return data.error.code
    if (data.update === undefined) return data.title ?? data.data?.title ?? data.kind
    const tiles = Object.values<any>(data.update.tiles).map((tile) => /tile-title"[^>]*>([^<]*)/.exec(tile?.html)?.[1])
    return [...new Set([...data.update.changes.map(({ title, kind }: any) => title ?? kind), ...tiles.filter(Boolean)])]
  })

/** Until the test ends, the time of the streams goes on only when the test says so. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

describe.each(surfaces)('a stream of %s', (surface) => {
  test.each(waysOf(surface, isEnd))(
    'ends when %s, and sends no change that is made afterwards',
    async (_when, { end, isLast, expected, ...way }) => {
      const scene = await begin(way)
      const stream = await scene.open(surface)
      await scene.change('before')
      expect(brief(await stream.take(1))).toEqual(['before'])
      await end(scene)
      if (isLast !== true) await scene.change('afterwards')
      expect(brief(await stream.rest())).toEqual(last(expected))
    },
  )

  test.each(waysOf(surface, (expected) => !isEnd(expected)))('goes on when %s', async (_when, { end }) => {
    const scene = await begin()
    const stream = await scene.open(surface)
    await end(scene)
    await scene.change('afterwards')
    expect(brief(await stream.take(1))).toEqual(['afterwards'])
  })

  test.each(waysOf(surface, isEnd))(
    'ends within a second, although nothing on the board is changed: %s',
    async (_when, { end, expected, ...way }) => {
      const scene = await begin(way)
      holdTimers()
      const stream = await scene.open(surface)
      await scene.change('before')
      await stream.take(1)
      await end(scene)
      await vi.advanceTimersByTimeAsync(1000)
      expect(brief(await stream.rest())).toEqual(last(expected))
    },
  )

  // A look at the board consists of several accesses to storage. The end and the next change may come between any two of them.
  const MOMENTS = sample([1, 2, 3, 4, 5, 6], 2)
  // A request that reads has the time when it began.
  const isTooLate = ({ isForNextLook, isTime }: Way) => isForNextLook ?? (isTime && surface === 'the API')
  test.each(waysOf(surface, (expected, way) => isEnd(expected) && isTooLate(way) !== true))(
    'sends no change that is made after the end of access, at any moment of a read: %s',
    async (_when, { end, isLast, expected, orEnds = expected, ...way }) => {
      for (const moment of MOMENTS) {
        const scene = await begin(way)
        const { store } = scene.service
        holdTimers()
        const stream = await scene.open(surface)
        await scene.change('before')
        await stream.take(1)
        let accesses = 0
        store.beforeRead = async () => {
          if (++accesses === moment) {
            store.beforeRead = undefined
            await end(scene)
            if (isLast !== true) await scene.change('afterwards')
          }
        }
        const rest = stream.rest()
        let hasEnded = false
        void rest.finally(() => (hasEnded = true)).catch(() => undefined)
        while (!hasEnded) {
          await vi.advanceTimersByTimeAsync(1000)
          await new Promise((resolve) => setImmediate(resolve))
        }
        const received = brief(await rest)
        vi.useRealTimers()
        expect([moment, ...received]).toEqual([moment, received[0] === orEnds ? orEnds : expected])
      }
    },
  )

  test.each(['the person signs out', 'the person is removed from the board'])(
    'shows no card as it is after the end of access, at any moment of a read that has it: %s',
    async (when) => {
      const { end, ends } = ways.find((way) => way.when === when)!
      if (!isEnd(ends[surface])) return
      for (let moment = 1; moment <= 12; moment++) {
        const scene = await begin()
        const stream = await scene.open(surface)
        const { store } = scene.service
        let accesses = 0
        store.beforeRead = async () => {
          if (++accesses !== moment) return
          store.beforeRead = undefined
          await end(scene)
          await scene.change('afterwards')
        }
        // The change itself makes some of these accesses.
        await scene.change('between').catch(() => undefined)
        await new Promise((resolve) => setImmediate(resolve))
        const isOver = store.beforeRead === undefined
        store.beforeRead = undefined
        if (!isOver) await end(scene)
        expect(brief(await stream.rest()).filter((text) => !['between', ends[surface]].includes(text))).toEqual([])
      }
    },
  )

  test.each(['the person is removed from the board', surface === 'the API' ? 'the token is revoked' : 'the person signs out'])(
    'whose client reads slowly has the changes from before %s, and no others',
    async (when) => {
      const { end, ends } = ways.find((way) => way.when === when)!
      const scene = await begin()
      const stream = await scene.open(surface)
      const titles = Array.from({ length: 40 }, (_one, i) => `before ${i}`)
      for (const title of titles) {
        await scene.change(title)
        // The stream prepares what its client has not read yet.
        await new Promise((resolve) => setImmediate(resolve))
      }
      await end(scene)
      await scene.change('afterwards')
      // An update of the web app shows what is: one can stand for several changes, and show what the next one says.
      const received = brief(await stream.rest()).filter((text, i, all) => text !== all[i - 1])
      const shown = surface === 'the API' ? titles.slice(0, received.length - 1) : titles.filter((title) => received.includes(title))
      expect(received).toEqual([...shown, ...last(ends[surface])])
      expect(received.length).toBeGreaterThan(1)
    },
  )

  test('that has ended counts no longer among those that are open', async () => {
    const quotas = { token: 1000, workspace: 1000, address: 1000 }
    const service = await Service.start(memory, { rateLimits: { quotas, inFlight: 2 } })
    const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
    const leave = new AbortController()
    onTestFinished(async () => (leave.abort(), await listener.close(), service.stop()))
    const workspaceId = await service.workspace()
    const [ann, bob] = [await service.person(workspaceId), await service.person(workspaceId)]
    const [board, next] = [await TestBoard.create(service, ann), await TestBoard.create(service, ann)]
    const cookie = [...(await signedIn(service, bob)).jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const open = (on: TestBoard) => {
      const { path, headers } = streamOf(surface, { bob, board: on, token: bob.read } as Scene, cookie)
      return inTime(fetch(`${listener.url}${path}`, { headers, signal: leave.signal }), () => 'no response to the request for a stream')
    }
    const streams = [await open(board), await open(board)].map((response) => new EventReader(response))
    expect((await open(next)).status).toBe(429)
    await board.makePrivate()
    for (const stream of streams) expect((await stream.rest()).at(-1)).toMatchObject({ data: { error: { code: 'not_found' } } })
    await expect.poll(async () => (await open(next)).status).toBe(200)
  })
})

test('a stream of the web app is use of its session, which ends all the same 30 days after the sign-in', async () => {
  const scene = await begin({ hasOwnService: true })
  const stream = await scene.open('the web app')
  const { service, browser, bob, board } = scene
  for (const day of ['6', '12', '18', '24']) {
    service.now += 6 * DAY
    await scene.change(`Day ${day}`)
    expect(brief(await stream.take(1))).toEqual([`Day ${day}`])
  }
  expect((await browser.request(`/app/${bob.workspaceId}/boards/${board.id}`)).status).toBe(200)
  service.now += 6 * DAY
  expect((await stream.rest()).at(-1)).toMatchObject({ data: { error: { code: 'unauthorized' } } })
})
