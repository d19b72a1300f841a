import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { GarbageCollector } from '../../src/admin/garbage-collector.ts'
import { keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { Service, type Person } from '../support/service.ts'

const DAY = 24 * 60 * 60 * 1000

describe.each(drivers)('the sweep, on $name', (driver) => {
  let service: Service
  let ann: Person
  beforeAll(async () => {
    service = await Service.start(driver)
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    ann = await service.person(await service.workspace(), 'owner', 'Ann')
  })
  const sweep = () => collectGarbage(service.adminDeps, ann.workspaceId)
  const recordsOf = async (...kinds: string[]) =>
    (await service.recordKeys(ann.workspaceId)).filter((key) => kinds.some((kind) => key.startsWith(`${kind}:`)))
  const ALL = ['board', 'board_member', 'column', 'card', 'label', 'subtask', 'comment', 'attachment', 'file', 'order', 'tombstone']

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

  test('ends between two steps when it is told to, and goes on another time', async () => {
    const board = await fill(12)
    await board.send('DELETE', `/boards/${board.id}`)
    let asked = 0
    expect(await collectGarbage(service.adminDeps, ann.workspaceId, () => ++asked > 2)).toBe(2)
    expect((await recordsOf(...ALL)).length).toBeGreaterThan(0)
    await sweep()
    expect(await recordsOf(...ALL)).toEqual([])
  })

  test('of a deleted board nothing is left, neither records nor bytes', async () => {
    const board = await fill(60)
    const kept = await fill(1)
    const before = (await recordsOf(...ALL)).length
    await board.delete(`/boards/${board.id}`)
    expect((await recordsOf(...ALL)).length).toBeGreaterThan(before - 5)
    expect(await sweep()).toBeGreaterThan(3)
    const left = await recordsOf(...ALL)
    expect(left.filter((key) => !key.startsWith('file'))).toHaveLength(10)
    expect(await service.blobKeys()).toEqual(await service.blobKeysInUse(ann.workspaceId))
    expect(await kept.titles()).toEqual(['0'])
    expect(await sweep()).toBe(0)
  })

  test('it can end anywhere and be done again, by several at once', async () => {
    const board = await fill(30)
    await board.delete(`/boards/${board.id}`)
    // Cut off after each commit in turn: what has been done stays, what has not is found again.
    for (let i = 0; i < 5; i++) {
      const cut = {
        ...service.adminDeps,
        blobs: { ...service.adminDeps.blobs, remove: () => Promise.reject(new Error('the process died')) },
      }
      await collectGarbage(cut, ann.workspaceId).catch(() => undefined)
    }
    await Promise.all([sweep(), sweep(), sweep()])
    expect(await recordsOf(...ALL)).toEqual([])
    expect(await service.blobKeysInUse(ann.workspaceId)).toEqual([])
  })

  test('a file that is attached elsewhere stays', async () => {
    const board = await TestBoard.create(service, ann)
    const [one, two] = [await board.card(await board.column()), await board.card(await board.column())]
    const { file_id } = (await board.attach(one, { text: 'shared' })).body.data
    const second = (await board.post(`/cards/${two}/attachments`, { file_id })).body.data
    await board.delete(`/cards/${one}`)
    await sweep()
    expect(await (await service.fetch(ann.read, 'GET', `/attachments/${second.id}/content`)).text()).toBe('shared')
    await board.delete(`/cards/${two}`)
    await sweep()
    expect(await recordsOf('file', 'attachment', 'tombstone')).toEqual([])
  })

  test('a detached file can be attached again for a day', async () => {
    const board = await TestBoard.create(service, ann)
    const card = await board.card(await board.column())
    const { id, file_id } = (await board.attach(card)).body.data
    const start = service.now
    await board.delete(`/attachments/${id}`)
    service.now = start + DAY - 1000
    await sweep()
    const again = (await board.post(`/cards/${card}/attachments`, { file_id })).body.data
    service.now = start + 2 * DAY
    await sweep()
    expect((await board.get(`/attachments/${again.id}/content`)).text).toBe('hello')
    await board.delete(`/attachments/${again.id}`)
    service.now += DAY + 1000
    await sweep()
    expect((await board.send('POST', `/cards/${card}/attachments`, { file_id })).status).toBe(404)
    expect(await recordsOf('file', 'tombstone')).toEqual([])
  })

  test('the last time that it was taken off counts', async () => {
    const board = await TestBoard.create(service, ann)
    const card = await board.card(await board.column())
    const { id, file_id } = (await board.attach(card)).body.data
    const hour = DAY / 24
    await board.delete(`/attachments/${id}`)
    service.now += 23 * hour
    const again = (await board.post(`/cards/${card}/attachments`, { file_id })).body.data
    await board.delete(`/attachments/${again.id}`)
    service.now += 2 * hour
    await sweep()
    expect((await board.send('POST', `/cards/${card}/attachments`, { file_id })).status).toBe(201)
  })

  test('bytes of an upload that never came to its end are removed after an hour, and one that ends later is told', async () => {
    const board = await TestBoard.create(service, ann)
    const card = await board.card(await board.column())
    await service.send(ann.write, 'GET', '/account')
    await service.app.services.usage.settled()
    const start = service.now
    service.store.beforeCommit = async () => {
      // The note is written. The upload's own commit comes after the sweep has claimed its bytes.
      service.store.beforeCommit = async () => {
        service.now = start + 61 * 60 * 1000
        await sweep()
      }
    }
    const reply = await board.attach(card)
    service.now = start
    expect([reply.status, reply.body.error.code]).toEqual([409, 'conflict'])
    expect(await recordsOf('file', 'tombstone')).toEqual([])
    expect(await service.blobKeysInUse(ann.workspaceId)).toEqual([])
  })

  test('in the background it follows a deletion by itself', async () => {
    const sweeper = new GarbageCollector(service.adminDeps, quiet)
    const board = await fill(2)
    await board.delete(`/boards/${board.id}`)
    sweeper.note(ann.workspaceId)
    sweeper.note(ann.workspaceId)
    while ((await recordsOf('tombstone')).length > 0) await new Promise((resolve) => setImmediate(resolve))
    await sweeper.stop()
    expect(await recordsOf(...ALL.filter((kind) => kind !== 'file'))).toEqual([])
    expect(await service.write(ann.workspaceId, (tx) => tx.get(keys.board(board.id)))).toBeUndefined()
  })
})
