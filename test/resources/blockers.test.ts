import { describe, expect, test } from 'vitest'
import { positionsOfNewList } from '../../src/listing/ranks.ts'
import type { Card } from '../../src/model/card.ts'
import { newId } from '../../src/model/ids.ts'
import { limits } from '../../src/model/limits.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { card as cardRecord } from '../support/records.ts'
import { conflict } from './refusals.ts'

describe.each(drivers)('blockers of cards, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const pathOf = (blocked: string, blocker: string) => `/cards/${blocked}/blockers/${blocker}`
  const ready = () => setup.board.titles('?ready=true')
  const blocked = () => setup.board.titles('?ready=false')

  const add = (blocked: string, blocker: string) => setup.board.put(pathOf(blocked, blocker))
  const request = (blocked: string, blocker: string) => setup.board.send('PUT', pathOf(blocked, blocker))

  test('completing a blocker, archiving it and undoing that leave the card as it is', async () => {
    const { board, columnId, cardId } = setup
    const a = await board.card(columnId, 'A')
    const { headers } = await add(cardId, a)
    for (const completed of [true, false]) {
      board.tick()
      await board.put(`/cards/${a}/completion`, { completed })
      await board.post(`/cards/${a}/${completed ? 'archive' : 'restore'}`)
      const read = await board.get(`/cards/${cardId}`)
      expect({ blockerIds: read.body.data.blocker_ids, etag: read.headers.get('etag') }).toEqual({
        blockerIds: [a],
        etag: headers.get('etag'),
      })
    }
  })

  test('a blocker that is deleted disappears from the cards, which have new ETags and are in the feed', async () => {
    const { board, columnId, cardId } = setup
    const [a, b] = [await board.card(columnId, 'A'), await board.card(columnId, 'B')]
    for (const id of [a, b]) await add(cardId, id)
    const before = await board.get(`/cards/${cardId}`)
    const { changes_cursor } = (await board.get(`/boards/${board.id}?include=columns`)).body.data
    const later = board.tick()
    await board.delete(`/cards/${a}`)
    const after = await board.get(`/cards/${cardId}`)
    expect(after.body.data).toEqual({ ...before.body.data, blocker_ids: [b], updated_at: later })
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
    const changes = (await board.get(`/boards/${board.id}/changes?after=${changes_cursor}`)).body.data
    expect(changes.map(({ id, action }: any) => `${id} ${action}`).toSorted()).toEqual([`${a} deleted`, `${cardId} updated`].toSorted())
    await board.delete(`/cards/${b}`)
    expect({ ready: await ready(), blocked: await blocked() }).toEqual({ ready: ['Card'], blocked: [] })
  })

  test('a card is no blocker of itself', async () => {
    expect(await request(setup.cardId, setup.cardId)).toMatchObject(conflict('A card cannot be a blocker of itself.'))
  })

  test('a blocker is added in two reads and a commit', async () => {
    const { service, board, columnId, cardId } = setup
    const a = await board.card(columnId, 'A')
    const before = service.store.trips
    await add(cardId, a)
    expect(service.store.trips - before).toBe(3)
  })

  test('a search finds the cards that a card blocks', async () => {
    const { board, columnId, cardId } = setup
    const [a, b] = [await board.card(columnId, 'A', { blocker_ids: [cardId] }), await board.card(columnId, 'B', { blocker_ids: [cardId] })]
    await board.card(columnId, 'C')
    await board.post(`/cards/${b}/archive`)
    const found = async (query: string) => (await board.get(`/cards?blocker_id=${cardId}${query}`)).body.data.map(({ id }: any) => id)
    expect([await found(''), await found('&sort=position'), await found('&archived=true')]).toEqual([[a], [a], [b]])
  })

  test('of two requests that would close a cycle together, one is refused', async () => {
    const { board, columnId } = setup
    for (let round = 0; round < 10; round++) {
      const ids = await Promise.all(['A', 'B', 'C', 'D'].map((title) => board.card(columnId, title)))
      const [a, b, c, d] = ids as [string, string, string, string]
      // Neither request names a card that the other one writes.
      await add(b, c)
      await add(d, a)
      const replies = await Promise.all([request(a, b), request(c, d)])
      expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409])
    }
  })

  /** Writes cards at once, each after the one before. @returns their ids */
  const writeCards = async (count: number, membersOf: (i: number, ids: readonly string[]) => Partial<Card> = () => ({})) => {
    const { service, workspaceId, ann, board, columnId } = setup
    const ids = Array.from({ length: count }, () => newId('card', service.deps.random))
    const positions = positionsOfNewList(count)
    const times = { created_at: board.now, updated_at: board.now }
    const place = { board_id: board.id, column_id: columnId, creator_id: ann.id, title: 'Many' }
    await service.write(workspaceId, (tx) => {
      for (const [i, id] of ids.entries())
        tx.create(keys.card(id), cardRecord({ id, ...place, ...times, position: `b${positions[i]}`, ...membersOf(i, ids) }))
    })
    return ids
  }

  test('a card has at most 50 blockers, and blocks at most 50 cards', async () => {
    const { board, columnId, cardId } = setup
    const ids = await writeCards(limits.blockersPerCard + 1)
    const [others, last] = [ids.slice(1), ids[0]!]
    const refusal = { status: 409, body: { error: { code: 'conflict', limit: 50 } } }
    for (const id of others) await add(cardId, id)
    expect(await request(cardId, last)).toMatchObject(refusal)
    for (const id of others) await add(id, last)
    expect(await request(await board.card(columnId), last)).toMatchObject(refusal)
    const body = { column_id: columnId, title: 'New', blocker_ids: [last] }
    expect(await board.send('POST', `/boards/${board.id}/cards`, body)).toMatchObject(refusal)
    expect((await ready()).length).toBe(2)
    await board.put(`/cards/${last}/completion`, { completed: true })
    expect((await ready()).length).toBe(51)
    await board.delete(`/cards/${last}`)
    expect((await board.read(others[0]!)).blocker_ids).toEqual([])
    expect((await ready()).length).toBe(51)
  })

  test('cards that wait for each other, which no request can cause, are found once', async () => {
    const [a] = await writeCards(2, (i, ids) => ({ blocker_ids: [ids[1 - i]!] }))
    await add(a!, setup.cardId)
  })

  test('a card that very many cards wait for gets no blocker', async () => {
    const { cardId } = setup
    const chain = await writeCards(limits.waitingCards + 2, (i, ids) => ({ blocker_ids: i === 0 ? [] : [ids[i - 1]!] }))
    expect(await request(chain[0]!, cardId)).toMatchObject({ status: 409, body: { error: { limit: limits.waitingCards } } })
    await add(chain[1]!, cardId)
  })
})
