import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { notFound } from './refusals.ts'

describe.each(drivers)('labels, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('the cards of a label that is changed stay as they are', async () => {
    const { board, cardId } = setup
    const id = await board.label('red')
    await board.put(`/cards/${cardId}/labels/${id}`)
    const card = await board.read(cardId)
    board.tick()
    expect((await board.patch(`/labels/${id}`, { name: ' Defect ' })).body.data.name).toBe('Defect')
    expect(await board.read(cardId)).toEqual(card)
  })

  test('a deleted label is removed from its cards, and a second deletion is answered with 404', async () => {
    const { board, cardId } = setup
    const [red, blue] = [await board.label('red'), await board.label('blue')]
    for (const labelId of [red, blue]) await board.put(`/cards/${cardId}/labels/${labelId}`)
    const etag = async () => (await board.get(`/cards/${cardId}`)).headers.get('etag')
    const before = await etag()
    const later = board.tick()
    expect((await board.delete(`/labels/${red}`)).body).toEqual({ data: { id: red, deleted: true } })
    expect(await board.read(cardId)).toMatchObject({ label_ids: [blue], updated_at: later })
    expect(await etag()).not.toBe(before)
    for (const [method, path] of [
      ['DELETE', `/labels/${red}`],
      ['GET', `/labels/${red}`],
      ['PUT', `/cards/${cardId}/labels/${red}`],
      ['DELETE', `/cards/${cardId}/labels/${red}`],
    ] as const)
      expect(await board.send(method, path)).toMatchObject(notFound)
    expect((await board.all(`/boards/${board.id}/labels`)).map(({ id }) => id)).toEqual([blue])
  })
})
