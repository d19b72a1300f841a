import { beforeEach, describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { limits } from '../../src/model/limits.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { betweenSteps } from '../support/collections.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'
import { notFound, notFoundBy } from './refusals.ts'

const CARDS = 4

// Each commit of a cascade changes one record, so most of each removal is pending after its first commit.
describe.each(drivers)('references that are removed in batches, on $name', (driver) => {
  const setup = setUpBoard(driver, { batch: 1 })
  let cards: string[]
  beforeEach(async () => {
    cards = []
    for (let i = 0; i < CARDS; i++) cards.push(await setup.board.card(setup.columnId, `Card ${i}`))
    // Removals change cards in the order of their ids.
    cards.sort()
  })

  /** Makes a person an explicit member of the private board, after they were one. */
  const addAgain = async (person: Person) => {
    await setup.board.delete(`/boards/${setup.board.id}/members/${person.id}`)
    await setup.board.add(person)
  }
  const assign = (person: Person, ids = cards) => Promise.all(ids.map((id) => setup.board.put(`/cards/${id}/assignees/${person.id}`)))
  const listed = (query: string) => setup.board.all(`/boards/${setup.board.id}/cards?${query}`, 3)
  const record = (key: string) => setup.service.write(setup.workspaceId, (tx) => tx.get(key))
  const pending = async () => ((await record(keys.removals())) as any)?.pending.length ?? 0
  /** Asserts the same before, between and after the steps of the garbage collection, after which nothing is pending. */
  async function always(assertions: () => Promise<void>): Promise<void> {
    // Otherwise nothing was pending.
    expect(await betweenSteps(setup.service, setup.workspaceId, assertions)).toBeGreaterThan(1)
    expect(await pending()).toBe(0)
  }
  const storedIds = async (list: 'assignee_ids' | 'label_ids') =>
    (await Promise.all(cards.map((id) => record(keys.card(id))))).flatMap((card) => (card as any)[list] as string[])

  test('a deleted label is on no card', async () => {
    const { board } = setup
    const [label, other] = [await board.label(), await board.label()]
    for (const id of cards) for (const one of [label, other]) await board.put(`/cards/${id}/labels/${one}`)
    await board.delete(`/labels/${label}`)
    expect(await pending()).toBe(1)
    await always(async () => {
      for (const id of cards) expect((await board.read(id)).label_ids).toEqual([other])
      for (const query of ['', 'q=card'])
        expect((await listed(query)).map(({ label_ids }) => label_ids).filter((ids) => ids.length > 0)).toEqual(cards.map(() => [other]))
      expect((await board.all(`/cards?label_id=${other}`)).map(({ label_ids }) => label_ids)).toEqual(cards.map(() => [other]))
      expect(await board.get(`/boards/${board.id}/cards?label_id=${label}`)).toMatchObject(notFoundBy('label_id'))
      expect(await board.send('DELETE', `/cards/${cards[3]}/labels/${label}`)).toMatchObject(notFound)
    })
    expect(await storedIds('label_ids')).toEqual(cards.map(() => other))
  })

  test('who loses access to a board is assigned to none of its cards, and access later revives no assignment', async () => {
    const { board, ann, bob, cyd } = setup
    for (const person of [ann, bob, cyd]) await assign(person)
    await board.add(cyd)
    await board.makePrivate()
    await board.put(`/boards/${board.id}/visibility`, { visibility: 'workspace' })
    await always(async () => {
      for (const id of cards) expect((await board.read(id)).assignee_ids.toSorted()).toEqual([ann.id, cyd.id].toSorted())
      expect(await listed(`assignee_id=${bob.id}`)).toEqual([])
      expect(await listed(`assignee_id=${cyd.id}`)).toHaveLength(CARDS)
      for (const query of ['assignee_id=me', `assignee_id=${bob.id}`, 'assignee_id=me&sort=position'])
        expect(await board.all(`/cards?${query}`, 2, query.includes('me') ? bob.read : ann.read)).toEqual([])
      expect(await board.send('DELETE', `/cards/${cards[3]}/assignees/${bob.id}`)).toMatchObject(notFound)
    })
    expect(await storedIds('assignee_ids')).not.toContain(bob.id)
  })

  test('an assignment that is made while earlier ones are removed stays, also that of a new card', async () => {
    const { board, columnId, bob } = setup
    await assign(bob)
    await board.add(bob)
    await board.makePrivate()
    await addAgain(bob)
    await assign(bob, [cards[3]!])
    const created = await board.card(columnId, 'New', { assignee_ids: [bob.id] })
    await always(async () => expect((await listed(`assignee_id=${bob.id}`)).map(({ id }) => id)).toEqual([cards[3], created]))
    expect(await storedIds('assignee_ids')).toEqual([bob.id])
  })

  test('a second removal also removes what was assigned since the first', async () => {
    const { board, bob } = setup
    await assign(bob)
    await board.add(bob)
    await board.makePrivate()
    for (const id of [cards[3]!, cards[2]!]) {
      await addAgain(bob)
      await assign(bob, [id])
    }
    await always(async () => expect((await listed(`assignee_id=${bob.id}`)).map(({ id }) => id)).toEqual([cards[2]]))
    expect(await storedIds('assignee_ids')).toEqual([bob.id])
  })

  describe('of a former member', () => {
    let dan: Person
    let boards: TestBoard[]
    beforeEach(async () => {
      dan = await setup.service.person(setup.workspaceId, 'member', 'Dan')
      boards = []
      for (let i = 0; i < 3; i++) {
        const board = await TestBoard.create(setup.service, setup.ann, 'private')
        await board.add(dan)
        boards.push(board)
      }
      // A board that they created is no board membership.
      await TestBoard.create(setup.service, dan)
      await assign(dan)
    })

    test('neither board memberships nor assignments count', async () => {
      await endMembership(setup.service.deps, setup.workspaceId, dan.id)
      await always(async () => {
        for (const id of cards) expect((await setup.board.read(id)).assignee_ids).toEqual([])
        expect(await setup.board.get(`/boards/${setup.board.id}/cards?assignee_id=${dan.id}`)).toMatchObject(notFoundBy('assignee_id'))
        for (const board of boards) {
          expect((await board.all(`/boards/${board.id}/members`)).map(({ user_id }) => user_id)).toEqual([setup.ann.id])
          expect(await board.send('DELETE', `/boards/${board.id}/members/${dan.id}`)).toMatchObject(notFound)
        }
      })
      expect(await storedIds('assignee_ids')).toEqual([])
    })

    test.each([0, 1, 2, 3, 5, 7])('a new membership revives none of it, after %i steps of the removal', async (steps) => {
      await endMembership(setup.service.deps, setup.workspaceId, dan.id)
      let calls = 0
      await collectGarbage(setup.service.adminDeps, setup.workspaceId, () => ++calls > steps)
      await setup.service.rejoin(dan)
      expect(await pending()).toBe(0)
      const token = await setup.service.token(setup.workspaceId, dan.id, ['kanban:admin'])
      for (const { id } of boards) expect((await setup.service.send(token, 'GET', `/boards/${id}`)).status).toBe(404)
      expect(await storedIds('assignee_ids')).toEqual([])
      await assign(dan, [cards[0]!])
      await collectGarbage(setup.service.adminDeps, setup.workspaceId)
      expect((await listed(`assignee_id=${dan.id}`)).map(({ id }) => id)).toEqual([cards[0]])
    })
  })

  test('the ETag of a card changes when an assignee or a label no longer counts', async () => {
    const { board, bob } = setup
    const label = await board.label()
    const last = cards[3]!
    await assign(bob)
    for (const id of cards) await board.put(`/cards/${id}/labels/${label}`)
    const read = (headers = {}) => board.send('GET', `/cards/${last}`, undefined, headers)
    const tags: string[] = []
    for (const change of [
      () => Promise.resolve(),
      () => board.delete(`/labels/${label}`),
      () => board.makePrivate(),
      async () => void (await collectGarbage(setup.service.adminDeps, setup.workspaceId)),
    ]) {
      await change()
      const previous = tags.at(-1)
      const etag = (await read()).headers.get('etag')!
      expect(tags).not.toContain(etag)
      tags.push(etag)
      expect((await read({ 'if-none-match': etag })).status).toBe(304)
      if (previous === undefined) continue
      expect((await read({ 'if-none-match': previous })).status).toBe(200)
      const stale = await board.send('PATCH', `/cards/${last}`, { title: 'x' }, { 'if-match': previous })
      expect([stale.status, stale.body.error.current_etag]).toEqual([412, etag])
    }
    expect((await board.send('PATCH', `/cards/${last}`, { title: 'x' }, { 'if-match': tags.at(-1)! })).status).toBe(200)
  })

  test('a write of a card removes what does not count, and its ETag is that of the next read', async () => {
    const { board, bob } = setup
    await assign(bob)
    await board.makePrivate()
    const written = await board.patch(`/cards/${cards[3]}`, { title: 'Changed' })
    expect(written.body.data.assignee_ids).toEqual([])
    expect((await board.get(`/cards/${cards[3]}`)).headers.get('etag')).toBe(written.headers.get('etag'))
    expect(((await record(keys.card(cards[3]!))) as any).assignee_ids).toEqual([])
  })

  test('what does not count fills no card', async () => {
    const { service, workspaceId, board, ann, bob } = setup
    await assign(bob)
    const others = Array.from({ length: limits.assigneesPerCard - 1 }, (_person, i) => `usr_${String(i).padStart(20, '0')}`)
    await service.write(workspaceId, async (tx) => {
      const key = keys.card(cards[3]!)
      tx.put(key, { ...(await tx.get(key))!, assignee_ids: [bob.id, ...others] })
    })
    expect((await board.send('PUT', `/cards/${cards[3]}/assignees/${ann.id}`)).status).toBe(409)
    await endMembership(service.deps, workspaceId, bob.id)
    expect((await board.put(`/cards/${cards[3]}/assignees/${ann.id}`)).body.data.assignee_ids).toEqual([...others, ann.id])
    await service.rejoin(bob)
  })
})
