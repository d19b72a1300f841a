import { describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'
import { forbidden } from './refusals.ts'

describe.each(drivers)('files, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const attach = async (visibility?: string) => (await setup.board.attach(setup.cardId, { visibility })).body.data
  const read = (person: Person, fileId: string) => setup.service.send(person.read, 'GET', `/files/${fileId}`)
  const hide = (fileId: string) => setup.board.patch(`/files/${fileId}`, { visibility: 'private' })

  test('an uploaded file belongs to the board of its card, and is accessible on that board by default', async () => {
    const { ann, bob, board } = setup
    const { file_id } = await attach()
    const found = await read(bob, file_id)
    expect([found.status, found.body]).toEqual([
      200,
      {
        data: {
          id: file_id,
          owner_id: ann.id,
          visibility: 'board',
          board_id: board.id,
          name: 'a.txt',
          content_type: 'text/plain',
          size: 5,
          created_at: board.now,
          updated_at: board.now,
        },
      },
    ])
    expect(found.headers.get('etag')).toMatch(/^"[0-9a-z]{20}"$/)
  })

  test('a workspace file does not tell those who have no access to its home board that the board exists', async () => {
    const { ann, bob, board } = setup
    const { file_id } = await attach('workspace')
    const boardIds = () => Promise.all([ann, bob].map(async (person) => (await read(person, file_id)).body.data.board_id))
    expect(await boardIds()).toEqual([board.id, board.id])
    await board.makePrivate()
    expect(await boardIds()).toEqual([board.id, null])
  })

  test('a board file whose home board is deleted is accessible for its owner only', async () => {
    const { service, workspaceId, ann, bob, board } = setup
    const { file_id } = await attach()
    const other = await TestBoard.create(service, bob)
    const card = await other.card(await other.column())
    const { id } = (await other.post(`/cards/${card}/attachments`, { file_id })).body.data
    await board.delete(`/boards/${board.id}`)
    for (let i = 0; i < 2; i++) {
      expect((await read(ann, file_id)).body.data).toMatchObject({ visibility: 'board', board_id: board.id })
      expect((await read(bob, file_id)).status).toBe(404)
      expect(await service.send(bob.write, 'DELETE', `/attachments/${id}`)).toMatchObject(forbidden('P15'))
      await collectGarbage(service.adminDeps, workspaceId)
    }
    expect((await service.send(ann.write, 'PATCH', `/files/${file_id}`, { visibility: 'workspace' })).status).toBe(200)
    expect((await read(bob, file_id)).status).toBe(200)
  })

  test('an attachment stays readable when its file becomes private, and shows that, with another ETag', async () => {
    const { service, bob, board, cardId } = setup
    const { id, file_id } = await attach('workspace')
    const path = `/attachments/${id}`
    const before = await service.send(bob.read, 'GET', path)
    const later = board.tick()
    await hide(file_id)
    const after = await service.send(bob.read, 'GET', path, undefined, { 'if-none-match': before.headers.get('etag')! })
    expect([after.status, after.body.data]).toEqual([200, { ...before.body.data, visibility: 'private', updated_at: later }])
    expect(await board.all(`/cards/${cardId}/attachments`)).toEqual([after.body.data])
    const stale = await board.send('DELETE', path, undefined, { 'if-match': before.headers.get('etag')! })
    expect([stale.status, stale.headers.get('etag')]).toEqual([412, after.headers.get('etag')])
    expect((await board.send('DELETE', path, undefined, { 'if-match': after.headers.get('etag')! })).status).toBe(200)
  })

  test('the feed of each board that shows a file tells of a change of its visibility', async () => {
    const { service, bob, board } = setup
    const { id, file_id } = await attach()
    const other = await TestBoard.create(service, bob)
    const card = await other.card(await other.column())
    const second = (await other.post(`/cards/${card}/attachments`, { file_id })).body.data
    const feeds = [
      { boardId: board.id, attachmentId: id },
      { boardId: other.id, attachmentId: second.id },
    ]
    const cursors = await Promise.all(
      feeds.map(async ({ boardId }) => (await service.send(bob.read, 'GET', `/boards/${boardId}?include=labels`)).body.data.changes_cursor),
    )
    await hide(file_id)
    for (const [i, { boardId, attachmentId }] of feeds.entries()) {
      const { data } = (await service.send(bob.read, 'GET', `/boards/${boardId}/changes?after=${cursors[i]}`)).body
      const object = (await service.send(bob.read, 'GET', `/attachments/${attachmentId}`)).body.data
      expect(data).toMatchObject([{ kind: 'attachment', id: attachmentId, action: 'updated', actor_id: setup.ann.id, data: object }])
      expect(data[0].data).toEqual(object)
      expect(object.visibility).toBe('private')
    }
  })
})
