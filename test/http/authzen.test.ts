import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { askPoint, codeOf, on, pointBytes, to, user } from '../support/decision-point.ts'
import { Service, type Reply } from '../support/service.ts'

// That each decision equals the hand-written one: authzen-matrix.test.ts. What the specification asks for: authzen-certification.test.ts.

const service = await Service.forSuite()
const workspaceId = await service.workspace()
const [olivia, adrian, mira, ben] = [
  await service.person(workspaceId, 'owner', 'Olivia'),
  await service.person(workspaceId, 'admin', 'Adrian'),
  await service.person(workspaceId, 'member', 'Mira'),
  await service.person(workspaceId, 'member', 'Ben'),
]
const board = await TestBoard.create(service, mira)
const former = await service.person(workspaceId, 'member', 'Former')
await service.leaveOnly(workspaceId, former.id)
const stranger = await service.person(await service.workspace('Other'), 'owner', 'Stranger')
const ABSENT = 'brd_00000000000000000000'

const ask = (token: string | null, path: string, body: unknown): Promise<Reply> => askPoint(service, token, path, body)

describe('the subject', async () => {
  const { body } = await service.send(olivia.read, 'GET', '/account')
  const tokenId: string = body.data.token.id
  test.each<readonly [title: string, subject: object, expected: string]>([
    ['me: the calling token', user('me'), 'insufficient_scope'],
    ['a token and me: the same', { type: 'token', id: 'me' }, 'insufficient_scope'],
    ['the calling token by its id: the same', { type: 'token', id: tokenId }, 'insufficient_scope'],
    ['me with a scope: a token of that scope', user('me', { scope: 'kanban:write' }), 'ok'],
    ['the own user: a person, with a token of any scope', user(olivia.id), 'ok'],
    ['the own user with a scope', user(olivia.id, { scope: 'kanban:read' }), 'insufficient_scope'],
    ['another person', user(ben.id), 'ok'],
    ['another person with a scope', user(ben.id, { scope: 'kanban:read' }), 'insufficient_scope'],
    ['with several scopes in a text', user(ben.id, { scope: 'openid kanban:write' }), 'ok'],
    ['with several scopes in a list', user(ben.id, { scope: ['kanban:read', 'kanban:write'] }), 'ok'],
    ['with the scope of another service', user(ben.id, { scope: 'openid' }), 'insufficient_scope'],
    ['with a scope that is null: as without one', user(ben.id, { scope: null }), 'ok'],
    ['with a scope that is a number', user(ben.id, { scope: 5 }), 'validation_failed'],
    ['with a role that they do not have', user(ben.id, { role: 'owner' }), 'ok'],
    ['a former member', user(former.id), 'not_found subject'],
    ['somebody of another workspace', user(stranger.id), 'not_found subject'],
    ['nobody', user('usr_00000000000000000000'), 'not_found subject'],
    ['what is no id', user('ben@example.com'), 'not_found subject'],
    ['another token', { type: 'token', id: 'tok_00000000000000000000' }, 'not_found subject'],
    ['another type', { type: 'identity', id: ben.id }, 'not_found subject'],
  ])('%s', async (_title, subject, expected) => {
    const reply = await ask(olivia.read, '/evaluation', { subject, ...to('boards.update'), ...on(board.id) })
    expect([reply.status, codeOf(reply.body)]).toEqual([200, expected])
  })

  test.each([
    ['boards.delete', { mira: 'ok', adrian: 'ok', ben: 'forbidden' }],
    ['boards.set_visibility', { mira: 'ok', adrian: 'forbidden', ben: 'forbidden' }],
  ] as const)('is decided by their own role and relation, whoever asks: %s', async (name, expected) => {
    for (const asker of [olivia, adrian]) {
      const evaluations = [mira, adrian, ben].map(({ id }) => ({ subject: user(id) }))
      const { body: answer } = await ask(asker.read, '/evaluations', { ...to(name), ...on(board.id), evaluations })
      expect(answer.evaluations.map(codeOf)).toEqual(Object.values(expected))
    }
  })

  test('cannot be another person if a member asks, whether that person exists or not', async () => {
    for (const scope of ['read', 'admin'] as const) {
      const replies = await Promise.all(
        [ben.id, 'usr_00000000000000000000', former.id].flatMap((id) => [
          ask(mira[scope], '/evaluation', { subject: user(id), ...to('boards.read'), ...on(board.id) }),
          ask(mira[scope], '/search/action', { subject: user(id), ...on(board.id) }),
          ask(mira[scope], '/search/resource', { subject: user(id), ...to('boards.read'), resource: { type: 'board' } }),
          ask(mira[scope], '/search/subject', { subject: { type: 'user' }, ...to('boards.read'), ...on(board.id) }),
        ]),
      )
      expect(new Set(replies.map(pointBytes)).size).toBe(1)
      expect([replies[0]!.status, replies[0]!.text]).toEqual([
        403,
        expect.stringMatching(/^forbidden: X3\.others: Owner and admins may ask/),
      ])
    }
  })

  test('that a member may not ask about is denied in a list, and stops no other question', async () => {
    const evaluations = [{ subject: user('me') }, { subject: user(ben.id) }, { subject: user('usr_00000000000000000000') }, {}]
    const { status, body: answer } = await ask(mira.read, '/evaluations', {
      subject: user(mira.id),
      ...to('boards.read'),
      ...on(board.id),
      evaluations,
    })
    expect([status, answer.evaluations.map(codeOf)]).toEqual([200, ['ok', 'forbidden', 'forbidden', 'ok']])
    expect(answer.evaluations[1]).toEqual(answer.evaluations[2])
    expect(answer.evaluations[1].context.row).toBe('X3')
  })

  test('is asked about with a token that has any Kanban scope, and with no other one', async () => {
    const question = { subject: user(ben.id), ...to('boards.delete'), ...on(board.id) }
    expect((await ask(olivia.none, '/evaluation', question)).status).toBe(403)
    const replies = await Promise.all((['read', 'write', 'admin'] as const).map((scope) => ask(olivia[scope], '/evaluation', question)))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
  })
})

describe('a question', async () => {
  const base = { subject: user(mira.id) }
  const card = await board.card(await board.column())
  test.each<readonly [title: string, question: object, expected: string]>([
    ['an unknown action', { ...base, ...to('fly'), ...on(board.id) }, 'not_found action'],
    ['a resource of an unknown type', { ...base, ...to('boards.read'), ...on('1', undefined, 'book') }, 'not_found'],
    ['a resource of another type', { ...base, ...to('boards.read'), ...on(card, undefined, 'card') }, 'validation_failed'],
    ['an absent resource', { ...base, ...to('boards.read'), ...on(ABSENT) }, 'not_found'],
    ['an id of 5,000 letters', { ...base, ...to('boards.read'), ...on('x'.repeat(5000)) }, 'not_found'],
    ['without a name that decides', { ...base, ...to('cards.assign'), ...on(card, undefined, 'card') }, 'validation_failed'],
    ['with that name', { ...base, ...to('cards.assign'), ...on(card, { user_id: ben.id, color: 'red' }, 'card') }, 'ok'],
    ['with me as that name: who asks', { ...base, ...to('board_members.add'), ...on(board.id, { user_id: 'me' }) }, 'ok'],
    ['with a name of another type', { ...base, ...to('cards.assign'), ...on(card, { user_id: 5 }, 'card') }, 'validation_failed'],
    ['with members of the body', { ...base, ...to('boards.update', { name: 'x', method: 'PATCH' }), ...on(board.id) }, 'ok'],
    ['with other properties alone', { ...base, ...to('boards.update', { method: 'PATCH' }), ...on(board.id) }, 'ok'],
    [
      'with a field that no update changes',
      { ...base, ...to('boards.update', { visibility: 'private' }), ...on(board.id) },
      'validation_failed',
    ],
    ['about the workspace', { ...base, ...to('boards.create'), ...on(workspaceId, undefined, 'workspace') }, 'ok'],
    ['about another workspace', { ...base, ...to('boards.create'), ...on(stranger.workspaceId, undefined, 'workspace') }, 'not_found'],
    [
      'with null for what it names too much, and for a scope',
      { subject: user(mira.id, { scope: null }), ...to('boards.read'), ...on(board.id, { user_id: null }) },
      'ok',
    ],
    ['with null for a name that decides', { ...base, ...to('cards.assign'), ...on(card, { user_id: null }, 'card') }, 'validation_failed'],
    ['with null for a member of the body', { ...base, ...to('boards.update', { visibility: null }), ...on(board.id) }, 'validation_failed'],
    [
      'with null for what is optional',
      { ...base, ...to('boards.read'), ...on(board.id), context: null, options: null, evaluations: null },
      'ok',
    ],
  ])('%s', async (_title, question, expected) => {
    const replies = await Promise.all(['/evaluation', '/evaluations'].map((path) => ask(olivia.read, path, question)))
    expect(replies.map(({ status, body }) => [status, codeOf(body)])).toEqual([
      [200, expected],
      [200, expected],
    ])
  })

  test.each<readonly [title: string, path: string, body: unknown]>([
    ['a text in place of the list', '/evaluations', { evaluations: 'all' }],
    ['101 questions', '/evaluations', { evaluations: Array.from({ length: 101 }, () => ({})) }],
    ['an unknown semantic', '/evaluations', { evaluations: [{}], options: { evaluations_semantic: 'all' } }],
    ['a text in place of a default', '/evaluations', { subject: 'mira', evaluations: [{}] }],
    ['a context that is a text', '/evaluation', { ...base, ...to('boards.read'), ...on(board.id), context: 'now' }],
    ['a body that is a list', '/evaluation', []],
    ['resources of a type that cannot be searched', '/search/resource', { ...base, ...to('columns.read'), resource: { type: 'column' } }],
    ['cards without a board', '/search/resource', { ...base, ...to('cards.read'), resource: { type: 'card' } }],
    ['a negative limit', '/search/action', { ...base, ...on(board.id), page: { limit: -1 } }],
    ['a token of nothing', '/search/action', { ...base, ...on(board.id), page: { token: 'x' } }],
  ])('%s is 400', async (_title, path, body) => {
    const reply = await ask(olivia.read, path, body)
    expect([reply.status, reply.headers.get('content-type')]).toEqual([400, 'text/plain; charset=utf-8'])
  })
})

describe('several questions', () => {
  const item = (name: string) => to(name)
  const all = [item('boards.read'), 'nothing', item('boards.delete'), item('boards.update'), { resource: 5 }, null]
  test.each<readonly [semantic: string | undefined, items: readonly unknown[], expected: readonly string[]]>([
    [undefined, all, ['ok', 'validation_failed', 'forbidden', 'ok', 'validation_failed', 'validation_failed']],
    ['execute_all', all, ['ok', 'validation_failed', 'forbidden', 'ok', 'validation_failed', 'validation_failed']],
    ['deny_on_first_deny', all, ['ok', 'validation_failed']],
    ['deny_on_first_deny', [item('boards.read'), item('boards.update')], ['ok', 'ok']],
    ['permit_on_first_permit', all, ['ok']],
    ['permit_on_first_permit', all.slice(1), ['validation_failed', 'forbidden', 'ok']],
    ['permit_on_first_permit', [item('fly'), item('boards.delete')], ['not_found action', 'forbidden']],
  ])('with %s %# are answered in their order, up to the one that stops', async (semantic, evaluations, expected) => {
    const options = { another: 1, ...(semantic && { evaluations_semantic: semantic }) }
    const { body } = await ask(olivia.read, '/evaluations', { subject: user(ben.id), ...on(board.id), evaluations, options })
    expect(body.evaluations.map(codeOf)).toEqual(expected)
  })

  test('take each entity that they leave out from the defaults, as a whole', async () => {
    const evaluations = [{}, { resource: { type: 'board' } }, { subject: null }, { subject: user('me', { scope: 'kanban:admin' }) }]
    const { body } = await ask(olivia.read, '/evaluations', { subject: user(ben.id), ...to('boards.delete'), ...on(board.id), evaluations })
    expect(body.evaluations.map(codeOf)).toEqual(['forbidden', 'validation_failed', 'forbidden', 'ok'])
  })
})
