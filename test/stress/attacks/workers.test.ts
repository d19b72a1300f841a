import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRedis, type RedisServer } from '../../support/redis.ts'
import { begin, Target } from './target.ts'

const WORKERS = 4
/** The units of a token in a minute, and by how many each further process may exceed them (src/http/limits.md). */
const LIMIT = 1200
const EXCESS = LIMIT / 100
const CONNECTIONS = 60
/** The units of an evaluation of 100 questions. */
const UNITS = 25

let redis: RedisServer
let folder: string
let target: Target
beforeAll(async () => {
  redis = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
  target = await Target.start(redis.url, '--workers', String(WORKERS), '--decision-log', join(folder, 'decisions.jsonl'))
})
afterAll(async () => {
  await target.stop()
  await redis.stop()
})

/** The number of workers whose decision log has a request of a kind. */
async function workersWith(isMeant: (line: any) => boolean): Promise<number> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith('.lock'))
  const found = await Promise.all(
    names.map(async (name) => {
      const lines = (await readFile(join(folder, name), 'utf8')).split('\n').slice(0, -1)
      return lines.some((line) => isMeant(JSON.parse(line)))
    }),
  )
  return found.filter(Boolean).length
}

const ACCOUNT = { method: 'GET', path: '/account' }
const evaluation = (workspace: string) => {
  const question = { subject: { type: 'user', id: 'me' }, action: { name: 'boards.list' }, resource: { type: 'workspace', id: workspace } }
  return { method: 'POST', path: '/access/evaluations', body: { evaluations: Array.from({ length: 4 * UNITS }, () => question) } }
}

test('one token over many connections to four workers on one Redis has the limit of one service, and others are served', async () => {
  const [token, victim] = [target.token(0, 0), target.token(1, 0)]
  const { board } = await target.board(victim, 1, 'A card')
  const account = (await target.send(token, ACCOUNT)).data
  const requests = [evaluation(account.workspace.id)]
  const isOfAttack = ({ operation, token_id, status }: any) =>
    operation === 'access.evaluate_all' && token_id === account.token.id && status === 200
  const hasUnits = async () => (await target.send(token, ACCOUNT)).rate!.rest > LIMIT / 2
  for (let isMeasured = false; !isMeasured;) {
    await expect.poll(hasUnits, { timeout: 120_000, interval: 1000 }).toBe(true)
    const others: number[] = []
    const send = async () => {
      const { status, rate } = await target.send(victim, { method: 'GET', path: `/boards/${board}/cards` })
      others.push(status)
      return rate!.seconds
    }
    const first = await send()
    const end = await begin(target.url, { kind: 'hammer', token, connections: CONNECTIONS, requests })
    while ((await target.send(token, ACCOUNT)).status !== 429) await send()
    for (let i = 0; i < 20; i++) await send()
    const statuses = await end()
    const last = await send()
    const { 200: admitted = 0, ...refused } = statuses
    expect(Object.keys(refused)).toEqual(['429'])
    expect(new Set(others)).toEqual(new Set([200]))
    // Two windows have two limits, and one worker alone proves nothing.
    isMeasured = last <= first && (await workersWith(isOfAttack)) > 1
    if (isMeasured) expect(admitted * UNITS).toBeLessThanOrEqual(LIMIT + (WORKERS - 1) * EXCESS)
  }
})
