import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { notFound } from './refusals.ts'

describe.each(drivers)('subtasks, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const list = (limit = 100) => setup.board.all(`/cards/${setup.cardId}/subtasks`, limit)
  const titles = async () => (await list()).map(({ title }) => title)

  test('a new subtask is not completed, is the last one, and its Location can be read', async () => {
    const { service, bob, board, cardId } = setup
    await board.subtask(cardId, 'First')
    const created = await board.send('POST', `/cards/${cardId}/subtasks`, { title: ' Second ' })
    expect([created.status, created.headers.get('location')]).toEqual([201, `/v1/subtasks/${created.body.data.id}`])
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^sub_[0-9a-z]{20}$/),
      card_id: cardId,
      title: 'Second',
      completed_at: null,
      position: expect.any(String),
      created_at: board.now,
      updated_at: board.now,
    })
    const read = await service.send(bob.read, 'GET', `/subtasks/${created.body.data.id}`)
    expect([read.body, read.headers.get('etag')]).toEqual([created.body, created.headers.get('etag')])
    expect(await titles()).toEqual(['First', 'Second'])
  })

  test('a subtask can be created as completed', async () => {
    const { board, cardId } = setup
    const created = await board.post(`/cards/${cardId}/subtasks`, { title: 'Done', completed: true })
    expect(created.body.data.completed_at).toBe(board.now)
  })

  test('subtasks are listed in their order, which creates and updates can set', async () => {
    const { board, cardId } = setup
    const b = await board.subtask(cardId, 'b')
    await board.subtask(cardId, 'd')
    const a = await board.subtask(cardId, 'a', { before: b })
    await board.subtask(cardId, 'c', { after: b })
    expect(await titles()).toEqual(['a', 'b', 'c', 'd'])
    await board.patch(`/subtasks/${a}`, { after: b, completed: true })
    expect((await list(1)).map(({ title, completed_at }) => [title, completed_at !== null])).toEqual([
      ['b', false],
      ['a', true],
      ['c', false],
      ['d', false],
    ])
    await board.patch(`/subtasks/${a}`, { before: b })
    expect(await titles()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('an update of a subtask changes the members that it names, and no others', async () => {
    const { board, cardId } = setup
    const { data } = (await board.post(`/cards/${cardId}/subtasks`, { title: 'Old', completed: true })).body
    const later = board.tick()
    const renamed = await board.patch(`/subtasks/${data.id}`, { title: 'New' })
    expect(renamed.body).toEqual({ data: { ...data, title: 'New', updated_at: later } })
    expect((await board.get(`/subtasks/${data.id}`)).body).toEqual(renamed.body)
    const reopened = await board.patch(`/subtasks/${data.id}`, { completed: false })
    expect(reopened.body.data).toEqual({ ...renamed.body.data, completed_at: null })
  })

  test('a completed subtask keeps the time of its first completion', async () => {
    const { board, cardId } = setup
    const subtaskId = await board.subtask(cardId)
    const first = board.tick()
    await board.patch(`/subtasks/${subtaskId}`, { completed: true })
    board.tick()
    expect((await board.patch(`/subtasks/${subtaskId}`, { completed: true })).body.data.completed_at).toBe(first)
  })

  test('a deleted subtask is neither readable nor listed, and a second deletion is answered with 404', async () => {
    const { board, cardId } = setup
    const [deletedId] = [await board.subtask(cardId, 'one'), await board.subtask(cardId, 'two')]
    expect((await board.delete(`/subtasks/${deletedId}`)).body).toEqual({ data: { id: deletedId, deleted: true } })
    expect(await board.send('DELETE', `/subtasks/${deletedId}`)).toMatchObject(notFound)
    expect(await board.get(`/subtasks/${deletedId}`)).toMatchObject(notFound)
    expect(await titles()).toEqual(['two'])
  })
})
