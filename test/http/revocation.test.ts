import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { mintToken } from '../../src/auth/tokens/format.ts'
import { rotateToken } from '../../src/auth/tokens/issue.ts'
import { keys } from '../../src/store/keys.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { drivers } from '../support/drivers.ts'
import { captureLog } from '../support/log.ts'
import { bytes, Service, type Person, type Reply } from '../support/service.ts'

const DAY = 24 * 60 * 60 * 1000
const FORM = 'application/x-www-form-urlencoded'

describe.each(drivers)('the revocation endpoint, on $name', (driver) => {
  const captured = captureLog()
  let service: Service
  let person: Person
  beforeAll(async () => {
    service = await Service.start(driver, { log: captured.log, legacyPrefixes: ['oldname'], proxies: 1 })
    person = await service.person(await service.workspace(), 'owner')
  })
  afterAll(() => service.stop())

  let addresses = 0
  /** Sends a request to the endpoint, by default from a new client address: the rate limit counts requests by network. */
  const send = async (
    method: string,
    body: string | undefined,
    { type = FORM as string | null, from = `192.0.2.${addresses++}` } = {},
  ): Promise<Reply> => {
    const headers = { 'x-forwarded-for': from, ...(type === null ? {} : { 'content-type': type }) }
    const init = { method, headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) }
    const response = await service.app.fetch(new Request('http://localhost/revoke', init))
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: text === '' ? {} : JSON.parse(text) }
  }
  const revoke = (token: string, options = {}) => send('POST', String(new URLSearchParams({ token })), options)
  const statusOf = async (token: string) => (await service.send(token, 'GET', '/account')).status
  const newToken = (lifetime?: number) => service.token(person.workspaceId, person.id, ['kanban:admin'], lifetime)

  test.each([
    ['with a line break after it', (token: string) => `${token}\n`],
    ['after a space', (token: string) => ` ${token}`],
    ['in quotes', (token: string) => `"${token}"`],
    ['in a header', (token: string) => `Authorization: Bearer ${token}`],
  ])('a token is revoked if it is sent %s', async (_how, wrap) => {
    const token = await newToken()
    expect((await revoke(wrap(token))).status).toBe(200)
    expect(await statusOf(token)).toBe(401)
  })

  test('the response is the same for every text, whether or not it is an active token', async () => {
    const revoked = await newToken()
    await revoke(revoked)
    const former = await service.person(person.workspaceId)
    await service.leaveOnly(person.workspaceId, former.id)
    const texts = new Map<string, string[]>()
    for (const [name, token] of Object.entries({
      active: await newToken(),
      revoked,
      expired: await newToken(0),
      'of a former member': former.read,
      unknown: mintToken(person.workspaceId, service.deps.random).plaintext,
      'of an unknown workspace': mintToken('wsp_00000000000000000000', service.deps.random).plaintext,
      'with a wrong checksum': `${(await newToken()).slice(0, -1)}_`,
      malformed: 'hello',
      empty: '',
      'very long': 'a'.repeat(3000),
      'outside of ASCII': '\u00e9\ud83d\ude00',
    })) {
      const response = bytes(await revoke(token))
      texts.set(response, [...(texts.get(response) ?? []), name])
    }
    expect([...texts.values()]).toHaveLength(1)
    const [response] = texts.keys()
    expect(response).toMatch(/^200\n/)
    expect(response).toContain('cache-control: private, no-store')
    expect(response).toMatch(/\{"data":\{"received":true\}\}$/)
  })

  test('a revoked token is refused at the next request, whatever its scopes', async () => {
    for (const [token, before] of [
      [person.none, 403],
      [await newToken(), 200],
    ] as const) {
      expect(await statusOf(token)).toBe(before)
      await revoke(token)
      expect(await statusOf(token)).toBe(401)
    }
  })

  test('a token with a legacy prefix is revoked', async () => {
    const legacy = await service.legacyToken(person, 'oldname')
    expect(await statusOf(legacy)).toBe(200)
    await revoke(legacy)
    expect(await statusOf(legacy)).toBe(401)
  })

  test('each revocation is logged once, with the user and without the token', async () => {
    const token = await newToken()
    const before = captured.lines.length
    await revoke(token)
    await revoke(token)
    await revoke('hello')
    const lines = captured.lines.slice(before)
    expect(lines).toMatchObject([{ event: 'token.revoked', by: 'finder', user_id: person.id, workspace_id: person.workspaceId, level: 40 }])
    expect(lines[0].token_id).toMatch(/^tok_/)
    expect(captured.text()).not.toContain(token)
    expect(captured.text()).not.toContain(sha256Hex(token))
  })

  test('a text that cannot be a token causes no read', async () => {
    service.store.trips = 0
    await revoke('hello')
    expect(service.store.trips).toBe(0)
  })

  test.each([
    ['POST without a content type', 'POST', 'token=x', null, 415],
    ['POST with JSON', 'POST', '{"token":"x"}', 'application/json', 415],
    ['POST with a multipart form', 'POST', 'token=x', 'multipart/form-data; boundary=x', 415],
    ['POST with two tokens', 'POST', 'token=x&token=y', FORM, 400],
    ['POST without a token', 'POST', 'other=x', FORM, 400],
    ['POST without a body', 'POST', undefined, FORM, 400],
    ['POST with a body that is too large', 'POST', `token=${'a'.repeat(5000)}`, FORM, 413],
    ['GET', 'GET', undefined, null, 405],
    ['DELETE', 'DELETE', undefined, null, 405],
    ['OPTIONS', 'OPTIONS', undefined, null, 405],
  ])('%s is refused', async (_request, method, body, type, expected) => {
    const reply = await send(method, body, { type })
    expect([reply.status, typeof reply.body.error.code]).toEqual([expected, 'string'])
    if (expected === 405) expect(reply.headers.get('allow')).toBe('POST')
    expect([reply.headers.get('access-control-allow-origin'), reply.headers.get('set-cookie')]).toEqual([null, null])
  })

  test('a form with a charset and a token type hint is accepted (RFC 7009 §2.1)', async () => {
    const token = await newToken()
    const body = String(new URLSearchParams({ token, token_type_hint: 'access_token' }))
    expect((await send('POST', body, { type: `${FORM}; charset=utf-8` })).status).toBe(200)
    expect(await statusOf(token)).toBe(401)
  })

  test('a network sends up to thirty requests at once, then gets 429 with Retry-After; other networks are not affected', async () => {
    const token = await newToken()
    const from = '198.51.100.7'
    const statuses: number[] = []
    for (let i = 0; i < 30; i++) statuses.push((await revoke('hello', { from })).status)
    const refused = await revoke(token, { from })
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '2'])
    expect(await statusOf(token)).toBe(200)
    const now = service.now
    service.now = now + 2000
    const later = await revoke(token, { from })
    service.now = now
    expect([later.status, (await revoke('hello')).status, await statusOf(token)]).toEqual([200, 200, 401])
  })

  test('if storage is unavailable, the response is 503 and not a confirmation', async () => {
    const token = await newToken()
    service.store.beforeRead = async () => {
      throw new StorageUnavailable('gone')
    }
    const reply = await revoke(token)
    service.store.beforeRead = undefined
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
  })
})

describe.each(drivers)('the end of a token, on $name', (driver) => {
  const captured = captureLog()
  let service: Service
  let person: Person
  beforeAll(async () => {
    service = await Service.start(driver, { log: captured.log })
    person = await service.person(await service.workspace(), 'owner')
  })
  afterAll(() => service.stop())
  const HEADER = 'lanekeeper-token-expires'
  const newToken = (scope: 'read' | 'write', lifetime: number) =>
    service.token(person.workspaceId, person.id, [`kanban:${scope}`], lifetime)

  test('failures and 304 have the expiry header too, but no 401 has it', async () => {
    const soon = await newToken('read', 14 * DAY)
    const later = await newToken('read', 14 * DAY + 1)
    const { id } = (await service.send(person.admin, 'POST', '/boards', { name: 'Board' })).body.data
    const etag = (await service.send(soon, 'GET', `/boards/${id}`)).headers.get('etag')!
    const sendAll = async (token: string, headers: Record<string, string> = {}) => {
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
    expect(await sendAll(soon)).toEqual(statuses.map((status) => [status, true]))
    expect(await sendAll(later)).toEqual(statuses.map((status) => [status, false]))
    for (const authorization of ['', `Bearer ${soon}x`, `Basic ${soon}`])
      expect(await sendAll(soon, { authorization })).toEqual(statuses.map(() => [401, false]))
  })

  test('the use of a replaced token is logged without the token, and its response does not differ from other 401s', async () => {
    const old = await newToken('read', 90 * DAY)
    const { id } = (await service.write(person.workspaceId, (tx) => tx.get(keys.token(sha256Hex(old)))))!
    const { plaintext, token } = await service.write(person.workspaceId, (tx) =>
      rotateToken(tx, { userId: person.id, tokenId: id, lifetime: DAY }, service.deps),
    )
    const before = captured.text().length
    await service.send(plaintext, 'GET', '/account')
    expect(captured.text().slice(before)).toBe('')
    const reply = await service.send(old, 'GET', '/account')
    const unknown = await service.send(mintToken(person.workspaceId, service.deps.random).plaintext, 'GET', '/account')
    expect(bytes(reply)).toBe(bytes(unknown))
    const added = captured.text().slice(before)
    expect(added.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(added)).toMatchObject({
      level: 40,
      event: 'token.replaced_used',
      request_id: reply.body.error.request_id,
      token_id: id,
      replaced_by: token.id,
      user_id: person.id,
    })
    for (const secret of [old, plaintext, sha256Hex(old), sha256Hex(plaintext)]) expect(captured.text()).not.toContain(secret)
  })
})
