import { beforeEach, describe, expect, test } from 'vitest'
import { PendingChanges } from '../../src/store/fs/loaded-partitions.ts'
import { change } from '../support/changes.ts'

describe('the pending changes of a partition', () => {
  let pending: PendingChanges
  const first = change({ put: { 'a:1': {}, 'b:1': {} }, remove: ['c:1'], index: { i: { add: ['x 1', 'x 2'], remove: ['x 0'] } } })
  const second = change({ put: { 'a:1': {} }, remove: ['b:1'], index: { i: { add: ['x 3'] }, j: { remove: ['y 1'] } } })
  /** What a change makes of the record a:1 or b:1. */
  const storedBy = ({ revision }: { revision: string }) => ({ value: {}, revision })
  const state = () => ({
    records: ['a:1', 'b:1', 'c:1', 'd:1'].map((key) => pending.record(key)),
    indexes: ['i', 'j', 'k'].map((name) => [pending.index(name), pending.gain(name)]),
    empty: pending.empty,
  })
  const none = {
    records: [undefined, undefined, undefined, undefined],
    indexes: [
      [undefined, 0],
      [undefined, 0],
      [undefined, 0],
    ],
    empty: true,
  }
  const both = {
    records: [storedBy(second), null, null, undefined],
    indexes: [
      [second.revision, 3],
      [second.revision, 0],
      [undefined, 0],
    ],
    empty: false,
  }
  beforeEach(() => {
    pending = new PendingChanges()
  })

  test('nothing is pending at first', () => {
    expect(state()).toEqual(none)
  })

  test('a change has the records that it writes, null for what it removes, and the gain of its indexes', () => {
    pending.stage(first)
    expect(state()).toEqual({
      records: [storedBy(first), storedBy(first), null, undefined],
      indexes: [
        [first.revision, 2],
        [undefined, 0],
        [undefined, 0],
      ],
      empty: false,
    })
    pending.settle(first)
    expect(state()).toEqual(none)
  })

  test('of two changes the later one counts, and the gains add up', () => {
    pending.stage(first)
    pending.stage(second)
    expect(state()).toEqual(both)
  })

  test('when the earlier change is settled, the later one is still pending', () => {
    pending.stage(first)
    pending.stage(second)
    pending.settle(first)
    expect(state()).toEqual({
      ...both,
      records: [storedBy(second), null, undefined, undefined],
      indexes: [[second.revision, 1], both.indexes[1], both.indexes[2]],
    })
    pending.settle(second)
    expect(state()).toEqual(none)
  })
})
