import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { notFound } from './refusals.ts'

describe.each(drivers)('comments, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('the author of a new comment is the user of the token, and its Location can be read', async () => {
    const { service, ann, bob, board, cardId } = setup
    const created = await service.send(bob.write, 'POST', `/cards/${cardId}/comments`, { body: ' Line 1\n\tLine 2 ' })
    expect([created.status, created.headers.get('location')]).toEqual([201, `/v1/comments/${created.body.data.id}`])
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^cmt_[0-9a-z]{20}$/),
      card_id: cardId,
      author_id: bob.id,
      // Multi-line text is not trimmed: indentation can be part of it.
      body: ' Line 1\n\tLine 2 ',
      created_at: board.now,
      updated_at: board.now,
    })
    const read = await service.send(ann.read, 'GET', `/comments/${created.body.data.id}`)
    expect([read.body, read.headers.get('etag')]).toEqual([created.body, created.headers.get('etag')])
  })

  test('the comments on a card are listed, oldest first', async () => {
    const { service, bob, board, cardId } = setup
    const ids: string[] = []
    for (const person of [bob, setup.ann, bob]) {
      const { body } = await service.send(person.write, 'POST', `/cards/${cardId}/comments`, { body: 'Hello' })
      ids.push(body.data.id)
      board.tick()
    }
    const comments = await board.all(`/cards/${cardId}/comments`, 2)
    expect(comments.map(({ id }) => id)).toEqual(ids)
    expect(comments[0]).toEqual((await board.get(`/comments/${ids[0]}`)).body.data)
  })

  test('an updated comment has the new text and keeps its place', async () => {
    const { board, cardId } = setup
    const { data } = (await board.post(`/cards/${cardId}/comments`, { body: 'Old' })).body
    const later = board.tick()
    await board.comment(cardId, 'Next')
    const updated = await board.patch(`/comments/${data.id}`, { body: 'New' })
    expect(updated.body).toEqual({ data: { ...data, body: 'New', updated_at: later } })
    expect((await board.all(`/cards/${cardId}/comments`)).map(({ body }) => body)).toEqual(['New', 'Next'])
  })

  test('a deleted comment is neither readable nor listed, and a second deletion is answered with 404', async () => {
    const { board, cardId } = setup
    const commentId = await board.comment(cardId)
    expect((await board.delete(`/comments/${commentId}`)).body).toEqual({ data: { id: commentId, deleted: true } })
    expect(await board.send('DELETE', `/comments/${commentId}`)).toMatchObject(notFound)
    expect(await board.get(`/comments/${commentId}`)).toMatchObject(notFound)
    expect(await board.all(`/cards/${cardId}/comments`)).toEqual([])
  })
})
