import { beforeEach, describe, expect, test } from 'vitest'
import { Readers } from '../../src/authz/readers.ts'
import { mintToken } from '../../src/auth/tokens/format.ts'
import type { AttemptRecord } from '../../src/http/decision-record.ts'
import { credentialReads, SessionPrincipal, TokenPrincipal } from '../../src/http/principal.ts'
import type { Services } from '../../src/http/services.ts'
import { DAY, MINUTE } from '../../src/model/time.ts'
import type { Transaction } from '../../src/store/transaction.ts'
import { errorOf } from '../support/error-of.ts'

const WORKSPACE = 'wsp_00000000000000000000'
const { plaintext, hash } = mintToken(WORKSPACE, (bytes) => new Uint8Array(bytes))
const now = Date.parse('2026-11-20T12:00:00.000Z')
const at = (time: number) => new Date(now + time).toISOString()
const active = {
  id: 'tok_1',
  hash,
  user_id: 'usr_1',
  scopes: ['kanban:read'],
  name: 'CI',
  issued_at: at(0),
  expires_at: at(14 * DAY + 1),
  revoked_at: null,
  replaced_by: null,
}
const member = { user_id: 'usr_1', role: 'member', ended_at: null }

let record: AttemptRecord
let warnings: unknown[][]
let errors: unknown[][]
let authors: unknown[][]
let seen: Map<string, unknown>
let services: Services
const clock = () => now
let read: unknown[]
beforeEach(() => {
  record = { requestId: 'req_1' } as AttemptRecord
  ;[warnings, errors, authors, read] = [[], [], [], []]
  seen = new Map()
  const log = { warn: (...line: unknown[]) => void warnings.push(line), error: (...line: unknown[]) => void errors.push(line) }
  services = { clock, log, seenTokens: seen, legacyPrefixes: [] } as unknown as Services
})
/** A transaction that finds these records. */
const finding = (...found: unknown[]) =>
  ({
    read: (keys: readonly string[]) => ((read = [...keys]), found),
    get: (key: string) => ((read = [key]), found[0]),
    logChanges: (...logged: unknown[]) => void authors.push(logged),
  }) as unknown as Transaction

describe('a token', () => {
  const authenticate = async (token: object | undefined, membership?: object) => {
    const principal = new TokenPrincipal(`Bearer ${plaintext}`, services)
    const outcome = await (async () => principal.authenticate(services, finding(token, membership), record))().catch(({ code }) => code)
    return { outcome, presented: principal.presented }
  }

  test.each([
    [`Bearer ${plaintext}`, true],
    [`bearer   ${plaintext}  `, true],
    [null, false],
    ['', false],
    ['Bearer ', false],
    [plaintext, false],
    [`Bearer${plaintext}`, false],
    [`x Bearer ${plaintext}`, false],
    [`Bearer ${plaintext} x`, false],
    [`Bearer ${plaintext}, Bearer ${plaintext}`, false],
    [`Bearer ${plaintext.slice(0, -1)}`, false],
  ])('is read from the header %j: %s', (header, isRead) => {
    const create = () => new TokenPrincipal(header, services)
    if (!isRead) expect(create).toThrow(expect.objectContaining({ code: 'unauthorized' }))
    else {
      const { partition, tokenHash, presented } = create()
      expect({ partition, tokenHash, presented }).toStrictEqual({ partition: WORKSPACE, tokenHash: hash, presented: undefined })
    }
  })

  test('that was accepted before is known by its hash', () => {
    seen.set(hash, { workspaceId: 'wsp_seen' })
    expect(new TokenPrincipal(`Bearer ${plaintext}`, services).partition).toBe('wsp_seen')
  })

  test('of a member is accepted, and is the author of the changes', async () => {
    expect(await authenticate(active, member)).toEqual({
      outcome: { userId: 'usr_1', workspaceId: WORKSPACE, membership: member, token: active },
      presented: active,
    })
    expect(record).toEqual({ requestId: 'req_1', userId: 'usr_1', workspaceId: WORKSPACE, tokenId: 'tok_1' })
    expect({ read, authors }).toEqual({
      read: credentialReads(hash),
      authors: [[{ actor_id: 'usr_1', token_id: 'tok_1', token_name: 'CI', request_id: 'req_1' }, clock, expect.any(Readers)]],
    })
    expect({ seen: [...seen], warnings }).toEqual({ seen: [[hash, { workspaceId: WORKSPACE, scopes: ['kanban:read'] }]], warnings: [] })
  })

  test('says when it expires, in its last fourteen days', async () => {
    await authenticate({ ...active, expires_at: at(14 * DAY) }, member)
    expect(record.tokenExpires).toBe(at(14 * DAY))
  })

  test.each<[title: string, token: object | undefined, membership: object | undefined, isReplaced: boolean]>([
    ['there is none', undefined, member, false],
    ['its record belongs to another one', { ...active, hash: 'x'.repeat(64) }, member, false],
    ['it was revoked', { ...active, revoked_at: at(0) }, member, false],
    ['it was replaced', { ...active, revoked_at: at(0), replaced_by: 'tok_2' }, member, true],
    ['its user is no member', active, undefined, false],
    ['its user has left', active, { ...member, ended_at: at(0) }, false],
  ])('is refused if %s', async (_title, token, membership, isReplaced) => {
    expect(await authenticate(token, membership)).toEqual({ outcome: 'unauthorized', presented: token })
    const details = { event: 'token.replaced_used', request_id: 'req_1', token_id: 'tok_1', replaced_by: 'tok_2', user_id: 'usr_1' }
    expect(warnings).toEqual(isReplaced ? [[details, 'a replaced token was used']] : [])
    expect({ record, authors, seen: [...seen] }).toEqual({ record: { requestId: 'req_1' }, authors: [], seen: [] })
  })

  test('that was replaced, as the process remembers, is in the log only when that was read', async () => {
    const tx = Object.assign(finding({ ...active, revoked_at: at(0), replaced_by: 'tok_2' }, member), { isUnverified: true })
    const principal = new TokenPrincipal(`Bearer ${plaintext}`, services)
    expect(await errorOf((async () => principal.authenticate(services, tx, record))())).toMatchObject({ code: 'unauthorized' })
    expect(warnings).toEqual([])
  })
})

test.each<[what: string, isTold: boolean, members: object]>([
  ['was issued in the future', true, {}],
  ['was issued in the future and is revoked', false, { revoked_at: at(0) }],
  ['has expired', false, { issued_at: at(-2 * DAY), expires_at: at(-1) }],
])('a token that %s is refused, and the log says that the clock is behind: %s', async (_what, isTold, members) => {
  const token = { ...active, issued_at: at(5 * MINUTE + 1), ...members }
  const principal = new TokenPrincipal(`Bearer ${plaintext}`, services)
  expect(await errorOf((async () => principal.authenticate(services, finding(token, member), record))())).toMatchObject({
    code: 'unauthorized',
  })
  expect(errors).toMatchObject(
    isTold ? [[{ event: 'clock.behind', token_id: 'tok_1', issued_at: token.issued_at }, expect.any(String)]] : [],
  )
})

describe('a person who is signed in', () => {
  let principal: SessionPrincipal
  beforeEach(() => {
    principal = new SessionPrincipal('usr_1', WORKSPACE)
  })

  test('is the author of the changes, without a token', async () => {
    expect(await principal.authenticate(services, finding(member), record)).toEqual({
      userId: 'usr_1',
      workspaceId: WORKSPACE,
      membership: member,
      isSession: true,
    })
    expect({ read, authors }).toEqual({
      read: ['membership:usr_1'],
      authors: [[{ actor_id: 'usr_1', token_id: null, token_name: null, request_id: 'req_1' }, clock, expect.any(Readers)]],
    })
    expect(record).toEqual({ requestId: 'req_1', userId: 'usr_1', workspaceId: WORKSPACE })
  })

  test('has Idempotency-Keys of their own', () => {
    const ownersOf = (...ids: string[]) => new Set(ids.map((id) => new SessionPrincipal(id, WORKSPACE).keyOwner)).size
    expect([ownersOf('usr_1', 'usr_2'), ownersOf('usr_1', 'usr_1')]).toEqual([2, 1])
  })

  test.each([undefined, { ...member, ended_at: at(0) }])('finds nothing with the membership %j', async (membership) => {
    expect(await errorOf(principal.authenticate(services, finding(membership), record))).toMatchObject({ code: 'not_found' })
    expect(authors).toEqual([])
  })

  test('finds nothing in a workspace whose id is invalid', () => {
    expect(principal.partition).toBe(WORKSPACE)
    expect(() => new SessionPrincipal('usr_1', 'x').partition).toThrow(expect.objectContaining({ code: 'not_found' }))
  })
})
