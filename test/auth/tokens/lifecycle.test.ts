import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  transition,
  newLifecycle,
  EXPIRES_SOON,
  expiryOf,
  MAX_LIFETIME,
  mayIssue,
  RECENT,
  stateOf,
  tokenStates,
  type TokenEvent,
  type TokenLifecycle,
  type TokenState,
} from '../../../src/auth/tokens/lifecycle.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const at = (now: number) => new Date(now).toISOString()
const SUCCESSOR = 'tok_00000000000000000001'

const young = newLifecycle(NOW - DAY, 2 * DAY)
const old = newLifecycle(NOW - 3 * DAY, 2 * DAY)
const earlier = at(NOW - 5)
/** A life in each state, at NOW. Those that ended did so before they would have expired, or have long expired since. */
const lives: Record<TokenState, TokenLifecycle[]> = {
  active: [young, newLifecycle(NOW, 1), newLifecycle(NOW, MAX_LIFETIME)],
  rotated: [young, old].map((life) => ({ ...life, revoked_at: earlier, replaced_by: SUCCESSOR })),
  revoked: [young, old].map((life) => ({ ...life, revoked_at: earlier })),
  expired: [old, newLifecycle(NOW - 1, 1), newLifecycle(NOW, 0), newLifecycle(NOW - 90 * DAY, MAX_LIFETIME)],
}
const events: Record<TokenEvent['type'], TokenEvent> = {
  rotate: { type: 'rotate', successor: 'tok_00000000000000000002' },
  revoke: { type: 'revoke' },
  leave: { type: 'leave' },
}

/** state → event → the state that it leads to, `same` where nothing is changed, `refused` where it cannot be. */
const table: Record<TokenState, Record<TokenEvent['type'], TokenState | 'same' | 'refused'>> = {
  active: { rotate: 'rotated', revoke: 'revoked', leave: 'revoked' },
  rotated: { rotate: 'refused', revoke: 'same', leave: 'same' },
  revoked: { rotate: 'refused', revoke: 'same', leave: 'same' },
  // What one process's clock takes for expired another's may not.
  expired: { rotate: 'refused', revoke: 'revoked', leave: 'revoked' },
}
const cells = tokenStates.flatMap((state) =>
  (Object.keys(events) as TokenEvent['type'][]).map((event) => [state, event, table[state][event]] as const),
)

describe("a token's life", () => {
  test.each(tokenStates)('%s is what it is', (state) => {
    for (const life of lives[state]) expect([life, stateOf(life, NOW)]).toEqual([life, state])
  })

  test.each(cells)('%s, %s: %s', (state, type, becomes) => {
    for (const life of lives[state]) {
      const before = structuredClone(life)
      const after = transition(life, events[type], NOW)
      expect(life).toEqual(before)
      if (becomes === 'refused') expect(after).toBeUndefined()
      else if (becomes === 'same') expect(after).toBe(life)
      else {
        expect(stateOf(after!, NOW)).toBe(becomes)
        const replaced_by = type === 'rotate' ? 'tok_00000000000000000002' : null
        expect(after).toEqual({ ...life, revoked_at: at(NOW), replaced_by })
      }
    }
  })

  test('what has ended never opens anything again, whatever is done and however late', () => {
    const event = fc.constantFrom(...Object.values(events))
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.nat(100 * DAY)), { minLength: 1 }), (steps) => {
        let life = newLifecycle(NOW, MAX_LIFETIME)
        let now = NOW
        let ended = false
        for (const [what, passed] of steps) {
          now += passed
          life = transition(life, what, now) ?? life
          const active = stateOf(life, now) === 'active'
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
  ] as const)('%d ms from its expiry it is %s', (off, state) => {
    for (const lifetime of [1, 1000, DAY, MAX_LIFETIME]) expect(stateOf(newLifecycle(NOW, lifetime), NOW + lifetime + off)).toBe(state)
  })

  test('90 days is the most, whatever is asked for', () => {
    for (const lifetime of [MAX_LIFETIME, MAX_LIFETIME + 1, 91 * DAY, 1e15, Infinity]) {
      const life = newLifecycle(NOW, lifetime)
      expect(life.expires_at).toBe(at(NOW + 90 * DAY))
      expect([stateOf(life, NOW + 90 * DAY - 1), stateOf(life, NOW + 90 * DAY)]).toEqual(['active', 'expired'])
    }
    expect(newLifecycle(NOW, MAX_LIFETIME - 1).expires_at).toBe(at(NOW + 90 * DAY - 1))
  })

  test('a record that says more, or nothing that can be read, opens nothing more', () => {
    expect(expiryOf({ issued_at: at(NOW), expires_at: '2199-01-01T00:00:00.000Z' })).toBe(NOW + MAX_LIFETIME)
    for (const record of [
      { issued_at: 'never', expires_at: at(NOW + DAY) },
      { issued_at: at(NOW), expires_at: '' },
    ])
      expect(stateOf({ ...record, revoked_at: null, replaced_by: null }, NOW)).toBe('expired')
  })

  test('a warning begins 14 days before', () => expect(EXPIRES_SOON).toBe(14 * DAY))
})

describe('what may be issued', () => {
  test.each([
    [0, true],
    [RECENT - 1, true],
    [RECENT, true],
    [RECENT + 1, false],
    [-1, false],
  ])('kanban:admin, %d ms after the password was given: %s', (passed, may) => {
    expect(RECENT).toBe(10 * MINUTE)
    for (const scopes of [['kanban:admin'], ['kanban:read', 'kanban:admin'], ['other:read', 'kanban:admin']])
      expect(mayIssue(scopes, NOW - passed, NOW)).toBe(may)
  })

  test('the lesser scopes ask for no more than a session', () => {
    for (const scopes of [['kanban:read'], ['kanban:write'], ['kanban:read', 'kanban:write'], []])
      expect(mayIssue(scopes, NOW - 30 * DAY, NOW)).toBe(true)
  })

  test('a time of proof that cannot be read is none', () => expect(mayIssue(['kanban:admin'], NaN, NOW)).toBe(false))
})
