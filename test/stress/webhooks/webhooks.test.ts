import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { startRedis } from '../../support/redis.ts'
import { newFolder } from '../../support/run.ts'
import { Receiver, Services, type Reaction } from './fleet.ts'
import { violationsOf, type Post } from './oracle.ts'

/** Changes of the board in the first test: ten in each commit. */
const ENTRIES = effort(1500)
const KILLS = effort(3)

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function startServices(address: string, count: number): Promise<Services> {
  const services = await Services.start(address, count)
  ends.push(() => services.stop())
  return services
}

async function startReceiver(services: Services, kinds?: readonly string[]): Promise<Receiver> {
  const receiver = await Receiver.start(services, kinds)
  ends.push(() => receiver.close())
  return receiver
}

const folder = () => `fs:${join(newFolder(), 'storage')}`

test('a service that is killed while it delivers to five receivers loses nothing, and keeps the order', async () => {
  const services = await startServices(folder(), 1)
  const receivers = [await startReceiver(services, ['comment'])]
  while (receivers.length < 5) receivers.push(await startReceiver(services))
  let [kills, since] = [0, 0]
  let restarted: Promise<void> = Promise.resolve()
  /** Once in a while, a delivery is the last one that the process has sent: it gets no answer. */
  const kill = (): boolean => {
    if (kills === KILLS || ++since < 20) return false
    ;[kills, since] = [kills + 1, 0]
    restarted = services.kill(0).then(() => services.start(0))
    return true
  }
  const failures: Readonly<Record<number, Reaction>> = { 1: 'fail', 2: 'reset' }
  for (const [i, receiver] of receivers.entries())
    receiver.react = async (number) => {
      if (kill()) await restarted
      return (number % 40 === 5 && failures[i]) || 'accept'
    }
  for (let entries = 0; entries < ENTRIES; entries += 10) await services.change()
  await expect.poll(async () => (await services.change(), kills), { timeout: 3_000_000, interval: 500 }).toBe(KILLS)
  await restarted
  for (const receiver of receivers) expect(await receiver.violations()).toEqual([])
  const repetitions = receivers.map((receiver) => receiver.repetitions)
  expect(repetitions.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(KILLS)
  console.log(`${ENTRIES} changes, ${kills} kills: ${receivers.map(({ posts }) => posts.length)} deliveries, ${repetitions} repeated`)
})

test('of two processes on one Redis one delivers, and when it is killed, the other takes over', async () => {
  const redis = await startRedis()
  ends.push(() => redis.stop())
  const services = await startServices(redis.url, 2)
  const receiver = await startReceiver(services)
  const delivered = () => Promise.all([services.delivered(0), services.delivered(1)])
  for (let i = 1; i <= 20; i++) {
    await services.change()
    await receiver.got(i)
  }
  await expect.poll(async () => (await delivered()).toSorted((a, b) => a - b)).toEqual([0, receiver.posts.length])
  expect(receiver.repetitions).toBe(0)
  const deliverer = (await services.delivered(0)) > 0 ? 0 : 1
  receiver.react = async (number) => (number === 21 ? (await services.kill(deliverer), 'hang') : 'accept')
  await services.change()
  await receiver.got(22)
  expect(receiver.posts[21]!.id).toBe(receiver.posts[20]!.id)
  await services.start(deliverer)
  for (let i = 0; i < 20; i++) await services.change()
  expect(await receiver.violations()).toEqual([])
  expect({ repetitions: receiver.repetitions, delivered: await services.delivered(deliverer) }).toEqual({ repetitions: 1, delivered: 0 })
})

test('a service that is ended while a receiver hangs ends, and repeats the delivery after its next start', async () => {
  const services = await startServices(folder(), 1)
  const [hanging, other] = [await startReceiver(services), await startReceiver(services)]
  hanging.react = (number) => (number === 1 ? 'hang' : 'accept')
  await services.change()
  await Promise.all([hanging.got(1), other.got(1)])
  expect(await services.all[0]!.stop('SIGTERM')).toBe(0)
  await services.start(0)
  await hanging.got(2)
  await services.change()
  expect({ hanging: await hanging.violations(), other: await other.violations() }).toEqual({ hanging: [], other: [] })
  expect({ hanging: hanging.repetitions, other: other.repetitions }).toEqual({ hanging: 1, other: 0 })
})

describe('the search for violations finds the seeded bug:', () => {
  const feed = [1, 2, 3, 4].map((seq) => ({ seq, kind: seq === 2 ? 'comment' : 'card', data: {} }))
  const post = (id: string, after: number, ...entries: object[]): Post => {
    const next = `c${after + entries.length}`
    return { id, isGenuine: true, data: { after: `c${after}`, next, entries } }
  }
  const [one, two] = [post('a', 0, feed[0]!, feed[1]!), post('b', 2, feed[2]!, feed[3]!)]
  const later = { ...one, data: { ...one.data, entries: one.data.entries.map((entry) => ({ ...entry, data: null })) } }

  test.each<[bug: string, posts: readonly Post[], violation: RegExp | null]>([
    ['none', [one, two], null],
    ['none, with a repetition whose objects have changed', [one, later, two, two], null],
    ['a delivery is missing', [one], /^entry 2 of 4 is undefined/],
    ['the first is missing', [two], /does not begin where/],
    ['an entry is missing', [post('a', 0, feed[0]!), post('b', 1, feed[2]!, feed[3]!)], /^entry 1 of 4/],
    ['the order is another one', [two, one], /does not begin where/],
    ['the order in a delivery is another one', [post('a', 0, feed[1]!, feed[0]!), two], /^entry 0 of 4/],
    ['a repetition has another id', [one, { ...one, id: 'c' }, two], /does not begin where/],
    ['a repetition has other entries', [one, { ...one, data: { ...one.data, entries: [] } }, two], /with something else/],
    ['an old delivery is repeated', [one, two, one], /came again after another/],
    ['a signature is not valid', [one, { ...two, isGenuine: false }], /signature/],
    ['there is more', [one, two, post('c', 4, feed[0]!)], /there are 5 entries/],
  ])('%s', (_bug, posts, violation) => {
    const found = violationsOf(posts, { begin: 'c0', kinds: null, feed })
    if (violation === null) expect(found).toEqual([])
    else expect(found.join('\n')).toMatch(violation)
  })

  test('another kind is delivered', () => {
    const only = (...entries: object[]) => violationsOf([post('a', 0, ...entries)], { begin: 'c0', kinds: ['comment'], feed })
    expect(only(feed[1]!)).toEqual([])
    expect(only(feed[0]!, feed[1]!)).not.toEqual([])
  })
})
