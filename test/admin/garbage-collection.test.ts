import { beforeEach, describe, expect, test } from 'vitest'
import { collectGarbage, GarbageCollector } from '../../src/admin/garbage-collection.ts'
import { createApp } from '../../src/app.ts'
import { DAY, MINUTE } from '../../src/model/time.ts'
import { decorateStore, type Store } from '../../src/store/port.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { collectAll } from '../support/collections.ts'
import { drivers } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { cheapPasswords, engine, Service, type Person } from '../support/service.ts'
import { findByteDifferences } from '../support/stored-bytes.ts'

/** Maximum number of records that one commit of a collection removes. */
const MAX_REMOVED = 50
/** One card of this number has everything that a card can have. */
const FULL_CARD_EVERY = 10
/** Cards of a board that need two commits, and all its records: board, member, column, label, cards, and what the full cards have. */
const MANY_CARDS = 60
const RECORDS_OF_MANY_CARDS = 4 + 60 + 6 * (1 + 3 + 2)

describe.each(drivers)('garbage collection on $name', async (driver) => {
  let ann: Person
  const service = await Service.forSuite(driver)
  beforeEach(async () => {
    ann = await service.person(await service.workspace(), 'owner', 'Ann')
  })
  const collect = () => collectGarbage(service.adminDeps, ann.workspaceId)
  const collectEverything = () => collectAll(service.adminDeps, ann.workspaceId)
  const recordsOf = async (...kinds: string[]) =>
    (await service.keysBesidesFeeds(ann.workspaceId)).filter((key) => kinds.some((kind) => key.startsWith(`${kind}:`))).toSorted()
  const ALL_KINDS = ['board', 'board_member', 'column', 'card', 'label', 'subtask', 'comment', 'attachment', 'file', 'order', 'tombstone']

  /** Creates a board with cards. The first one, and then each {@link FULL_CARD_EVERY}th, has a subtask, comments and a file. */
  const fill = async (cards: number): Promise<TestBoard> => {
    const board = await TestBoard.create(service, ann)
    const column = await board.column()
    const label = await board.label()
    await board.add(await service.person(ann.workspaceId))
    for (let i = 0; i < cards; i++) {
      const card = await board.card(column, `${i}`)
      if (i % FULL_CARD_EVERY > 0) continue
      await board.put(`/cards/${card}/labels/${label}`)
      await board.put(`/cards/${card}/assignees/${ann.id}`)
      await board.post(`/cards/${card}/subtasks`, { title: 'x' })
      for (let j = 0; j < 3; j++) await board.post(`/cards/${card}/comments`, { body: 'x' })
      await board.attach(card, { text: `${i}` })
    }
    return board
  }

  test('the records and bytes of a deleted board are removed, and other boards are not changed', async () => {
    const other = await fill(1)
    const before = await recordsOf(...ALL_KINDS)
    const board = await fill(MANY_CARDS)
    const filled = await recordsOf(...ALL_KINDS)
    expect(filled.length - before.length).toBe(RECORDS_OF_MANY_CARDS)
    await board.delete(`/boards/${board.id}`)
    // The request removes one record. Everything else is left to the collection.
    const [tombstone, ...others] = await recordsOf('tombstone')
    expect(others).toEqual([])
    expect(await recordsOf(...ALL_KINDS)).toEqual([...filled.filter((key) => key !== keys.board(board.id)), tombstone].toSorted())
    const removed: number[] = []
    const commit: Store['commit'] = (partition, change) => (removed.push(change.remove.size), service.store.commit(partition, change))
    await collectAll({ ...service.adminDeps, store: decorateStore(service.store, { commit }) }, ann.workspaceId)
    expect(await recordsOf(...ALL_KINDS)).toEqual(before)
    expect(Math.max(...removed)).toBe(MAX_REMOVED)
    expect(await findByteDifferences(service)).toEqual([])
    expect(await other.titles()).toEqual(['0'])
    expect(await collectEverything()).toBe(0)
  })

  test('several collections at the same time remove everything', async () => {
    const board = await fill(30)
    await board.delete(`/boards/${board.id}`)
    await Promise.all([collectEverything(), collectEverything(), collectEverything()])
    expect(await recordsOf(...ALL_KINDS)).toEqual([])
    expect(await findByteDifferences(service)).toEqual([])
  })

  test('a file that is still attached to another card is not removed', async () => {
    const board = await TestBoard.create(service, ann)
    const [one, two] = [await board.card(await board.column()), await board.card(await board.column())]
    const { file_id } = (await board.attach(one, { text: 'shared' })).body.data
    const second = (await board.post(`/cards/${two}/attachments`, { file_id })).body.data
    await board.delete(`/cards/${one}`)
    await collectEverything()
    expect(await (await service.fetch(ann.read, 'GET', `/attachments/${second.id}/content`)).text()).toBe('shared')
    await board.delete(`/cards/${two}`)
    await collectEverything()
    expect(await recordsOf('file', 'attachment', 'tombstone')).toEqual([])
    expect(await findByteDifferences(service)).toEqual([])
  })

  test.each(['attachment', 'card', 'board'])('the file of a deleted %s can be attached again for one day', async (kind) => {
    const [board, other] = [await TestBoard.create(service, ann), await TestBoard.create(service, ann)]
    const [card, target] = [await board.card(await board.column()), await other.card(await other.column())]
    const { id, file_id } = (await board.attach(card)).body.data
    const paths: Readonly<Record<string, string>> = {
      attachment: `/attachments/${id}`,
      card: `/cards/${card}`,
      board: `/boards/${board.id}`,
    }
    await board.delete(paths[kind]!)
    service.now += MINUTE
    await collect()
    expect(await recordsOf('attachment')).toEqual([])
    service.now += DAY - 2 * MINUTE
    await collect()
    const again = (await other.post(`/cards/${target}/attachments`, { file_id })).body.data
    service.now += 2 * DAY
    await collect()
    expect((await other.get(`/attachments/${again.id}/content`)).text).toBe('hello')
    await other.delete(`/attachments/${again.id}`)
    // The day begins at the last time that the file was detached.
    service.now += DAY - 1000
    await collect()
    expect(await recordsOf('file')).toHaveLength(1)
    service.now += 2000
    await collect()
    expect((await other.send('POST', `/cards/${target}/attachments`, { file_id })).status).toBe(404)
    expect(await recordsOf('file', 'tombstone')).toEqual([])
    expect(await findByteDifferences(service)).toEqual([])
  })

  test('a commit that deletes a board starts a collection in the background', async () => {
    const collector = new GarbageCollector(service.adminDeps, quiet)
    const app = createApp({
      ...service.adminDeps,
      store: collector.watch(service.store),
      log: quiet,
      engine,
      passwords: cheapPasswords,
    })
    const board = await fill(2)
    const request = { method: 'DELETE', headers: { authorization: `Bearer ${ann.admin}` } }
    expect((await app.fetch(new Request(`http://localhost/v1/boards/${board.id}`, request))).status).toBe(200)
    while ((await recordsOf('attachment', 'column')).length > 0) await new Promise((resolve) => setImmediate(resolve))
    await collector.stop()
    await app.services.usage.settled()
    await collectEverything()
    expect(await recordsOf(...ALL_KINDS)).toEqual([])
    expect(await findByteDifferences(service)).toEqual([])
    expect(await service.write(ann.workspaceId, (tx) => tx.get(keys.board(board.id)))).toBeUndefined()
  })

  /** Gives two items the same position and creates a third one between them. */
  const rebalance = async <T extends { readonly position: string }>(
    keyOf: (id: string) => Key<T>,
    ids: string[],
    create: (after: string) => Promise<unknown>,
  ) => {
    const [lower, upper] = ids.toSorted().map(keyOf)
    await service.write(ann.workspaceId, async (tx) => {
      const [first, second] = await tx.read([lower!, upper!])
      tx.put(upper!, { ...second!, position: first!.position })
    })
    await create(ids.toSorted()[0]!)
  }

  test('the order records of the lists of a deleted card and board are removed', async () => {
    const board = await TestBoard.create(service, ann)
    const columns = [await board.column(), await board.column()]
    const cards = [await board.card(columns[0]!), await board.card(columns[0]!)]
    const subtasks = [await board.subtask(cards[0]!), await board.subtask(cards[0]!)]
    await rebalance(keys.column, columns, (after) => board.column('Between', { after }))
    await rebalance(keys.card, cards, (after) => board.card(columns[0]!, 'Between', { after }))
    await rebalance(keys.subtask, subtasks, (after) => board.subtask(cards[0]!, 'Between', { after }))
    // Each list has an order record since it was rebalanced.
    const orders = [board.id, columns[0]!, cards[0]!].map(keys.order)
    expect(await recordsOf('order')).toEqual(orders.toSorted())
    await board.delete(`/cards/${cards[0]}`)
    await collect()
    expect(await recordsOf('order')).toEqual(orders.slice(0, 2).toSorted())
    await board.delete(`/boards/${board.id}`)
    await collect()
    expect(await recordsOf('order')).toEqual([])
  })
})
