import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { askPoint, on, to, user } from '../support/decision-point.ts'
import { handWrittenOperations } from '../support/hand-written-decisions.ts'
import { memory } from '../support/memory.ts'
import { Service, type Reply } from '../support/service.ts'

const ABSENT = 'brd_00000000000000000000'

describe('a request', async () => {
  const quotas = { token: 1_000_000, workspace: 1_000_000, address: 10 }
  const counted = await Service.forSuite(memory, { rateLimits: { quotas } })
  const acme = await counted.workspace()
  const [owner, member] = [await counted.person(acme, 'owner'), await counted.person(acme, 'member')]
  const own = await TestBoard.create(counted, owner)
  const secret = await TestBoard.create(counted, member, 'private')
  let left = 0
  const remaining = ({ headers }: Reply) => Number(/"token";r=(\d+)/.exec(headers.get('ratelimit')!)![1])
  const costOf = async (path: string, body: object): Promise<number> => {
    left = remaining(await counted.send(owner.read, 'GET', '/account'))
    return left - remaining(await askPoint(counted, owner.read, path, body))
  }
  const hundred = (subject: object, id = own.id) => ({
    subject,
    ...on(id),
    evaluations: Array.from({ length: 100 }, () => to('boards.read')),
  })

  test.each<readonly [title: string, path: string, body: () => object, units: number]>([
    ['one question', '/evaluation', () => ({ subject: user('me'), ...to('boards.read'), ...on(own.id) }), 1],
    ['100 questions about oneself', '/evaluations', () => hundred(user('me')), 25],
    ['100 questions about another person', '/evaluations', () => hundred(user(member.id)), 50],
    ['100 questions about nobody', '/evaluations', () => hundred(user('usr_00000000000000000000')), 50],
    ['100 questions about what is hidden', '/evaluations', () => hundred(user(member.id), secret.id), 50],
    ['100 questions about what is absent', '/evaluations', () => hundred(user(member.id), ABSENT), 50],
    ['a search for the two members', '/search/subject', () => ({ subject: { type: 'user' }, ...to('boards.read'), ...on(own.id) }), 1],
    [
      'a search for them about what is hidden',
      '/search/subject',
      () => ({ subject: { type: 'user' }, ...to('boards.read'), ...on(secret.id) }),
      1,
    ],
    [
      'a search for what another person may do',
      '/search/action',
      () => ({ subject: user(member.id), ...on(own.id) }),
      Math.ceil((2 * handWrittenOperations.filter(({ path }) => path.startsWith('/boards/{')).length) / 4),
    ],
  ])('costs what is charged: %s', async (_title, path, body, units) => {
    expect(await costOf(path, body())).toBe(units)
  })

  test('is recorded with the permission to ask, and with the person that each decision was about', async () => {
    const evaluations = [to('boards.read'), to('boards.delete'), { ...to('boards.read'), ...on(secret.id) }, 5, to('fly')]
    const reply = await askPoint(counted, owner.read, '/evaluations', { subject: user(member.id), ...on(own.id), evaluations })
    const record = counted.records.at(-1)!
    expect(record).toMatchObject({
      operation: 'access.evaluate_all',
      userId: owner.id,
      requestId: reply.headers.get('lanekeeper-request-id'),
    })
    expect(record.evaluations).toMatchObject([
      { operation: 'access.search_subject', decision: { row: 'X3', outcome: 'allowed' } },
      {
        operation: 'boards.read',
        subject: member.id,
        resource: own.id,
        decision: { outcome: 'allowed' },
        scope: { facts: { 'token.scope': 'kanban:admin' } },
      },
      {
        operation: 'boards.delete',
        subject: member.id,
        decision: { outcome: 'forbidden', facts: { 'caller.role': 'member' } },
        code: 'forbidden',
      },
      {
        operation: 'boards.read',
        subject: member.id,
        resource: secret.id,
        code: 'not_found',
        hidden: { definition: 'board.access', facts: { 'caller.role': 'owner' } },
      },
      { code: 'validation_failed' },
      { code: 'not_found' },
    ])
    await askPoint(counted, member.read, '/search/action', { subject: user(owner.id), ...on(own.id) })
    expect(counted.records.at(-1)).toMatchObject({
      operation: 'access.search_action',
      status: 403,
      code: 'forbidden',
      evaluations: [{ operation: 'access.search_subject', code: 'forbidden', decision: { row: 'X3', outcome: 'forbidden' } }],
    })
  })

  test.each<readonly [title: string, path: string, token: () => string | null, status: number, text: RegExp]>([
    ['without a token', '/evaluation', () => null, 401, /^unauthorized: A valid access token/],
    ['with an unknown token', '/evaluation', () => 'lk_pat_x', 401, /^unauthorized: /],
    ['to another address', '/evaluate', () => owner.read, 404, /^not_found: /],
    ['to another address, without a token', '/evaluate', () => null, 401, /^unauthorized: /],
    ['with a slash at its end', '/evaluation/', () => owner.read, 400, /^validation_failed: /],
    ['without a Kanban scope', '/evaluation', () => owner.none, 403, /^insufficient_scope: /],
  ])('%s is refused with a text', async (_title, path, token, status, text) => {
    const reply = await askPoint(counted, token(), path, {})
    expect([reply.status, reply.headers.get('content-type'), reply.text]).toEqual([
      status,
      'text/plain; charset=utf-8',
      expect.stringMatching(text),
    ])
    expect(reply.headers.get('www-authenticate')).toEqual(
      status === 401 ? 'Bearer' : status === 403 ? expect.stringContaining('insufficient_scope') : null,
    )
  })

  test('with another method is 405, and a query changes nothing', async () => {
    const authorization = `Bearer ${owner.read}`
    const get = await counted.app.fetch(new Request('http://localhost/access/v1/evaluation', { headers: { authorization } }))
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    const question = { subject: user('me'), ...to('boards.read'), ...on(own.id) }
    expect((await askPoint(counted, owner.read, '/evaluation?trace=1', question)).body.decision).toBe(true)
  })
})

// The payloads of the interoperability scenarios of the working group, in their shapes: what they name does not exist here.
describe('a payload of', async () => {
  const service = await Service.forSuite()
  const owner = await service.person(await service.workspace(), 'owner')
  const identity = 'CiRmZDA2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs'
  const rick = { type: 'user', id: 'rick@the-citadel.com', identity }
  test.each<readonly [scenario: string, path: string, body: object, answer: object]>([
    [
      'the to-do application',
      '/evaluation',
      { subject: rick, ...to('can_read_user'), resource: { type: 'user', id: 'beth@the-smiths.com', userID: 'beth@the-smiths.com' } },
      { decision: false },
    ],
    [
      'the to-do application, in a list',
      '/evaluations',
      {
        subject: rick,
        ...to('can_update_todo'),
        evaluations: [{ resource: { type: 'todo', id: '1', properties: { ownerID: 'rick@the-citadel.com' } } }],
      },
      { evaluations: [{ decision: false }] },
    ],
    [
      'an API gateway',
      '/evaluation',
      {
        subject: { type: 'identity', id: identity },
        ...to('GET'),
        resource: { type: 'route', id: '/users/{userId}' },
        context: { headers: {} },
      },
      { decision: false },
    ],
    ['a search for actions', '/search/action', { subject: user('alice'), resource: { type: 'record', id: '101' } }, { results: [] }],
    ['a search for records', '/search/resource', { subject: user('alice'), ...to('view'), resource: { type: 'record' } }, { results: [] }],
    [
      'a search for users',
      '/search/subject',
      { resource: { type: 'record', id: '101' }, ...to('view'), subject: { type: 'user' } },
      { results: [] },
    ],
  ])('%s has an answer', async (_scenario, path, body, answer) => {
    const reply = await askPoint(service, owner.read, path, body)
    expect([reply.status, reply.body]).toMatchObject([200, answer])
  })
})
