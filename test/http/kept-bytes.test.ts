import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { keys } from '../../src/store/keys.ts'
import type { Transaction } from '../../src/store/transaction.ts'
import { TestBoard } from '../support/board.ts'
import { linesOf, logDisk, recordRequests } from '../support/decision-log.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person, type Reply } from '../support/service.ts'

const LIMIT = 100
let service: Service
let ann: Person
let board: TestBoard
let card: string
beforeEach(async () => {
  service = await Service.start(memory, { rateLimits: { quotas: { token: LIMIT, workspace: 10_000, address: 1 } } })
  ann = await service.person(await service.workspace())
  board = await TestBoard.create(service, ann)
  card = await board.card(await board.column())
  service.now += 60_000
})
afterEach(() => service.stop())
const remaining = ({ headers }: Reply): number => Number(/"token";r=(\d+)/.exec(headers.get('ratelimit')!)![1])
const describeCard = (description: string, key: string) =>
  board.send('PATCH', `/cards/${card}`, { description }, { 'idempotency-key': key })
const textOf = (units: number) => 'x'.repeat(units * limits.keptBytes)

describe('the response that is stored for an Idempotency-Key', () => {
  test('counts by its bytes, once for the same text', async () => {
    const counts = []
    for (const [description, key] of [
      [textOf(3), 'one'],
      [textOf(3), 'one'],
      [textOf(3), 'two'],
      ['short', 'three'],
    ] as const)
      counts.push(remaining(await describeCard(description, key)))
    expect(counts).toEqual([LIMIT - 4, LIMIT - 5, LIMIT - 6, LIMIT - 7])
  })

  test('counts once for a request that begins again after a conflict', async () => {
    service.store.beforeCommit = async () => void (await board.patch(`/cards/${card}`, { title: 'Other' }))
    await describeCard(textOf(3), 'one')
    expect(service.records.at(-1)!.attempts).toBe(2)
    // The three units, and the three requests.
    expect(remaining(await board.get(`/cards/${card}`))).toBe(LIMIT - 6)
  })

  test('is refused beyond the limit, before anything is done, and the key can be used later', async () => {
    for (let i = 0; i < 24; i++) await describeCard(`${i}${textOf(3)}`, `key-${i}`)
    const refused = await describeCard(textOf(5), 'last')
    expect({ status: refused.status, code: refused.body.error.code, hasRetryAfter: refused.headers.has('retry-after') }).toEqual({
      status: 429,
      code: 'rate_limited',
      hasRetryAfter: true,
    })
    expect(service.records.at(-1)).toMatchObject({ exceeded: 'token' })
    service.now += 60_000
    expect((await board.read(card)).description).toBe(`23${textOf(3)}`)
    const done = await describeCard(textOf(5), 'last')
    expect({ status: done.status, idempotentReplayed: done.headers.get('idempotent-replayed') }).toEqual({
      status: 200,
      idempotentReplayed: null,
    })
  })
})

test('the lines of a request in the decision log count for the next requests', async () => {
  const disk = await logDisk()
  const log = await recordRequests(service, disk)
  const onBoard = 'boards.read boards.update boards.delete boards.set_visibility columns.create labels.create cards.create'
  const names = onBoard.split(' ')
  const asked = (name: string) => ({
    subject: { type: 'user', id: 'me' },
    action: { name },
    resource: { type: 'board', id: board.id, properties: name === 'cards.create' ? { column_id: 'col_00000000000000000000' } : {} },
  })
  const evaluations = Array.from({ length: 100 }, (_, i) => asked(names[i % names.length]!))
  const send = () => service.send(ann.write, 'POST', '/access/evaluations', { evaluations })
  const first = await send()
  await log.flush()
  const { n: _n, prev: _prev, hash: _hash, ...line } = (await linesOf(disk)).at(-1)
  const units = Math.floor((JSON.stringify(line).length - 2) / limits.keptBytes)
  const second = await send()
  expect(units).toBeGreaterThan(0)
  expect(remaining(first) - remaining(second)).toEqual(units + evaluations.length / 4)
})

test('the lines of attempts that began again after a conflict count for the next requests, too', async () => {
  const disk = await logDisk()
  const log = await recordRequests(service, disk)
  const operations = Array.from({ length: 60 }, (_, i) => ({
    operation: 'cards.update',
    params: { card_id: card },
    body: { title: `${i}` },
  }))
  const conflict = async (): Promise<void> => void (await service.write(ann.workspaceId, async (tx) => edit(tx, card)))
  service.store.beforeCommit = conflict
  const first = await board.send('POST', `/boards/${board.id}/batch`, { operations })
  expect({ status: first.status, attempts: service.records.at(-1)!.attempts }).toEqual({ status: 200, attempts: 2 })
  await log.flush()
  const written = (await linesOf(disk)).filter(({ request_id }) => request_id === first.headers.get('x-request-id'))
  const sizes = written.map(({ n: _n, prev: _prev, hash: _hash, ...line }) => JSON.stringify(line).length - 2)
  const unitsOf = (bytes: number) => Math.floor(bytes / limits.keptBytes)
  const units = unitsOf(sizes.reduce((sum, size) => sum + size, 0))
  const second = await board.get(`/cards/${card}`)
  expect(written.map(({ kind }) => kind)).toEqual(['decision', 'outcome', 'decision'])
  expect(units).toBeGreaterThan(unitsOf(Math.max(...sizes)))
  expect(remaining(first) - remaining(second)).toBe(units + 1)
})

/** Changes a card beside the API. */
async function edit(tx: Transaction, id: string): Promise<void> {
  const found = await tx.get(keys.card(id))
  tx.put(keys.card(id), { ...found!, title: 'Other' })
}
