import { beforeEach, describe, expect, test } from 'vitest'
import { issueToken, rotateToken } from '../../src/auth/tokens/issue.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { DAY } from '../../src/model/time.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard, storeCopies, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'

const MINUTE = 60_000

describe.each(drivers)('a card that a token has released, on $name', (driver) => {
  const setup = setUpBoard(driver)
  /** two workers of one person */
  let first: string
  let second: string
  beforeEach(async () => {
    const { service, workspaceId, ann } = setup
    first = await service.token(workspaceId, ann.id, ['kanban:write'])
    second = await service.token(workspaceId, ann.id, ['kanban:write'])
  })
  const send = (token: string, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    setup.service.send(token, method, path, body, headers)
  const pathOf = (cardId = setup.cardId) => `/cards/${cardId}/claim`
  const release = (token: string, body?: object, query = '', cardId = setup.cardId) => send(token, 'DELETE', pathOf(cardId) + query, body)
  /** The id of the card that a token gets. */
  const next = async (token: string, board = setup.board): Promise<string | null> =>
    (await send(token, 'POST', `/boards/${board.id}/claims`, { ttl: 60 })).body.data?.id ?? null
  const takeAndRelease = async (token: string, body?: object) => {
    expect(await next(token)).toBe(setup.cardId)
    expect((await release(token, body)).body).toEqual({ data: { id: setup.cardId, deleted: true } })
  }

  test('is not offered to that token for 60 seconds, and is offered to others at once', async () => {
    const { service, cardId } = setup
    await takeAndRelease(first)
    expect(await next(first)).toBeNull()
    service.now += MINUTE - 1
    expect(await next(first)).toBeNull()
    await takeAndRelease(second)
    service.now += 1
    expect(await next(first)).toBe(cardId)
  })

  test('is not given back and forth by two tokens that cannot do it', async () => {
    await takeAndRelease(first)
    await takeAndRelease(second)
    expect([await next(first), await next(second)]).toEqual([null, null])
  })

  test('is not offered to the successors of that token either', async () => {
    const { service, workspaceId, ann } = setup
    const { token } = await service.write(workspaceId, (tx) =>
      issueToken(tx, { userId: ann.id, name: 'worker', scopes: ['kanban:write'] }, service.deps),
    )
    const rotate = (tokenId: string) =>
      service.write(workspaceId, (tx) => rotateToken(tx, { userId: ann.id, tokenId, lifetime: DAY }, service.deps))
    const once = await rotate(token.id)
    await takeAndRelease(once.plaintext)
    const twice = await rotate(once.token.id)
    expect(await next(twice.plaintext)).toBeNull()
    expect(await next(first)).toBe(setup.cardId)
  })

  test.each<[string, () => Promise<unknown>]>([
    ['the card is changed', () => setup.board.patch(`/cards/${setup.cardId}`, { title: 'New' })],
    ['the card is moved', async () => setup.board.post(`/cards/${setup.cardId}/move`, { column_id: await setup.board.column() })],
    ['it is to be tried again', () => setup.board.post(`/cards/${setup.cardId}/retry`)],
  ])('is offered to that token again when %s', async (_what, change) => {
    await takeAndRelease(first)
    expect(await next(first)).toBeNull()
    await change()
    expect(await next(first)).toBe(setup.cardId)
  })

  test('is passed over for the next one, and can be taken by name', async () => {
    const { board, columnId, cardId } = setup
    const other = await board.card(columnId, 'Other')
    await takeAndRelease(first)
    expect(await next(first)).toBe(other)
    expect((await send(first, 'PUT', pathOf(), {})).status).toBe(200)
    expect((await board.read(`${cardId}?include=claim`)).claim).toMatchObject({ card_id: cardId })
  })

  test('costs no further access to the storage, however many there are, and those after the 50th are passed over, too', async () => {
    const { service, board, cardId, ann } = setup
    const trips = async () => {
      await service.app.services.usage.settled()
      const before = service.store.trips
      const found = await next(first)
      return [service.store.trips - before, found] as const
    }
    expect((await trips())[1]).toBe(cardId)
    expect((await trips())[0]).toBe((await trips())[0])
    await release(first)
    const [none] = await trips()
    const ids = await storeCopies(board, keys.card(cardId), 60)
    const until = new Date(service.now + MINUTE).toISOString()
    await service.write(ann.workspaceId, async (tx) => {
      const [record] = await tx.read([keys.claim(cardId), ...ids.map((id) => keys.claim(id)), ...ids.map((id) => keys.card(id))])
      const family = sha256Hex(first)
      for (const id of ids)
        tx.put(keys.claim(id), { ...record!, card_id: id, releases: [{ family, until, revision: tx.revisionOf(keys.card(id))! }] })
    })
    const [many, found] = await trips()
    expect(found).toBeNull()
    // One more only beyond 50.
    expect(many).toBe(none + 1)
    await board.patch(`/cards/${ids[30]}`, { title: 'New' })
    expect(await next(first)).toBe(ids[30])
  })

  test('is offered to nobody before `retry_after`, and no attempt is counted', async () => {
    const { service, board, cardId } = setup
    await takeAndRelease(first, { retry_after: 90 })
    const { work } = (await board.get(`/cards/${cardId}?include=work`)).body.data
    expect(work).toMatchObject({
      state: 'retrying',
      attempts: 0,
      failed_at: null,
      not_before: new Date(service.now + 90_000).toISOString(),
    })
    service.now += 90_000 - 1
    expect([await next(first), await next(second)]).toEqual([null, null])
    service.now += 1
    expect(await next(first)).toBe(cardId)
  })

  test('with `retry_after: 0` is as without it', async () => {
    await takeAndRelease(first, { retry_after: 0 })
    expect(await next(first)).toBeNull()
    expect(await next(second)).toBe(setup.cardId)
  })

  test.each<[string, unknown, string?]>([
    ['a negative time', { retry_after: -1 }],
    ['more than a day', { retry_after: 86_401 }],
    ['a fraction', { retry_after: 0.5 }],
    ['an unknown member', { after: 1 }],
    ['no object', []],
    ['a force that is no boolean', undefined, '?force=maybe'],
  ])('%s is refused, and the claim stays', async (_what, body, query) => {
    await next(first)
    expect((await release(first, body as object, query)).status).toBe(422)
    expect((await send(second, 'GET', pathOf())).body.data).not.toBeNull()
  })

  test('needs a card that nobody else has taken: the card of another token is 409 with its claim', async () => {
    await next(first)
    const { body: held } = await send(first, 'GET', pathOf())
    const refused = await release(second)
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict', claim: held.data } } })
    expect((await send(first, 'GET', pathOf())).body).toEqual(held)
    expect((await release(second, {}, '?force=false')).status).toBe(409)
  })

  test('nothing happens to a card that nobody holds, with `force` or without', async () => {
    const { board } = setup
    const { changes_cursor } = (await board.get(`/boards/${board.id}?include=columns`)).body.data
    for (const query of ['', '?force=true']) expect((await release(second, { retry_after: 5 }, query)).status).toBe(200)
    expect((await board.get(`/boards/${board.id}/changes?after=${changes_cursor}`)).body.data).toEqual([])
    expect(await next(first)).toBe(setup.cardId)
  })

  test('with `force`, the claim of another token ends without an attempt, the feed has who did it, and the worker learns it', async () => {
    const { board, cardId, bob, service, workspaceId } = setup
    await next(first)
    const { claim } = (await board.get(`/cards/${cardId}?include=claim`)).body.data
    const { changes_cursor } = (await board.get(`/boards/${board.id}?include=columns`)).body.data
    expect((await release(bob.write, undefined, '?force=true')).status).toBe(200)
    const bobs = (await service.send(bob.write, 'GET', '/account')).body.data.token.id
    expect((await board.get(`/boards/${board.id}/changes?after=${changes_cursor}`)).body.data).toMatchObject([
      { kind: 'claim', action: 'released', epoch: claim.epoch, actor_id: bob.id, token_id: bobs },
    ])
    const { work } = (await board.get(`/cards/${cardId}?include=work`)).body.data
    expect(work).toMatchObject({ state: 'ready', attempts: 0, failed_at: null })
    const write = await send(first, 'PATCH', `/cards/${cardId}`, { title: 'Late' }, { 'if-claim': String(claim.epoch) })
    expect(write.status).toBe(412)
    // Nobody has released it.
    expect(await next(first)).toBe(cardId)
    // Nor does anybody without access to the board.
    const hidden = await TestBoard.create(service, setup.ann, 'private')
    const secret = await hidden.card(await hidden.column())
    await send(first, 'PUT', pathOf(secret), {})
    const stranger = await service.token(workspaceId, bob.id, ['kanban:write'])
    expect((await release(stranger, undefined, '?force=true', secret)).status).toBe(404)
  })

  test('`claimed_at` is when the holder took the card: a renewal leaves it, and the next claim has another', async () => {
    const { board } = setup
    await next(first)
    const at = board.now
    const claimed = async () => {
      const { claimed_at, renewed_at } = (await send(second, 'GET', pathOf())).body.data
      return [claimed_at, renewed_at]
    }
    expect(await claimed()).toEqual([at, at])
    const later = board.tick()
    expect((await send(first, 'PUT', pathOf(), {})).body.data).toMatchObject({ claimed_at: at, renewed_at: later })
    expect(await claimed()).toEqual([at, later])
    await release(first)
    expect((await send(first, 'PUT', pathOf(), {})).body.data).toMatchObject({ claimed_at: later, renewed_at: later })
  })
})
