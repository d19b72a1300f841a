import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { conflict, invalid } from './refusals.ts'

const ARCHIVED = conflict('The column, or the card named by before or after, is archived.')
const OTHER_COLUMN = conflict('The card named by before or after is in another column than column_id.')

describe.each(drivers)('cards, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const create = (body: object) => setup.board.send('POST', `/boards/${setup.board.id}/cards`, body)
  const update = (body: object) => setup.board.send('PATCH', `/cards/${setup.cardId}`, body)
  const move = (cardId: string, body: object) => setup.board.send('POST', `/cards/${cardId}/move`, body)

  describe('create and read', () => {
    test('a card is created with a description, before or after another card', async () => {
      const { board, columnId, cardId } = setup
      const first = await create({ column_id: columnId, title: 'First', before: cardId, description: 'line 1\nline 2' })
      expect(first.body.data.description).toBe('line 1\nline 2')
      await create({ column_id: columnId, title: 'Second', after: first.body.data.id })
      expect(await board.titles()).toEqual(['First', 'Second', 'Card'])
    })

    test('the counts of a card are returned on request, without an ETag', async () => {
      const { board, cardId } = setup
      for (const title of ['one', 'two']) await board.subtask(cardId, title)
      await board.comment(cardId)
      const counted = await board.get(`/cards/${cardId}?include=counts`)
      expect(counted.headers.get('etag')).toBeNull()
      expect(counted.body.data).toEqual({ ...(await board.read(cardId)), counts: { subtasks: 2, comments: 1, attachments: 0 } })
    })
  })

  describe('update', () => {
    test.each(['9999-12-31T23:59:59-10:00', '0000-01-01T00:00:00+10:00', '2026-02-30T00:00:00Z', '2026-11-20', '2026-11-20T12:00:00'])(
      'the due time %s is refused: it is not an RFC 3339 time with an offset',
      async (due_at) => {
        const reply = await update({ due_at })
        expect(reply).toMatchObject(invalid('due_at'))
        expect(reply.body.error.issues[0].message).toContain('RFC 3339')
      },
    )
  })

  describe('move', () => {
    test('a card is moved within its column or to another one, and a move changes no other card', async () => {
      const { board, columnId: todo } = setup
      const done = await board.column('done')
      const ids: Record<string, string> = {}
      for (const title of ['a', 'b', 'c']) ids[title] = await board.card(todo, title)
      await board.delete(`/cards/${setup.cardId}`)
      ids['x'] = await board.card(done, 'x')
      ids['y'] = await board.card(todo, 'y', { before: ids['b'] })
      expect(await board.titles()).toEqual(['a', 'y', 'b', 'c', 'x'])
      const etags = () =>
        Promise.all(Object.entries(ids).map(async ([title, id]) => `${title} ${(await board.get(`/cards/${id}`)).headers.get('etag')}`))
      const before = await etags()
      const moved = await board.post(`/cards/${ids['a']}/move`, { after: ids['b'] })
      expect(moved.body.data).toEqual(await board.read(ids['a']!))
      expect((await etags()).filter((etag) => !before.includes(etag))).toEqual([`a ${moved.headers.get('etag')}`])
      expect(await board.titles()).toEqual(['y', 'b', 'a', 'c', 'x'])
      await board.post(`/cards/${ids['b']}/move`, { column_id: done })
      await board.post(`/cards/${ids['c']}/move`, { before: ids['x'] })
      await board.post(`/cards/${ids['x']}/move`, { to: 'first' })
      expect(await board.titles()).toEqual(['y', 'a', 'x', 'c', 'b'])
      expect(await board.titles(`?column_id=${done}`)).toEqual(['x', 'c', 'b'])
    })

    test('a card cannot be moved next to a card of another column, or into an archived column', async () => {
      const { board, columnId, cardId } = setup
      const archivedId = await board.column()
      const neighbor = await board.card(archivedId)
      expect(await move(cardId, { column_id: columnId, before: neighbor })).toMatchObject(OTHER_COLUMN)
      await board.post(`/columns/${archivedId}/archive`)
      expect(await move(cardId, { column_id: archivedId })).toMatchObject(ARCHIVED)
      expect(await move(cardId, { after: neighbor })).toMatchObject(ARCHIVED)
    })
  })

  describe('complete', () => {
    const complete = (completed: boolean) => setup.board.put(`/cards/${setup.cardId}/completion`, { completed })

    test('a completed card has the time of its completion and who completed it, and is listed as completed', async () => {
      const { board, cardId, ann } = setup
      const before = await board.read(cardId)
      const later = board.tick()
      expect((await complete(true)).body).toEqual({
        data: { ...before, completed_at: later, completed_by_id: ann.id, updated_at: later },
      })
      expect([await board.titles('?completed=true'), await board.titles('?completed=false')]).toEqual([['Card'], []])
      expect((await complete(false)).body.data).toEqual({ ...before, updated_at: later })
      expect([await board.titles('?completed=true'), await board.titles('?completed=false')]).toEqual([[], ['Card']])
    })

    test('a completed card keeps the time of its first completion', async () => {
      const first = await complete(true)
      setup.board.tick()
      const second = await complete(true)
      expect([second.text, second.headers.get('etag')]).toEqual([first.text, first.headers.get('etag')])
      const { service, bob, cardId } = setup
      const third = await service.send(bob.write, 'PUT', `/cards/${cardId}/completion`, { completed: true })
      expect([third.text, third.headers.get('etag')]).toEqual([first.text, first.headers.get('etag')])
    })

    test('who completes it again after it was open has completed it', async () => {
      const { service, bob, cardId } = setup
      await complete(true)
      await complete(false)
      const again = await service.send(bob.write, 'PUT', `/cards/${cardId}/completion`, { completed: true })
      expect(again.body.data.completed_by_id).toBe(bob.id)
    })
  })

  describe('archive, restore and delete', () => {
    test('an archived card leaves the active list, and can still be read', async () => {
      const { board, cardId } = setup
      const before = await board.read(cardId)
      const later = board.tick()
      const archived = await board.post(`/cards/${cardId}/archive`)
      expect(archived.body).toEqual({ data: { ...before, archived_at: later, updated_at: later } })
      expect(await board.read(cardId)).toEqual(archived.body.data)
      expect([await board.titles(), await board.titles('?archived=true')]).toEqual([[], ['Card']])
    })

    test('a restored card has its old place and its completion', async () => {
      const { board, columnId, cardId } = setup
      await board.card(columnId, 'Last')
      const { data } = (await board.put(`/cards/${cardId}/completion`, { completed: true })).body
      await board.post(`/cards/${cardId}/archive`)
      const later = board.tick()
      expect((await board.post(`/cards/${cardId}/restore`)).body).toEqual({ data: { ...data, updated_at: later } })
      expect([await board.titles(), await board.titles('?archived=true')]).toEqual([['Card', 'Last'], []])
    })
  })
})
