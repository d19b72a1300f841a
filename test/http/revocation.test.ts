import { describe, expect, test } from 'vitest'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { mintToken } from '../../src/auth/tokens/format.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { drivers } from '../support/drivers.ts'
import { captureLog } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { bytes, Service, type Reply } from '../support/service.ts'

const DAY = 24 * 60 * 60 * 1000
const FORM = 'application/x-www-form-urlencoded'

describe.each(drivers)('the revocation endpoint, on $name', async (driver) => {
  const captured = captureLog()
  const service = await Service.forSuite(driver, { log: captured.log, legacyPrefixes: ['oldname'], proxies: 1 })
  const person = await service.person(await service.workspace(), 'owner')

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

  test.each<[how: string, wrap: (token: string) => string]>([
    ['alone', (token) => token],
    ['with a line break after it', (token) => `${token}\n`],
    ['after a space', (token) => ` ${token}`],
    ['in quotes', (token) => `"${token}"`],
    ['in a header', (token) => `Authorization: Bearer ${token}`],
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

  test('a token with a legacy prefix is accepted if the prefix is configured, and revoked', async () => {
    const [legacy, other] = [await service.legacyToken(person, 'oldname'), await service.legacyToken(person, 'other')]
    expect({ legacy: await statusOf(legacy), other: await statusOf(other) }).toEqual({ legacy: 200, other: 401 })
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
    expect({ status: reply.status, code: typeof reply.body.error.code }).toEqual({ status: expected, code: 'string' })
    if (expected === 405) expect(reply.headers.get('allow')).toBe('POST')
    expect({
      accessControlAllowOrigin: reply.headers.get('access-control-allow-origin'),
      setCookie: reply.headers.get('set-cookie'),
    }).toEqual({ accessControlAllowOrigin: null, setCookie: null })
  })

  test('a form with a charset and a token type hint is accepted (RFC 7009 §2.1)', async () => {
    const token = await newToken()
    const body = String(new URLSearchParams({ token, token_type_hint: 'access_token' }))
    expect((await send('POST', body, { type: `${FORM}; charset=utf-8` })).status).toBe(200)
    expect(await statusOf(token)).toBe(401)
  })

  // Which requests are of one network: client-address.test.ts.
  test('a token is not revoked by a request beyond the thirty of a network, and two seconds later it is', async () => {
    const token = await newToken()
    const from = '198.51.100.7'
    for (let i = 0; i < 30; i++) await revoke('hello', { from })
    expect({ revocation: (await revoke(token, { from })).status, token: await statusOf(token) }).toEqual({ revocation: 429, token: 200 })
    service.now += 2000
    expect({ revocation: (await revoke(token, { from })).status, token: await statusOf(token) }).toEqual({ revocation: 200, token: 401 })
  })

  test('if storage is unavailable, the response is 503 and not a confirmation', async () => {
    const token = await newToken()
    service.store.beforeRead = async () => {
      throw new StorageUnavailable('gone')
    }
    const reply = await revoke(token)
    service.store.beforeRead = undefined
    expect({ status: reply.status, retryAfter: reply.headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '1' })
  })
})

// When it is there, and what the use of a replaced token writes to the log: principal.test.ts.
test('failures and 304 have the header of the end of a token too, but no 401 has it', async () => {
  const service = await Service.start(memory)
  const person = await service.person(await service.workspace(), 'owner')
  const soon = await service.token(person.workspaceId, person.id, ['kanban:read'], 14 * DAY)
  const { id } = (await service.send(person.admin, 'POST', '/boards', { name: 'Board' })).body.data
  const etag = (await service.send(soon, 'GET', `/boards/${id}`)).headers.get('etag')!
  const requests: readonly (readonly [
    status: number,
    method: string,
    path: string,
    body?: object | undefined,
    headers?: Record<string, string>,
  ])[] = [
    [304, 'GET', `/boards/${id}`, undefined, { 'if-none-match': etag }],
    [200, 'HEAD', `/boards/${id}`],
    [422, 'GET', '/boards?limit=0'],
    [403, 'POST', '/boards', { name: 'x' }],
    [404, 'GET', '/nowhere'],
    [405, 'PATCH', '/account', {}],
  ]
  const has = async (token: string, [, method, path, body, headers]: (typeof requests)[number]) => {
    const reply = await service.send(token, method, path, body, headers)
    return [reply.status, reply.headers.has('lanekeeper-token-expires')]
  }
  for (const request of requests)
    expect([await has(soon, request), await has(`${soon}x`, request)]).toEqual([
      [request[0], true],
      [401, false],
    ])
  await service.stop()
})
