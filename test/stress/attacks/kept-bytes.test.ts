import { mkdtemp, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { driversOf, type DriverName } from '../../support/driver-selection.ts'
import { startRedis, type RedisServer } from '../../support/redis.ts'
import { Target, type Sent } from './target.ts'

/** What counts as one unit, in bytes, by src/http/limits.md: of an answer, and of what is kept. */
const [ANSWER, KEPT] = [64 * 1024, 8 * 1024]
/** The most bytes of the line of a refusal. */
const SHORT = 1024
/** Lines of one source in a second: refusals, and the one that counts the others. */
const LINES = 11

/** The bytes of all files in a folder. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return (await Promise.all(files.map((file) => stat(file).then(({ size }) => size)))).reduce((sum, size) => sum + size, 0)
}

describe.each(driversOf('service'))('what one token makes the service keep, at the default limits, on %s', (storage: DriverName) => {
  let redis: RedisServer | undefined
  let folder: string
  let logFolder: string
  let target: Target
  beforeEach(async () => {
    redis = storage === 'redis' ? await startRedis() : undefined
    folder = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
    logFolder = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
    target = await Target.start(
      storage === 'fs' ? `fs:${folder}` : (redis?.url ?? storage),
      '--decision-log',
      join(logFolder, 'decisions.jsonl'),
    )
  })
  afterEach(async () => {
    await target.stop()
    await redis?.stop()
  })

  /** The bytes that the storage has. In memory they are not told apart from what is no longer needed: there the units are what is asserted. */
  const storedBytes = async (): Promise<number> => {
    if (storage === 'fs') return sizeOf(folder)
    if (redis === undefined) return 0
    const client = new Redis(redis.url)
    const info = await client.info('memory')
    client.disconnect()
    return Number(/^used_memory:(\d+)/m.exec(info)![1])
  }
  const loggedBytes = () => sizeOf(logFolder)

  /** Sends requests one after the other, in one window of the rate limits. @returns what they have cost, and left */
  async function measure(token: string, requests: (round: number) => readonly Sent[]) {
    const idle = { method: 'GET', path: '/account' }
    for (let round = 0; ; round++) {
      const before = { stored: await storedBytes(), logged: await loggedBytes(), rate: (await target.send(token, idle)).rate! }
      const statuses = new Set<number>()
      const all = requests(round)
      for (const request of all) statuses.add((await target.send(token, request)).status)
      const after = { stored: await storedBytes(), rate: (await target.send(token, idle)).rate! }
      // The window has ended in between: another round.
      if (after.rate.seconds > before.rate.seconds) continue
      // The records of reads are written a moment later.
      await expect.poll(async () => (await loggedBytes()) - before.logged).toBeGreaterThan(all.length * 100)
      return {
        statuses: [...statuses],
        // The last request is none of them.
        units: before.rate.rest - after.rate.rest - 1,
        stored: after.stored - before.stored,
        logged: (await loggedBytes()) - before.logged,
      }
    }
  }

  test('a fat card is completed with a new Idempotency-Key each: a key takes no more than its outcome', async () => {
    const token = target.token(0, 0)
    const { cards } = await target.board(token, 1, '\u{1F600}'.repeat(50_000))
    const complete = { method: 'PUT', path: `/cards/${cards[0]}/completion`, body: { completed: true } }
    const { status, data } = await target.send(token, complete)
    const answer = Buffer.byteLength(JSON.stringify({ data }))
    const COUNT = 100
    const found = await measure(token, (round) => Array.from({ length: COUNT }, (_, i) => ({ ...complete, key: `${round}-${i}` })))
    expect([status, found.statuses]).toEqual([200, [200]])
    // The text of the card is kept once an hour.
    const ofAnswers = COUNT * (1 + Math.floor(answer / ANSWER))
    const ofText = Math.ceil(answer / KEPT)
    expect(found.units).toBeGreaterThanOrEqual(ofAnswers)
    expect(found.units).toBeLessThanOrEqual(ofAnswers + 2 * ofText)
    // Each answer has 200 KB.
    expect(found.stored).toBeLessThan(2 * answer + COUNT * KEPT)
  })

  test('the answer is another one each time: what is kept is charged', async () => {
    const token = target.token(0, 0)
    const { cards } = await target.board(token, 1, 'A card')
    const COUNT = 10
    const describeCard = (text: string, key: string) => ({ method: 'PATCH', path: `/cards/${cards[0]}`, body: { description: text }, key })
    const text = (round: number, i: number) => `${round}-${i}-`.padEnd(50_000, '\u{1F600}')
    const found = await measure(token, (round) => Array.from({ length: COUNT }, (_, i) => describeCard(text(round, i), `${round}-${i}`)))
    const bytes = Buffer.byteLength(text(0, 0))
    expect(found.statuses).toEqual([200])
    expect(found.units).toBeGreaterThanOrEqual(COUNT * (1 + Math.floor(bytes / ANSWER) + Math.floor(bytes / KEPT)))
    // The card, which a folder keeps with its earlier versions for a while, and the answer.
    expect(found.stored).toBeLessThan(COUNT * 3 * bytes)
  })

  test('evaluations name 35 ids in each of 100 questions: a record is short, and charged', async () => {
    const token = target.token(0, 0)
    const { board } = await target.board(token, 1, 'A card')
    const body = await target.longEvaluation(token, board)
    const COUNT = 10
    const found = await measure(token, () => Array.from({ length: COUNT }, () => ({ method: 'POST', path: '/access/evaluations', body })))
    expect(found.statuses).toEqual([200])
    // 154 KB each, when each question was recorded with all its decisions.
    expect(found.logged / COUNT).toBeLessThan(16 * 1024)
    const ofQuestions = body.evaluations.length / 4
    expect(found.units).toBeGreaterThanOrEqual(COUNT * (ofQuestions + Math.floor(found.logged / COUNT / KEPT - 0.5)))
    expect(found.units).toBeLessThanOrEqual(COUNT * (ofQuestions + Math.ceil(found.logged / COUNT / KEPT)))
  })

  test('floods of requests that are refused with 429 and 401 leave few lines', async () => {
    const token = target.token(0, 0)
    const { board } = await target.board(token, 1, 'A card')
    const body = await target.longEvaluation(token, board)
    const evaluate = { method: 'POST', path: '/access/evaluations', body }
    const idle = { method: 'GET', path: '/account' }
    while ((await target.send(token, evaluate)).status !== 429) continue
    const before = await loggedBytes()
    const began = performance.now()
    const statuses: Record<number, number> = {}
    for (let i = 0; i < 500; i++)
      for (const sender of [token, 'wrong']) {
        const { status } = await target.send(sender, idle)
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    // A window may end meanwhile: then the token has units, and the address failures.
    const { 200: done = 0, 401: failed = 0, 429: limited = 0 } = statuses
    expect(done + failed + limited).toBe(1000)
    const seconds = Math.ceil((performance.now() - began) / 1000) + 1
    const lines = 2 * LINES * seconds + done
    expect((await loggedBytes()) - before).toBeLessThan(SHORT * lines + 16 * 1024)
  })
})
