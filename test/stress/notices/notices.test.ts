import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { addMember } from '../../../src/admin/memberships.ts'
import { addUser } from '../../../src/admin/users.ts'
import { createWorkspace } from '../../../src/admin/workspaces.ts'
import { issueToken } from '../../../src/auth/tokens/issue.ts'
import { systemRandom as random } from '../../../src/model/ids.ts'
import { systemClock as clock } from '../../../src/model/time.ts'
import { createDerivations } from '../../../src/resources/derived.ts'
import { openStorage } from '../../../src/store/open.ts'
import { transact } from '../../../src/store/transact.ts'
import { effort } from '../../support/effort.ts'
import { quiet } from '../../support/log.ts'
import { freePort } from '../../support/ports.ts'
import { startService, type StartedService } from '../../support/process.ts'
import { startRedis } from '../../support/redis.ts'
import { newFolder } from '../../support/run.ts'
import { insistOn } from '../claims/fleet.ts'

const [WRITERS, WRITES, KILLS, DAY] = [6, effort(120), 2, 24 * 60 * 60 * 1000]
/** The tokens that end within 14 days: one notice each. */
const ENDING = 30

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Ann and Bob in a storage that no process uses. Tokens of Bob end soon. */
async function fill(address: string) {
  const { store, close } = await openStorage(address, { log: quiet, derived: createDerivations() })
  const deps = { store, clock, random }
  const { id } = await createWorkspace(deps, 'Acme')
  const issue = (userId: string, name: string, lifetime: number) =>
    transact(store, id, random, (tx) => issueToken(tx, { userId, name, scopes: ['kanban:admin'], lifetime }, deps))
  const people: { id: string; plaintext: string }[] = []
  for (const name of ['Ann', 'Bob']) {
    const user = await addUser(deps, { display_name: name })
    await addMember(deps, id, user, 'owner')
    people.push({ id: user.id, plaintext: (await issue(user.id, name, 60 * DAY)).plaintext })
  }
  const [ann, bob] = people as [(typeof people)[0], (typeof people)[0]]
  // They were issued for 15 days, and end in 12.
  const past = { store, random, clock: () => clock() - 3 * DAY }
  for (let i = 0; i < ENDING; i++)
    await transact(store, id, random, (tx) =>
      issueToken(tx, { userId: bob.id, name: `t${i}`, scopes: ['kanban:read'], lifetime: 15 * DAY }, past),
    )
  await close()
  return { ann, bob }
}

test.each([
  { name: 'one process on a folder', count: 1, open: async () => `fs:${join(newFolder(), 'storage')}` },
  {
    name: 'two processes on Redis',
    count: 2,
    open: async () => {
      const redis = await startRedis()
      ends.push(() => redis.stop())
      return redis.url
    },
  },
])('each write has its notice once, of $name that are killed and started again', async ({ count, open }) => {
  const address = await open()
  const { ann, bob } = await fill(address)
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort())
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const all: StartedService[] = []
  const start = async (i: number) => {
    const env = {
      LANEKEEPER_STORAGE: address,
      LANEKEEPER_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      LANEKEEPER_RATE_LIMITS: 'off',
    }
    all[i] = await startService([], { ...env, PORT: String(ports[i]) }, { underLoad: true })
  }
  ends.push(() => Promise.all(all.map((service) => service.stop('SIGKILL'))))
  for (let i = 0; i < count; i++) await start(i)

  const insist = insistOn(urls, ann)
  const create = async (path: string, body: object) => (await insist('POST', path, body)).body.data.id as string
  const board = await create('/boards', { name: 'Board' })
  const column_id = await create(`/boards/${board}/columns`, { name: 'Column' })
  const due_at = new Date(Date.now() + DAY / 2).toISOString()
  const cards = await Promise.all(
    Array.from({ length: WRITERS }, (_one, i) =>
      create(`/boards/${board}/cards`, { column_id, title: 'Card', ...(i % 2 === 0 ? { due_at, assignee_ids: [bob.id] } : {}) }),
    ),
  )

  /** What each write says → whether it was acknowledged. */
  const writes = new Map<string, boolean>()
  /** Sends a write once: it may be done without an answer. */
  const once = async (path: string, body: object): Promise<boolean> => {
    const headers = { authorization: `Bearer ${ann.plaintext}`, 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${urls[randomInt(count)]}/v1${path}`, sent).catch(() => undefined)
    const text = await response?.text().catch(() => undefined)
    return response?.status === 201 && text !== undefined
  }
  let kills = 0
  let restarted: Promise<void> = Promise.resolve()
  const writer = async (card: string, writerNumber: number) => {
    for (let i = 0; i < WRITES / WRITERS; i++) {
      const word = `w${writerNumber}n${i}x`
      const isMention = i % 2 === 0
      const [path, body] = isMention
        ? [`/cards/${card}/comments`, { body: `${word} @${bob.id}` }]
        : [`/boards/${board}/cards`, { column_id, title: word, assignee_ids: [bob.id] }]
      writes.set(word, await once(path, body))
      // All writers go on together, so that most writes come while the service runs.
      await restarted
      if (kills === KILLS || writes.size <= ((kills + 1) * WRITES) / (KILLS + 1)) continue
      const one = kills++ % count
      restarted = all[one]!.stop('SIGKILL').then(() => start(one))
    }
  }
  await Promise.all(cards.map(writer))
  await restarted

  const listed = async () => {
    const found: any[] = []
    for (let after = ''; ;) {
      const { body } = await insistOn(urls, bob)('GET', `/notices?limit=100${after}`)
      if (body.data.length === 0) return found
      found.push(...body.data)
      after = `&after=${body.page.next_cursor}`
    }
  }
  const ofKind = async (kind: string) => (await listed()).filter((one) => one.kind === kind)
  // Each process looks when it starts, and soon after something was done.
  await expect.poll(async () => (await ofKind('token_ending')).length, { timeout: 300_000, interval: 500 }).toBeGreaterThanOrEqual(ENDING)
  await expect.poll(async () => (await ofKind('due')).length, { timeout: 300_000, interval: 500 }).toBeGreaterThanOrEqual(WRITERS / 2)

  const notices = await listed()
  const violations: string[] = []
  for (const [word, isAcknowledged] of writes) {
    const told = notices.filter(({ text }) => text.includes(word)).length
    if (told > 1 || (isAcknowledged && told === 0))
      violations.push(`${word} was ${isAcknowledged ? '' : 'not '}acknowledged, and told ${told} times`)
  }
  expect(violations).toEqual([])
  expect(kills).toBe(KILLS)
  expect([...writes.values()].filter(Boolean).length).toBeGreaterThan(WRITES / 4)
  const names = notices.filter(({ kind }) => kind === 'token_ending').map(({ token_name }) => token_name as string)
  expect(names.toSorted()).toEqual(Array.from({ length: ENDING }, (_one, i) => `t${i}`).toSorted())
  const due = notices.filter(({ kind }) => kind === 'due').map(({ card_id }) => card_id as string)
  expect(due.toSorted()).toEqual(cards.filter((_card, i) => i % 2 === 0).toSorted())
  console.log(
    `${writes.size} writes, ${[...writes.values()].filter(Boolean).length} acknowledged, ${kills} kills, ${notices.length} notices`,
  )
})
