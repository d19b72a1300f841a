import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'

describe.each(drivers)('columns, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const names = async (query = '') => (await setup.board.all(`/boards/${setup.board.id}/columns${query}`)).map(({ name }) => name)

  test('a column is created and moved before or after another one, or to an end', async () => {
    const { board, columnId: a } = setup
    await board.patch(`/columns/${a}`, { name: 'a' })
    const b = await board.column('b')
    const d = await board.column('d')
    await board.column('c', { after: b })
    await board.column('z', { before: a })
    expect(await names()).toEqual(['z', 'a', 'b', 'c', 'd'])
    const move = async (id: string, placement: object) => {
      const { body } = await board.post(`/columns/${id}/move`, placement)
      expect(body).toEqual((await board.get(`/columns/${id}`)).body)
      return names()
    }
    expect(await move(d, { to: 'first' })).toEqual(['d', 'z', 'a', 'b', 'c'])
    expect(await move(b, { to: 'last' })).toEqual(['d', 'z', 'a', 'c', 'b'])
    expect(await move(d, { before: b })).toEqual(['z', 'a', 'c', 'd', 'b'])
    expect(await move(b, { after: d })).toEqual(['z', 'a', 'c', 'd', 'b'])
  })

  test('an archived column leaves the active list with its cards, and can still be read', async () => {
    const { board, columnId, cardId } = setup
    await board.post(`/cards/${await board.card(columnId, 'archived before')}/archive`)
    const { body } = await board.get(`/columns/${columnId}`)
    const later = board.tick()
    const archived = await board.post(`/columns/${columnId}/archive`)
    expect(archived.body).toEqual({ data: { ...body.data, archived_at: later, updated_at: later } })
    expect((await board.get(`/columns/${columnId}`)).body).toEqual(archived.body)
    expect([await names(), await names('?archived=true')]).toEqual([[], ['Column']])
    expect([await board.titles(), await board.titles('?archived=true')]).toEqual([[], ['Card', 'archived before']])
    expect((await board.read(cardId)).archived_at).toBeNull()
  })

  test('a restored column has its old place and its cards, except those that were archived themselves', async () => {
    const { board, columnId } = setup
    await board.column('Last')
    await board.post(`/cards/${await board.card(columnId, 'archived before')}/archive`)
    const { body } = await board.get(`/columns/${columnId}`)
    await board.post(`/columns/${columnId}/archive`)
    const later = board.tick()
    expect((await board.post(`/columns/${columnId}/restore`)).body).toEqual({ data: { ...body.data, updated_at: later } })
    expect([await names(), await names('?archived=true')]).toEqual([['Column', 'Last'], []])
    expect([await board.titles(), await board.titles('?archived=true')]).toEqual([['Card'], ['archived before']])
  })
})
