import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { askPoint } from '../support/decision-point.ts'
import { Service, type Reply } from '../support/service.ts'

// The certification scenario of the OpenID AuthZEN Authorization API 1.0, in the folder `certification` of openid/authzen: its requests and
// what it expects, by the numbers of its sections. Its fixture is told in the words of this service. `record-1` is a board that alice
// created, and `record-2` one that bob created, who is an admin. To `write` is to set the visibility, which only the creator may do. A
// `delete` that is soft changes the name, and one that is not changes a member that no update changes. What the scenario states as
// properties (`role`, `status`) the service knows by itself.

const service = await Service.forSuite()
const workspaceId = await service.workspace()
const [gateway, alice, bob] = [
  await service.person(workspaceId, 'owner', 'Gateway'),
  await service.person(workspaceId, 'member', 'Alice'),
  await service.person(workspaceId, 'admin', 'Bob'),
]
const records = [await TestBoard.create(service, alice), await TestBoard.create(service, bob)]

const WORDS: Readonly<Record<string, string>> = {
  alice: alice.id,
  bob: bob.id,
  record: 'board',
  'record-1': records[0]!.id,
  'record-2': records[1]!.id,
  read: 'boards.read',
  write: 'boards.set_visibility',
}

/** A value of the scenario in the words of this service. */
function told(value: any): any {
  if (typeof value === 'string') return WORDS[value] ?? value
  if (Array.isArray(value)) return value.map(told)
  if (typeof value !== 'object' || value === null) return value
  if (value.name === 'delete')
    return { name: 'boards.update', properties: value.properties.soft ? { name: 'x' } : { visibility: 'private' } }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, name === 'properties' ? member : told(member)]))
}

const send = (path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply> =>
  askPoint(service, gateway.read, path, typeof body === 'string' ? body : told(body), headers)

const user = (id?: string, properties?: object) => ({ type: 'user', ...(id && { id }), ...(properties && { properties }) })
const record = (id?: string, properties?: object) => ({ type: 'record', ...(id && { id }), ...(properties && { properties }) })
const to = (name: string, properties?: object) => ({ name, ...(properties && { properties }) })
const ADMIN = { role: 'admin' }
const ARCHIVED = { status: 'archived' }
const CONTEXT = { time: '2025-06-27T18:03-07:00', ip: '192.168.1.1' }
const ALICE_READS = { subject: user('alice'), action: to('read'), resource: record('record-1') }

type Row = readonly [clause: string, body: object | string]

describe('2. the evaluation', () => {
  test.each<readonly [...Row, decision: boolean]>([
    ['2.2.1 permit', ALICE_READS, true],
    ['2.2.2 deny', { subject: user('bob'), action: to('write'), resource: record('record-1') }, false],
    ['2.2.3 with context', { ...ALICE_READS, context: CONTEXT }, true],
    ['2.2.4 deny by the resource', { subject: user('alice'), action: to('write'), resource: record('record-2', ARCHIVED) }, false],
    ['2.2.5 permit by the subject', { subject: user('bob', ADMIN), action: to('write'), resource: record('record-2', ARCHIVED) }, true],
    ['2.2.6 permit by the action', { subject: user('alice'), action: to('delete', { soft: true }), resource: record('record-1') }, true],
    ['2.2.7 deny by the action', { subject: user('alice'), action: to('delete', { soft: false }), resource: record('record-1') }, false],
    [
      '2.2.8 with additional properties',
      {
        subject: user('alice', { department: 'Sales', role: 'manager' }),
        action: to('read', { method: 'GET' }),
        resource: record('record-1', { status: 'active', owner: 'bob' }),
      },
      true,
    ],
    ['2.2.9 with unknown fields', { ...ALICE_READS, foo: 'bar', futureField: { nested: true } }, true],
    ['1.4 rule 2', { subject: user('alice'), action: to('write'), resource: record('record-1') }, true],
    ['1.4 rule 3', { subject: user('bob'), action: to('read'), resource: record('record-1') }, true],
  ])('%s', async (_clause, body, decision) => {
    const reply = await send('/evaluation', body)
    expect([reply.status, reply.body.decision]).toEqual([200, decision])
    // 2.3.2, 5.2
    expect([typeof reply.body.context, reply.headers.get('content-type')]).toEqual([
      'object',
      expect.stringMatching(/^application\/json\b/),
    ])
  })

  const without = (name: keyof typeof ALICE_READS, member?: string) => {
    const { [name]: entity, ...others } = ALICE_READS
    if (member === undefined) return others
    return { ...others, [name]: Object.fromEntries(Object.entries(entity).filter(([one]) => one !== member)) }
  }
  test.each<Row>([
    ['2.4.1 without subject', without('subject')],
    ['2.4.1 without action', without('action')],
    ['2.4.1 without resource', without('resource')],
    ['2.4.2 subject without type', without('subject', 'type')],
    ['2.4.2 subject without id', without('subject', 'id')],
    ['2.4.2 action without name', without('action', 'name')],
    ['2.4.2 resource without type', without('resource', 'type')],
    ['2.4.2 resource without id', without('resource', 'id')],
    ['2.4.4 malformed JSON', '{"subject":'],
    ['2.4.5 an empty body', ''],
    ['2.4.6 a subject that is a text', { ...ALICE_READS, subject: 'alice' }],
    ['2.4.6 a name that is a number', { ...ALICE_READS, action: { name: 123 } }],
  ])('%s is 400, with a text', async (_clause, body) => {
    const reply = await send('/evaluation', body)
    expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(/^\w+: .+\.$/)])
  })

  test('2.4.3 another content type is 400', async () => {
    expect((await send('/evaluation', ALICE_READS, { 'content-type': 'text/plain' })).status).toBe(400)
  })

  test('2.5.1 the response has the X-Request-ID of the request, also if that is refused', async () => {
    const headers = { 'x-request-id': 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716 of a client' }
    const replies = await Promise.all([send('/evaluation', ALICE_READS, headers), send('/evaluation', {}, headers)])
    expect(replies.map((reply) => reply.headers.get('x-request-id'))).toEqual([headers['x-request-id'], headers['x-request-id']])
  })

  test('2.5.2 a request without one has an id, and 2.6 the same decision each time', async () => {
    const replies = [await send('/evaluation', ALICE_READS), await send('/evaluation', ALICE_READS), await send('/evaluation', ALICE_READS)]
    expect(replies.map(({ body }) => body.decision)).toEqual([true, true, true])
    expect(new Set(replies.map(({ headers }) => headers.get('x-request-id'))).size).toBe(3)
  })
})

describe('3. the evaluations', () => {
  const times = { context: { time: '2025-06-27T19:00-07:00', source: 'batch-override' } }
  test.each<readonly [...Row, decisions: readonly (boolean | 'any')[]]>([
    [
      '3.2.1 with a list',
      { subject: user('alice'), action: to('read'), evaluations: [{ resource: record('record-1') }, { resource: record('record-2') }] },
      ['any', 'any'],
    ],
    [
      '3.2.2 with decisions, in their order',
      { subject: user('bob'), resource: record('record-1'), evaluations: [{ action: to('read') }, { action: to('write') }] },
      [true, false],
    ],
    [
      '3.2.3 with properties of resources',
      {
        subject: user('alice'),
        action: to('write'),
        evaluations: [{ resource: record('record-1', { status: 'active' }) }, { resource: record('record-2', ARCHIVED) }],
      },
      [true, false],
    ],
    [
      '3.2.4 with properties of subjects',
      {
        action: to('write'),
        resource: record('record-2', ARCHIVED),
        evaluations: [{ subject: user('alice') }, { subject: user('bob', ADMIN) }],
      },
      [false, true],
    ],
    [
      '3.2.5 without defaults',
      { evaluations: [ALICE_READS, { subject: user('bob'), action: to('write'), resource: record('record-1') }] },
      [true, false],
    ],
    [
      '3.2.6 with a context for all, and one of its own',
      {
        subject: user('alice'),
        action: to('read'),
        context: CONTEXT,
        evaluations: [{ resource: record('record-1') }, { resource: record('record-2'), ...times }],
      },
      ['any', 'any'],
    ],
    [
      '3.2.7 with defaults that an item replaces as a whole',
      {
        subject: user('alice'),
        action: to('write'),
        resource: record('record-1', { status: 'active' }),
        evaluations: [{}, { resource: record('record-2', ARCHIVED) }],
      },
      [true, false],
    ],
    [
      '3.4.1 with an item that is not complete',
      {
        subject: user('alice'),
        action: to('read'),
        options: { evaluations_semantic: 'execute_all' },
        evaluations: [{ resource: record('record-1') }, {}],
      },
      [true, false],
    ],
  ])('%s', async (_clause, body, decisions) => {
    const reply = await send('/evaluations', body)
    // 3.3.4
    expect([reply.status, Object.keys(reply.body)]).toEqual([200, ['evaluations']])
    const expected = decisions.map((decision) => (decision === 'any' ? expect.any(Boolean) : decision))
    expect(reply.body.evaluations.map(({ decision }: any) => decision)).toEqual(expected)
  })

  test.each<Row>([
    ['3.4.2 without a list', ALICE_READS],
    ['3.4.3 with an empty list', { ...ALICE_READS, evaluations: [] }],
  ])('%s is one evaluation', async (_clause, body) => {
    const reply = await send('/evaluations', body)
    expect([reply.status, reply.body.decision, Object.keys(reply.body)]).toEqual([200, true, ['decision', 'context']])
  })
})

describe('4. the searches', () => {
  const readers = { subject: user(), action: to('read'), resource: record('record-1') }
  const readable = { subject: user('alice'), action: to('read'), resource: record() }
  const actions = { subject: user('alice'), resource: record('record-1') }

  test.each<readonly [clause: string, path: string, body: object, atLeast: readonly string[], sameAs: object | null]>([
    ['4.2.1 subjects', 'subject', readers, ['alice', 'bob'], null],
    ['4.2.2 subjects with context', 'subject', { ...readers, context: CONTEXT }, ['alice', 'bob'], readers],
    ['4.2.3 subjects with an id', 'subject', { ...readers, subject: user('alice') }, ['alice', 'bob'], readers],
    [
      '4.2.4 subjects with properties of the resource',
      'subject',
      { subject: user(), action: to('write'), resource: record('record-2', ARCHIVED) },
      ['bob'],
      null,
    ],
    ['4.3.1 resources', 'resource', readable, ['record-1'], null],
    ['4.3.2 resources with context', 'resource', { ...readable, context: CONTEXT }, ['record-1'], readable],
    ['4.3.3 resources with an id', 'resource', { ...readable, resource: record('record-1') }, ['record-1'], readable],
    [
      '4.3.4 resources with properties of the subject',
      'resource',
      { subject: user('bob', ADMIN), action: to('write'), resource: record() },
      ['record-2'],
      null,
    ],
    ['4.4.1 actions', 'action', actions, ['read', 'write'], null],
    ['4.4.2 actions with context', 'action', { ...actions, context: CONTEXT }, ['read', 'write'], actions],
    ['4.4.3 actions with properties', 'action', { subject: user('bob', ADMIN), resource: record('record-2', ARCHIVED) }, ['write'], null],
  ])('%s', async (_clause, path, body, atLeast, sameAs) => {
    const reply = await send(`/search/${path}`, body)
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^application\/json\b/)])
    const { results } = reply.body
    const shape = { action: { name: expect.any(String) }, subject: { type: 'user', id: expect.any(String) } }[path]
    for (const one of results) expect(one).toMatchObject(shape ?? { type: 'board', id: expect.any(String) })
    expect(results.map((one: any) => one.id ?? one.name)).toEqual(expect.arrayContaining(atLeast.map(told)))
    if (sameAs !== null) expect(results).toEqual((await send(`/search/${path}`, sameAs)).body.results)
  })

  test('4.5 pages have a token for the next one, which is empty on the last one', async () => {
    const pages: any[] = []
    for (let token = ''; pages.length === 0 || token !== ''; token = pages.at(-1).page.next_token) {
      expect(pages.length).toBeLessThan(5)
      const { status, body } = await send('/search/subject', { ...readers, page: { limit: 1, ...(token && { token }) } })
      expect([status, body.results.length]).toEqual([200, 1])
      pages.push(body)
    }
    expect(pages.map(({ page }) => typeof page.next_token)).toEqual(['string', 'string', 'string'])
    expect(pages.flatMap(({ results }) => results)).toEqual((await send('/search/subject', readers)).body.results)
  })

  const nobody = user('nonexistent-user')
  const spaceship = { type: 'spaceship' }
  test.each<readonly [clause: string, path: string, body: object]>([
    ['4.6.1 actions of an unknown subject', 'action', { subject: nobody, resource: record('record-1') }],
    ['4.6.1 resources of an unknown subject', 'resource', { subject: nobody, action: to('read'), resource: record() }],
    ['4.6.1 subjects with an unknown resource', 'subject', { ...readers, resource: record('nonexistent') }],
    ['4.6.1 actions on an unknown resource', 'action', { ...actions, resource: record('nonexistent') }],
    ['4.6.2 subjects of an unknown type', 'subject', { ...readers, subject: spaceship }],
    ['4.6.2 resources of an unknown type', 'resource', { ...readable, resource: spaceship }],
    ['4.6.2 actions on an unknown type', 'action', { ...actions, resource: { ...spaceship, id: '1' } }],
    ['4.6.2 actions of an unknown type of subject', 'action', { ...actions, subject: { ...spaceship, id: '1' } }],
    ['4.6 subjects of an unknown action', 'subject', { ...readers, action: to('fly') }],
    ['4.6 resources of an unknown action', 'resource', { ...readable, action: to('fly') }],
  ])('%s: there are none', async (_clause, path, body) => {
    const reply = await send(`/search/${path}`, body)
    expect([reply.status, reply.body.results]).toEqual([200, []])
  })

  test.each<readonly [clause: string, path: string, body: object]>([
    ['4.7.1 subjects without action', 'subject', { subject: user(), resource: record('record-1') }],
    ['4.7.1 resources without subject', 'resource', { action: to('read'), resource: record() }],
    ['4.7.1 actions without resource', 'action', { subject: user('alice') }],
    ['4.7.2 subjects, resource without id', 'subject', { ...readers, resource: record() }],
    ['4.7.2 resources, subject without id', 'resource', { ...readable, subject: user() }],
    ['4.7.2 actions, subject without id', 'action', { ...actions, subject: user() }],
    ['4.7.2 actions, resource without id', 'action', { ...actions, resource: record() }],
  ])('%s is 400', async (_clause, path, body) => {
    expect((await send(`/search/${path}`, body)).status).toBe(400)
  })
})

// 5.4 and 5.5 are 2.5.1 and 2.2.9. 6. the metadata: openapi/serve.test.ts.
