import { describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { EventReader } from '../support/event-reader.ts'
import { inTime } from '../support/in-time.ts'

// What an entry says of each write of the operations table is in test/http/updated-at.test.ts.

describe.each(drivers)('an entry of the change feed, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const read = async (query = '', token = setup.bob.read) => {
    const { status, body } = await setup.service.send(token, 'GET', `/boards/${setup.board.id}/changes?limit=100${query}`)
    return { status, error: body.error, changes: body.data as any[], cursor: body.page?.next_cursor as string }
  }
  const now = async () => (await read('&after=now')).cursor
  const since = async (cursor: string, token?: string) => (await read(`&after=${cursor}`, token)).changes
  const batch = (...operations: object[]) => setup.board.post(`/boards/${setup.board.id}/batch`, { operations })

  describe('of a batch', () => {
    test('has the operation that wrote the object; what several have changed is of the batch, and what one created is of that one', async () => {
      const { board, cardId: card_id, columnId: column_id } = setup
      const cursor = await now()
      const { results } = (
        await batch(
          { operation: 'cards.create', body: { column_id, title: 'New' } },
          { operation: 'cards.update', params: { card_id: '$0' }, body: { title: 'Newer' } },
          { operation: 'cards.update', params: { card_id }, body: { title: 'Other' } },
          { operation: 'cards.complete', params: { card_id }, body: { completed: true } },
          { operation: 'columns.rename', params: { column_id }, body: { name: 'Column 2' } },
        )
      ).body.data
      const entries = new Map((await since(cursor)).map(({ id, operation, action, changed }) => [id, { operation, action, changed }]))
      expect(entries.get(results[0].data.id)).toEqual({ operation: 'cards.create', action: 'created', changed: undefined })
      expect(entries.get(card_id)).toEqual({
        operation: 'boards.batch',
        action: 'updated',
        changed: ['title', 'completed_at', 'completed_by_id', 'outcome'],
      })
      expect(entries.get(column_id)).toEqual({ operation: 'columns.rename', action: 'updated', changed: ['name'] })
      expect(await board.read(card_id)).toMatchObject({ title: 'Other' })
    })
  })

  test('of what no request made has no operation', async () => {
    const { service, board, cardId, workspaceId } = setup
    const dan = await service.person(workspaceId, 'member', 'Dan')
    await board.put(`/cards/${cardId}/assignees/${dan.id}`)
    const cursor = await now()
    await endMembership(service.deps, workspaceId, dan.id)
    expect(await since(cursor)).toMatchObject([
      { id: cardId, operation: null, request_id: null, changed: ['assignee_ids'], from: { assignee_ids: [dan.id] } },
    ])
  })

  test('of an earlier version says that it does not know', async () => {
    const { board, cardId, workspaceId } = setup
    const comment = await board.comment(cardId)
    const cursor = await now()
    await board.patch(`/cards/${cardId}`, { title: 'New' })
    await board.delete(`/comments/${comment}`)
    const entries = await since(cursor)
    // A cursor names the revision of the last change that was read, which stays.
    await setup.service.write(workspaceId, async (tx) => {
      for (const { seq } of entries) {
        const key = keys.change(board.id, String(seq).padStart(16, '0'))
        const { changed: _changed, from: _from, last: _last, operation: _operation, token_name: _name, ...old } = (await tx.get(key))!
        tx.put(key, old)
      }
    })
    const [updated, deleted] = await since(cursor)
    expect(updated).toMatchObject({ operation: null, token_name: null, changed: null, from: null, data: { title: 'New' } })
    expect(deleted).toMatchObject({ operation: null, token_name: null, data: null })
    expect(deleted).not.toHaveProperty('changed')
  })

  describe('of a deletion', () => {
    test('has the object as it was last, of each kind, without long texts, and no member of what is stored only', async () => {
      const { service, board, columnId, cardId: parent, cyd } = setup
      const cardId = await board.card(columnId, 'Gone', { description: 'x'.repeat(501), due_at: '2026-12-01T00:00:00.000Z' })
      await board.add(cyd)
      const attachment = (await board.attach(parent, { visibility: 'private' })).body.data
      const [label, subtask, comment] = [await board.label(), await board.subtask(parent), await board.comment(parent, 'Short')]
      const paths = [
        `/cards/${cardId}`,
        `/labels/${label}`,
        `/subtasks/${subtask}`,
        `/comments/${comment}`,
        `/attachments/${attachment.id}`,
      ]
      const expected = await Promise.all(paths.map(async (path) => (await board.get(path)).body.data))
      const members = (await board.get(`/boards/${board.id}/members`)).body.data as any[]
      const { description, ...card } = expected[0]
      expect(description).toHaveLength(501)
      const cursor = await now()
      for (const path of [...paths, `/boards/${board.id}/members/${cyd.id}`]) await board.delete(path)
      const deleted = (await since(cursor)).filter(({ action }) => action === 'deleted')
      expect(deleted.map(({ data }) => data)).toEqual([card, ...expected.slice(1), members.find(({ user_id }) => user_id === cyd.id)])
      expect(deleted.every((entry) => !('last' in entry))).toBe(true)
      const events = new EventReader(await service.fetch(setup.bob.read, 'GET', `/boards/${board.id}/events?after=${cursor}`))
      expect((await events.take(1))[0]!.data.data).toEqual(card)
      await events.close()
    })

    test('is decided when it is read: who may not read the board any more gets nothing of it', async () => {
      const { board, columnId, ann, bob } = setup
      const cursor = await now()
      await board.delete(`/cards/${await board.card(columnId, 'Secret')}`)
      expect((await since(cursor))[1].data.title).toBe('Secret')
      await board.makePrivate()
      expect(await read(`&after=${cursor}`, bob.read)).toMatchObject({ status: 404, changes: undefined })
      expect((await since(cursor, ann.read))[1].data.title).toBe('Secret')
    })

    test('shows nobody whose membership has ended', async () => {
      const { service, board, columnId, workspaceId } = setup
      const dan = await service.person(workspaceId, 'member', 'Dan')
      await board.add(dan)
      const cardId = await board.card(columnId, 'Card', { assignee_ids: [dan.id] })
      const cursor = await now()
      await board.delete(`/boards/${board.id}/members/${dan.id}`)
      await board.delete(`/cards/${cardId}`)
      const shown = async () =>
        (await since(cursor))
          .filter(({ action }) => action === 'deleted')
          .map(({ kind, data }) => [kind, data?.display_name ?? data?.title])
      expect(await shown()).toEqual([
        ['board_member', 'Dan'],
        ['card', 'Card'],
      ])
      await endMembership(service.deps, workspaceId, dan.id)
      expect(await shown()).toEqual([
        ['board_member', undefined],
        ['card', 'Card'],
      ])
    })
  })

  describe('is read', () => {
    const fill = async (count = 7) => {
      for (let i = 0; i < count; i++) await setup.board.comment(setup.cardId, `${i}`)
    }
    const page = async (query: string, limit = 4) => {
      const { status, body } = await setup.service.send(setup.bob.read, 'GET', `/boards/${setup.board.id}/changes?limit=${limit}${query}`)
      return { status, seqs: body.data?.map(({ seq }: any) => seq), next: body.page?.next_cursor, error: body.error }
    }

    test('backwards with order=desc, to the first change; a cursor of one order works in the other', async () => {
      await fill()
      const first = await page('&order=desc')
      const second = await page(`&order=desc&after=${first.next}`)
      const third = await page(`&order=desc&after=${second.next}`)
      expect([first.seqs, second.seqs, third.seqs]).toEqual([
        [10, 9, 8, 7],
        [6, 5, 4, 3],
        [2, 1],
      ])
      expect(third.next).toBeNull()
      expect((await page('&order=desc&after=now')).seqs).toEqual(first.seqs)
      expect((await page(`&after=${first.next}`)).seqs).toEqual([8, 9, 10])
      // Exactly as many as there are: no empty page follows.
      expect(await page('&order=desc', 10)).toMatchObject({ next: null })
      const forward = await page('&order=asc')
      expect(await page(`&order=desc&after=${forward.next}`)).toMatchObject({ seqs: [3, 2, 1], next: null })
    })

    test('from the present end with after=now, also by a long poll and a stream', async () => {
      const { service, board, bob, cardId } = setup
      expect(await page('&after=now')).toMatchObject({ status: 200, seqs: [] })
      const waiting = inTime(page('&after=now&wait=30'), () => 'the long poll is not answered')
      const events = new EventReader(await service.fetch(bob.read, 'GET', `/boards/${board.id}/events?after=now`))
      const stop = setInterval(() => void board.comment(cardId), 50)
      try {
        const { seqs } = await waiting
        expect(seqs[0]).toBeGreaterThan(3)
        expect((await events.take(1))[0]!.data).toMatchObject({ kind: 'comment', action: 'created' })
      } finally {
        clearInterval(stop)
        await events.close()
      }
    })

    test.each([
      ['&order=desc&wait=1', 'wait'],
      ['&order=x', 'order'],
      ['&after=NOW', 'after'],
      ['&after=x', 'after'],
    ])('not with %s', async (query, path) => {
      const { status, error } = await page(query)
      expect({ status, paths: error.issues.map((issue: any) => issue.path) }).toEqual({ status: 422, paths: [path] })
    })

    test('backwards from a cursor whose change is lost is 410', async () => {
      const { next } = await page('&order=desc', 1)
      await setup.service.write(setup.workspaceId, async (tx) => {
        const key = keys.change(setup.board.id, '0000000000000003')
        tx.put(key, { ...(await tx.get(key))!, request_id: 'other' })
      })
      expect((await page(`&order=desc&after=${next}`)).error.code).toBe('cursor_expired')
    })
  })
})
