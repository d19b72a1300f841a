import { describe, expect, test } from 'vitest'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'

describe.each(drivers)('files, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const attach = async (visibility?: string) => (await setup.board.attach(setup.cardId, { visibility })).body.data
  const read = (person: Person, fileId: string) => setup.service.send(person.read, 'GET', `/files/${fileId}`)
  const hide = (fileId: string) => setup.board.patch(`/files/${fileId}`, { visibility: 'private' })

  test('a workspace file does not tell those who have no access to its home board that the board exists', async () => {
    const { ann, bob, board } = setup
    const { file_id } = await attach('workspace')
    const boardIds = () => Promise.all([ann, bob].map(async (person) => (await read(person, file_id)).body.data.board_id))
    expect(await boardIds()).toEqual([board.id, board.id])
    await board.makePrivate()
    expect(await boardIds()).toEqual([board.id, null])
  })

  test('an attachment stays readable when its file becomes private, and shows that, with another ETag', async () => {
    const { service, bob, board, cardId } = setup
    const { id, file_id } = await attach('workspace')
    const path = `/attachments/${id}`
    const before = await service.send(bob.read, 'GET', path)
    const later = board.tick()
    await hide(file_id)
    const after = await service.send(bob.read, 'GET', path, undefined, { 'if-none-match': before.headers.get('etag')! })
    expect({ status: after.status, data: after.body.data }).toEqual({
      status: 200,
      data: { ...before.body.data, visibility: 'private', updated_at: later },
    })
    expect(await board.all(`/cards/${cardId}/attachments`)).toEqual([after.body.data])
    const stale = await board.send('DELETE', path, undefined, { 'if-match': before.headers.get('etag')! })
    expect({ status: stale.status, etag: stale.headers.get('etag') }).toEqual({ status: 412, etag: after.headers.get('etag') })
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
