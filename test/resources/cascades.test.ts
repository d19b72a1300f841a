import { beforeEach, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { recordUses, setUpBoard, TestBoard, type BoardSetup } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Reply } from '../support/service.ts'
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

  test('deleting a card deletes its subtasks, comments and attachments in the same commit', async () => {
    const { board, cardId } = setup
    const [subtask, comment] = [await board.subtask(cardId), await board.comment(cardId)]
    const attachment = (await board.attach(cardId)).body.data.id
    await board.delete(`/cards/${cardId}`)
    for (const path of [
      `/cards/${cardId}`,
      `/cards/${cardId}/comments`,
      `/subtasks/${subtask}`,
      `/comments/${comment}`,
      `/attachments/${attachment}`,
      `/attachments/${attachment}/content`,
    ])
      expect([path, (await board.get(path)).status]).toEqual([path, 404])
    expect(await board.send('POST', `/cards/${cardId}/comments`, { body: 'late' })).toMatchObject(notFound)
    expect(await board.send('PATCH', `/comments/${comment}`, { body: 'late' })).toMatchObject(notFound)
  })

  test('deleting a board deletes everything on it in the same commit', async () => {
    const { board, columnId, cardId } = setup
    const [label, comment] = [await board.label(), await board.comment(cardId)]
    await board.delete(`/boards/${board.id}`)
    for (const path of [
      `/boards/${board.id}/columns`,
      `/columns/${columnId}`,
      `/cards/${cardId}`,
      `/labels/${label}`,
      `/comments/${comment}`,
    ])
      expect([path, (await board.get(path)).status]).toEqual([path, 404])
    expect(await board.send('POST', `/boards/${board.id}/cards`, { column_id: columnId, title: 'late' })).toMatchObject(notFound)
    expect(await board.send('POST', `/cards/${cardId}/move`, { to: 'first' })).toMatchObject(notFound)
  })

  describe('concurrent requests', () => {
    beforeEach(() => recordUses(setup.service, setup.ann))

    test.each<[string, (setup: BoardSetup) => Promise<Reply>]>([
      ['a comment', ({ board, cardId }) => board.send('POST', `/cards/${cardId}/comments`, { body: 'x' })],
      ['a subtask', ({ board, cardId }) => board.send('POST', `/cards/${cardId}/subtasks`, { title: 'x' })],
      ['an attachment', ({ board, cardId }) => board.attach(cardId)],
      ['a card', ({ board, columnId }) => board.send('POST', `/boards/${board.id}/cards`, { column_id: columnId, title: 'x' })],
      ['an assignment', ({ board, cardId }) => board.send('PUT', `/cards/${cardId}/assignees/${board.creator.id}`)],
    ])('%s is refused if its board is deleted before the commit', async (_child, create) => {
      const { service, board } = setup
      // The first commit of an upload registers its bytes for removal, so the board is deleted before the file is created.
      service.store.beforeCommit = async () => void (await board.delete(`/boards/${board.id}`))
      expect(await create(setup)).toMatchObject(notFound)
    })

    test('a label is not applied if it is deleted before the commit', async () => {
      const { service, board, cardId } = setup
      const label = await board.label()
      service.store.beforeCommit = async () => void (await board.delete(`/labels/${label}`))
      expect(await board.send('PUT', `/cards/${cardId}/labels/${label}`)).toMatchObject(notFound)
    })

    test('a deleted label is removed from a card to which it is applied before the commit', async () => {
      const { service, board, cardId } = setup
      const label = await board.label()
      service.store.beforeCommit = async () => void (await board.put(`/cards/${cardId}/labels/${label}`))
      await board.delete(`/labels/${label}`)
      expect((await board.read(cardId)).label_ids).toEqual([])
    })
  })
})
