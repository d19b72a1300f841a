import { beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '../../src/authz/context.ts'
import type { ClaimRecord } from '../../src/model/claim.ts'
import { limits } from '../../src/model/limits.ts'
import type { TokenRecord } from '../../src/model/token.ts'
import { endClaim, endClaimsOfColumn, forgetAttempts, grantClaim, requireClaimCapacity } from '../../src/resources/claims/changes.ts'
import { claimOperations } from '../../src/resources/claims/operations.ts'
import { currentClaims, isHeldBy, readClaim, readClaimedCards, readClaims, withClaims } from '../../src/resources/claims/present.ts'
import { findReadyCard } from '../../src/resources/claims/ready.ts'
import { readWorks } from '../../src/resources/claims/work.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { indexes } from '../../src/store/indexes.ts'
import { TransactionConflict, type Transaction } from '../../src/store/transaction.ts'
import { setUpRecords } from '../support/memory-records.ts'
import { card } from '../support/records.ts'

const NOW = '2026-11-20T12:00:00.000Z'
const clock = () => Date.parse(NOW)
const at = (seconds: number) => new Date(clock() + 1000 * seconds).toISOString()

const token = (id: string, members: Partial<TokenRecord> = {}): TokenRecord => ({
  id,
  hash: `h${id}`,
  user_id: `u${id}`,
  name: '',
  scopes: [],
  issued_at: at(-3600),
  expires_at: at(3600),
  revoked_at: null,
  replaced_by: null,
  ...members,
})
const claim = (card_id: string, members: Partial<ClaimRecord> = {}): ClaimRecord => ({
  card_id,
  board_id: 'b',
  holder_id: 'u1',
  token_id: '1',
  token_hash: 'h1',
  epoch: 4,
  taken_at: at(-60),
  renewed_at: at(-30),
  expires_at: at(60),
  attempts: 0,
  reason: null,
  failed_at: null,
  not_before: null,
  question_id: null,
  answer_id: null,
  max_attempts: 5,
  was_moved: false,
  lost_epoch: null,
  ...members,
})
/** What is shown of that claim. */
const shown = (card_id: string, members: object = {}) => ({
  card_id,
  holder_id: 'u1',
  token_id: '1',
  token_name: '',
  epoch: 4,
  expires_at: at(60),
  claimed_at: at(-60),
  renewed_at: at(-30),
  ...members,
})
const ADA = { userId: 'u1', token: token('1') } as Caller

describe('the records of claims', () => {
  const records = setUpRecords()
  const { add, work, edit } = records
  const addTokens = (...tokens: readonly TokenRecord[]) =>
    add(
      Object.fromEntries(
        tokens.flatMap((one) => [
          [keys.token(one.hash), one],
          [keys.tokenHash(one.id), { hash: one.hash }],
        ]),
      ),
    )
  const addClaims = (...claims: readonly ClaimRecord[]) => add(Object.fromEntries(claims.map((one) => [keys.claim(one.card_id), one])))
  /** Adds cards by their ids, in the order of their positions. */
  const addCards = (cards: Readonly<Record<string, object>>) =>
    add(
      Object.fromEntries(
        Object.entries(cards).map(([id, members], i) => [keys.card(id), card({ id, board_id: 'b', position: `a${i}`, ...members })]),
      ),
    )
  const stored = (id: string) => records.read(keys.claim(id))
  /** Begins a transaction, lets another one commit, and commits it. */
  const meanwhile = async (begin: (tx: Transaction) => Promise<unknown>, other: () => Promise<unknown>) => {
    const tx = records.begin()
    await begin(tx)
    await other()
    await tx.commit()
  }
  /** The ranges of each read so far: name, limit, and what is read by their entries. */
  const takeReads = () =>
    records.ranges.splice(0).map((ranges) => ranges.map(({ index, limit, fetch = '' }) => `${index} ${limit} ${fetch}`.trim()))
  beforeEach(() => addTokens(token('1')))

  test.each<[string, Partial<ClaimRecord> | undefined, Partial<ClaimRecord>, string]>([
    ['was never claimed', undefined, { epoch: 1, taken_at: NOW }, 'taken'],
    ['the caller holds', {}, { epoch: 4, taken_at: at(-60) }, 'renewed'],
    ['was released', { expires_at: null }, { epoch: 5, taken_at: NOW }, 'taken'],
    ['has a claim that has run out', { expires_at: at(-1) }, { epoch: 5, taken_at: NOW }, 'taken_over'],
  ])('a card that %s is granted', async (_what, before, { epoch, taken_at }, event) => {
    if (before !== undefined) await addClaims(claim('c', before))
    const granted = await work(async (tx) =>
      grantClaim(
        { tx, clock, caller: ADA },
        card({ id: 'c', board_id: 'b' }),
        { max_attempts: 5 },
        await readClaim({ tx, clock }, 'c'),
        10,
      ),
    )
    const { claimed_at: _claimedAt, token_name, ...expected } = shown('c', { epoch, expires_at: at(10), renewed_at: NOW })
    expect(granted).toEqual({ claim: { ...expected, token_name, claimed_at: taken_at }, event })
    const counted = event === 'taken_over' ? { attempts: 1, failed_at: at(-1), lost_epoch: 4 } : {}
    expect(await stored('c')).toEqual(claim('c', { ...expected, token_hash: 'h1', taken_at: taken_at!, ...counted }))
  })

  describe('an operation', () => {
    const EVE = { userId: 'u2', token: token('2') } as Caller
    const run = (id: string, caller: Caller, body: object, loaded: object) =>
      work(async (tx) => {
        await tx.get(keys.card('c'))
        return (claimOperations.find((one) => one.id === id) as any).run({ tx, clock, caller, body, query: {} }, loaded)
      })
    const loaded = { card: card({ id: 'c', board_id: 'b' }), column: { archived_at: null }, board: { id: 'b' } }

    test.each([
      ['completed', { ...loaded, card: { ...loaded.card, completed_at: NOW } }],
      ['archived', { ...loaded, card: { ...loaded.card, archived_at: NOW } }],
      ['in an archived column', { ...loaded, column: { archived_at: NOW } }],
    ])('takes no card that is %s', async (_how, closed) => {
      const message = 'The card is completed or archived, or its column is archived.'
      await expect(run('claims.take', ADA, { ttl: 10 }, closed)).rejects.toMatchObject({ code: 'conflict', message })
    })

    test('neither takes nor releases a card that another token holds', async () => {
      await addClaims(claim('c'))
      const held = { code: 'conflict', message: 'Another token holds the card.', details: { members: { claim: shown('c') } } }
      await expect(run('claims.take', EVE, { ttl: 10 }, loaded)).rejects.toMatchObject(held)
      await expect(run('claims.release', EVE, {}, loaded)).rejects.toMatchObject(held)
      expect(await stored('c')).toEqual(claim('c'))
      await add({ [keys.card('c')]: loaded.card })
      for (let i = 0; i < 2; i++) expect(await run('claims.release', ADA, {}, loaded)).toEqual({ data: { id: 'c', deleted: true } })
      const releases = [{ family: 'h1', until: at(60), revision: expect.any(String) }]
      expect(await stored('c')).toEqual(claim('c', { expires_at: null, releases }))
    })

    test('waits for the next card until there is a change, or a claim runs out', async () => {
      const next = (wait: number) => run('claims.take_next', ADA, { ttl: 10, wait }, loaded)
      const none = { data: null, status: 200, entity: null }
      expect(await next(20)).toEqual({ ...none, awaited: { index: indexes.changes('b'), seconds: 20, until: undefined } })
      await addClaims(claim('c'))
      expect(await next(20)).toMatchObject({ awaited: { until: clock() + 60_000 } })
      expect(await next(0)).toEqual(none)
    })

    test('renews a claim of a board that has as many as it can have, and takes no further one', async () => {
      await addClaims(...Array.from({ length: limits.claimsPerBoard }, (_claim, i) => claim(`c${i || ''}`)))
      expect(await run('claims.take', ADA, { ttl: 10 }, loaded)).toMatchObject({ claimed: 'renewed' })
      const other = { ...loaded, card: { ...loaded.card, id: 'd' } }
      await expect(run('claims.take', ADA, { ttl: 10 }, other)).rejects.toMatchObject({ details: { members: { limit: 1000 } } })
    })
  })

  test('a claim counts until it runs out, if its token or the successor of that is active', async () => {
    await addTokens(
      token('2', { replaced_by: '3', last: '4' }),
      token('3', { replaced_by: '4', family: 'h2' }),
      token('4', { family: 'h2' }),
      token('5', { replaced_by: '6' }),
      token('6', { revoked_at: NOW }),
      token('7', { replaced_by: '8' }),
      // Of an earlier version: no token knows the last one.
      token('a', { replaced_by: 'b' }),
      token('b', { replaced_by: 'd', revoked_at: NOW }),
      token('d'),
    )
    /** A claim, what is shown of it if it counts, and when it ended if it does not. */
    const claims: readonly (readonly [ClaimRecord, (object | undefined)?, string?])[] = [
      [claim('free', { expires_at: null })],
      [claim('over', { expires_at: NOW }), undefined, NOW],
      [claim('revoked', { token_hash: 'h6', expires_at: at(1) }), undefined, NOW],
      [claim('last', { expires_at: at(2) }), { expires_at: at(2) }],
      [claim('held'), {}],
      [claim('rotated', { token_hash: 'h2' }), { holder_id: 'u4', token_id: '4' }],
      [claim('legacy', { token_hash: 'hb' }), { holder_id: 'ud', token_id: 'd' }],
      [claim('older', { token_hash: 'ha' }), undefined, NOW],
      [claim('rotated and revoked', { token_hash: 'h5' }), undefined, NOW],
      [claim('rotated, successor absent', { token_hash: 'h7' }), undefined, at(60)],
      [claim('token absent', { token_hash: 'h9' }), undefined, at(60)],
    ]
    await addClaims(...claims.map(([record]) => record))
    const ids = ['never', ...claims.map(([{ card_id }]) => card_id)]
    expect(await work((tx) => readClaims({ tx, clock }, ids))).toEqual([
      { record: undefined, settled: undefined, live: undefined },
      ...claims.map(([record, members, failed_at]) => ({
        record,
        settled: failed_at === undefined ? record : { ...record, expires_at: null, attempts: 1, failed_at, lost_epoch: 4 },
        live: members && shown(record.card_id, members),
      })),
    ])
    const cards = new Map([['last', at(2)], ...['held', 'rotated', 'legacy'].map((id) => [id, at(60)] as const)])
    const index = currentClaims('b', clock)
    expect(await work((tx) => readClaimedCards({ tx, clock }, index))).toEqual({ cards, next: at(2) })
  })

  test('the claims of cards are shown if the query asks for them', async () => {
    await addClaims(claim('c1'))
    const cards = [{ id: 'c0' }, { id: 'c1' }]
    const included = (...include: string[]) => work((tx) => withClaims({ tx, clock }, { include: new Set(include) }, cards))
    expect(await included('counts', 'claim')).toEqual([
      { id: 'c0', claim: null },
      { id: 'c1', claim: shown('c1') },
    ])
    expect(await included('counts')).toBe(cards)
    expect(await work((tx) => withClaims({ tx, clock }, {}, cards))).toBe(cards)
  })

  test('a claim is held by its token only: a person in the web app has none', () => {
    const held = [{ token: token('1') }, { token: token('2') }, { isSession: true }].map((caller) => isHeldBy(shown('c'), caller as Caller))
    expect(held).toEqual([true, false, false])
  })

  describe('of a board with as many as it can have', () => {
    const ids = Array.from({ length: limits.claimsPerBoard }, (_id, i) => `c${String(i).padStart(4, '0')}`)
    const required = () => work((tx) => requireClaimCapacity({ tx, clock }, 'b'))
    const full = { code: 'conflict', details: { members: { limit: 1000 } } }
    beforeEach(() => addClaims(...ids.map((id) => claim(id))))

    test('are refused, until one has run out', async () => {
      takeReads()
      await expect(required()).rejects.toMatchObject(full)
      // Which tokens hold them is not read.
      expect(takeReads()).toEqual([['claims:b 1000']])
      await expect(work((tx) => findReadyCard({ tx, clock, caller: ADA }, 'b', {}))).rejects.toMatchObject(full)
      await edit(keys.claim('c0007'), { expires_at: NOW })
      await required()
    })

    test('all are found, also one more that several processes have taken at once', async () => {
      await addClaims(claim('d', { expires_at: at(61) }))
      const { cards } = await work((tx) => readClaimedCards({ tx, clock }, currentClaims('b', clock)))
      expect([...cards.keys()].toSorted()).toEqual([...ids, 'd'].toSorted())
      await addCards({ c0000: { column_id: 'col' }, d: { column_id: 'col' } })
      await work((tx) => endClaimsOfColumn({ tx, clock }, { id: 'col', board_id: 'b' }))
      expect(records.written).toHaveLength(2)
    })
  })

  test('the end of a claim is written once, and the record keeps its epoch', async () => {
    await addClaims(claim('c'))
    await work((tx) => endClaim({ tx, clock }, 'c'))
    expect(await stored('c')).toEqual(claim('c', { expires_at: null }))
    records.written = []
    for (const id of ['c', 'never']) await work((tx) => endClaim({ tx, clock }, id))
    expect(records.written).toEqual([])
  })

  test('the attempts and the releases of a card are forgotten once', async () => {
    const release = { family: 'h1', until: at(60), revision: 'r' }
    await addClaims(claim('c', { expires_at: null, attempts: 1, failed_at: at(-1), releases: [release] }), claim('d', { expires_at: null }))
    const forget = (id: string) => work(async (tx) => forgetAttempts({ tx, clock }, await readClaim({ tx, clock }, id)))
    expect(await forget('c')).toEqual(claim('c', { expires_at: null, releases: [] }))
    expect(await stored('c')).toEqual(claim('c', { expires_at: null, releases: [] }))
    records.written = []
    for (const id of ['c', 'd', 'never']) await forget(id)
    expect(records.written).toEqual([])
  })

  describe('of the cards of a column', () => {
    const end = (tx: Transaction) => endClaimsOfColumn({ tx, clock }, { id: 'col', board_id: 'b' })
    beforeEach(async () => {
      await addClaims(claim('c1'), claim('c2'), claim('deleted'), claim('over', { expires_at: NOW }))
      await addCards({ c1: { column_id: 'col' }, c2: { column_id: 'other' }, over: { column_id: 'col' } })
    })

    test('are ended if they have not run out', async () => {
      await work(end)
      expect(records.written).toEqual([keys.claim('c1')])
      expect(await stored('c1')).toEqual(claim('c1', { expires_at: null }))
    })

    test('the commit fails if a card of the board was claimed meanwhile', async () => {
      await expect(meanwhile(end, () => addClaims(claim('c3')))).rejects.toThrow(TransactionConflict)
    })
  })

  describe('the first ready card', () => {
    const columns = Array.from({ length: 9 }, (_column, i) => `col${i}`)
    const find = (wanted: object = {}) => work((tx) => findReadyCard({ tx, clock, caller: ADA }, 'b', wanted))
    beforeEach(() =>
      add(
        Object.fromEntries(columns.map((id) => [keys.column(id), { id, board_id: 'b', position: id, max_attempts: 5, archived_at: null }])),
      ),
    )

    test('is read behind the claimed ones of a column, in eight columns at once', async () => {
      await addClaims(claim('c0'))
      await addCards({ c0: { column_id: 'col0' } })
      const first = ['claims:b 1000 token:', 'retried_cards:b 5000', 'released_cards:b:h1 50 card:', 'columns:b 1000 column:']
      const inColumns = [columns.slice(0, 8), columns.slice(8)].map((ids) => ids.map((id) => `ready_cards:${id} 2`))
      takeReads()
      expect(await find()).toEqual({ found: undefined, next: at(60) })
      expect(takeReads()).toEqual([first, ...inColumns])
      await addCards({ c1: { column_id: 'col0' }, c2: { column_id: 'col0' } })
      takeReads()
      expect(await find()).toMatchObject({ found: { card: { id: 'c1' }, claim: { live: undefined } } })
      expect(takeReads()).toEqual([first, inColumns[0]])
      expect(await find({ column_id: 'col8' })).toEqual({ found: undefined, next: at(60) })
    })

    test('with a label is found behind those without it, in each column', async () => {
      const [column_id, label_ids] = ['col1', ['l']]
      await addCards({ c0: { column_id: 'col0' }, c1: { column_id }, c2: { column_id, label_ids }, c3: { column_id: 'col2', label_ids } })
      expect(await find({ label_id: 'l' })).toMatchObject({ found: { card: { id: 'c2' } } })
    })

    test('can be taken while others change the columns and take other cards', async () => {
      await addCards({ c0: { column_id: 'col0' }, c1: { column_id: 'col0' } })
      await addClaims(claim('c2'))
      const take = async (tx: Transaction) => {
        const { found } = await findReadyCard({ tx, clock, caller: ADA }, 'b', {})
        grantClaim({ tx, clock, caller: ADA }, found!.card, found!.column, found!.claim, 60)
      }
      await meanwhile(take, async () => {
        await edit(keys.column('col1'), { position: 'z' })
        await addClaims(claim('c1'))
        await edit(keys.claim('c2'), { expires_at: at(90) })
      })
      expect((await stored('c0'))!.epoch).toBe(1)
    })

    const remove = (key: Key<unknown>) =>
      work(async (tx) => {
        await tx.get(key)
        tx.remove(key)
      })
    const release = () =>
      work(async (tx) => {
        await tx.read([keys.card('c0'), keys.claim('c0')])
        const releases = [{ family: 'h1', until: at(60), revision: tx.revisionOf(keys.card('c0'))! }]
        tx.put(keys.claim('c0'), claim('c0', { expires_at: null, releases }))
      })

    test.each<[string, () => Promise<unknown>]>([
      ['its column was deleted', () => remove(keys.column('col0'))],
      ['the same token has taken and released it', release],
      ['its readiness was lost', () => remove(keys.readiness('c0'))],
    ])('is looked for again if %s meanwhile', async (_what, change) => {
      await addCards({ b: { column_id: 'col1', completed_at: NOW }, c0: { column_id: 'col0', blocker_ids: ['b'] } })
      const { store } = records
      const { read } = store
      store.read = async (partition, request) => {
        const snapshot = await read.call(store, partition, request)
        if (request.ranges.some(({ index }) => index.startsWith('ready_cards:'))) {
          store.read = read
          await change()
        }
        return snapshot
      }
      await expect(findReadyCard({ tx: records.begin(), clock, caller: ADA }, 'b', {})).rejects.toThrow(TransactionConflict)
    })

    test('is not one with blockers whose readiness was lost', async () => {
      await addCards({ b: { column_id: 'col1', completed_at: NOW }, c0: { column_id: 'col0', blocker_ids: ['b'] } })
      const states = () =>
        work(async (tx) => (await readWorks({ tx, clock }, [(await tx.get(keys.card('c0')))!])).map(({ state }) => state))
      expect(await states()).toEqual(['ready'])
      await remove(keys.readiness('c0'))
      expect(await states()).toEqual(['blocked'])
    })
  })
})
