import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { encodeCursor } from '../../src/listing/pages.ts'
import { DAY, HOUR } from '../../src/model/time.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { EventReader } from '../support/event-reader.ts'
import { inTime } from '../support/in-time.ts'
import { Service } from '../support/service.ts'

interface FeedChange {
  readonly seq: number
  readonly kind: string
  readonly id: string
  readonly action: string
  readonly data: any
}

describe.each(drivers)('the change feed of a board, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const others: Service[] = []
  afterEach(async () => {
    for (const other of others.splice(0)) {
      await other.app.services.usage.settled()
      if (other.place.openAgain !== undefined) await other.store.close()
    }
  })
  /** Another process on the same storage, whose clock differs. */
  const otherProcess = async (skew = 0): Promise<Service> => {
    const { place } = setup.service
    const store = (await place.openAgain?.()) ?? place.store
    const other = await Service.start({ name: driver.name, open: async () => ({ ...place, store }) })
    other.now = setup.service.now + skew
    others.push(other)
    return other
  }
  const path = (query = '') => `/boards/${setup.board.id}/changes${query}`
  const read = async (after?: string, query = '', service = setup.service, token = setup.bob.read) => {
    const { status, body } = await service.send(token, 'GET', path(`?limit=100${after === undefined ? '' : `&after=${after}`}${query}`))
    return { status, error: body.error, changes: body.data as FeedChange[], cursor: body.page?.next_cursor as string }
  }
  const short = (changes: readonly FeedChange[]) => changes.map(({ kind, action }) => `${kind} ${action}`)

  test('begins with the creation of the board, and goes on with each change once, in the order of commits', async () => {
    const { board, cardId, ann } = setup
    const begin = await read()
    expect(short(begin.changes)).toEqual(['board created', 'column created', 'card created'])
    expect(begin.changes.map(({ seq }) => seq)).toEqual([1, 2, 3])
    const { headers } = await board.patch(`/cards/${cardId}`, { title: 'New' })
    const comment = await board.comment(cardId)
    await board.delete(`/comments/${comment}`)
    const next = await read(begin.cursor)
    expect(short(next.changes)).toEqual(['card updated', 'comment created', 'comment deleted'])
    expect(next.changes[0]).toMatchObject({
      seq: 4,
      id: cardId,
      actor_id: ann.id,
      request_id: headers.get('x-request-id'),
      data: { title: 'New' },
    })
    // The comment does not exist any more: only its deletion shows it, as it was last.
    expect(next.changes.slice(1).map(({ data }) => data)).toEqual([null, expect.objectContaining({ id: comment, card_id: cardId })])
    expect(await read(next.cursor)).toMatchObject({ changes: [], cursor: next.cursor })
    expect((await setup.service.send(ann.read, 'GET', path('?limit=2'))).body.data.map(({ seq }: FeedChange) => seq)).toEqual([1, 2])
  })

  test('has the token that made each change, and the removals that follow from the end of a membership', async () => {
    const { service, ann, cardId, workspaceId } = setup
    const { cursor } = await read()
    const ids: string[] = []
    for (const token of [ann.write, ann.admin]) {
      ids.push((await service.send(token, 'GET', '/account')).body.data.token.id)
      await service.send(token, 'PATCH', `/cards/${cardId}`, { title: ids.at(-1)! })
    }
    expect(new Set(ids).size).toBe(2)
    const dan = await service.person(workspaceId, 'member', 'Dan')
    await setup.board.add(dan)
    await setup.board.put(`/cards/${cardId}/assignees/${dan.id}`)
    await endMembership(service.deps, workspaceId, dan.id)
    const { changes } = await read(cursor)
    const byAnn = { actor_id: ann.id, token_name: 'test' }
    const byNobody = { actor_id: null, token_id: null, token_name: null, request_id: null }
    expect(short(changes.slice(4)).toSorted()).toEqual(['board_member deleted', 'card updated'])
    expect(changes.slice(4).find(({ kind }) => kind === 'card')!.data.assignee_ids).toEqual([])
    expect(changes).toMatchObject([
      { ...byAnn, token_id: ids[0] },
      { ...byAnn, token_id: ids[1] },
      { ...byAnn, token_id: ids[1] },
      { ...byAnn, token_id: ids[1] },
      byNobody,
      byNobody,
    ])
    const events = new EventReader(await service.fetch(setup.bob.read, 'GET', `/boards/${setup.board.id}/events?after=${cursor}`))
    expect((await events.take(1))[0]!.data).toMatchObject({ token_id: ids[0] })
    await events.close()
  })

  test('loses and repeats nothing when several processes with wrong clocks write at the same time', async () => {
    const processes = [setup.service, await otherProcess(HOUR), await otherProcess(DAY), await otherProcess(-100)]
    const seen: FeedChange[] = []
    let cursor = (await read()).cursor
    const follow = async (): Promise<void> => {
      const page = await read(cursor)
      seen.push(...page.changes)
      cursor = page.cursor
    }
    const writers = processes.map(async (service, p) => {
      for (let i = 0; i < 6; i++)
        expect((await service.send(setup.ann.write, 'POST', `/cards/${setup.cardId}/comments`, { body: `${p} ${i}` })).status).toBe(201)
    })
    let isDone = false
    const done = Promise.all(writers).finally(() => (isDone = true))
    while (!isDone) {
      await follow()
      await nextTurn()
    }
    await done
    await follow()
    expect(seen.map(({ data }) => data.body).toSorted()).toEqual([0, 1, 2, 3].flatMap((p) => [0, 1, 2, 3, 4, 5].map((i) => `${p} ${i}`)))
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_change, i) => seen[0]!.seq + i))
  })

  test('belongs to one board', async () => {
    const { service, ann } = setup
    const other = await TestBoard.create(service, ann)
    const { cursor } = await read()
    expect((await service.send(ann.read, 'GET', `/boards/${other.id}/changes?after=${cursor}`)).body.error.code).toBe('cursor_expired')
  })

  test('a cursor of a change that was lost or pruned is 410, and the message says how to go on', async () => {
    const { board, service, workspaceId, cardId } = setup
    const begin = await read()
    await board.patch(`/cards/${cardId}`, { title: 'New' })
    const { cursor } = await read(begin.cursor)
    // As after a failover that lost the last commit: its number is used again by another change.
    await service.write(workspaceId, async (tx) => {
      const key = keys.change(board.id, '0000000000000004')
      const change = (await tx.get(key))!
      tx.put(key, { ...change, kind: 'label' })
    })
    for (const forged of ['x -', `${'9'.repeat(16)} -`]) expect((await read(encodeCursor('boards.changes', forged))).status).toBe(410)
    const lost = await read(cursor)
    expect({ status: lost.status, code: lost.error.code }).toEqual({ status: 410, code: 'cursor_expired' })
    expect(lost.error.message).toContain('include=')
    service.now += 20 * DAY
    const fresh = await service.token(workspaceId, setup.ann.id, ['kanban:admin'])
    await service.send(fresh, 'PATCH', `/cards/${cardId}`, { title: 'Newer' })
    await collectGarbage(service.adminDeps, workspaceId)
    for (const after of [undefined, begin.cursor]) expect((await read(after, '', service, fresh)).status).toBe(410)
  })

  test('is kept for a time and up to a number of changes, but never without its last change', async () => {
    const { board, service, workspaceId, cardId, ann } = setup
    const stored = async () => (await service.recordKeys(workspaceId)).filter((key) => key.startsWith(`change:${board.id}:`))
    for (let i = 0; i < 4; i++) await board.patch(`/cards/${cardId}`, { title: `${i}` })
    expect(await stored()).toHaveLength(7)
    service.now += DAY
    await collectGarbage({ ...service.adminDeps, changes: { age: 7 * DAY, count: 5 } }, workspaceId)
    expect(await stored()).toHaveLength(5)
    await board.patch(`/cards/${cardId}`, { title: 'Next day' })
    service.now += 7 * DAY
    await collectGarbage(service.adminDeps, workspaceId)
    expect(await stored()).toHaveLength(1)
    service.now += 30 * DAY
    await collectGarbage(service.adminDeps, workspaceId)
    expect(await stored()).toHaveLength(1)
    const fresh = await service.token(workspaceId, ann.id, ['kanban:admin'])
    await service.send(fresh, 'PATCH', `/cards/${cardId}`, { title: 'Later' })
    expect((await stored()).map((key) => Number(key.split(':')[2])).toSorted()).toEqual([8, 9])
    await service.send(fresh, 'DELETE', `/boards/${board.id}`)
    service.now += 30 * DAY
    await collectGarbage(service.adminDeps, workspaceId)
    expect(await stored()).toEqual([])
    expect((await service.keysBesidesFeeds(workspaceId)).filter((key) => key.startsWith('tombstone:'))).toEqual([])
  })

  describe('a long poll', () => {
    const longPoll = (cursor: string, service?: Service) => inTime(read(cursor, '&wait=30', service), () => 'the long poll is not answered')

    test.each(['the same process', 'another process'] as const)('is answered when %s makes a change', async (where) => {
      const { cursor } = await read()
      const waiting = longPoll(cursor)
      // Redis has subscribed by then; otherwise the poll looks again after a second.
      await setup.service.send(setup.bob.read, 'GET', '/account')
      const writer = where === 'the same process' ? setup.service : await otherProcess()
      await writer.send(setup.ann.write, 'PATCH', `/cards/${setup.cardId}`, { title: 'New' })
      expect(short((await waiting).changes)).toEqual(['card updated'])
    })

    test('without a change ends with an empty page and the same cursor', async () => {
      const { cursor } = await read()
      expect(await read(cursor, '&wait=1')).toMatchObject({ status: 200, changes: [], cursor })
      // It has looked several times, and nothing was in its way.
      expect(setup.service.records.at(-1)).toMatchObject({ operation: 'boards.changes', attempts: 1 })
    })

    test('ends with the error of the first look after access has ended', async () => {
      const { cursor } = await read()
      const waiting = longPoll(cursor)
      await setup.board.makePrivate()
      expect((await waiting).status).toBe(404)
    })

    test('ends when the service stops', async () => {
      const service = await otherProcess()
      const { cursor } = await read()
      const waiting = longPoll(cursor, service)
      await nextTurn()
      service.app.stop()
      expect(await waiting).toMatchObject({ status: 200, changes: [], cursor })
    })

    test.each(['31', '-1', '1.5', 'x', ''])('refuses wait=%s', async (wait) => {
      expect((await read(undefined, `&wait=${wait}`)).status).toBe(422)
    })
  })

  describe('a stream of events', () => {
    const open = async (query = '', headers: Record<string, string> = {}, token = setup.bob.read) =>
      new EventReader(await setup.service.fetch(token, 'GET', `/boards/${setup.board.id}/events${query}`, headers))

    test('has the changes so far and those to come, and goes on after Last-Event-ID', async () => {
      const events = await open()
      expect(events.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      const begin = await events.take(3)
      expect(begin.map(({ event, data }) => `${event} ${data.kind} ${data.action}`)).toEqual([
        'change board created',
        'change column created',
        'change card created',
      ])
      await setup.board.patch(`/cards/${setup.cardId}`, { title: 'New' })
      expect((await events.take(1))[0]!.data).toMatchObject({ seq: 4, data: { title: 'New' } })
      await events.close()
      const seqsAfter = async (id: string) => {
        const again = await open('', { 'last-event-id': id })
        const seqs = (await again.take(2)).map(({ data }) => data.seq)
        await again.close()
        return seqs
      }
      expect([await seqsAfter(begin[1]!.id), await seqsAfter('')]).toEqual([
        [3, 4],
        [1, 2],
      ])
    })

    test('is refused before it begins, like any other request', async () => {
      expect((await open('', {}, setup.bob.none)).response.status).toBe(403)
      expect((await open('?after=x')).response.status).toBe(422)
      expect((await open('', { 'last-event-id': 'x' })).response.status).toBe(422)
    })
  })
})
