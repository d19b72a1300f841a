import { ReadableStream } from 'node:stream/web'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { Metrics } from '../../src/metrics.ts'
import { DAY } from '../../src/model/time.ts'
import { operations } from '../../src/resources/table.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { inTime } from '../support/in-time.ts'
import { buildWorld, createAllowed, exampleBody, pathOf, type World } from '../support/scenario.ts'
import type { Person, Reply } from '../support/service.ts'
import { notFoundBy } from './refusals.ts'

const SECOND = 1000

describe.each(drivers)('claims of cards, on $name', (driver) => {
  const setup = setUpBoard(driver)
  let ann: Person
  let bob: Person
  beforeEach(() => {
    ;({ ann, bob } = setup)
  })
  const send = (token: string, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    setup.service.send(token, method, path, body, headers)
  const claimPath = (cardId = setup.cardId) => `/cards/${cardId}/claim`
  const take = (token: string, cardId = setup.cardId, ttl?: number, headers?: Record<string, string>) =>
    send(token, 'PUT', claimPath(cardId), { ttl }, headers)
  const next = (token: string, body: object = {}) => send(token, 'POST', `/boards/${setup.board.id}/claims`, body)
  const current = async (cardId = setup.cardId) => (await send(setup.ann.read, 'GET', claimPath(cardId))).body.data
  const held = (epoch: number) => ({ 'if-claim': String(epoch) })
  const wait = (seconds: number) => void (setup.service.now += seconds * SECOND)

  test('are shown by include=claim, without the ETag of the card', async () => {
    const claim = (await take(bob.write)).body.data
    const { id } = setup.board
    const counted = await send(ann.read, 'GET', `/cards/${setup.cardId}?include=claim,counts`)
    expect({ data: counted.body.data, etag: counted.headers.get('etag') }).toMatchObject({
      data: { claim, counts: { subtasks: 0 } },
      etag: null,
    })
    const plain = await send(ann.read, 'GET', `/cards/${setup.cardId}`)
    expect(plain.body.data).not.toHaveProperty('claim')
    const conditional = await send(ann.read, 'GET', `/cards/${setup.cardId}?include=claim`, undefined, {
      'if-none-match': plain.headers.get('etag')!,
    })
    expect(conditional.status).toBe(200)
    const list = await send(ann.read, 'GET', `/boards/${id}/cards?include=claim,etag&fields=id,claim,etag`)
    expect(list.body.data).toEqual([{ id: setup.cardId, claim, etag: plain.headers.get('etag') }])
    wait(300)
    // The list is another one although no record has changed.
    const again = await send(ann.read, 'GET', `/boards/${id}/cards?include=claim,etag&fields=id,claim,etag`, undefined, {
      'if-none-match': list.headers.get('etag')!,
    })
    expect({ status: again.status, claim: again.body.data[0].claim }).toEqual({ status: 200, claim: null })
  })

  test('need no body in a batch', async () => {
    const operations = [{ operation: 'claims.take', params: { card_id: setup.cardId } }]
    const { body } = await send(ann.write, 'POST', `/boards/${setup.board.id}/batch`, { operations })
    expect(body.data.results).toMatchObject([{ data: { card_id: setup.cardId } }])
  })

  test('are each counted by the metrics, also in a batch', async () => {
    const { records } = setup.service
    records.length = 0
    const other = await setup.board.card(setup.columnId, 'Other')
    const batch = (...ids: string[]) => {
      const operations = ids.map((card_id) => ({ operation: 'claims.take', params: { card_id }, body: { ttl: 10 } }))
      return send(bob.write, 'POST', `/boards/${setup.board.id}/batch`, { operations })
    }
    await take(ann.write, setup.cardId, 10)
    wait(10)
    expect((await batch(setup.cardId, other)).status).toBe(200)
    expect((await batch(other, setup.cardId)).status).toBe(200)
    expect((await send(ann.write, 'PATCH', `/cards/${other}`, { title: 'Late' }, held(1))).status).toBe(412)
    const metrics = new Metrics()
    for (const record of records) metrics.observe(record)
    const counted = [...(await metrics.read()).matchAll(/^lanekeeper_claims_total\{event="(\w+)"\} (\d+)$/gm)]
    expect(Object.fromEntries(counted.map(([, event, count]) => [event, Number(count)]))).toEqual({
      taken: 3,
      renewed: 2,
      run_out: 1,
      lost: 1,
    })
  })

  test.each([9, 3601, 1.5, '60', null])('with the ttl %j are refused with 422', async (ttl) => {
    expect((await send(bob.write, 'PUT', claimPath(), { ttl })).status).toBe(422)
    expect((await next(bob.write, { ttl })).status).toBe(422)
  })

  describe('end', () => {
    test.each(['card', 'column'] as const)('when their %s is archived, and not in another column', async (what) => {
      const other = await setup.board.card(await setup.board.column())
      for (const id of [setup.cardId, other]) await take(bob.write, id)
      await setup.board.post(`/${what}s/${setup[`${what}Id`]}/archive`)
      expect({ current: await current(), otherEpoch: (await current(other)).epoch }).toEqual({ current: null, otherEpoch: 1 })
    })

    test('when their token expires, at the latest', async () => {
      const token = await setup.service.token(setup.workspaceId, bob.id, ['kanban:write'], DAY)
      const begun = setup.service.now
      wait(DAY / SECOND - 20)
      expect((await take(token, setup.cardId, 300)).body.data.expires_at).toBe(new Date(begun + DAY).toISOString())
      wait(20)
      expect(await current()).toBeNull()
      setup.service.now = begun
    })

    test('with the card, and garbage collection removes their records', async () => {
      await take(bob.write)
      await setup.board.delete(`/cards/${setup.cardId}`)
      expect((await send(bob.read, 'GET', claimPath())).status).toBe(404)
      await collectGarbage(setup.service.adminDeps, setup.workspaceId)
      expect(await setup.service.write(setup.workspaceId, (tx) => tx.get(keys.claim(setup.cardId)))).toBeUndefined()
    })
  })

  describe('If-Claim', () => {
    let world: World
    beforeAll(async () => {
      world = await buildWorld(setup.service)
    })
    /** Every write to a card or to what hangs on it. */
    const writes = operations.filter(({ method, path }) => method !== 'GET' && /^\/(cards|subtasks|comments|attachments)\//.test(path))

    // A card whose question waits is claimed by nobody.
    const made = writes.filter(({ id }) => id !== 'cards.answer')
    test.each(made.map((row) => [row.id, row] as const))('%s is made only by the holder with the epoch', async (id, row) => {
      const scenario = await createAllowed(world, row, { work: null })
      const [path, body, card] = [pathOf(row.path, scenario), exampleBody(id, scenario), pathOf('/cards/{card_id}', scenario)]
      const { admin, read } = scenario.caller
      const sibling = await setup.service.token(world.workspaceId, scenario.caller.id, ['kanban:admin'])
      const shown = async () => (await send(read, 'GET', `${card}?include=counts`)).body
      const before = await shown()
      const claim = async (token: string) => (await send(token, 'PUT', `${card}/claim`, {})).body.data
      const write = (headers: Record<string, string>, token = admin) => send(token, row.method, path, body, headers)
      const refused = (reply: Reply) => [reply.status, reply.body.error?.code, reply.body.error?.current_claim]
      expect(refused(await write(held(1)))).toEqual([412, 'precondition_failed', null])
      const other = await claim(world.other.write)
      expect(refused(await write(held(1)))).toEqual([412, 'precondition_failed', other])
      await send(world.other.write, 'DELETE', `${card}/claim`)
      const own = await claim(admin)
      for (const epoch of [1, 3]) expect(refused(await write(held(epoch)))).toEqual([412, 'precondition_failed', own])
      expect(refused(await write(held(2), sibling))).toEqual([412, 'precondition_failed', own])
      expect((await write({ 'if-claim': 'x' })).status).toBe(400)
      expect(await shown()).toEqual(before)
      expect((await write(held(2))).status).toBeLessThan(300)
    })

    test('stands beside If-Match, is a part of the request of an Idempotency-Key, and is not broken by writes of others', async () => {
      const { epoch } = (await take(bob.write)).body.data
      await setup.board.patch(`/cards/${setup.cardId}`, { title: 'Renamed' })
      const etag = (await send(bob.read, 'GET', `/cards/${setup.cardId}`)).headers.get('etag')!
      const write = (headers: Record<string, string>) => send(bob.write, 'PATCH', `/cards/${setup.cardId}`, { title: 'New' }, headers)
      expect((await write({ ...held(epoch), 'if-match': '"x"' })).status).toBe(412)
      expect((await write({ ...held(epoch + 1), 'if-match': etag })).status).toBe(412)
      expect((await write({ ...held(epoch), 'if-match': etag, 'idempotency-key': 'k' })).status).toBe(200)
      expect((await write({ ...held(epoch), 'if-match': etag, 'idempotency-key': 'k' })).status).toBe(200)
      expect((await write({ 'if-match': etag, 'idempotency-key': 'k' })).status).toBe(422)
    })

    test('cannot hold on a write that changes no card', async () => {
      const { epoch } = (await take(bob.write)).body.data
      const path = `/boards/${setup.board.id}`
      expect((await send(bob.write, 'PATCH', path, { name: 'New' }, held(epoch))).status).toBe(412)
      expect((await send(bob.write, 'POST', `${path}/cards`, { column_id: setup.columnId, title: 'New' }, held(epoch))).status).toBe(412)
      expect((await send(bob.read, 'GET', path, undefined, held(epoch))).status).toBe(200)
    })

    test('holds for the operations of a batch that state it', async () => {
      const { epoch } = (await take(bob.write)).body.data
      const params = { card_id: setup.cardId }
      const batch = (token: string, if_claim: unknown) =>
        send(token, 'POST', `/boards/${setup.board.id}/batch`, {
          operations: [
            { operation: 'comments.create', params, body: { body: 'Done' }, if_claim },
            { operation: 'cards.complete', params, body: { completed: true }, if_claim },
          ],
        })
      expect((await batch(bob.write, '1')).status).toBe(422)
      expect(await batch(ann.write, epoch)).toMatchObject({ status: 412, body: { error: { index: 0, current_claim: { epoch } } } })
      expect((await batch(bob.write, epoch)).status).toBe(200)
      const again = await batch(bob.write, epoch)
      expect(again).toMatchObject({ status: 412, body: { error: { index: 0, current_claim: null } } })
      expect((await send(bob.read, 'GET', `/cards/${setup.cardId}/comments`)).body.data).toHaveLength(1)
    })

    test('a claim that runs out while a file is received lands nothing', async () => {
      const { epoch } = (await take(bob.write, setup.cardId, 10)).body.data
      const disposition = 'content-disposition: form-data; name="file"; filename="a.txt"'
      const body = ReadableStream.from(
        (async function* () {
          yield Buffer.from(`--x\r\n${disposition}\r\ncontent-type: text/plain\r\n\r\nhel`)
          wait(10)
          yield Buffer.from('lo\r\n--x--\r\n')
        })(),
      )
      const headers = { authorization: `Bearer ${bob.write}`, 'content-type': 'multipart/form-data; boundary=x', ...held(epoch) }
      const options = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
      const request = new Request(`http://localhost/v1/cards/${setup.cardId}/files`, options)
      expect((await setup.service.app.fetch(request)).status).toBe(412)
      expect((await send(bob.read, 'GET', `/cards/${setup.cardId}/attachments`)).body.data).toEqual([])
    })

    test('a claim that is lost between the read and the commit lands nothing', async () => {
      const { epoch } = (await take(bob.write, setup.cardId, 10)).body.data
      const lose = async () => {
        wait(10)
        expect((await take(ann.write)).status).toBe(200)
        wait(-10)
      }
      // The clock of the first process is behind: to it, the claim still counts. What has changed is the record.
      setup.service.store.beforeCommit = lose
      const late = await send(bob.write, 'POST', `/cards/${setup.cardId}/comments`, { body: 'Late' }, held(epoch))
      expect(late).toMatchObject({ status: 412, body: { error: { current_claim: { epoch: epoch + 1, holder_id: ann.id } } } })
      expect((await send(bob.read, 'GET', `/cards/${setup.cardId}/comments`)).body.data).toEqual([])
    })
  })

  describe('the next card', () => {
    /** A card that is taken, so that it is not the next one itself. */
    const blocker = async (): Promise<string> => {
      const id = await setup.board.card(setup.columnId, 'Blocker')
      await take(ann.write, id)
      return id
    }

    test('is what ready=true lists first: a claimed card is not ready, until its claim has run out', async () => {
      const other = await setup.board.card(setup.columnId, 'Other')
      await take(bob.write, setup.cardId, 10)
      const listed = async (query: string) => (await send(ann.read, 'GET', query)).body.data.map(({ id }: { id: string }) => id)
      const lists = (ready: boolean) => [
        `/boards/${setup.board.id}/cards?ready=${ready}&completed=false`,
        `/cards?board_id=${setup.board.id}&ready=${ready}`,
        `/cards?board_id=${setup.board.id}&ready=${ready}&sort=position`,
      ]
      for (const list of lists(true)) expect(await listed(list), list).toEqual([other])
      for (const list of lists(false)) expect(await listed(list), list).toEqual([setup.cardId])
      wait(10)
      for (const list of lists(true)) expect((await listed(list)).toSorted(), list).toEqual([setup.cardId, other].toSorted())
      for (const list of lists(false)) expect(await listed(list), list).toEqual([])
    })

    const titles = (replies: readonly Reply[]) => replies.map(({ body }) => body.data?.title ?? null)

    test('is the first ready one, column by column and by position: one that is blocked can only be taken by its id', async () => {
      const second = await setup.board.column('Second')
      const first = await setup.board.column('First', { before: second })
      await setup.board.card(second, 'C')
      await setup.board.card(first, 'B')
      await setup.board.card(first, 'A', { to: 'first' })
      const blocked = await setup.board.card(first, 'Blocked', { blocker_ids: [setup.cardId] })
      const archived = await setup.board.column('Archived', { before: setup.columnId })
      await setup.board.card(archived, 'Hidden')
      await setup.board.post(`/columns/${archived}/archive`)
      const replies: Reply[] = []
      for (let i = 0; i < 5; i++) replies.push(await next(bob.write))
      expect(titles(replies)).toEqual(['Card', 'A', 'B', 'C', null])
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 200])
      expect((await take(ann.write, blocked)).status).toBe(200)
      const { data } = replies[1]!.body
      expect(replies[1]!.headers.get('location')).toBe(`/v1/cards/${data.id}`)
      expect(data.claim).toEqual(await current(data.id))
      const { claim, ...card } = data
      expect(card).toEqual(await setup.board.read(claim.card_id))
    })

    test('can be chosen by column and label', async () => {
      const [column_id, label_id] = [await setup.board.column(), await setup.board.label()]
      await setup.board.card(column_id, 'Plain')
      await setup.board.card(column_id, 'Labelled', { label_ids: [label_id] })
      expect(titles([await next(bob.write, { column_id, label_id }), await next(bob.write, { label_id })])).toEqual(['Labelled', null])
      expect(await next(bob.write, { column_id: `col_${'0'.repeat(20)}` })).toMatchObject(notFoundBy('column_id'))
    })

    const changes: readonly (readonly [how: string, change: (id: string, label: string) => Promise<unknown>])[] = [
      ['completed', (id) => setup.board.put(`/cards/${id}/completion`, { completed: true })],
      ['archived', (id) => setup.board.post(`/cards/${id}/archive`)],
      ['hidden with its column', () => setup.board.post(`/columns/${setup.columnId}/archive`)],
      ['claimed', (id) => take(ann.write, id)],
      ['blocked', async (id) => setup.board.put(`/cards/${id}/blockers/${await blocker()}`)],
      ['in another column', async (id) => setup.board.post(`/cards/${id}/move`, { column_id: await setup.board.column() })],
      ['without the label', (id, label) => setup.board.delete(`/cards/${id}/labels/${label}`)],
    ]
    test.each(changes)('is never one that is %s after it was found, before it is read or before the commit', async (_how, change) => {
      const { store } = setup.service
      const { name } = indexes.readyCards(setup.columnId)
      for (const moment of ['beforeRead', 'beforeCommit'] as const) {
        const [label, id] = [await setup.board.label(), await setup.board.card(setup.columnId)]
        await setup.board.put(`/cards/${id}/labels/${label}`)
        store.touched.length = 0
        store[moment] = async () => {
          if (!store.touched.includes(name)) return
          store[moment] = undefined
          await change(id, label)
        }
        const reply = await next(bob.write, { column_id: setup.columnId, label_id: label })
        expect({ moment, stored: store[moment], data: reply.body.data }).toStrictEqual({ moment, stored: undefined, data: null })
        await setup.board.post(`/columns/${setup.columnId}/restore`)
      }
    })

    test('is not taken by a client that has left', async () => {
      await take(ann.write)
      const left = new AbortController()
      const headers = { authorization: `Bearer ${bob.write}`, 'content-type': 'application/json' }
      const url = `http://localhost/v1/boards/${setup.board.id}/claims`
      const { store } = setup.service
      const { watch } = store
      // It has found nothing, and begins to wait.
      const leave: typeof watch = (...args) => {
        Object.assign(store, { watch })
        wait(300)
        left.abort()
        return watch(...args)
      }
      Object.assign(store, { watch: leave })
      const poll = setup.service.app.fetch(new Request(url, { method: 'POST', headers, body: '{"wait":30}', signal: left.signal }))
      expect((await inTime(poll, () => 'the long poll is not answered')).status).toBe(200)
      expect({ aborted: left.signal.aborted, current: await current() }).toEqual({ aborted: true, current: null })
    })

    test('a repetition with an Idempotency-Key gets the same card; one that has found nothing looks again', async () => {
      const keyed = () => send(bob.write, 'POST', `/boards/${setup.board.id}/claims`, {}, { 'idempotency-key': 'next' })
      await take(ann.write, setup.cardId, 10)
      expect((await keyed()).body.data).toBeNull()
      wait(10)
      const first = await keyed()
      expect((await keyed()).body).toEqual(first.body)
      expect(first.body.data.id).toBe(setup.cardId)
    })

    const waiting = () => inTime(next(bob.write, { wait: 30 }), () => 'the long poll is not answered')

    test('is waited for: a card that is created ends it, and a claim that runs out does', async () => {
      await take(ann.write, setup.cardId, 10)
      const created = waiting()
      await send(bob.read, 'GET', '/account')
      const id = await setup.board.card(setup.columnId, 'New')
      expect(await created).toMatchObject({ status: 201, body: { data: { id } } })
      const freed = waiting()
      await nextTurn()
      wait(10)
      expect(await freed).toMatchObject({ status: 201, body: { data: { id: setup.cardId, claim: { epoch: 2 } } } })
    })

    test('is not waited for longer than asked', async () => {
      await take(ann.write)
      expect(await next(bob.write, { wait: 1 })).toMatchObject({ status: 200, body: { data: null } })
      for (const wait of [31, -1, 1.5]) expect((await next(bob.write, { wait })).status).toBe(422)
    })
  })
})
