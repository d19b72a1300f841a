import { beforeEach, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { recordUses, setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { notFound } from './refusals.ts'

// With batches of one record, most of a cascade follows its first commit.
const variants = drivers.flatMap((driver) => [
  { driver, where: driver.name, batch: undefined },
  { driver, where: `${driver.name} in batches of one`, batch: 1 },
])

describe.each(variants)('changes that follow from other changes, on $where', ({ driver, batch }) => {
  const setup = setUpBoard(driver, { batch })

  test('a creator who leaves the workspace and returns is the creator of their board again', async () => {
    const { service, workspaceId, bob } = setup
    const eve = await service.person(workspaceId, 'member', 'Eve')
    const board = await TestBoard.create(service, eve, 'private')
    await board.add(bob)
    await endMembership(service.deps, workspaceId, eve.id)
    const path = `/boards/${board.id}/members`
    expect((await service.send(bob.read, 'GET', path)).body.data.map(({ user_id }: any) => user_id)).toEqual([bob.id])
    await service.rejoin(eve)
    const token = await service.token(workspaceId, eve.id, ['kanban:admin'])
    expect((await TestBoard.all(service, token, '/boards', 100)).map(({ id }) => id)).toContain(board.id)
    expect((await service.send(token, 'GET', path)).body.data[0]).toMatchObject({ user_id: eve.id, creator: true })
  })

  describe('concurrent requests', () => {
    beforeEach(() => recordUses(setup.service, setup.ann))

    test('an attachment is refused if its board is deleted before the commit', async () => {
      const { service, board, cardId } = setup
      // The first commit of an upload registers its bytes for removal, so the board is deleted before the file is created.
      service.store.beforeCommit = async () => void (await board.delete(`/boards/${board.id}`))
      expect(await board.attach(cardId)).toMatchObject(notFound)
    })

    test('a deleted label is removed from a card that it is applied to before the commit', async () => {
      const { service, board, cardId } = setup
      const label = await board.label()
      service.store.beforeCommit = async () => void (await board.put(`/cards/${cardId}/labels/${label}`))
      await board.delete(`/labels/${label}`)
      expect((await board.read(cardId)).label_ids).toEqual([])
    })
  })
})
