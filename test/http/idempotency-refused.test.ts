import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { durations } from '../../src/model/durations.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { recordUses, TestBoard } from '../support/board.ts'
import { logDisk, recordRequests } from '../support/decision-log.ts'
import { memory } from '../support/memory.ts'
import { diskError, recordDisk } from '../support/recording-disk.ts'
import { Service, type Person, type Reply } from '../support/service.ts'

// A request with an Idempotency-Key that is not done leaves nothing behind: the next one with the key is handled as the first one. Refusals
// before anything is done, for every operation: openapi/errors.test.ts. Keys in use: idempotency-keys.test.ts.

const MINUTE = 60_000

interface World {
  readonly service: Service
  /** the creator of the board, who arranges the failures */
  readonly ann: Person
  /** who sends the requests */
  readonly bob: Person
  readonly board: TestBoard
  readonly column: string
  readonly archived: string
  readonly card: string
  readonly comment: string
}

let world: World
let key: string
beforeEach(async () => {
  key = randomUUID()
  const quotas = { token: 40, workspace: 10_000, address: 10_000 }
  const service = await Service.start(memory, { rateLimits: { quotas } })
  const workspaceId = await service.workspace()
  const [ann, bob] = [await service.person(workspaceId, 'member', 'Ann'), await service.person(workspaceId, 'member', 'Bob')]
  const board = await TestBoard.create(service, ann)
  const [column, archived] = [await board.column(), await board.column()]
  const card = await board.card(column)
  const comment = await board.comment(card)
  await board.post(`/columns/${archived}/archive`)
  await recordUses(service, ann, bob)
  service.now += 2 * MINUTE
  world = { service, ann, bob, board, column, archived, card, comment }
})
afterEach(async () => {
  vi.restoreAllMocks()
  await world.service.stop()
})

const isReplayed = ({ headers }: Reply) => headers.get('idempotent-replayed')
const outcomeOf = ({ status, body }: Reply) => `${status} ${body.error?.code ?? ''}`.trim()
/** The number of changes on the board, read by its creator with another token. */
const changes = async (): Promise<number> => (await world.board.get(`/boards/${world.board.id}/changes?limit=100`)).body.data.length

const write = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}, query = '') =>
  world.service.send(world.bob.write, method, path + query, body, { 'idempotency-key': key, ...headers })
const upload = (query = '') => {
  const form = new FormData()
  form.set('file', new File(['hello'], 'a.txt', { type: 'text/plain' }))
  return world.service.upload(world.bob.write, `/cards/${world.card}/files${query}`, form, { 'idempotency-key': key })
}
const batch = (operations: readonly object[], query = '') => write('POST', `/boards/${world.board.id}/batch`, { operations }, {}, query)
const newLabel = (name: string) => ({ operation: 'labels.create', body: { name, color: '#000000' } })

/** Writes of each form. Each makes a change. */
const writes = {
  'a creation': (query = '') => write('POST', `/boards/${world.board.id}/labels`, { name: 'New', color: '#000000' }, {}, query),
  'an update': (query = '') => write('PATCH', `/cards/${world.card}`, { title: key }, {}, query),
  'an upload': upload,
  'a batch': (query = '') => batch([newLabel('One'), newLabel('Two')], query),
} satisfies Record<string, (query?: string) => Promise<Reply>>
type WriteName = keyof typeof writes
const writeNames = Object.keys(writes) as WriteName[]

/** Expects that a request is handled as the first one with its key, and its repetition gets the response. */
async function expectFirst(send: (query?: string) => Promise<Reply>): Promise<void> {
  const before = await changes()
  const first = await send()
  expect({ isDone: first.status < 300, isReplayed: isReplayed(first) }, first.text).toEqual({ isDone: true, isReplayed: null })
  const after = await changes()
  expect(after).toBeGreaterThan(before)
  const again = await send()
  expect({ status: again.status, text: again.text, isReplayed: isReplayed(again), changes: await changes() }).toEqual({
    status: first.status,
    text: first.text,
    isReplayed: 'true',
    changes: after,
  })
}

/** A failure of every request, from its beginning to its end. */
interface Failure {
  readonly outcome: string
  readonly begin: () => unknown
  readonly end?: () => unknown
}

const unavailable = (outcomeKnown = true) => new StorageUnavailable('a planted failure', { outcomeKnown })
/** Makes each call of a method of the storage end in this way. */
const everyCommit = (run: () => Promise<never>) => () => vi.spyOn(world.service.store, 'commit').mockImplementation(run)
const services = () => world.service.app.services

/** Ends a failure. */
let repair: () => unknown

/** Uses up the minute of the token, but for some requests. */
async function useUp(left = 0): Promise<void> {
  for (;;) {
    const { headers } = await world.service.send(world.bob.write, 'GET', '/account')
    if (Number(/"token";r=(\d+)/.exec(headers.get('ratelimit')!)![1]) <= left) return
  }
}
/** Opens a decision log whose disk is full. */
async function fillLog(): Promise<void> {
  let isFull = false
  const disk = recordDisk(await logDisk(), (operation) => {
    if (isFull && operation.startsWith('write')) throw diskError('ENOSPC')
  })
  await recordRequests(world.service, disk)
  isFull = true
  repair = () => (isFull = false)
}

const failures: Readonly<Record<string, Failure>> = {
  'a commit whose outcome is unknown, and that was not made': {
    outcome: '503 unavailable',
    begin: everyCommit(() => Promise.reject(unavailable(false))),
  },
  'commits that conflict each time': { outcome: '503 contention', begin: everyCommit(async () => 'conflict' as never) },
  'an exception in a commit': { outcome: '500 internal_error', begin: everyCommit(() => Promise.reject(new TypeError('planted'))) },
  'an exception in the operation': {
    outcome: '500 internal_error',
    begin: () => {
      const random = vi.spyOn(services(), 'random').mockImplementation(() => {
        throw new TypeError('planted')
      })
      repair = () => random.mockRestore()
    },
    end: () => repair(),
  },
  'a rate limit': { outcome: '429 rate_limited', begin: () => useUp(), end: () => (world.service.now += MINUTE) },
  'a decision log that cannot be written': { outcome: '503 unavailable', begin: fillLog, end: () => repair() },
}

describe('after a failure, the next request with the Idempotency-Key is the first one', () => {
  test.each(Object.entries(failures).flatMap(([title, failure]) => writeNames.map((name) => [title, name, failure] as const)))(
    '%s: %s',
    async (_title, name, { outcome, begin, end }) => {
      const before = await changes()
      await begin()
      // Twice: the failure is answered again, and not that the key is in use.
      expect([outcomeOf(await writes[name]()), outcomeOf(await writes[name]())]).toEqual([outcome, outcome])
      vi.restoreAllMocks()
      await end?.()
      expect(await changes()).toBe(before)
      await expectFirst(writes[name])
    },
  )

  test.each(writeNames)('storage that fails at any one access: %s', async (name) => {
    const outcomes = new Set<string>()
    for (let at = 1; ; at++) {
      key = randomUUID()
      world.service.now += MINUTE
      let accesses = 0
      const { store } = world.service
      for (const method of ['read', 'commit'] as const) {
        const run = store[method].bind(store) as (...args: unknown[]) => Promise<never>
        vi.spyOn(store, method).mockImplementation((...args: unknown[]) =>
          ++accesses === at ? Promise.reject(unavailable()) : run(...args),
        )
      }
      world.service.forgetTokens()
      const reply = await writes[name]()
      vi.restoreAllMocks()
      if (reply.status < 300) break
      outcomes.add(`${outcomeOf(reply)} ${reply.body.error.outcome}`)
      await expectFirst(writes[name])
    }
    expect([...outcomes]).toEqual(['503 unavailable not_done'])
  })

  test('blobs that cannot be written: an upload', async () => {
    const { blobs } = services()
    Object.assign(services(), { blobs: { ...blobs, write: () => Promise.reject(unavailable()) } })
    expect(outcomeOf(await upload())).toBe('503 unavailable')
    Object.assign(services(), { blobs })
    await expectFirst(writes['an upload'])
  })

  test('a rate limit that a batch does not fit in', async () => {
    await useUp(1)
    expect(outcomeOf(await writes['a batch']())).toBe('429 rate_limited')
    world.service.now += MINUTE
    await expectFirst(writes['a batch'])
  })
})

/** An upload that ends with an error within its file, as it does when its client leaves. */
async function brokenOff(): Promise<Reply> {
  const file = 'content-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain'
  const parts = [Buffer.from(`--x\r\n${file}\r\n\r\nhello`)]
  const body = new ReadableStream({
    pull: (controller) => (parts.length > 0 ? controller.enqueue(parts.pop()) : controller.error(new Error('the client has left'))),
  })
  const type = { 'content-type': 'multipart/form-data; boundary=x' }
  const headers = { authorization: `Bearer ${world.bob.write}`, ...type, 'idempotency-key': key }
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const response = await world.service.app.fetch(new Request(`http://localhost/v1/cards/${world.card}/files`, init))
  return { status: response.status, headers: response.headers, text: '', body: await response.json() }
}

const createCard = (body: object) => write('POST', `/boards/${world.board.id}/cards`, { title: 'New', ...body })

/** Requests that are refused late, in addition to openapi/errors.test.ts. Written by hand: their outcomes. */
const refused: readonly (readonly [title: string, outcome: string, send: () => Promise<Reply>])[] = [
  ['a comment of someone else', '403 forbidden', () => write('PATCH', `/comments/${world.comment}`, { body: 'x' })],
  ['an archived column', '409 conflict', () => createCard({ column_id: world.archived })],
  ['an upload that breaks off in its file', '400 bad_request', brokenOff],
  [
    'an upload that takes too long',
    '409 conflict',
    async () => {
      const { blobs } = services()
      const slow: typeof blobs.write = (id, bytes) => ((world.service.now += durations.unfinishedUpload), blobs.write(id, bytes))
      Object.assign(services(), { blobs: { ...blobs, write: slow } })
      const reply = await upload()
      Object.assign(services(), { blobs })
      return reply
    },
  ],
  [
    'a batch whose second operation fails',
    '409 conflict',
    () => batch([newLabel('One'), { operation: 'cards.create', body: { title: 'x', column_id: world.archived } }]),
  ],
]

describe('after a refusal, another request with the Idempotency-Key is the first one', () => {
  test.each(refused)('%s: %s', async (_title, outcome, send) => {
    const before = await changes()
    expect([outcomeOf(await send()), outcomeOf(await send())]).toEqual([outcome, outcome])
    expect(await changes()).toBe(before)
    await expectFirst(writes['a creation'])
  })
})

test('a request that begins again after a conflict keeps its key, which a dry run does not need', async () => {
  const { service, board } = world
  const meanwhile: string[] = []
  service.store.beforeCommit = async () => {
    await board.patch(`/cards/${world.card}`, { description: 'Other' })
    service.store.beforeCommit = async () => {
      for (const query of ['', '?dry_run=true']) meanwhile.push(outcomeOf(await writes['an update'](query)))
    }
  }
  await expectFirst(writes['an update'])
  expect(meanwhile).toEqual(['409 idempotency_key_in_use', '200'])
  expect(service.records.find(({ attempts }) => attempts > 1)?.operation).toBe('cards.update')
})
