import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import type { Label } from '../../src/model/label.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import type { RangeOptions } from '../../src/store/reads.ts'
import { memberOf } from '../../src/store/reads.ts'
import { NO_RECORD } from '../../src/store/templates.ts'
import { Transaction, TransactionConflict } from '../../src/store/transaction.ts'
import { readRequest } from '../support/changes.ts'
import { drivers } from '../support/drivers.ts'
import { runs } from '../support/effort.ts'

const BOARD = 'brd_00000000000000000000'
const index = indexes.labels(BOARD)
const idOf = (n: number) => `lbl_${String(n).padStart(20, '0')}`
const label = (n: number, time: number): Label => {
  const at = `2026-11-20T12:00:00.${String(time).padStart(3, '0')}Z`
  return { id: idOf(n), board_id: BOARD, name: `label ${n}`, color: '#000000', created_at: at, updated_at: at }
}

/** A write of a label: with a time it is created or changed, without one it is removed. */
const write = fc.record({ n: fc.nat(9), time: fc.option(fc.nat(20)) })
const bound = fc.option(fc.record({ n: fc.nat(9), time: fc.nat(20) }), { nil: undefined })
const options = fc.record({ limit: fc.integer({ min: 1, max: 12 }), reverse: fc.boolean(), after: bound, before: bound })

async function perform(tx: Transaction, { n, time }: { n: number; time: number | null }): Promise<void> {
  const key = keys.label(idOf(n))
  const present = await tx.get(key)
  if (time !== null) tx.put(key, label(n, time))
  else if (present !== undefined) tx.remove(key)
}

describe.each(drivers)('a transaction, on $name', (driver) => {
  test('reads its own writes from indexes, as if they were committed', async () => {
    const { store } = await driver.open()
    let partition = 0
    await fc.assert(
      fc.asyncProperty(fc.array(write), fc.array(write), options, async (stored, written, { after, before, ...rest }) => {
        const entryOf = (at: typeof after) => at && `${label(at.n, at.time).created_at} ${idOf(at.n)}`
        const range: RangeOptions = { ...rest, after: entryOf(after), before: entryOf(before) }
        const name = `w${partition++}`
        const first = new Transaction(store, name, systemRandom)
        for (const one of stored) await perform(first, one)
        await first.commit()
        const tx = new Transaction(store, name, systemRandom)
        for (const one of written) await perform(tx, one)
        const seen = [await tx.range(index, range), await tx.counts([index]), await tx.all(index)]
        await tx.commit()
        const next = new Transaction(store, name, systemRandom)
        expect(seen).toEqual([await next.range(index, range), await next.counts([index]), await next.all(index)])
      }),
      runs(driver.name === 'memory' ? 300 : 60),
    )
    await store.close()
  })

  test('resolves references to its own writes', async () => {
    const { store } = await driver.open()
    const tx = new Transaction(store, 'w1', systemRandom)
    tx.create(keys.label(idOf(1)), label(1, 1))
    const board = { id: BOARD, name: 'Board' } as never
    tx.create(keys.board(BOARD), board)
    const user = { id: BOARD } as never
    tx.create(keys.user(BOARD), user)
    const key = keys.label(idOf(1))
    const ofLabel = keys.board(memberOf(key, 'board_id'))
    expect(await tx.read([key, ofLabel, keys.user(memberOf(ofLabel, 'id'))])).toEqual([label(1, 1), board, user])
    expect(tx.writeCount).toBe(3)
    await store.close()
  })

  test('resolves references to what it has changed or removed, and not to what is stored', async () => {
    const { store } = await driver.open()
    const [card, other] = ['crd_1', 'crd_2'].map((id) => keys.claim(id))
    const claims = [card!, other!].map((key) => [key, keys.comment(memberOf(key, 'question_id'))] as const)
    const first = new Transaction(store, 'w1', systemRandom)
    for (const [i, key] of [card!, other!].entries()) first.create(key, { card_id: key, question_id: `${i}` } as never)
    for (const id of ['0', '1', '2', '3']) first.create(keys.comment(id), { id } as never)
    await first.commit()
    const tx = new Transaction(store, 'w1', systemRandom)
    const questions = async () => [(await tx.read(claims[0]!))[1]?.id, (await tx.read(claims[1]!))[1]?.id]
    expect(await questions()).toEqual(['0', '1'])
    tx.put(card!, { question_id: '2' } as never)
    tx.remove(other!)
    expect(await questions()).toEqual(['2', undefined])
    tx.put(card!, { question_id: null } as never)
    expect(await questions()).toEqual([undefined, undefined])
    const user = keys.user(memberOf(claims[0]![1], 'author_id'))
    expect(await tx.read([...claims[0]!, user, keys.boardMember('3', memberOf(card!, 'question_id')), keys.comment('3')])).toEqual([
      { question_id: null },
      undefined,
      undefined,
      undefined,
      { id: '3' },
    ])
    const request = readRequest({ records: [card!, NO_RECORD], counts: [index.name] })
    expect((await store.read('w1', request))!.records[1]).toEqual({ key: null, stored: null })
    await store.close()
  })

  test('reads further entries of an index in place of prefetched ones that it has removed', async () => {
    const { store } = await driver.open()
    const other = indexes.labels('brd_00000000000000000001')
    const first = new Transaction(store, 'w1', systemRandom)
    for (const n of [1, 2, 3]) first.create(keys.label(idOf(n)), label(n, n))
    first.create(keys.label(idOf(4)), { ...label(4, 4), board_id: 'brd_00000000000000000001' })
    await first.commit()
    const tx = new Transaction(store, 'w1', systemRandom)
    const ranges = [index, other].map((one) => ({ index: one, options: { limit: 2 } }))
    await tx.prefetch({ ranges })
    tx.remove(keys.label(idOf(1)))
    const pages = (await tx.load({ ranges })).ranges
    expect(pages.map(({ values }) => values.map((one) => one?.id))).toEqual([[idOf(2), idOf(3)], [idOf(4)]])
    await store.close()
  })

  test('has room for its additions only if the index has room for all of them', async () => {
    const { store } = await driver.open()
    const create = async (n: number): Promise<Transaction> => {
      const tx = new Transaction(store, 'w1', systemRandom)
      for (let i = 0; i < 3; i++) {
        expect(await tx.count(index, 4)).toBeLessThanOrEqual(4)
        tx.create(keys.label(idOf(n + i)), label(n + i, n))
      }
      return tx
    }
    // Both see an empty index, which has room for 5.
    const [one, other] = [await create(0), await create(10)]
    await one.commit()
    await expect(async () => other.commit()).rejects.toThrow(TransactionConflict)
    await store.close()
  })
})
