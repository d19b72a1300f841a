import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { GarbageCollector } from '../../src/admin/garbage-collector.ts'
import { createApp } from '../../src/app.ts'
import { DAY, HOUR, MINUTE } from '../../src/model/time.ts'
import { keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { cheapPasswords, Service, type Person } from '../support/service.ts'

describe.each(drivers)('garbage collection on $name', (driver) => {
  let service: Service
  let ann: Person
  beforeAll(async () => {
    service = await Service.start(driver)
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    ann = await service.person(await service.workspace(), 'owner', 'Ann')
  })
  const collect = () => collectGarbage(service.adminDeps, ann.workspaceId)
  const recordsOf = async (...kinds: string[]) =>
    (await service.recordKeys(ann.workspaceId)).filter((key) => kinds.some((kind) => key.startsWith(`${kind}:`)))
  const ALL_KINDS = ['board', 'board_member', 'column', 'card', 'label', 'subtask', 'comment', 'attachment', 'file', 'order', 'tombstone']

  const fill = async (cards: number): Promise<TestBoard> => {
    const board = await TestBoard.create(service, ann)
    const column = await board.column()
    const label = await board.label()
    await board.add(await service.person(ann.workspaceId))
    for (let i = 0; i < cards; i++) {
      const card = await board.card(column, `${i}`)
      await board.put(`/cards/${card}/labels/${label}`)
      await board.put(`/cards/${card}/assignees/${ann.id}`)
      await board.post(`/cards/${card}/subtasks`, { title: 'x' })
      for (let j = 0; j < 3; j++) await board.post(`/cards/${card}/comments`, { body: 'x' })
      if (i % 10 === 0) await board.attach(card, { text: `${i}` })
    }
    return board
  }

  test('a collection stops between two steps, and a later one continues', async () => {
    const board = await fill(12)
    await board.send('DELETE', `/boards/${board.id}`)
    let calls = 0
    expect(await collectGarbage(service.adminDeps, ann.workspaceId, () => ++calls > 2)).toBe(2)
    expect((await recordsOf(...ALL_KINDS)).length).toBeGreaterThan(0)
    await collect()
    expect(await recordsOf(...ALL_KINDS)).toEqual([])
  })

  test('the records and bytes of a deleted board are removed, and other boards are not changed', async () => {
    const board = await fill(60)
    const other = await fill(1)
    const before = (await recordsOf(...ALL_KINDS)).length
    await board.delete(`/boards/${board.id}`)
    expect((await recordsOf(...ALL_KINDS)).length).toBeGreaterThan(before - 5)
    expect(await collect()).toBeGreaterThan(3)
    const remaining = await recordsOf(...ALL_KINDS)
    expect(remaining.filter((key) => !key.startsWith('file'))).toHaveLength(10)
    expect(await service.blobKeys()).toEqual(await service.blobKeysInUse(ann.workspaceId))
    expect(await other.titles()).toEqual(['0'])
    expect(await collect()).toBe(0)
  })

  test('interrupted collections are completed by later ones, several at the same time', async () => {
    const board = await fill(30)
    await board.delete(`/boards/${board.id}`)
    // Each collection fails when it first removes bytes.
    for (let i = 0; i < 5; i++) {
      const interrupted = {
        ...service.adminDeps,
        blobs: { ...service.adminDeps.blobs, remove: () => Promise.reject(new Error('the process died')) },
      }
      await collectGarbage(interrupted, ann.workspaceId).catch(() => undefined)
    }
    await Promise.all([collect(), collect(), collect()])
    expect(await recordsOf(...ALL_KINDS)).toEqual([])
    expect(await service.blobKeysInUse(ann.workspaceId)).toEqual([])
  })

  test('a file that is still attached to another card is not removed', async () => {
    const board = await TestBoard.create(service, ann)
    const [one, two] = [await board.card(await board.column()), await board.card(await board.column())]
    const { file_id } = (await board.attach(one, { text: 'shared' })).body.data
    const second = (await board.post(`/cards/${two}/attachments`, { file_id })).body.data
    await board.delete(`/cards/${one}`)
    await collect()
    expect(await (await service.fetch(ann.read, 'GET', `/attachments/${second.id}/content`)).text()).toBe('shared')
    await board.delete(`/cards/${two}`)
    await collect()
    expect(await recordsOf('file', 'attachment', 'tombstone')).toEqual([])
  })

  test('a detached file can be attached again for one day', async () => {
    const board = await TestBoard.create(service, ann)
    const card = await board.card(await board.column())
    const { id, file_id } = (await board.attach(card)).body.data
    const start = service.now
    await board.delete(`/attachments/${id}`)
    service.now = start + DAY - 1000
    await collect()
    const again = (await board.post(`/cards/${card}/attachments`, { file_id })).body.data
    service.now = start + 2 * DAY
    await collect()
    expect((await board.get(`/attachments/${again.id}/content`)).text).toBe('hello')
    await board.delete(`/attachments/${again.id}`)
    service.now += DAY + 1000
    await collect()
    expect((await board.send('POST', `/cards/${card}/attachments`, { file_id })).status).toBe(404)
    expect(await recordsOf('file', 'tombstone')).toEqual([])
  })

  test('the day begins at the last time that the file was detached', async () => {
    const board = await TestBoard.create(service, ann)
    const card = await board.card(await board.column())
    const { id, file_id } = (await board.attach(card)).body.data
    await board.delete(`/attachments/${id}`)
    service.now += 23 * HOUR
    const again = (await board.post(`/cards/${card}/attachments`, { file_id })).body.data
    await board.delete(`/attachments/${again.id}`)
    service.now += 2 * HOUR
    await collect()
    expect((await board.send('POST', `/cards/${card}/attachments`, { file_id })).status).toBe(201)
  })

  test('the bytes of an unfinished upload are removed after one hour, and an upload that finishes later fails', async () => {
    const board = await TestBoard.create(service, ann)
    const card = await board.card(await board.column())
    await service.send(ann.write, 'GET', '/account')
    await service.app.services.usage.settled()
    const start = service.now
    service.store.beforeCommit = async () => {
      // The tombstone of the upload is written. The next commit, which ends the upload, comes after the collection.
      service.store.beforeCommit = async () => {
        service.now = start + 61 * MINUTE
        await collect()
      }
    }
    const reply = await board.attach(card)
    service.now = start
    expect([reply.status, reply.body.error.code]).toEqual([409, 'conflict'])
    expect(await recordsOf('file', 'tombstone')).toEqual([])
    expect(await service.blobKeysInUse(ann.workspaceId)).toEqual([])
  })

  test('a commit that deletes a board starts a collection in the background', async () => {
    const collector = new GarbageCollector(service.adminDeps, quiet)
    const app = createApp({ ...service.adminDeps, store: collector.watch(service.store), log: quiet, passwords: cheapPasswords })
    const board = await fill(2)
    const request = { method: 'DELETE', headers: { authorization: `Bearer ${ann.admin}` } }
    expect((await app.fetch(new Request(`http://localhost/v1/boards/${board.id}`, request))).status).toBe(200)
    while ((await recordsOf('tombstone')).length > 0) await new Promise((resolve) => setImmediate(resolve))
    await collector.stop()
    await app.services.usage.settled()
    expect(await recordsOf(...ALL_KINDS.filter((kind) => kind !== 'file'))).toEqual([])
    expect(await service.write(ann.workspaceId, (tx) => tx.get(keys.board(board.id)))).toBeUndefined()
  })
})
