import { expect, test } from 'vitest'
import { PendingChanges } from '../../src/store/pending-changes.ts'
import { change } from '../support/changes.ts'

// That later commits are checked against pending ones is tested by the contract.
test('of pending changes the last one of each record and index counts, their gains add up, and each is dropped when it is settled', () => {
  const pending = new PendingChanges()
  const first = change({ put: { 'a:1': {}, 'b:1': {} }, remove: ['c:1'], index: { i: { add: ['x 1', 'x 2'], remove: ['x 0'] } } })
  const second = change({ put: { 'a:1': {} }, remove: ['b:1'], index: { i: { add: ['x 3'] }, j: { remove: ['y 1'] } } })
  const [byFirst, bySecond] = [first, second].map(({ revision }) => ({ value: {}, revision }))
  const state = () => [
    ...['a:1', 'b:1', 'c:1', 'd:1'].map((key) => pending.record(key)),
    ...['i', 'j', 'k'].flatMap((name) => [pending.index(name), pending.gain(name)]),
    pending.empty,
  ]
  const none = [undefined, undefined, undefined, undefined, undefined, 0, undefined, 0, undefined, 0, true]
  expect(state()).toEqual(none)
  pending.stage(first)
  expect(state()).toEqual([byFirst, byFirst, null, undefined, first.revision, 2, undefined, 0, undefined, 0, false])
  pending.stage(second)
  expect(state()).toEqual([bySecond, null, null, undefined, second.revision, 3, second.revision, 0, undefined, 0, false])
  pending.settle(first)
  expect(state()).toEqual([bySecond, null, undefined, undefined, second.revision, 1, second.revision, 0, undefined, 0, false])
  pending.settle(second)
  expect(state()).toEqual(none)
})
