import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { invalid, notFound } from './refusals.ts'

describe.each(drivers)('labels, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('a new label has a name and a color, and its Location can be read', async () => {
    const { service, bob, board } = setup
    const created = await board.send('POST', `/boards/${board.id}/labels`, { name: ' Bug ', color: '#D73A4A' })
    expect([created.status, created.headers.get('location')]).toEqual([201, `/v1/labels/${created.body.data.id}`])
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^lbl_[0-9a-z]{20}$/),
      board_id: board.id,
      name: 'Bug',
      color: '#d73a4a',
      created_at: board.now,
      updated_at: board.now,
    })
    const read = await service.send(bob.read, 'GET', `/labels/${created.body.data.id}`)
    expect([read.body, read.headers.get('etag')]).toEqual([created.body, created.headers.get('etag')])
  })

  test('the labels of a board are listed, oldest first', async () => {
    const { service, bob, board } = setup
    const ids: string[] = []
    for (const name of ['one', 'two', 'three']) {
      ids.push(await board.label(name))
      board.tick()
    }
    const labels = await board.all(`/boards/${board.id}/labels`, 2, bob.read)
    expect(labels.map(({ id }) => id)).toEqual(ids)
    expect(labels[0]).toEqual((await service.send(bob.read, 'GET', `/labels/${ids[0]}`)).body.data)
  })

  test('the name and the color of a label can be changed, and its cards stay as they are', async () => {
    const { board, cardId } = setup
    const id = await board.label('red')
    await board.put(`/cards/${cardId}/labels/${id}`)
    const card = await board.read(cardId)
    const { body: before } = await board.get(`/labels/${id}`)
    const later = board.tick()
    const renamed = await board.patch(`/labels/${id}`, { name: ' Defect ' })
    expect(renamed.body.data).toEqual({ ...before.data, name: 'Defect', updated_at: later })
    const { body } = await board.patch(`/labels/${id}`, { color: '#ABCDEF' })
    expect(body.data).toEqual({ ...renamed.body.data, color: '#abcdef' })
    expect((await board.get(`/labels/${id}`)).body).toEqual(body)
    expect(await board.read(cardId)).toEqual(card)
    for (const [wrong, path] of [
      [{}, ''],
      [{ name: '' }, 'name'],
      [{ color: null }, 'color'],
      [{ name: 'x', board_id: board.id }, 'board_id'],
    ] as const)
      expect(await board.send('PATCH', `/labels/${id}`, wrong)).toMatchObject(invalid(path))
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
