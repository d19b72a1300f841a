import { describe, expect, test } from 'vitest'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { invalid, notFoundBy } from './refusals.ts'

// What moves, archives, labels, assigns and covers cards is compared with models in batch-placements and stress/histories.
describe.each(drivers)('cards, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test.each(['9999-12-31T23:59:59-10:00', '0000-01-01T00:00:00+10:00', '2026-02-30T00:00:00Z', '2026-11-20', '2026-11-20T12:00:00'])(
    'the due time %s is refused: it is not an RFC 3339 time with an offset',
    async (due_at) => {
      const reply = await setup.board.send('PATCH', `/cards/${setup.cardId}`, { due_at })
      expect(reply).toMatchObject(invalid('due_at'))
      expect(reply.body.error.issues[0].message).toContain('RFC 3339')
    },
  )

  test('a card is completed at one time by one person, until it is open again', async () => {
    const { service, ann, bob, board, cardId } = setup
    const complete = (token: string, completed: boolean) => service.send(token, 'PUT', `/cards/${cardId}/completion`, { completed })
    const before = await board.read(cardId)
    const later = board.tick()
    const first = await complete(ann.write, true)
    expect(first.body.data).toEqual({ ...before, completed_at: later, completed_by_id: ann.id, outcome: 'succeeded', updated_at: later })
    const updated_at = board.tick()
    const second = await complete(bob.write, true)
    expect({ text: second.text, etag: second.headers.get('etag') }).toEqual({ text: first.text, etag: first.headers.get('etag') })
    expect((await complete(ann.write, false)).body.data).toEqual({ ...before, updated_at })
    expect((await complete(bob.write, true)).body.data.completed_by_id).toBe(bob.id)
  })

  test('the cards of a label that is changed stay as they are', async () => {
    const { board, cardId } = setup
    const id = await board.label('red')
    await board.put(`/cards/${cardId}/labels/${id}`)
    const card = await board.read(cardId)
    board.tick()
    expect((await board.patch(`/labels/${id}`, { name: ' Defect ' })).body.data.name).toBe('Defect')
    expect(await board.read(cardId)).toEqual(card)
  })

  test('an assignee is removed even if they have lost access to the board', async () => {
    const { workspaceId, service, cyd, board, cardId } = setup
    const path = `/cards/${cardId}/assignees/${cyd.id}`
    await board.makePrivate()
    await service.write(workspaceId, async (tx) => {
      const card = (await tx.get(keys.card(cardId)))!
      tx.put(keys.card(cardId), { ...card, assignee_ids: [cyd.id] })
    })
    await board.delete(path)
    expect((await board.read(cardId)).assignee_ids).toEqual([])
    expect(await board.send('DELETE', path)).toMatchObject(notFoundBy('user_id'))
  })
})
