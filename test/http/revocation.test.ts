import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rotateToken } from '../../src/auth/tokens/issue.ts'
import { keys } from '../../src/store/keys.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { hashToken, mintToken, parseToken } from '../../src/auth/tokens/secret.ts'
import { checksumOf } from '../support/checksum.ts'
import { drivers } from '../support/drivers.ts'
import { keptLog } from '../support/log.ts'
import { bytes, Service, type Person, type Reply } from '../support/service.ts'

const DAY = 24 * 60 * 60 * 1000
const FORM = 'application/x-www-form-urlencoded'

describe.each(drivers)('a leaked token, on $name', (driver) => {
  const kept = keptLog()
  let service: Service
  let person: Person
  beforeAll(async () => {
    service = await Service.start(driver, { log: kept.log, legacyPrefixes: ['oldname'], proxies: 1 })
    person = await service.person(await service.workspace(), 'owner')
  })
  afterAll(() => service.stop())

  let callers = 0
  /** Each from an address of its own, but where that is said. */
  const send = async (method: string, body: string | undefined, { type = FORM as string | null, from = `192.0.2.${callers++}` } = {}) => {
    const headers = { 'x-forwarded-for': from, ...(type === null ? {} : { 'content-type': type }) }
    const response = await service.app.fetch(
      new Request('http://localhost/revoke', { method, headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) }),
    )
    const answered = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text: answered,
      body: answered === '' ? {} : JSON.parse(answered),
    } as Reply
  }
  const revoke = (token: string, more = {}) => send('POST', String(new URLSearchParams({ token })), more)
  const status = async (token: string) => (await service.send(token, 'GET', '/account')).status
  const fresh = (lifetime?: number) => service.token(person.workspaceId, person.id, ['kanban:admin'], lifetime)

  test.each([
    ['with the line break of its file', (token: string) => `${token}\n`],
    ['behind a space', (token: string) => ` ${token}`],
    ['in quotes', (token: string) => `"${token}"`],
    ['as it stood in a header', (token: string) => `Authorization: Bearer ${token}`],
  ])('it is ended as it was found: %s', async (_how, wrap) => {
    const token = await fresh()
    expect((await revoke(wrap(token))).status).toBe(200)
    expect(await status(token)).toBe(401)
  })

  test('the answer is the same to the last byte, whatever was sent', async () => {
    const revoked = await fresh()
    await revoke(revoked)
    const leaver = await service.person(person.workspaceId)
    await service.leaveOnly(person.workspaceId, leaver.id)
    const answers = new Map<string, string[]>()
    for (const [name, token] of Object.entries({
      live: await fresh(),
      'revoked before': revoked,
      expired: await fresh(0),
      'of a person who left': leaver.read,
      unknown: mintToken(person.workspaceId, service.deps.random).plaintext,
      'of an unknown workspace': mintToken('wsp_00000000000000000000', service.deps.random).plaintext,
      'with a bad checksum': `${(await fresh()).slice(0, -1)}_`,
      malformed: 'hello',
      empty: '',
      'very long': 'a'.repeat(3000),
      'beyond ASCII': '\u00e9\ud83d\ude00',
    })) {
      const answer = bytes(await revoke(token))
      answers.set(answer, [...(answers.get(answer) ?? []), name])
    }
    expect([...answers.values()]).toHaveLength(1)
    const [answer] = answers.keys()
    expect(answer).toMatch(/^200\n/)
    expect(answer).toContain('cache-control: private, no-store')
    expect(answer).toMatch(/\{"data":\{"received":true\}\}$/)
  })

  test('a live one fails with the very next request, whatever its scope', async () => {
    for (const token of [person.none, await fresh()]) {
      const before = await status(token)
      await revoke(token)
      expect([before === 200 || token === person.none, await status(token)]).toEqual([true, 401])
    }
  })

  test('one of a legacy prefix too', async () => {
    const { plaintext } = mintToken(person.workspaceId, service.deps.random)
    const body = plaintext.replace(/^lk/, 'oldname').slice(0, -6)
    const legacy = body + checksumOf(body)
    const { hash } = parseToken(legacy, ['oldname'])!
    await service.write(person.workspaceId, async (tx) => {
      const record = (await tx.get(keys.token(hashToken(person.write))))!
      await tx.get(keys.token(hash))
      tx.put(keys.token(hash), { ...record, id: 'tok_00000000000000000009', hash })
    })
    const before = await status(legacy)
    await revoke(legacy)
    expect([before, await status(legacy)]).toEqual([200, 401])
  })

  test('it is logged with whose it was and never with what it is, and only where something ended', async () => {
    const token = await fresh()
    const before = kept.lines.length
    await revoke(token)
    await revoke(token)
    await revoke('hello')
    const said = kept.lines.slice(before)
    expect(said).toMatchObject([{ event: 'token.revoked', by: 'finder', user_id: person.id, workspace_id: person.workspaceId, level: 40 }])
    expect(said[0].token_id).toMatch(/^tok_/)
    expect(kept.text()).not.toContain(token)
    expect(kept.text()).not.toContain(hashToken(token))
  })

  test('what cannot be a token costs storage nothing', async () => {
    service.store.trips = 0
    await revoke('hello')
    expect(service.store.trips).toBe(0)
  })

  test.each([
    ['no type', 'POST', 'token=x', null, 415],
    ['JSON', 'POST', '{"token":"x"}', 'application/json', 415],
    ['a form of parts', 'POST', 'token=x', 'multipart/form-data; boundary=x', 415],
    ['two tokens', 'POST', 'token=x&token=y', FORM, 400],
    ['no token', 'POST', 'other=x', FORM, 400],
    ['no body', 'POST', undefined, FORM, 400],
    ['too much', 'POST', `token=${'a'.repeat(5000)}`, FORM, 413],
    ['GET', 'GET', undefined, null, 405],
    ['DELETE', 'DELETE', undefined, null, 405],
    ['OPTIONS', 'OPTIONS', undefined, null, 405],
  ])('%s: %s is refused', async (_name, method, body, type, expected) => {
    const reply = await send(method, body, { type })
    expect([reply.status, typeof reply.body.error.code]).toEqual([expected, 'string'])
    if (expected === 405) expect(reply.headers.get('allow')).toBe('POST')
    expect([reply.headers.get('access-control-allow-origin'), reply.headers.get('set-cookie')]).toEqual([null, null])
  })

  test('a token with a charset and its hint is taken too (RFC 7009)', async () => {
    const token = await fresh()
    const body = String(new URLSearchParams({ token, token_type_hint: 'access_token' }))
    expect((await send('POST', body, { type: `${FORM}; charset=utf-8` })).status).toBe(200)
    expect(await status(token)).toBe(401)
  })

  test('thirty at once from one network, then 429 with when to come back; others are not concerned', async () => {
    const token = await fresh()
    const from = '198.51.100.7'
    const statuses: number[] = []
    for (let i = 0; i < 30; i++) statuses.push((await revoke('hello', { from })).status)
    const over = await revoke(token, { from })
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect([over.status, over.body.error.code, over.headers.get('retry-after')]).toEqual([429, 'rate_limited', '2'])
    expect(await status(token)).toBe(200)
    const at = service.now
    service.now = at + 2000
    const later = await revoke(token, { from })
    service.now = at
    expect([later.status, (await revoke('hello')).status, await status(token)]).toEqual([200, 200, 401])
  })

  test('where storage cannot be reached it says so, and does not say that it was received', async () => {
    const token = await fresh()
    service.store.beforeRead = async () => {
      throw new StorageUnavailable('gone')
    }
    const reply = await revoke(token)
    service.store.beforeRead = undefined
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
  })
})

describe.each(drivers)('what is told of a token that ends soon or has ended, on $name', (driver) => {
  const kept = keptLog()
  let service: Service
  let person: Person
  beforeAll(async () => {
    service = await Service.start(driver, { log: kept.log })
    person = await service.person(await service.workspace(), 'owner')
  })
  afterAll(() => service.stop())
  const HEADER = 'lanekeeper-token-expires'

  test('in its last 14 days every answer says when it expires, to the millisecond from when on', async () => {
    const at = service.now
    const token = await service.token(person.workspaceId, person.id, ['kanban:read'], 30 * DAY)
    const expiry = new Date(at + 30 * DAY).toISOString()
    const { headers } = await service.send(token, 'GET', '/boards/brd_00000000000000000000')
    expect(headers.get(HEADER)).toBeNull()
    const said: (string | null)[] = []
    for (const passed of [16 * DAY - 1, 16 * DAY, 16 * DAY + 1, 30 * DAY - 1, 30 * DAY]) {
      service.now = at + passed
      const reply = await service.send(token, 'GET', '/account')
      said.push(`${reply.status} ${reply.headers.get(HEADER)}`)
    }
    service.now = at
    expect(said).toEqual(['200 null', `200 ${expiry}`, `200 ${expiry}`, `200 ${expiry}`, '401 null'])
  })

  test('on failures too, and on what was not modified; on no 401', async () => {
    const soon = await service.token(person.workspaceId, person.id, ['kanban:read'], 14 * DAY)
    const late = await service.token(person.workspaceId, person.id, ['kanban:read'], 14 * DAY + 1)
    const { id } = (await service.send(person.admin, 'POST', '/boards', { name: 'Board' })).body.data
    const etag = (await service.send(soon, 'GET', `/boards/${id}`)).headers.get('etag')!
    const ask = async (token: string, headers: Record<string, string> = {}) => {
      const replies = [
        await service.send(token, 'GET', `/boards/${id}`, undefined, { 'if-none-match': etag, ...headers }),
        await service.send(token, 'HEAD', `/boards/${id}`, undefined, headers),
        await service.send(token, 'GET', '/boards?limit=0', undefined, headers),
        await service.send(token, 'POST', '/boards', { name: 'x' }, headers),
        await service.send(token, 'GET', '/nowhere', undefined, headers),
        await service.send(token, 'PATCH', '/account', {}, headers),
      ]
      return replies.map((reply) => [reply.status, reply.headers.get(HEADER) !== null])
    }
    const statuses = [304, 200, 422, 403, 404, 405]
    expect(await ask(soon)).toEqual(statuses.map((status) => [status, true]))
    expect(await ask(late)).toEqual(statuses.map((status) => [status, false]))
    for (const authorization of ['', `Bearer ${soon}x`, `Basic ${soon}`])
      expect(await ask(soon, { authorization })).toEqual(statuses.map(() => [401, false]))
  })

  test('a token that ends while its request is under way gets a 401 that says nothing', async () => {
    const soon = await service.token(person.workspaceId, person.id, ['kanban:write'], DAY)
    await service.send(soon, 'GET', '/account')
    await service.app.services.usage.settled()
    service.store.beforeCommit = async () => {
      await service.write(person.workspaceId, async (tx) => {
        const token = (await tx.get(keys.token(hashToken(soon))))!
        tx.put(keys.token(token.hash), { ...token, revoked_at: new Date(service.now).toISOString() })
      })
    }
    const reply = await service.send(soon, 'POST', '/boards', { name: 'x' })
    expect([reply.status, reply.headers.get(HEADER)]).toEqual([401, null])
  })

  test('who uses a token that was replaced is noted, without the token, and is told nothing', async () => {
    const old = await service.token(person.workspaceId, person.id, ['kanban:read'])
    const { id } = (await service.write(person.workspaceId, (tx) => tx.get(keys.token(hashToken(old)))))!
    const { plaintext, token } = await service.write(person.workspaceId, (tx) =>
      rotateToken(tx, { userId: person.id, tokenId: id, lifetime: DAY }, service.deps.clock, service.deps.random),
    )
    const before = kept.text().length
    await service.send(plaintext, 'GET', '/account')
    expect(kept.text().slice(before)).toBe('')
    const reply = await service.send(old, 'GET', '/account')
    const unknown = await service.send(mintToken(person.workspaceId, service.deps.random).plaintext, 'GET', '/account')
    expect(bytes(reply)).toBe(bytes(unknown))
    const said = kept.text().slice(before)
    expect(said.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(said)).toMatchObject({
      level: 40,
      event: 'token.replaced_used',
      request_id: reply.body.error.request_id,
      token_id: id,
      replaced_by: token.id,
      user_id: person.id,
    })
    for (const secret of [old, plaintext, hashToken(old), hashToken(plaintext)]) expect(kept.text()).not.toContain(secret)
  })
})
