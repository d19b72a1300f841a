import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { operations } from '../../src/resources/table.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const deep = (levels: number) => `{"name":${'['.repeat(levels)}${']'.repeat(levels)}}`

describe('what a request says is read strictly', () => {
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
    ['broken JSON', '{"name":', 400, 'bad_request'],
    ['no JSON at all', 'name=x', 400, 'bad_request'],
    ['nothing', '', 400, 'bad_request'],
    ['something behind it', '{"name":"x"}x', 400, 'bad_request'],
    ['nesting beyond the limit', deep(limits.jsonDepth), 400, 'bad_request'],
    ['nesting that would overflow a stack', deep(100_000), 400, 'bad_request'],
    ['nesting in a string is no nesting', JSON.stringify({ name: '['.repeat(50) }), 201, undefined],
    ['more bytes than the limit', JSON.stringify({ name: 'x'.repeat(limits.jsonBytes) }), 413, 'payload_too_large'],
    ['a member that stands twice', '{"name":"a","name":"b"}', 400, 'bad_request'],
    ['twice, once with an escape', '{"name":"a","n\\u0061me":"b"}', 400, 'bad_request'],
    ['twice, deeper', '{"name":{"a":[{"b":1,"b":1}]}}', 400, 'bad_request'],
    ['a name in two objects, and as a value, is not twice', '{"name":"name","description":"\\"name\\":1"}', 201, undefined],
    ['an array', '[]', 422, 'validation_failed'],
    ['null', 'null', 422, 'validation_failed'],
    ['a string', '"name"', 422, 'validation_failed'],
  ])('%s', async (_what, body, status, code) => {
    const reply = await post(body)
    expect([reply.status, reply.body.error?.code]).toEqual([status, code])
  })

  test('bytes that are no UTF-8', async () => {
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
  ])('content type %s: %i', async (type, status) => {
    expect((await post('{"name":"x"}', { 'content-type': type })).status).toBe(status)
  })

  test('an encoded body', async () => {
    expect((await post('{"name":"x"}', { ...JSON_TYPE, 'content-encoding': 'gzip' })).status).toBe(415)
  })

  test.each([
    ['an unknown member', { name: 'x', board_id: 'y' }, 'board_id'],
    ['a member that is another operation’s', { name: 'x', visibility: 'private' }, 'visibility'],
    ['a forged creator', { name: 'x', creator_id: 'usr_00000000000000000000' }, 'creator_id'],
    ['a missing member', {}, 'name'],
    ['a number for text', { name: 1 }, 'name'],
    ['null for text', { name: null }, 'name'],
    ['blank text', { name: ' \u2003 ' }, 'name'],
    ['text that cannot be seen', { name: '\u200b\u2060' }, 'name'],
    ['text that is too long', { name: 'x'.repeat(limits.boardName + 1) }, 'name'],
    ['a line break in a line', { name: 'a\nb' }, 'name'],
    ['a null byte', { name: 'a\0b' }, 'name'],
    ['half a surrogate pair', { name: 'a\ud800' }, 'name'],
    ['a control character in prose', { name: 'x', description: 'a\u001bb' }, 'description'],
    ['a color that is none', { name: 'x', cover_color: 'red' }, 'cover_color'],
  ])('%s is refused, by name', async (_what, body, path) => {
    const reply = await post(JSON.stringify(body))
    expect([reply.status, reply.body.error.issues.map((issue: any) => issue.path)]).toEqual([422, [path]])
    expect(reply.body.error.message).toContain(path)
  })

  test('__proto__ is a member like any other unknown one', async () => {
    const { status, body } = await post('{"name":"x","__proto__":{"visibility":"private"}}')
    expect([status, body.error.issues[0].path]).toEqual([422, '__proto__'])
  })

  test('the longest that fits is kept whole', async () => {
    const name = 'é'.repeat(limits.boardName)
    const description = 'x\n'.repeat(limits.boardDescription / 2)
    expect((await post(JSON.stringify({ name, description }))).body.data).toMatchObject({ name, description })
  })

  test('a PATCH that changes nothing is a mistake', async () => {
    const { status, body } = await service.send(person.admin, 'PATCH', boardPath, {})
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
  })

  test('a body where none is taken', async () => {
    const url = `${boardPath}/members/${person.id}`
    expect((await service.send(person.admin, 'PUT', url)).status).toBe(200)
    expect((await service.send(person.admin, 'PUT', url, {})).status).toBe(200)
    expect((await service.send(person.admin, 'PUT', url, { role: 'owner' })).status).toBe(422)
  })

  test('every row takes a query of its own, and no other', async () => {
    for (const { id, method, path } of operations) {
      const at = path.replace('{board_id}', boardPath.slice('/boards/'.length)).replace('{user_id}', person.id)
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      expect([id, (await service.send(person.admin, method, `${at}?nonsense=1`, body)).status]).toEqual([id, 422])
    }
  })
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
  ])('%s %s: 405 with Allow', async (method, path, allow) => {
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
  ])('%s is no operation', async (path) => {
    const reply = await service.send(person.admin, 'GET', path)
    expect([reply.status, reply.body.error?.code]).toEqual([404, 'not_found'])
  })

  test('HEAD is GET without the body', async () => {
    const get = await service.send(person.read, 'GET', '/members')
    const head = await service.send(person.read, 'HEAD', '/members')
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', get.headers.get('content-length')])
    expect((await service.send(person.read, 'HEAD', '/boards/x/visibility')).status).toBe(405)
  })

  test('every answer below /v1 is private, and speaks to no browser', async () => {
    const replies = await Promise.all([
      service.send(person.read, 'GET', '/account'),
      service.send(null, 'GET', '/account'),
      service.send(person.read, 'GET', '/nowhere'),
      service.send(person.read, 'GET', '/account', undefined, { origin: 'https://evil.example', cookie: 'session=1' }),
    ])
    for (const { headers, body } of replies) {
      expect(headers.get('cache-control')).toBe('private, no-store')
      expect(headers.get('vary')).toBe('Authorization')
      expect([...headers.keys()].filter((name) => name.startsWith('access-control') || name === 'set-cookie')).toEqual([])
      if (body.error) expect(headers.get('x-request-id')).toBe(body.error.request_id)
    }
  })

  test('a bug in an operation is answered 500, and tells nothing of the inside', async () => {
    const broken = operations.map((row) =>
      row.id === 'account.read' ? { ...row, run: () => Promise.reject(new Error('secret inside')) } : row,
    ) as typeof operations
    const other = await Service.start(drivers[0]!, { operations: broken })
    const someone = await other.person(await other.workspace())
    const reply = await other.send(someone.read, 'GET', '/account')
    expect([reply.status, reply.body.error.code]).toEqual([500, 'internal_error'])
    expect(reply.text).not.toContain('secret')
    await other.stop()
  })
})

describe('ETags', () => {
  let service: Service
  let person: Person
  let path: string
  beforeAll(async () => {
    service = await Service.start(drivers[0]!)
    person = await service.person(await service.workspace(), 'owner')
    path = `/boards/${(await service.send(person.write, 'POST', '/boards', { name: 'A board' })).body.data.id}`
  })
  afterAll(() => service.stop())

  test('what has not changed need not be sent again', async () => {
    const { headers } = await service.send(person.read, 'GET', path)
    const etag = headers.get('etag')!
    const same = await service.send(person.read, 'GET', path, undefined, { 'if-none-match': `"other", W/${etag}` })
    expect([same.status, same.text, same.headers.get('etag'), same.headers.get('cache-control')]).toEqual([
      304,
      '',
      etag,
      'private, no-cache',
    ])
    expect((await service.send(person.read, 'GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('of two writers with one ETag exactly one wins', async () => {
    const etag = (await service.send(person.read, 'GET', path)).headers.get('etag')!
    const replies = await Promise.all(
      ['one', 'two', 'three'].map((name) => service.send(person.write, 'PATCH', path, { name }, { 'if-match': etag })),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412])
    const winner = replies.find(({ status }) => status === 200)!
    for (const loser of replies.filter(({ status }) => status === 412))
      expect([loser.headers.get('etag'), loser.body.error.current_etag]).toEqual([winner.headers.get('etag'), winner.headers.get('etag')])
  })

  test('a weak tag matches no write, a star matches any', async () => {
    const etag = (await service.send(person.read, 'GET', path)).headers.get('etag')!
    expect((await service.send(person.write, 'PATCH', path, { name: 'x' }, { 'if-match': `W/${etag}` })).status).toBe(412)
    expect((await service.send(person.write, 'PATCH', path, { name: 'x' }, { 'if-match': '*' })).status).toBe(200)
  })
})
