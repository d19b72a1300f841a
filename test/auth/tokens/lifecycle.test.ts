import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../../src/model/time.ts'
import {
  newLifecycle,
  expiryOf,
  expiryTextOf,
  isFromFuture,
  mayIssue,
  revoked,
  rotated,
  stateOf,
  type TokenLifecycle,
  type TokenState,
} from '../../../src/auth/tokens/lifecycle.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const at = (now: number) => new Date(now).toISOString()
const SUCCESSOR = 'tok_00000000000000000001'

const unexpired = newLifecycle(NOW - DAY, 2 * DAY)
const expired = newLifecycle(NOW - 3 * DAY, 2 * DAY)
const earlier = at(NOW - 5)
/** Lifecycles in each state at NOW. The rotated and revoked ones include some whose expiry has passed since. */
const lifecycles: Record<TokenState, TokenLifecycle[]> = {
  active: [unexpired, newLifecycle(NOW, 1), newLifecycle(NOW, 90 * DAY)],
  rotated: [unexpired, expired].flatMap((lifecycle) =>
    [earlier, null].map((revoked_at) => ({ ...lifecycle, revoked_at, replaced_by: SUCCESSOR })),
  ),
  revoked: [unexpired, expired].map((lifecycle) => ({ ...lifecycle, revoked_at: earlier })),
  expired: [expired, newLifecycle(NOW - 1, 1), newLifecycle(NOW, 0), newLifecycle(NOW - 90 * DAY, 90 * DAY)],
}
const events = {
  rotate: (lifecycle: TokenLifecycle, now: number) => rotated(lifecycle, 'tok_00000000000000000002', now),
  revoke: revoked<TokenLifecycle>,
}
type Event = keyof typeof events

/** state → event → the new state, `same` if nothing changes, or `refused`. */
const table: Record<TokenState, Record<Event, TokenState | 'same' | 'refused'>> = {
  active: { rotate: 'rotated', revoke: 'revoked' },
  rotated: { rotate: 'refused', revoke: 'same' },
  revoked: { rotate: 'refused', revoke: 'same' },
  // A token that is expired by the clock of one process may still be active by the clock of another.
  expired: { rotate: 'refused', revoke: 'revoked' },
}
test('a day is 86,400,000 ms, a minute 60,000 ms', () => expect({ DAY, MINUTE }).toEqual({ DAY: 86_400_000, MINUTE: 60_000 }))

const tokenStates = Object.keys(table) as TokenState[]
const cells = tokenStates.flatMap((state) => (Object.keys(events) as Event[]).map((event) => [state, event, table[state][event]] as const))

describe('the token lifecycle', () => {
  test.each(tokenStates)('the state %s is derived from the record and the time', (state) => {
    for (const lifecycle of lifecycles[state]) expect([lifecycle, stateOf(lifecycle, NOW)]).toEqual([lifecycle, state])
  })

  test.each(cells)('a token in the state %s, after the event %s: %s', (state, type, outcome) => {
    for (const lifecycle of lifecycles[state]) {
      const before = structuredClone(lifecycle)
      const after = events[type](lifecycle, NOW)
      expect(lifecycle).toEqual(before)
      if (outcome === 'refused') expect(after).toBeUndefined()
      else if (outcome === 'same') expect(after).toBe(lifecycle)
      else {
        expect(stateOf(after!, NOW)).toBe(outcome)
        const replaced_by = type === 'rotate' ? 'tok_00000000000000000002' : null
        expect(after).toEqual({ ...lifecycle, revoked_at: at(NOW), replaced_by })
      }
    }
  })

  test('a token that has ended never becomes active again, whatever the events and the time', () => {
    const anyEvent = fc.constantFrom(...Object.values(events))
    fc.assert(
      fc.property(fc.array(fc.tuple(anyEvent, fc.nat(100 * DAY)), { minLength: 1 }), (steps) => {
        let lifecycle = newLifecycle(NOW, 90 * DAY)
        let now = NOW
        let ended = false
        for (const [event, elapsed] of steps) {
          now += elapsed
          lifecycle = event(lifecycle, now) ?? lifecycle
          const active = stateOf(lifecycle, now) === 'active'
          if (ended && active) return false
          ended ||= !active
        }
        return ended
      }),
    )
  })

  test.each([
    [-1, 'active'],
    [0, 'expired'],
    [1, 'expired'],
  ] as const)('%d ms from its expiry a token is %s', (offset, state) => {
    for (const lifetime of [1, 1000, DAY, 90 * DAY]) expect(stateOf(newLifecycle(NOW, lifetime), NOW + lifetime + offset)).toBe(state)
  })

  test('a lifetime longer than 90 days is reduced to 90 days', () => {
    for (const lifetime of [90 * DAY, 90 * DAY + 1, 91 * DAY, 1e15, Infinity]) {
      const lifecycle = newLifecycle(NOW, lifetime)
      expect(lifecycle.expires_at).toBe(at(NOW + 90 * DAY))
      expect([stateOf(lifecycle, NOW + 90 * DAY - 1), stateOf(lifecycle, NOW + 90 * DAY)]).toEqual(['active', 'expired'])
    }
    expect(newLifecycle(NOW, 90 * DAY - 1).expires_at).toBe(at(NOW + 90 * DAY - 1))
  })

  test('a record cannot extend a lifetime beyond 90 days, and a record with an unreadable time has expired', () => {
    const forged = { issued_at: at(NOW), expires_at: '2199-01-01T00:00:00.000Z' }
    expect([expiryOf(forged), expiryTextOf(forged), expiryTextOf(forged)]).toEqual([NOW + 90 * DAY, ...Array(2).fill(at(NOW + 90 * DAY))])
    for (const record of [
      { issued_at: 'never', expires_at: at(NOW + DAY) },
      { issued_at: at(NOW), expires_at: '' },
    ])
      expect(stateOf({ ...record, revoked_at: null, replaced_by: null }, NOW)).toBe('expired')
  })
})

test('a token that was issued in the future is not active, except for the difference of two clocks', () => {
  const issued = (from: number) => newLifecycle(NOW + from, DAY)
  const times = [5 * MINUTE, 5 * MINUTE + 1, 64 * 365 * DAY]
  expect(times.map((from) => stateOf(issued(from), NOW))).toEqual(['active', 'expired', 'expired'])
  expect(times.map((from) => isFromFuture(issued(from), NOW))).toEqual([false, true, true])
})

describe('re-authentication', () => {
  test.each([
    [0, true],
    [10 * MINUTE - 1, true],
    [10 * MINUTE, true],
    [10 * MINUTE + 1, false],
    [-1, false],
  ])('a kanban:admin token may be issued %d ms after the password was entered: %s', (elapsed, allowed) => {
    for (const scopes of [['kanban:admin'], ['kanban:read', 'kanban:admin'], ['other:read', 'kanban:admin']])
      expect(mayIssue(scopes, NOW - elapsed, NOW)).toBe(allowed)
  })

  test('scopes below kanban:admin require no recent password entry', () => {
    for (const scopes of [['kanban:read'], ['kanban:write'], ['kanban:read', 'kanban:write'], []])
      expect(mayIssue(scopes, NOW - 30 * DAY, NOW)).toBe(true)
  })

  test('an unreadable time of the password entry does not count as recent', () => expect(mayIssue(['kanban:admin'], NaN, NOW)).toBe(false))
})
