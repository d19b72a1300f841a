import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { neighborOf, notNextToItself, onePlacement, place, resolvePlacement, type Placement } from '../../src/listing/placement.ts'
import { systemRandom } from '../../src/model/ids.ts'
import type { Key } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { Transaction } from '../../src/store/transaction.ts'
import { change } from '../support/changes.ts'

const issuesOf = (schema: z.ZodType, input: unknown) =>
  schema.safeParse(input).error?.issues.map(({ path, message }) => [path.join('.'), message]) ?? []

describe('the placement of a body', () => {
  const create = onePlacement(z.strictObject(place))
  const move = onePlacement(z.strictObject(place), 'required')
  const optional = onePlacement(z.strictObject(place))

  test('a new item names at most one place', () => {
    for (const body of [{}, { before: 'x' }, { after: 'x' }, { to: 'first' }]) expect(issuesOf(create, body)).toEqual([])
    expect(issuesOf(create, { before: 'x', after: 'y' })).toEqual([['after', 'cannot be combined with "before"']])
    expect(issuesOf(create, { before: 'x', to: 'first' })).toEqual([['to', 'cannot be combined with "before"']])
  })

  test('a move names exactly one place', () => {
    for (const body of [{ before: 'x' }, { after: 'x' }, { to: 'first' }, { to: 'last' }]) expect(issuesOf(move, body)).toEqual([])
    expect(issuesOf(move, {})).toEqual([['', 'must have one of before, after, to']])
    expect(issuesOf(move, { before: 'x', to: 'last' })).toEqual([['to', 'cannot be combined with "before"']])
    expect(issuesOf(move, { after: 'x', to: 'last' })).toEqual([['to', 'cannot be combined with "after"']])
    expect(issuesOf(move, { to: 'middle' })).toEqual([['to', expect.any(String)]])
    expect(issuesOf(optional, {})).toEqual([])
    for (const body of [{}, { before: 'x', to: 'last' }]) expect(move.safeParse(body).error!.issues[0]!.code).toBe('custom')
  })

  test.each<[Placement, { path: string; message: string } | undefined]>([
    [{ before: 'me' }, { path: 'before', message: 'must name another item than the one that is moved' }],
    [{ after: 'me' }, { path: 'after', message: 'must name another item than the one that is moved' }],
    [{ before: 'you' }, undefined],
    [{ after: 'you' }, undefined],
    [{ to: 'first' }, undefined],
  ])('an item is not placed next to itself: %j', (placement, issue) => {
    expect(notNextToItself('card_id')({ card_id: 'me', board_id: 'you' }, placement)).toEqual(issue)
  })
})

describe('a resolved placement', () => {
  interface Item {
    readonly id: string
    readonly list: string
  }
  const id = (letter: string) => `col_${letter.repeat(20)}`
  const keyOf = (one: string): Key<Item> => `column:${one}`
  const item: Item = { id: id('a'), list: 'mine' }
  const store = createMemoryStore()
  let tx: Transaction
  const resolve = (placement: Placement) => resolvePlacement(tx, placement, 'column', keyOf, ({ list }) => list === 'mine')

  beforeEach(async () => {
    await store.commit(
      'w1',
      change({ put: { [keyOf(item.id)]: item, [keyOf(id('b'))]: { id: id('b'), list: 'other' }, 'column:x': item } }),
    )
    tx = new Transaction(store, 'w1', systemRandom)
  })

  test('it has the named item, or the named end', async () => {
    expect(await resolve({ before: item.id })).toEqual({ before: item })
    expect(await resolve({ after: item.id })).toEqual({ after: item })
    expect(await resolve({ to: 'first' })).toEqual({ to: 'first' })
    expect(await resolve({})).toBeUndefined()
  })

  test.each([
    ['absent', id('c')],
    ['in another list', id('b')],
    ['named by a malformed id', 'x'],
  ])('an item that is %s is not found', async (_what, named) => {
    for (const placement of [{ before: named }, { after: named }])
      await expect(resolve(placement)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('its neighbor is the named item', () => {
    expect(neighborOf({ before: item })).toBe(item)
    expect(neighborOf({ after: item })).toBe(item)
    expect(neighborOf({ to: 'last' })).toBeUndefined()
    expect(neighborOf(undefined)).toBeUndefined()
  })
})
