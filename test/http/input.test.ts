import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { operations } from '../../src/resources/table.ts'
import { recordUses } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const nested = (levels: number) => `{"name":${'['.repeat(levels)}${']'.repeat(levels)}}`

describe('request bodies and queries', () => {
  let service: Service
  let person: Person
  let boardPath: string
  beforeAll(async () => {
    service = await Service.start(drivers[0]!)
    person = await service.person(await service.workspace(), 'owner')
    boardPath = `/boards/${(await service.send(person.write, 'POST', '/boards', { name: 'A board' })).body.data.id}`
  })
  afterAll(() => service.stop())
  const post = (body: string, headers: Record<string, string> = JSON_TYPE) => service.send(person.admin, 'POST', '/boards', body, headers)

  test.each([
    ['with broken JSON', '{"name":', 400, 'bad_request'],
    ['that is not JSON', 'name=x', 400, 'bad_request'],
    ['that is empty', '', 400, 'bad_request'],
    ['with text after the JSON value', '{"name":"x"}x', 400, 'bad_request'],
    ['nested beyond the limit', nested(limits.jsonDepth), 400, 'bad_request'],
    ['nested deep enough to overflow a stack', nested(100_000), 400, 'bad_request'],
    ['with more bytes than the limit', JSON.stringify({ name: 'x'.repeat(limits.jsonBytes) }), 413, 'payload_too_large'],
    ['with a duplicate member', '{"name":"a","name":"b"}', 400, 'bad_request'],
    ['with a duplicate member that is escaped once', '{"name":"a","n\\u0061me":"b"}', 400, 'bad_request'],
    ['with a duplicate member in a nested object', '{"name":{"a":[{"b":1,"b":1}]}}', 400, 'bad_request'],
    ['that is an array', '[]', 422, 'validation_failed'],
    ['that is null', 'null', 422, 'validation_failed'],
    ['that is a string', '"name"', 422, 'validation_failed'],
  ])('a body %s is refused', async (_body, body, status, code) => {
    const reply = await post(body)
    expect([reply.status, reply.body.error.code]).toEqual([status, code])
  })

  test('a body that is not valid UTF-8 is refused', async () => {
    const request = new Request('http://localhost/v1/boards', {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${person.admin}` },
      body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    })
    const reply = await service.app.fetch(request)
    expect([reply.status, ((await reply.json()) as any).error.message]).toEqual([400, 'The body is not valid UTF-8.'])
  })

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/jsonp', 415],
    ['application/json; charset=latin1', 415],
    ['application/json; charset=utf-8', 201],
    ['Application/JSON;charset="UTF-8"', 201],
  ])('a JSON body with the content type %s is answered with %i', async (type, status) => {
    expect((await post('{"name":"x"}', { 'content-type': type })).status).toBe(status)
  })

  test('a compressed body is refused', async () => {
    expect((await post('{"name":"x"}', { ...JSON_TYPE, 'content-encoding': 'gzip' })).status).toBe(415)
  })

  test.each([
    ['an unknown member', { name: 'x', board_id: 'y' }, 'board_id'],
    ['a member of another operation', { name: 'x', visibility: 'private' }, 'visibility'],
    ['a forged creator', { name: 'x', creator_id: 'usr_00000000000000000000' }, 'creator_id'],
    ['a missing member', {}, 'name'],
    ['a number instead of text', { name: 1 }, 'name'],
    ['null instead of text', { name: null }, 'name'],
    ['blank text', { name: ' \u2003 ' }, 'name'],
    ['invisible text', { name: '\u200b\u2060' }, 'name'],
    ['text that is too long', { name: 'x'.repeat(limits.boardName + 1) }, 'name'],
    ['a line break in one line of text', { name: 'a\nb' }, 'name'],
    ['a null byte', { name: 'a\0b' }, 'name'],
    ['half a surrogate pair', { name: 'a\ud800' }, 'name'],
    ['a control character in multi-line text', { name: 'x', description: 'a\u001bb' }, 'description'],
    ['an invalid color', { name: 'x', cover_color: 'red' }, 'cover_color'],
  ])('a body with %s is refused, and the error names the member', async (_member, body, path) => {
    const reply = await post(JSON.stringify(body))
    expect([reply.status, reply.body.error.issues.map((issue: any) => issue.path)]).toEqual([422, [path]])
    expect(reply.body.error.message).toContain(path)
  })

  test('the member __proto__ is refused like any other unknown member', async () => {
    const { status, body } = await post('{"name":"x","__proto__":{"visibility":"private"}}')
    expect([status, body.error.issues[0].path]).toEqual([422, '__proto__'])
  })

  test('text of the maximum length is stored unchanged', async () => {
    const name = 'é'.repeat(limits.boardName)
    const description = 'x\n'.repeat(limits.boardDescription / 2)
    expect((await post(JSON.stringify({ name, description }))).body.data).toMatchObject({ name, description })
  })

  test('a PATCH without members is refused', async () => {
    const { status, body } = await service.send(person.admin, 'PATCH', boardPath, {})
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
  })

  test('an operation without a body accepts none or {}, and refuses members', async () => {
    const path = `${boardPath}/members/${person.id}`
    expect((await service.send(person.admin, 'PUT', path)).status).toBe(200)
    expect((await service.send(person.admin, 'PUT', path, {})).status).toBe(200)
    expect((await service.send(person.admin, 'PUT', path, { role: 'owner' })).status).toBe(422)
  })

  test('every operation refuses unknown query parameters', async () => {
    for (const { id, method, path } of operations) {
      const filled = path.replace('{board_id}', boardPath.slice('/boards/'.length)).replace('{user_id}', person.id)
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      expect([id, (await service.send(person.admin, method, `${filled}?nonsense=1`, body)).status]).toEqual([id, 422])
    }
  })
})

test.each(drivers)('invalid input is refused before the body decides what is read, on $name', async (driver) => {
  const service = await Service.start(driver)
  const person = await service.person(await service.workspace(), 'owner')
  await recordUses(service, person)
  for (const body of ['{"title":1}', '{"title":', JSON.stringify({ title: 'x'.repeat(limits.jsonBytes) })]) {
    const read = async () => {
      service.store.touched.length = 0
      expect([400, 413, 422]).toContain((await service.send(person.write, 'POST', '/boards/brd_00000000000000000000/cards', body)).status)
      return service.store.touched.map((key) => key.split(':')[0])
    }
    service.forgetTokens()
    expect(await read()).toEqual(['token', 'membership'])
    // The resource of the path is read together with the token of a client that this process knows.
    expect((await read()).toSorted()).toEqual(['board', 'board_active_cards', 'board_member', 'membership', 'token'])
  }
  await service.stop()
})

describe('paths and methods', () => {
  let service: Service
  let person: Person
  beforeAll(async () => {
    service = await Service.start(drivers[0]!)
    person = await service.person(await service.workspace(), 'owner')
  })
  afterAll(() => service.stop())

  test.each([
    ['POST', '/account', 'GET, HEAD'],
    ['OPTIONS', '/boards', 'GET, HEAD, POST'],
    ['PUT', '/boards/x', 'GET, HEAD, PATCH, DELETE'],
    ['GET', '/boards/x/visibility', 'PUT'],
    ['PROPFIND', '/boards', 'GET, HEAD, POST'],
  ])('%s %s is answered with 405, and Allow lists %s', async (method, path, allow) => {
    const reply = await service.send(person.admin, method, path)
    expect([reply.status, reply.body.error.code, reply.headers.get('allow')]).toEqual([405, 'method_not_allowed', allow])
  })

  test.each([
    '',
    '/',
    '/nowhere',
    '/account/',
    '//account',
    '/boards//members',
    '/Account',
    '/account%2f',
    '/%ZZ',
    '/account;x',
    '/boards/../account/x',
  ])('the path "/v1%s" belongs to no operation', async (path) => {
    const reply = await service.send(person.admin, 'GET', path)
    expect([reply.status, reply.body.error?.code]).toEqual([404, 'not_found'])
  })

  test('HEAD is answered like GET, without the body', async () => {
    const get = await service.send(person.read, 'GET', '/members')
    const head = await service.send(person.read, 'HEAD', '/members')
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', get.headers.get('content-length')])
    expect((await service.send(person.read, 'HEAD', '/boards/x/visibility')).status).toBe(405)
  })

  test('no response below /v1 may be stored by a shared cache, allows another origin, or sets a cookie', async () => {
    const replies = await Promise.all([
      service.send(person.read, 'GET', '/account'),
      service.send(null, 'GET', '/account'),
      service.send(person.read, 'GET', '/nowhere'),
      service.send(person.read, 'GET', '/account', undefined, { origin: 'https://evil.example', cookie: 'session=1' }),
    ])
    for (const { headers, body } of replies) {
      expect(headers.get('cache-control')).toBe('private, no-store')
      expect(headers.get('vary')).toBe('Authorization, Accept-Encoding')
      expect([...headers.keys()].filter((name) => name.startsWith('access-control') || name === 'set-cookie')).toEqual([])
      if (body.error) expect(headers.get('x-request-id')).toBe(body.error.request_id)
    }
  })

  test('an unexpected error in an operation is answered with 500, without its message', async () => {
    const broken = operations.map((row) =>
      row.id === 'account.read' ? { ...row, run: () => Promise.reject(new Error('secret inside')) } : row,
    ) as typeof operations
    const other = await Service.start(drivers[0]!, { operations: broken })
    const caller = await other.person(await other.workspace())
    const reply = await other.send(caller.read, 'GET', '/account')
    expect([reply.status, reply.body.error.code]).toEqual([500, 'internal_error'])
    expect(reply.text).not.toContain('secret')
    await other.stop()
  })
})
