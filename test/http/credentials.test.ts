import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { keys } from '../../src/store/keys.ts'
import { hashToken, mintToken, parseToken } from '../../src/auth/tokens/secret.ts'
import { checksumOf } from '../support/checksum.ts'
import { drivers } from '../support/drivers.ts'
import { bytes, Service, type Person, type Reply } from '../support/service.ts'

const SCOPES = ['none', 'read', 'write', 'admin'] as const
const NOTHING = { board_id: 'brd_00000000000000000000', user_id: 'usr_00000000000000000000' }
const path = (template: string) => template.replace(/\{(\w+)\}/g, (_all, name: keyof typeof NOTHING) => NOTHING[name] ?? 'nothing')
const paths = [
  ...operations.map(({ id, method, path: template }) => [id, method, path(template)] as const),
  ['an unknown path', 'GET', '/nowhere'] as const,
  ['the root', 'GET', ''] as const,
  ['a known path, another method', 'PATCH', '/account'] as const,
]

describe.each(drivers)('credentials, on $name', (driver) => {
  let service: Service
  let person: Person
  /** name → the Authorization header, or none */
  const bad = new Map<string, string | null>()
  beforeAll(async () => {
    service = await Service.start(driver)
    const workspaceId = await service.workspace()
    person = await service.person(workspaceId, 'owner')
    const { read: token } = person
    const revoked = await service.token(workspaceId, person.id, ['kanban:admin'])
    await service.write(workspaceId, async (tx) => {
      const record = (await tx.get(keys.token(hashToken(revoked))))!
      tx.put(keys.token(record.hash), { ...record, revoked_at: '2026-11-20T11:00:00.000Z' })
    })
    const replaced = await service.token(workspaceId, person.id, ['kanban:admin'])
    await service.write(workspaceId, async (tx) => {
      const record = (await tx.get(keys.token(hashToken(replaced))))!
      tx.put(keys.token(record.hash), { ...record, replaced_by: 'tok_00000000000000000000' })
    })
    const leaver = await service.person(workspaceId, 'admin')
    await service.leaveOnly(workspaceId, leaver.id)
    const removed = await service.person(workspaceId, 'admin')
    await endMembership(service.deps, workspaceId, removed.id)
    const expired = await service.token(workspaceId, person.id, ['kanban:admin'], 0)
    for (const [name, header] of Object.entries({
      'no header': null,
      'an empty header': '',
      'the scheme alone': 'Bearer',
      'another scheme': `Basic ${token}`,
      'a scheme that begins alike': `Bearers ${token}`,
      'no scheme': token,
      'no space after the scheme': `Bearer${token}`,
      'a tab after the scheme': `Bearer\t${token}`,
      'something that is no token': 'Bearer hello',
      'a token with something behind it': `Bearer ${token} x`,
      'a token of another service': `Bearer ${token.replace('lk_', 'gh_')}`,
      'a token with one letter changed': `Bearer ${token.slice(0, 30)}${token[30] === 'A' ? 'B' : 'A'}${token.slice(31)}`,
      'a token with a bad checksum': `Bearer ${token.slice(0, -1)}${token.at(-1) === 'A' ? 'B' : 'A'}`,
      'a token in other case': `Bearer ${token.toUpperCase()}`,
      'a token cut short': `Bearer ${token.slice(0, -1)}`,
      'an unknown token': `Bearer ${mintToken(workspaceId, service.deps.random).plaintext}`,
      'a token of an unknown workspace': `Bearer ${mintToken('wsp_00000000000000000000', service.deps.random).plaintext}`,
      'two tokens': `Bearer ${token}, Bearer ${person.admin}`,
      'a very long token': `Bearer lk_pat_${'a'.repeat(8000)}`,
      'letters beyond ASCII': `Bearer lk_pat_\u00e9\u00fc${token.slice(9)}`,
      'a revoked token': `Bearer ${revoked}`,
      'a replaced token': `Bearer ${replaced}`,
      'an expired token': `Bearer ${expired}`,
      'the token of a person who left': `Bearer ${leaver.admin}`,
      'the token of a person who was removed': `Bearer ${removed.admin}`,
    }))
      bad.set(name, header)
  })
  afterAll(() => service.stop())

  const ask = (header: string | null, method: string, at: string): Promise<Reply> =>
    service.send(null, method, at, undefined, header === null ? {} : { authorization: header })

  test.each(paths)('%s: 401 for each bad credential, the same answer for all', async (_id, method, at) => {
    const answers = new Map<string, string[]>()
    for (const [name, header] of bad) {
      const reply = await ask(header, method, at)
      expect([name, reply.status, reply.headers.get('www-authenticate'), reply.body.error?.code]).toEqual([
        name,
        401,
        'Bearer',
        'unauthorized',
      ])
      const text = bytes(reply)
      answers.set(text, [...(answers.get(text) ?? []), name])
    }
    expect([...answers.values()]).toEqual([[...bad.keys()]])
  })

  test('what cannot be a token is refused before storage is asked', async () => {
    const stored = new Set([
      'an unknown token',
      'a token of an unknown workspace',
      'a revoked token',
      'a replaced token',
      'an expired token',
      'the token of a person who left',
      'the token of a person who was removed',
    ])
    for (const [name, header] of bad) {
      service.store.trips = 0
      await ask(header, 'GET', '/account')
      expect([name, service.store.trips]).toEqual([name, stored.has(name) ? 1 : 0])
    }
  })

  test('a token works to the last millisecond of its life, and not in the next', async () => {
    const token = await service.token(person.workspaceId, person.id, ['kanban:read'], 1000)
    const at = service.now
    const statuses: number[] = []
    for (const passed of [999, 1000, 1001]) {
      service.now = at + passed
      statuses.push((await service.send(token, 'GET', '/account')).status)
    }
    service.now = at
    expect(statuses).toEqual([200, 401, 401])
  })

  test('a record that says more than 90 days is not believed', async () => {
    const token = await service.token(person.workspaceId, person.id, ['kanban:read'])
    await service.write(person.workspaceId, async (tx) => {
      const record = (await tx.get(keys.token(hashToken(token))))!
      tx.put(keys.token(record.hash), { ...record, expires_at: '2036-01-01T00:00:00.000Z' })
    })
    const at = service.now
    const day = 24 * 60 * 60 * 1000
    service.now = at + 90 * day - 1
    const last = await service.send(token, 'GET', '/account')
    service.now = at + 90 * day
    const over = await service.send(token, 'GET', '/account')
    service.now = at
    expect([last.status, last.body.data.token.expires_at, over.status]).toEqual([200, new Date(at + 90 * day).toISOString(), 401])
  })

  test('a legacy prefix is valid where it is configured, and nowhere else', async () => {
    const { plaintext } = mintToken(person.workspaceId, service.deps.random)
    const body = plaintext.replace(/^lk/, 'oldname').slice(0, -6)
    const legacy = body + checksumOf(body)
    expect(parseToken(legacy, [])).toBeUndefined()
    expect(parseToken(legacy, ['oldname'])).toEqual({ workspaceId: person.workspaceId, hash: hashToken(legacy) })
  })

  describe.each(operations.map((row) => [row.id, row] as const))('%s', (_id, { method, path: template, needs }) => {
    const required = () => service.app.services.engine.checkScope(needs.join(' '), { 'token.scope': 'none' }).required
    const lesser = () => SCOPES.slice(0, SCOPES.indexOf(required().slice('kanban:'.length) as 'read'))

    test('403 for each lesser scope, before the body or any resource is read', async () => {
      for (const scope of lesser()) {
        await service.send(person[scope], 'GET', '/account')
        await service.app.services.usage.settled()
        service.store.touched.length = 0
        const reply = await service.send(
          person[scope],
          method,
          path(template),
          method === 'GET' || method === 'DELETE' ? undefined : '{ this is no JSON',
          { 'content-type': 'text/plain' },
        )
        expect([reply.status, reply.body.error.code]).toEqual([403, 'insufficient_scope'])
        expect(reply.body.error).toMatchObject({
          required_scope: required(),
          granted_scopes: ['kanban:read', 'kanban:write', 'kanban:admin'].slice(0, SCOPES.indexOf(scope)),
        })
        expect(reply.headers.get('www-authenticate')).toBe(`Bearer error="insufficient_scope", scope="${required()}"`)
        expect(service.store.touched).toEqual([`token:${hashToken(person[scope])}`, `membership:${person.id}`])
      }
    })
  })
})
