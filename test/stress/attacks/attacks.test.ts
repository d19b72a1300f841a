import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { driversOf, type DriverName } from '../../support/driver-selection.ts'
import { effort } from '../../support/effort.ts'
import { startRedis, type RedisServer } from '../../support/redis.ts'
import { begin, Target, type Attack, type Sent } from './target.ts'

/** How long an attack lasts at least, in seconds. It lasts longer if the requests that are measured take longer. */
const SECONDS = Number(process.env['LANEKEEPER_ATTACK_SECONDS'] ?? 0)
/** The requests that are measured, without and during each attack. */
const REQUESTS = effort(20)
/** In a long attack, each measured request begins so many milliseconds after the previous one, so their token stays within its units. */
const PACE = SECONDS === 0 ? 0 : 60
/** How often both are measured, alternately. */
const ROUNDS = SECONDS === 0 ? 1 : 3
/** Whether each attack is made on each driver. By default they take turns: an attack is made on one of them. */
const EVERYWHERE = SECONDS > 0 || effort(1) > 1
/** What the memory of the process must stay below, in MiB. A short attack on a busy machine leaves no time for V8's garbage collection. */
const MAX_MEMORY = SECONDS === 0 ? 600 : 400

interface Drill {
  /** what the durations are compared by, and how many times as long they may be during the attack */
  readonly quantile: number
  readonly goal: number
  /** what the responses of the attacker may be */
  readonly statuses: readonly string[]
  /** what each of its requests costs at least; undefined: one unit */
  readonly units?: number
  /** the units in a minute; undefined: a token's */
  readonly budget?: number
  prepare(target: Target): Promise<{ readonly attack: Attack; readonly victim: string; readonly requests: readonly Sent[] }>
}

/** Ordinary requests of someone. */
async function ordinary(target: Target, token: string): Promise<readonly Sent[]> {
  const { board, cards } = await target.board(token, 3, 'A card')
  return [
    { method: 'GET', path: `/boards/${board}/cards` },
    { method: 'POST', path: `/cards/${cards[0]}/comments`, body: { body: 'A comment' } },
  ]
}

/** An attack in one workspace, while someone works in another one. */
const onOthers = async (target: Target, attack: Omit<Attack, 'token'>) => {
  const victim = target.token(1, 0)
  return { attack: { token: target.token(0, 0), ...attack }, victim, requests: await ordinary(target, victim) }
}

/** A board with cards of 200 KB. */
const fatBoard = async (target: Target, cards: number) => target.board(target.token(0, 0), cards, '\u{1F600}'.repeat(50_000))
/** What the limits let through, and what they refuse. */
const LIMITED = ['200', '429']

const drills: Readonly<Record<string, Drill>> = {
  'a board is renamed all the time, and another member comments on it and lists its cards': {
    quantile: 0.99,
    goal: 10,
    statuses: LIMITED,
    async prepare(target) {
      const [attacker, victim] = [target.token(0, 0), target.token(0, 1)]
      const requests = await ordinary(target, attacker)
      const board = /\/boards\/[^/]*/.exec(requests[0]!.path)![0]
      const rename = Array.from({ length: 10 }, (_, i) => ({ method: 'PATCH', path: board, body: { name: `${i}` } }))
      return { attack: { kind: 'hammer', token: attacker, connections: 12, requests: rename }, victim, requests }
    },
  },
  'long lists are requested over connections that are not read': {
    quantile: 0.99,
    goal: 10,
    statuses: ['ignored'],
    async prepare(target) {
      const { board } = await target.board(target.token(0, 0), 100, 'x'.repeat(50_000))
      const requests = [{ method: 'GET', path: `/boards/${board}/cards?limit=100` }]
      return onOthers(target, { kind: 'ignore', connections: 8, requests })
    },
  },
  'bodies with 50,000 unknown members are sent': {
    quantile: 0.99,
    goal: 10,
    statuses: ['422', '429'],
    async prepare(target) {
      const members = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`${i.toString(36)}`, 1]))
      const requests = [{ method: 'POST', path: '/boards', body: { name: 'x', ...members } }]
      return onOthers(target, { kind: 'hammer', connections: 12, requests })
    },
  },
  'bodies with 10,000 items are sent': {
    quantile: 0.99,
    goal: 10,
    statuses: ['422', '429', 'lost'],
    async prepare(target) {
      const requests = [{ method: 'POST', path: '/boards', body: { name: Array.from({ length: 9_900 }, (_, i) => i) } }]
      return onOthers(target, { kind: 'hammer', connections: 12, requests })
    },
  },
  'forms with 400,000 tiny parts are uploaded': {
    quantile: 0.99,
    goal: 5,
    // What is sent when the attack ends is lost.
    statuses: ['422', '429', 'lost'],
    async prepare(target) {
      const { cards } = await target.board(target.token(0, 0), 1, 'A card')
      const form = `${'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(400_000)}--x--\r\n`
      const requests = [{ method: 'POST', path: `/cards/${cards[0]}/files`, form }]
      return onOthers(target, { kind: 'hammer', connections: 4, requests })
    },
  },
  'files of 5 MiB are uploaded over 8 connections': {
    quantile: 0.99,
    goal: 10,
    statuses: ['201', '409', '429', 'lost'],
    async prepare(target) {
      const { cards } = await target.board(target.token(0, 0), 1, 'A card')
      const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
      const form = `${head}${'x'.repeat(5 * 1024 * 1024)}\r\n--x--\r\n`
      const requests = [{ method: 'POST', path: `/cards/${cards[0]}/files`, form }]
      return onOthers(target, { kind: 'hammer', connections: 8, requests })
    },
  },
  'a large board is searched over 32 connections': {
    quantile: 0.5,
    goal: 3,
    statuses: LIMITED,
    async prepare(target) {
      const { board } = await target.board(target.token(0, 0), Math.min(effort(500), 5000), 'lorem ipsum '.repeat(50))
      return onOthers(target, { kind: 'hammer', connections: 32, requests: [{ method: 'GET', path: `/boards/${board}/cards?q=nothing` }] })
    },
  },
  'long cards are listed over 60 connections': {
    quantile: 0.5,
    goal: 5,
    statuses: LIMITED,
    units: 16,
    async prepare(target) {
      const { board } = await fatBoard(target, 8)
      return onOthers(target, { kind: 'hammer', connections: 60, requests: [{ method: 'GET', path: `/boards/${board}/cards?limit=100` }] })
    },
  },
  'snapshots with long cards are read over 60 connections': {
    quantile: 0.5,
    goal: 5,
    statuses: LIMITED,
    units: 16,
    async prepare(target) {
      const { board } = await fatBoard(target, 8)
      return onOthers(target, { kind: 'hammer', connections: 60, requests: [{ method: 'GET', path: `/boards/${board}?include=cards` }] })
    },
  },
  'long cards are completed in batches through MCP over 48 connections': {
    quantile: 0.5,
    goal: 5,
    statuses: LIMITED,
    units: 5,
    async prepare(target) {
      const { board, cards } = await fatBoard(target, 5)
      const requests = [true, false].map((completed) => {
        const operations = cards.map((card_id) => ({ operation: 'cards.complete', params: { card_id }, body: { completed } }))
        const params = { name: 'make_many_changes', arguments: { board_id: board, operations } }
        return { method: 'POST', path: '', body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } }
      })
      return onOthers(target, { kind: 'mcp', connections: 48, requests })
    },
  },
  'webhooks are tested whose receiver sends 100 Continue without end': {
    quantile: 0.5,
    goal: 5,
    statuses: ['200', '409', '429'],
    async prepare(target) {
      const port = await freePort()
      const { webhooks } = await target.followedBoard(target.token(0, 0), port)
      const requests = webhooks.map((id) => ({ method: 'POST', path: `/webhooks/${id}/test` }))
      return onOthers(target, { kind: 'hammer', connections: 10, requests, receiver: { port, does: 'floods' } })
    },
  },
  'ten webhooks follow each of ten boards while cards are renamed': {
    quantile: 0.5,
    goal: 5,
    statuses: LIMITED,
    async prepare(target) {
      const port = await freePort()
      const requests: Sent[] = []
      for (let i = 0; i < 10; i++) {
        const { cards } = await target.followedBoard(target.token(0, 0), port)
        for (const [j, card] of cards.entries()) requests.push({ method: 'PATCH', path: `/cards/${card}`, body: { title: `${i} ${j}` } })
      }
      const again = requests.map(({ body: _body, ...one }) => ({ ...one, body: { title: 'Again' } }))
      return onOthers(target, { kind: 'hammer', connections: 10, requests: [...requests, ...again], receiver: { port, does: 'accepts' } })
    },
  },
  'a claim is read whose token was rotated again and again, and a colleague takes the next card': {
    quantile: 0.5,
    goal: 5,
    statuses: LIMITED,
    async prepare(target) {
      const [attacker, victim] = [target.token(0, 0), target.token(0, 1)]
      const { board, cards } = await target.board(attacker, 3, 'A card')
      const path = await target.rotatedClaim(0, 0, cards[0]!, effort(200))
      const requests = [
        { method: 'POST', path: `/boards/${board}/claims`, body: { ttl: 10 } },
        { method: 'GET', path },
      ]
      return { attack: { kind: 'hammer', token: attacker, connections: 4, requests: [{ method: 'GET', path }] }, victim, requests }
    },
  },
  'evaluations name 35 ids in each of 100 questions, over 32 connections': {
    quantile: 0.5,
    goal: 5,
    statuses: LIMITED,
    units: 25,
    async prepare(target) {
      const token = target.token(0, 0)
      const { board } = await target.board(token, 1, 'A card')
      const body = await target.longEvaluation(token, board)
      return onOthers(target, { kind: 'hammer', connections: 32, requests: [{ method: 'POST', path: '/access/evaluations', body }] })
    },
  },
  'streams read a board from its beginning over 60 connections, beside writes to it': {
    quantile: 0.5,
    goal: 5,
    statuses: [...LIMITED, 'lost'],
    async prepare(target) {
      const { board, cards } = await target.board(target.token(0, 0), Math.min(effort(500), 5000), 'lorem ipsum '.repeat(50))
      const write = { method: 'PATCH', path: `/cards/${cards[0]}`, body: { description: 'lorem ipsum '.repeat(60) } }
      const requests = [{ method: 'GET', path: `/boards/${board}/events` }, write, { ...write, body: { description: '' } }]
      return onOthers(target, { kind: 'follow', connections: 62, requests })
    },
  },
  'pages of a large board are opened over 12 connections': {
    quantile: 0.5,
    goal: 5,
    statuses: LIMITED,
    units: 5,
    budget: 4800,
    async prepare(target) {
      const { board } = await target.board(target.token(0, 0), Math.min(effort(500), 5000), 'lorem ipsum')
      const { cookie, workspace } = await target.signIn(0, 0)
      const requests = [{ method: 'GET', path: `/app/${workspace}/boards/${board}` }]
      return onOthers(target, { kind: 'page', cookie, connections: 12, requests })
    },
  },
  'public documents and pages for visitors are opened over 12 connections': {
    quantile: 0.5,
    goal: 5,
    statuses: ['200', '404'],
    // Nobody is charged: they cost next to nothing.
    budget: Infinity,
    async prepare(target) {
      const paths = [
        '/openapi.json',
        '/llms.txt',
        '/policies',
        '/docs',
        '/docs/errors',
        '/docs?q=card',
        '/settings/sign-in',
        '/',
        '/nothing',
      ]
      return onOthers(target, { kind: 'page', connections: 12, requests: paths.map((path) => ({ method: 'GET', path })) })
    },
  },
}

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

const quantileOf = (durations: readonly number[], quantile: number) =>
  durations.toSorted((a, b) => a - b)[Math.min(durations.length - 1, Math.floor(durations.length * quantile))]!

/** Sends requests one after the other: at least some, and until a time has passed. */
async function measure(target: Target, token: string, requests: readonly Sent[], seconds: number) {
  const durations: number[] = []
  const refused: number[] = []
  const end = performance.now() + seconds * 1000
  for (let i = 0; i < REQUESTS || performance.now() < end; i++) {
    const { status, duration } = await target.send(token, requests[i % requests.length]!)
    // A card has at most 5000 comments.
    if (status >= 300 && status !== 409) refused.push(status)
    durations.push(duration)
    await delay(Math.max(0, PACE - duration))
  }
  return { durations, refused }
}

const rows: string[] = []
afterAll(() => {
  const head = '| attack | storage | quiet p50 | p99 | attacked p50 | p99 | ratio | goal | CPU s | MiB | responses of the attacker |'
  console.log([head, head.replaceAll(/[^|]+/g, ' --- '), ...rows].join('\n'))
})

const drivers = driversOf('service')

describe.each(drivers)('an attack does not stop others, on %s', (storage: DriverName) => {
  let redis: RedisServer | undefined
  let target: Target
  // A token has its units in each drill.
  beforeEach(async () => {
    if (storage === 'redis') redis = await startRedis()
    const folder = storage === 'fs' ? `fs:${await mkdtemp(join(tmpdir(), 'lanekeeper-'))}` : storage
    target = await Target.start(redis?.url ?? folder)
  })
  afterEach(async () => {
    await target.stop()
    await redis?.stop()
  })

  const own = Object.entries(drills).filter((_drill, i) => EVERYWHERE || drivers[i % drivers.length] === storage)
  test.each(own)('%s', async (name, { prepare, quantile, goal, statuses, units = 1, budget = 1200 }) => {
    const began = performance.now()
    const { attack, victim, requests } = await prepare(target)
    // The first requests are slower.
    await measure(target, victim, requests, 0)
    const quiet: number[] = []
    const attacked: number[] = []
    const found: { refused: number[]; statuses: Record<string, number> } = { refused: [], statuses: {} }
    let memory = 0
    let cpu = 0
    const note = ({ memory: now }: { readonly memory: number }) => (memory = Math.max(memory, now))
    for (let round = 0; round < ROUNDS; round++) {
      quiet.push(...(await measure(target, victim, requests, SECONDS / ROUNDS / 4)).durations)
      const before = await target.usage()
      const end = await begin(target.url, attack)
      const sampling = setInterval(() => void target.usage().then(note, () => undefined), 200)
      const { durations, refused } = await measure(target, victim, requests, SECONDS / ROUNDS).finally(() => clearInterval(sampling))
      const after = await target.usage()
      note(after)
      cpu += after.cpu - before.cpu
      for (const [status, count] of Object.entries(await end())) found.statuses[status] = (found.statuses[status] ?? 0) + count
      attacked.push(...durations)
      found.refused.push(...refused)
    }
    const ratio = quantileOf(attacked, quantile) / quantileOf(quiet, quantile)
    const times = [quiet, attacked].flatMap((all) => [0.5, 0.99].map((one) => quantileOf(all, one).toFixed(1)))
    const judged = `p${quantile * 100} × ${ratio.toFixed(1)}`
    rows.push(
      `| ${[name, storage, ...times, judged, `≤ ${goal}`, cpu.toFixed(2), memory.toFixed(0), JSON.stringify(found.statuses)].join(' | ')} |`,
    )
    expect(found.refused).toEqual([])
    // The window may end during the attack, and what is in progress when the limit is reached is done.
    const windows = Math.ceil((performance.now() - began) / 60_000) + 1
    expect((found.statuses['200'] ?? 0) * units).toBeLessThanOrEqual(budget * windows + 64 * units)
    expect(Object.keys(found.statuses).filter((status) => !statuses.includes(status))).toEqual([])
    // The memory driver keeps the files that it took.
    const stored = storage === 'memory' ? 5 * (found.statuses['201'] ?? 0) : 0
    expect(memory - stored).toBeLessThan(MAX_MEMORY)
  })
})
