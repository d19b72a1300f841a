import { describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { mintToken } from '../../src/auth/tokens/format.ts'
import { operations } from '../../src/resources/table.ts'
import { keys } from '../../src/store/keys.ts'
import { recordUses } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { handWrittenOperations } from '../support/hand-written-decisions.ts'
import { bytes, Service, type Reply } from '../support/service.ts'

// The end of a token: auth/tokens/. The forms of a header with a token: principal.test.ts. Legacy prefixes: revocation.test.ts.

const SCOPES = ['none', 'read', 'write', 'admin'] as const
const IDS = { board_id: 'brd_00000000000000000000', user_id: 'usr_00000000000000000000' }
const fill = (path: string) => path.replace(/\{(\w+)\}/g, (_match, name: keyof typeof IDS) => IDS[name] ?? 'nothing')
const requests = [
  ...operations.map(({ id, method, path }) => [id, method, fill(path)] as const),
  ['an unknown path', 'GET', '/nowhere'] as const,
  ['the root', 'GET', ''] as const,
  ['an unsupported method', 'PATCH', '/account'] as const,
]

describe.each(drivers)('credentials, on $name', async (driver) => {
  /** name → the value of the Authorization header, or null for a request without it */
  const refused = new Map<string, string | null>()
  const service = await Service.forSuite(driver)
  const workspaceId = await service.workspace()
  const person = await service.person(workspaceId, 'owner')
  const { read: token } = person
  const changedToken = async (change: object) => {
    const plaintext = await service.token(workspaceId, person.id, ['kanban:admin'])
    await service.write(workspaceId, async (tx) => {
      const record = (await tx.get(keys.token(sha256Hex(plaintext))))!
      tx.put(keys.token(record.hash), { ...record, ...change })
    })
    return plaintext
  }
  const revoked = await changedToken({ revoked_at: '2026-11-20T11:00:00.000Z' })
  const replaced = await changedToken({ replaced_by: 'tok_00000000000000000000' })
  const expired = await service.token(workspaceId, person.id, ['kanban:admin'], 0)
  const former = await service.person(workspaceId, 'admin')
  await service.leaveOnly(workspaceId, former.id)
  const removed = await service.person(workspaceId, 'admin')
  await endMembership(service.deps, workspaceId, removed.id)
  for (const [name, header] of Object.entries({
    'no header': null,
    'an empty header': '',
    'the scheme without a token': 'Bearer',
    'another scheme': `Basic ${token}`,
    'a longer scheme': `Bearers ${token}`,
    'a token without a scheme': token,
    'no space after the scheme': `Bearer${token}`,
    'a tab after the scheme': `Bearer\t${token}`,
    'a word instead of a token': 'Bearer hello',
    'text after the token': `Bearer ${token} x`,
    'a token of another service': `Bearer ${token.replace('lk_', 'gh_')}`,
    'a token with one letter changed': `Bearer ${token.slice(0, 30)}${token[30] === 'A' ? 'B' : 'A'}${token.slice(31)}`,
    'a token with a wrong checksum': `Bearer ${token.slice(0, -1)}${token.at(-1) === 'A' ? 'B' : 'A'}`,
    'a token in upper case': `Bearer ${token.toUpperCase()}`,
    'a truncated token': `Bearer ${token.slice(0, -1)}`,
    'an unknown token': `Bearer ${mintToken(workspaceId, service.deps.random).plaintext}`,
    'a token of an unknown workspace': `Bearer ${mintToken('wsp_00000000000000000000', service.deps.random).plaintext}`,
    'two tokens': `Bearer ${token}, Bearer ${person.admin}`,
    'a very long token': `Bearer lk_pat_${'a'.repeat(8000)}`,
    'a token with letters outside of ASCII': `Bearer lk_pat_\u00e9\u00fc${token.slice(9)}`,
    'a revoked token': `Bearer ${revoked}`,
    'a replaced token': `Bearer ${replaced}`,
    'an expired token': `Bearer ${expired}`,
    'a token of a former member': `Bearer ${former.admin}`,
    'a token of a removed member': `Bearer ${removed.admin}`,
  }))
    refused.set(name, header)

  const sendWith = (header: string | null, method: string, path: string): Promise<Reply> =>
    service.send(null, method, path, undefined, header === null ? {} : { authorization: header })

  test.each(requests)('%s is answered with the same 401 for every invalid credential', async (_id, method, path) => {
    const credentials = new Map<string, string[]>()
    for (const [name, header] of refused) {
      const reply = await sendWith(header, method, path)
      expect({ name, status: reply.status, wwwAuthenticate: reply.headers.get('www-authenticate'), code: reply.body.error?.code }).toEqual({
        name,
        status: 401,
        wwwAuthenticate: 'Bearer',
        code: 'unauthorized',
      })
      const response = bytes(reply)
      credentials.set(response, [...(credentials.get(response) ?? []), name])
    }
    expect([...credentials.values()]).toEqual([[...refused.keys()]])
  })

  test('a credential that cannot be a token is refused without a read', async () => {
    const wellFormed = new Set([
      'an unknown token',
      'a token of an unknown workspace',
      'a revoked token',
      'a replaced token',
      'an expired token',
      'a token of a former member',
      'a token of a removed member',
    ])
    for (const [name, header] of refused) {
      service.store.trips = 0
      await sendWith(header, 'GET', '/account')
      expect([name, service.store.trips]).toEqual([name, wellFormed.has(name) ? 1 : 0])
    }
  })

  test.each(handWrittenOperations.map((operation) => [operation.id, operation] as const))(
    '%s is answered with 403 for each lesser scope, before its body or a resource is read',
    async (_id, { method, path, scope: required }) => {
      await recordUses(service, person)
      for (const scope of SCOPES.slice(0, SCOPES.indexOf(required))) {
        service.store.touched.length = service.store.trips = 0
        const body = method === 'GET' || method === 'DELETE' ? undefined : '{ this is not JSON'
        const reply = await service.send(person[scope], method, fill(path), body, { 'content-type': 'text/plain' })
        expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 403, code: 'insufficient_scope' })
        expect(reply.body.error).toMatchObject({
          required_scope: `kanban:${required}`,
          granted_scopes: ['kanban:read', 'kanban:write', 'kanban:admin'].slice(0, SCOPES.indexOf(scope)),
        })
        expect(reply.headers.get('www-authenticate')).toBe(`Bearer error="insufficient_scope", scope="kanban:${required}"`)
        expect(service.store.touched).toEqual([`token:${sha256Hex(person[scope])}`, `membership:${person.id}`])
        expect(service.store.trips).toBe(1)
      }
    },
  )
})
