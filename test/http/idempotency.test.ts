import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { durations } from '../../src/model/durations.ts'
import type { Board } from '../../src/model/board.ts'
import type { FileRecord } from '../../src/model/file.ts'
import { operations } from '../../src/resources/table.ts'
import { HOUR } from '../../src/model/time.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { memory } from '../support/memory.ts'
import { createAllowed, exampleBody, headersFor, pathOf } from '../support/scenario.ts'
import { Service, type Person, type Reply } from '../support/service.ts'
import { setUpObservedWorld } from './observed-commits.ts'

/** The key of a test. */
let testKey: string
beforeEach(() => {
  testKey = randomUUID()
})
const withKey = (key = testKey, headers: Record<string, string> = {}) => ({ 'idempotency-key': key, ...headers })
const writes = operations.filter(({ isRead }) => !isRead).map((row) => [row.id, row] as const)

/** What two responses to the same request must have in common. */
const comparable = ({ status, headers, text }: Reply) => {
  const rest = [...headers].filter(([name]) => !['x-request-id', 'idempotent-replayed', 'date'].includes(name))
  return { status, text, headers: Object.fromEntries(rest) }
}
/** The response without a secret that is shown once. */
function withoutSecret(reply: Reply): Reply {
  const { secret } = reply.body.data ?? {}
  if (secret === undefined) return reply
  const text = reply.text.replace(JSON.stringify(secret), 'null')
  const headers = new Headers(reply.headers)
  if (headers.has('content-length')) headers.set('content-length', `${Buffer.byteLength(text)}`)
  return { ...reply, headers, text, body: JSON.parse(text) }
}

const isReplayed = ({ headers }: Reply) => headers.get('idempotent-replayed')

const ZEROS = /^[a-z]{3}_0{20}$/

/** The results of a batch, without what is new of each. */
function withoutIds(body: object): unknown {
  const text = JSON.stringify(body).replaceAll(/"etag":("[^,]*"|null)/g, '"etag":null')
  return JSON.parse(text.replaceAll(/"([a-z]{3})_[0-9a-z]{20}"/g, '"$1"'))
}

describe.each(drivers)('every write with an Idempotency-Key, on $name', (driver) => {
  const setup = setUpObservedWorld(driver)

  test.each(writes)(
    '%s is made once, its dry run changes nothing and answers alike, and its repetition gets the first response',
    async (id, row) => {
      const { service, world, changes } = setup
      const scenario = await createAllowed(world, row)
      const send = (dryRun: boolean, headers = {}) => {
        const path = `${pathOf(row.path, scenario)}?dry_run=${dryRun}`
        return service.send(
          scenario.caller.admin,
          row.method,
          path,
          exampleBody(id, scenario),
          withKey(testKey, { ...headersFor(id), ...headers }),
        )
      }
      // The bytes of a file are received, and a tombstone for them is stored before.
      const isReceived = ({ put }: (typeof changes)[number]) =>
        row.takesUpload && [...put.keys()].every((key) => key.startsWith('tombstone:'))
      const count = () => changes.filter((change) => !isReceived(change)).length
      const before = count()
      const dry = await send(true)
      const { headers } = dry
      expect({ commits: count(), dryRun: headers.get('dry-run'), location: headers.get('location'), etag: headers.get('etag') }).toEqual({
        commits: before,
        dryRun: 'true',
        location: null,
        etag: null,
      })
      const first = await send(false)
      expect({ isDone: first.status < 300, isReplayed: isReplayed(first), dryRun: first.headers.get('dry-run') }).toEqual({
        isDone: true,
        isReplayed: null,
        dryRun: null,
      })
      expect(dry.status).toBe(first.status)
      // The next card is one that exists.
      const created = row.status === 201 && id !== 'claims.take_next' ? { id: expect.stringMatching(ZEROS) } : {}
      const unsent = id === 'webhooks.test' ? { id: '', status: null, error: expect.stringMatching('dry run') } : {}
      if (id === 'boards.batch' || row.takesUpload) expect(withoutIds(dry.body)).toEqual(withoutIds(first.body))
      else expect(dry.body).toEqual({ data: { ...withoutSecret(first).body.data, ...created, ...unsent } })
      const commits = count()
      expect(commits).toBeGreaterThan(before)
      service.now += 1000
      const again = await send(false)
      expect({ answer: comparable(again), isReplayed: isReplayed(again) }).toEqual({
        answer: comparable(withoutSecret(first)),
        isReplayed: 'true',
      })
      const other = await send(false, { 'if-match': '"another"' })
      expect({ status: other.status, code: other.body.error.code }).toEqual({ status: 422, code: 'idempotency_key_reused' })
      expect(service.records.at(-2)!.replayed).toBe(true)
      // A dry run is no repetition either.
      expect({ isReplayed: isReplayed(await send(true)), commits: count() }).toEqual({ isReplayed: null, commits })
    },
  )
})

/** Ends everyone's access to a board or a file that records can end, or removes it. */
async function changeAccess(service: Service, workspaceId: string, other: string, key: Key<Board | FileRecord>, how: 'hide' | 'remove') {
  let before: Board | FileRecord | undefined
  await service.write(workspaceId, async (tx) => {
    before = await tx.get(key)
    if (before === undefined) return
    if (how === 'remove') tx.remove(key)
    else
      tx.put(
        key,
        'owner_id' in before
          ? { ...before, owner_id: other, visibility: 'private' }
          : { ...before, creator_id: other, visibility: 'private' },
      )
  })
  return () =>
    service.write(workspaceId, async (tx) => {
      await tx.get(key)
      if (before !== undefined) tx.put(key, before)
    })
}

describe('the repetition of every write', () => {
  const setup = setUpObservedWorld(memory)

  // Notices are always the caller's own, and the response shows nothing of them.
  test.each(writes.filter(([id]) => id !== 'notices.mark'))(
    '%s shows nothing while the caller has no access to the resource, or after its end, and then the first response again',
    async (id, row) => {
      const { service, world } = setup
      const scenario = await createAllowed(world, row)
      const send = () =>
        service.send(
          scenario.caller.admin,
          row.method,
          pathOf(row.path, scenario),
          exampleBody(id, scenario),
          withKey(testKey, headersFor(id)),
        )
      const first = await send()
      const { board_id, file_id } = scenario.params
      const created = id === 'boards.create' ? first.body.data.id : board_id
      const shown: Key<Board | FileRecord> = id === 'files.update' ? keys.file(file_id!) : keys.board(created)
      // Without this, an explicit member keeps access to a private board.
      await service.write(world.workspaceId, async (tx) => {
        const member = keys.boardMember(created, scenario.caller.id)
        if ((await tx.get(member)) !== undefined) tx.remove(member)
      })
      const absent = await service.send(scenario.caller.admin, 'GET', '/cards/crd_00000000000000000000')
      const withoutId = ({ request_id: _id, ...error }: Record<string, unknown>) => error
      for (const how of ['hide', 'remove'] as const) {
        const restore = await changeAccess(service, world.workspaceId, world.other.id, shown, how)
        const again = await send()
        if (id === 'boards.delete') expect(comparable(again)).toEqual(comparable(first))
        else {
          expect({ status: again.status, error: withoutId(again.body.error) }).toEqual({ status: 404, error: withoutId(absent.body.error) })
          expect(service.records.at(-1)).toMatchObject({
            stage: 'idempotency',
            code: 'not_found',
            ...(how === 'remove' && { absent: true }),
          })
        }
        await restore()
        expect(comparable(await send())).toEqual(comparable(withoutSecret(first)))
      }
    },
  )
})

describe.each(drivers)('an Idempotency-Key, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const labelsOf = async (board = setup.board) => (await board.all(`/boards/${board.id}/labels`)).map(({ name }) => name)
  const create = (name: string, headers: Record<string, string>, token = setup.ann.admin) =>
    setup.service.send(token, 'POST', `/boards/${setup.board.id}/labels`, { name, color: '#000000' }, headers)

  test('belongs to one token', async () => {
    const { ann, bob } = setup
    for (const token of [ann.admin, ann.write, bob.write]) expect(isReplayed(await create('label', withKey(), token))).toBeNull()
    expect(await labelsOf()).toEqual(['label', 'label', 'label'])
  })

  test('is used up by a write that changes nothing, too', async () => {
    const { board, cardId } = setup
    const { title } = await board.read(cardId)
    const send = () => board.send('PATCH', `/cards/${cardId}`, { title }, withKey())
    expect([isReplayed(await send()), isReplayed(await send())]).toEqual([null, 'true'])
  })

  test('gives the first response for a day after its hour, and then makes a new change', async () => {
    const { service, workspaceId, board, cardId } = setup
    const collect = () => collectGarbage(service.adminDeps, workspaceId)
    const kept = async () =>
      (await service.keysBesidesFeeds(workspaceId)).filter((key) => /^(first_response|response_text|tombstone)/.test(key))
    // A long text has a record of its own.
    const describeCard = () => board.send('PATCH', `/cards/${cardId}`, { description: 'x'.repeat(2000) }, withKey('another'))
    await create('label', withKey())
    const first = await describeCard()
    await board.delete(`/cards/${cardId}`)
    service.now += durations.firstResponse
    await collect()
    expect({ described: comparable(await describeCard()), isReplayed: isReplayed(await create('label', withKey())) }).toEqual({
      described: comparable(first),
      isReplayed: 'true',
    })
    service.now += HOUR
    await collect()
    expect(await kept()).toEqual([])
    expect(isReplayed(await create('label', withKey()))).toBeNull()
    expect(await labelsOf()).toHaveLength(2)
  })

  test('does not make a revoked token or an insufficient scope useful', async () => {
    const { service, workspaceId } = setup
    const dan = await service.person(workspaceId)
    await create('label', withKey(), dan.write)
    expect((await create('label', withKey(), dan.read)).body.error.code).toBe('insufficient_scope')
    await service.leaveOnly(workspaceId, dan.id)
    expect((await create('label', withKey(), dan.write)).status).toBe(401)
  })

  test('makes one change when concurrent requests of several processes have it, and each gets its response', async () => {
    const { service, board } = setup
    // Another process on the same storage: it does not know what this one is doing.
    const other = await Service.start({ name: driver.name, open: async () => service.place })
    const send = (from: Service) =>
      from.send(setup.ann.admin, 'POST', `/boards/${board.id}/labels`, { name: 'label', color: '#000000' }, withKey())
    const replies = await Promise.all([service, other, service, other].map(send))
    // How many meet depends on the storage.
    const [inUse, done] = [replies.filter(({ status }) => status === 409), replies.filter(({ status }) => status === 201)]
    for (const { body } of inUse) expect(body.error.code).toBe('idempotency_key_in_use')
    expect({ answered: inUse.length + done.length, fresh: done.filter((reply) => isReplayed(reply) === null).length }).toEqual({
      answered: 4,
      fresh: 1,
    })
    expect(new Set(done.map(({ text }) => text)).size).toBe(1)
    expect(await labelsOf()).toEqual(['label'])
    expect(isReplayed(await send(service))).toBe('true')
  })
})

describe('a request with an Idempotency-Key', () => {
  const setup = setUpBoard(memory)
  const upload = (person: Person, text: string, headers: Record<string, string>) => {
    const form = new FormData()
    form.set('file', new File([text], 'a.txt', { type: 'text/plain' }))
    return setup.service.upload(person.write, `/cards/${setup.cardId}/files`, form, headers)
  }

  test('uploads a file once, and another file cannot have the same key', async () => {
    const { service, workspaceId, ann, board, cardId } = setup
    const first = await upload(ann, 'text', withKey())
    const again = await upload(ann, 'text', withKey())
    expect({ status: first.status, answer: comparable(again), isReplayed: isReplayed(again) }).toEqual({
      status: 201,
      answer: comparable(first),
      isReplayed: 'true',
    })
    expect((await upload(ann, 'other text', withKey())).body.error.code).toBe('idempotency_key_reused')
    expect(await board.all(`/cards/${cardId}/attachments`)).toHaveLength(1)
    expect(await service.blobKeys()).toEqual(await service.blobKeysInUse(workspaceId))
  })

  test('may be repeated when its outcome is unknown, and gets the response of the change that was made', async () => {
    const { service, board } = setup
    const create = (headers = {}) => board.send('POST', `/boards/${board.id}/labels`, { name: 'label', color: '#000000' }, headers)
    const createLost = async (headers = {}) => {
      service.store.afterCommit = async () => {
        throw new StorageUnavailable('no reply', { outcomeKnown: false })
      }
      const { status, body, headers: answered } = await create(headers)
      return [status, body.error.outcome, answered.get('retry-after')]
    }
    expect([await createLost(), await createLost(withKey())]).toEqual([
      [503, 'unknown', null],
      [503, 'unknown', '1'],
    ])
    const again = await create(withKey())
    expect({ status: again.status, isReplayed: isReplayed(again) }).toEqual({ status: 201, isReplayed: 'true' })
    expect(await board.all(`/boards/${board.id}/labels`)).toHaveLength(2)
  })
})

describe('a dry run', () => {
  const setup = setUpBoard(memory)

  test('is refused as the write is refused', async () => {
    const { service, ann, bob, board, cardId } = setup
    const refused = [
      [bob.read, 'PATCH', `/cards/${cardId}`, { title: 'x' }, 403],
      [bob.admin, 'PUT', `/boards/${board.id}/visibility`, { visibility: 'private' }, 403],
      [ann.write, 'PATCH', `/cards/${cardId}`, {}, 422],
      [ann.write, 'POST', `/boards/${board.id}/cards`, { title: 'x', column_id: 'x' }, 404],
      [ann.admin, 'DELETE', `/boards/${board.id}/members/${ann.id}`, undefined, 409],
    ] as const
    for (const [token, method, path, body, status] of refused) {
      const [dry, made] = [await service.send(token, method, `${path}?dry_run=true`, body), await service.send(token, method, path, body)]
      expect({ status: dry.status, code: dry.body.error.code, message: dry.body.error.message }).toEqual({
        status,
        code: made.body.error.code,
        message: made.body.error.message,
      })
    }
    const { status } = await board.send('PATCH', `/cards/${cardId}?dry_run=true`, { title: 'x' }, { 'if-match': '"0"' })
    expect(status).toBe(412)
  })

  test('keeps no bytes of an upload', async () => {
    const { service, workspaceId, ann, board, cardId } = setup
    const form = new FormData()
    form.set('file', new File(['text'], 'a.txt'))
    const dry = await service.upload(ann.write, `/cards/${cardId}/files?dry_run=true`, form)
    expect({ status: dry.status, data: dry.body.data }).toMatchObject({
      status: 201,
      data: { name: 'a.txt', size: 4, file_id: expect.stringMatching(ZEROS) },
    })
    expect(await service.blobKeys()).toEqual(await service.blobKeysInUse(workspaceId))
    expect(await board.all(`/cards/${cardId}/attachments`)).toEqual([])
  })
})
