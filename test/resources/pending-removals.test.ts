import { beforeEach, describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { betweenSteps } from '../support/collections.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'
import { notFound } from './refusals.ts'

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
  const stored = async () =>
    (await Promise.all(cards.map((id) => record(keys.card(id))))).flatMap((card) => (card as any).assignee_ids as string[])

  test('of a person who loses access to a board include all assignments, and later access revives no assignment', async () => {
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
    expect(await stored()).not.toContain(bob.id)
  })

  test('an assignment that is made while earlier ones are removed stays, also on a new card', async () => {
    const { board, columnId, bob } = setup
    await assign(bob)
    await board.add(bob)
    await board.makePrivate()
    // They are a member again, after they were one.
    await board.delete(`/boards/${board.id}/members/${bob.id}`)
    await board.add(bob)
    await assign(bob, [cards[3]!])
    const created = await board.card(columnId, 'New', { assignee_ids: [bob.id] })
    await always(async () => expect((await listed(`assignee_id=${bob.id}`)).map(({ id }) => id)).toEqual([cards[3], created]))
    expect(await stored()).toEqual([bob.id])
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

    test.each([0, 1, 2, 3, 5, 7])('are not revived by a new membership, after %i steps of the removal', async (steps) => {
      await endMembership(setup.service.deps, setup.workspaceId, dan.id)
      let calls = 0
      await collectGarbage(setup.service.adminDeps, setup.workspaceId, () => ++calls > steps)
      await setup.service.rejoin(dan)
      expect(await pending()).toBe(0)
      const token = await setup.service.token(setup.workspaceId, dan.id, ['kanban:admin'])
      for (const { id } of boards) expect((await setup.service.send(token, 'GET', `/boards/${id}`)).status).toBe(404)
      expect(await stored()).toEqual([])
      await assign(dan, [cards[0]!])
      await collectGarbage(setup.service.adminDeps, setup.workspaceId)
      expect((await listed(`assignee_id=${dan.id}`)).map(({ id }) => id)).toEqual([cards[0]])
    })
  })
})
