import { describe, expect, test } from 'vitest'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { notFoundBy } from './refusals.ts'

describe.each(drivers)('assignees, labels and the cover of a card, on $name', (driver) => {
  const setup = setUpBoard(driver)

  describe('assignees', () => {
    const pathOf = ({ id }: { id: string }) => `/cards/${setup.cardId}/assignees/${id}`

    test('assignees are listed in the order of their assignment', async () => {
      const { ann, bob, board, cardId } = setup
      const before = await board.read(cardId)
      await board.put(pathOf(bob))
      const later = board.tick()
      const assigned = await board.put(pathOf(ann))
      expect(assigned.body).toEqual({ data: { ...before, assignee_ids: [bob.id, ann.id], updated_at: later } })
      expect(await board.read(cardId)).toEqual(assigned.body.data)
      expect(await board.titles(`?assignee_id=${ann.id}`)).toEqual(['Card'])
    })

    test('an unassigned person is not on the card, and a second removal is answered with 404', async () => {
      const { ann, bob, board, cardId } = setup
      for (const person of [ann, bob]) await board.put(pathOf(person))
      const before = await board.read(cardId)
      const later = board.tick()
      const { body } = await board.delete(pathOf(ann))
      expect(body).toEqual({ data: { ...before, assignee_ids: [bob.id], updated_at: later } })
      expect(await board.read(cardId)).toEqual(body.data)
      expect(await board.send('DELETE', pathOf(ann))).toMatchObject(notFoundBy('user_id'))
    })

    test('an assignee is removed even if they have lost access to the board', async () => {
      const { workspaceId, service, cyd, board, cardId } = setup
      await board.makePrivate()
      await service.write(workspaceId, async (tx) => {
        const card = (await tx.get(keys.card(cardId)))!
        tx.put(keys.card(cardId), { ...card, assignee_ids: [cyd.id] })
      })
      await board.delete(pathOf(cyd))
      expect((await board.read(cardId)).assignee_ids).toEqual([])
      expect(await board.send('DELETE', pathOf(cyd))).toMatchObject(notFoundBy('user_id'))
    })
  })

  describe('labels', () => {
    const pathOf = (labelId: string) => `/cards/${setup.cardId}/labels/${labelId}`

    test('labels are listed in the order in which they were applied', async () => {
      const { board, cardId } = setup
      const [red, blue] = [await board.label('red'), await board.label('blue')]
      const before = await board.read(cardId)
      await board.put(pathOf(blue))
      const later = board.tick()
      const labelled = await board.put(pathOf(red))
      expect(labelled.body).toEqual({ data: { ...before, label_ids: [blue, red], updated_at: later } })
      expect(await board.read(cardId)).toEqual(labelled.body.data)
      expect(await board.titles(`?label_id=${red}`)).toEqual(['Card'])
    })

    test('a removed label is not on the card, and a second removal is answered with 404', async () => {
      const { board, cardId } = setup
      const [red, blue] = [await board.label('red'), await board.label('blue')]
      for (const labelId of [red, blue]) await board.put(pathOf(labelId))
      const { body } = await board.delete(pathOf(red))
      expect(body.data.label_ids).toEqual([blue])
      expect(await board.read(cardId)).toEqual(body.data)
      expect(await board.send('DELETE', pathOf(red))).toMatchObject(notFoundBy('label_id'))
      expect((await board.get(`/labels/${red}`)).status).toBe(200)
    })
  })

  describe('cover', () => {
    const setCover = (attachment_id: string) => setup.board.send('PUT', `/cards/${setup.cardId}/cover`, { attachment_id })

    test('an attached image becomes the cover and replaces the one before', async () => {
      const { board, cardId } = setup
      const [first, second] = [await board.image(cardId), await board.image(cardId)]
      const before = await board.read(cardId)
      await setCover(first)
      const later = board.tick()
      const covered = await setCover(second)
      expect([covered.status, covered.body.data]).toEqual([200, { ...before, cover_attachment_id: second, updated_at: later }])
      expect(await board.read(cardId)).toEqual(covered.body.data)
    })

    test('clearing the cover returns the card, and changes nothing if there was none', async () => {
      const { board, cardId } = setup
      const imageId = await board.image(cardId)
      await setCover(imageId)
      const cleared = await board.delete(`/cards/${cardId}/cover`)
      expect(cleared.body.data.cover_attachment_id).toBeNull()
      expect(await board.read(cardId)).toEqual(cleared.body.data)
      board.tick()
      expect((await board.get(`/attachments/${imageId}`)).status).toBe(200)
      const second = await board.send('DELETE', `/cards/${cardId}/cover`)
      expect([second.status, second.body, second.headers.get('etag')]).toEqual([200, cleared.body, cleared.headers.get('etag')])
    })
  })
})
