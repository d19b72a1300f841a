import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { driversOf, type DriverName } from '../../support/driver-selection.ts'
import { effort } from '../../support/effort.ts'
import { startRedis, type RedisServer } from '../../support/redis.ts'
import { begin, Target, type Attack, type Sent } from './target.ts'

/** The requests that are measured, without and during each attack. */
const REQUESTS = effort(20)
/** What the memory of the process must stay below, in MiB. A short attack on a busy machine leaves no time for V8's garbage collection. */
const MAX_MEMORY = 600

interface Drill {
  /** what the responses of the attacker may be; default: what the limits let through, and what they refuse */
  readonly statuses?: readonly string[]
  /** what each of its requests costs at least; undefined: one unit */
  readonly units?: number
  /** whether the victim is in the workspace of the attacker */
  readonly isInWorkspace?: boolean
  /** @param board that of the victim */
  prepare(target: Target, token: string, board: string): Promise<Omit<Attack, 'token'>>
}

/** A board with cards of 200 KB. */
const fatBoard = async (target: Target, token: string, cards: number) => target.board(token, cards, '\u{1F600}'.repeat(50_000))

const drills: Readonly<Record<string, Drill>> = {
  'a board is renamed all the time, and another member comments on it and lists its cards': {
    isInWorkspace: true,
    async prepare(_target, _token, board) {
      const requests = Array.from({ length: 10 }, (_, i) => ({ method: 'PATCH', path: `/boards/${board}`, body: { name: `${i}` } }))
      return { kind: 'hammer', connections: 12, requests }
    },
  },
  'long lists are requested over connections that are not read': {
    statuses: ['ignored'],
    async prepare(target, token) {
      const { board } = await target.board(token, 100, 'x'.repeat(50_000))
      return { kind: 'ignore', connections: 8, requests: [{ method: 'GET', path: `/boards/${board}/cards?limit=100` }] }
    },
  },
  'bodies with 50,000 unknown members are sent': {
    statuses: ['422', '429'],
    async prepare() {
      const members = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`${i.toString(36)}`, 1]))
      return { kind: 'hammer', connections: 12, requests: [{ method: 'POST', path: '/boards', body: { name: 'x', ...members } }] }
    },
  },
  'a large board is searched over 32 connections': {
    async prepare(target, token) {
      const { board } = await target.board(token, Math.min(effort(500), 5000), 'lorem ipsum '.repeat(50))
      return { kind: 'hammer', connections: 32, requests: [{ method: 'GET', path: `/boards/${board}/cards?q=nothing` }] }
    },
  },
  'long cards are listed over 60 connections': {
    units: 16,
    async prepare(target, token) {
      const { board } = await fatBoard(target, token, 8)
      return { kind: 'hammer', connections: 60, requests: [{ method: 'GET', path: `/boards/${board}/cards?limit=100` }] }
    },
  },
  'long cards are completed in batches through MCP over 48 connections': {
    units: 5,
    async prepare(target, token) {
      const { board, cards } = await fatBoard(target, token, 5)
      const requests = [true, false].map((completed) => {
        const operations = cards.map((card_id) => ({ operation: 'cards.complete', params: { card_id }, body: { completed } }))
        const params = { name: 'make_many_changes', arguments: { board_id: board, operations } }
        return { method: 'POST', path: '', body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } }
      })
      return { kind: 'mcp', connections: 48, requests }
    },
  },
  'evaluations name 35 ids in each of 100 questions, over 32 connections': {
    units: 25,
    async prepare(target, token) {
      const { board } = await target.board(token, 1, 'A card')
      const body = await target.longEvaluation(token, board)
      return { kind: 'hammer', connections: 32, requests: [{ method: 'POST', path: '/access/evaluations', body }] }
    },
  },
}

const quantileOf = (durations: readonly number[], quantile: number) =>
  durations.toSorted((a, b) => a - b)[Math.min(durations.length - 1, Math.floor(durations.length * quantile))]!

/** Sends requests one after the other. */
async function measure(target: Target, token: string, requests: readonly Sent[]) {
  const durations: number[] = []
  const refused: number[] = []
  for (let i = 0; i < REQUESTS; i++) {
    const { status, duration } = await target.send(token, requests[i % requests.length]!)
    if (status >= 300) refused.push(status)
    durations.push(duration)
  }
  return { durations, refused }
}

const rows: string[] = []
afterAll(() => {
  const head = '| attack | storage | quiet p50 | p99 | attacked p50 | p99 | CPU s | MiB | responses of the attacker |'
  console.log([head, head.replaceAll(/[^|]+/g, ' --- '), ...rows].join('\n'))
})

describe.each(driversOf('service'))('an attack does not stop others, on %s', (storage: DriverName) => {
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

  test.each(Object.entries(drills))('%s', async (name, { prepare, statuses = ['200', '429'], units = 1, isInWorkspace = false }) => {
    const began = performance.now()
    const token = target.token(0, 0)
    const victim = isInWorkspace ? target.token(0, 1) : target.token(1, 0)
    const { board, cards } = await target.board(victim, 3, 'A card')
    const requests = [
      { method: 'GET', path: `/boards/${board}/cards` },
      { method: 'POST', path: `/cards/${cards[0]}/comments`, body: { body: 'A comment' } },
    ]
    const attack = { token, ...(await prepare(target, token, board)) }
    // The first requests are slower.
    await measure(target, victim, requests)
    const quiet = await measure(target, victim, requests)
    const before = await target.usage()
    const end = await begin(target.url, attack)
    let memory = 0
    const sample = async () => (memory = Math.max(memory, (await target.usage()).memory))
    const sampling = setInterval(() => void sample().catch(() => undefined), 200)
    const attacked = await measure(target, victim, requests).finally(() => clearInterval(sampling))
    await sample()
    const cpu = (await target.usage()).cpu - before.cpu
    const answered = await end()
    const times = [quiet, attacked].flatMap(({ durations }) => [0.5, 0.99].map((one) => quantileOf(durations, one).toFixed(1)))
    rows.push(`| ${[name, storage, ...times, cpu.toFixed(2), memory.toFixed(0), JSON.stringify(answered)].join(' | ')} |`)
    expect(attacked.refused).toEqual([])
    // The window may end during the attack, and what is in progress when the limit is reached is done.
    const windows = Math.ceil((performance.now() - began) / 60_000) + 1
    expect((answered['200'] ?? 0) * units).toBeLessThanOrEqual(1200 * windows + 64 * units)
    expect(Object.keys(answered).filter((status) => !statuses.includes(status))).toEqual([])
    expect(memory).toBeLessThan(MAX_MEMORY)
  })
})
