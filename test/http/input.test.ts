import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { recordUses, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service } from '../support/service.ts'

// Duplicate members, depth and texts that are not JSON: json.test.ts. That every operation refuses broken JSON, other types of bodies and
// unknown parameters: openapi/errors.test.ts. Forms: upload.test.ts. Parameters of reads: resources/filters.test.ts and
// listing/pages.test.ts.

const MOVE = 'POST /columns/{column}/move'
const PLACE = 'POST /cards/{card}/move'
const PATCH = 'PATCH /boards/{board}'
/** A question about a board. */
const ask = (name: string, resource: object = {}, more: object = {}) => ({
  subject: { type: 'user', id: 'me' },
  action: { name },
  resource: { type: 'board', id: '{board}', ...resource },
  ...more,
})
/** An operation of a batch. */
const itemOf = (changes: object) => ({
  operations: [{ operation: 'cards.update', params: { card_id: '{card}' }, body: { title: 'x' }, ...changes }],
})
/** What every object has: no member of a request. */
const INHERITED = [...Object.getOwnPropertyNames(Object.prototype), 'prototype']
const BATCH = 'POST /boards/{board}/batch'
const [ASK, ASK_ALL] = ['POST /access/evaluation', 'POST /access/evaluations']
const [FIND_ACTIONS, FIND_BOARDS] = ['POST /access/search/action', 'POST /access/search/resource']
const [BOARD, BOARDS] = [{ type: 'board', id: '{board}' }, { type: 'board' }]
const STRANGER = { type: 'user', id: 'usr_00000000000000000000' }
const NO_SUBJECT = 'must be me, or your own id: what others may do is not answered'
const NO_TOKEN = 'is not a token of this search: use page.next_token of its previous page'
const EXPECTED = 'expected one of "first"|"last"'

describe('the issues of a request that is not valid name their members exactly', async () => {
  const service = await Service.forSuite()
  const person = await service.person(await service.workspace())
  const board = await TestBoard.create(service, person)
  const column = await board.column()
  const card = await board.card(column)
  const ids = {
    board: board.id,
    column,
    card,
    subtask: await board.subtask(card),
    label: await board.label(),
    comment: await board.comment(card),
    file: (await board.attach(card)).body.data.file_id,
  }
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_all, name: keyof typeof ids) => ids[name])

  /**
   * Each place belongs to an issue: in the query or the body, with the name of the member; without one, it is the whole. The message is
   * that of the first issue, or the messages of all.
   */
  type Row = [request: string, body: unknown, places: string, messages?: string | string[]]
  test.each<Row>([
    ['POST /boards', {}, 'body name', 'is missing'],
    ...[[], null, '"name"'].map((body): Row => ['POST /boards', body, 'body']),
    ['POST /boards', { name: 'x', unknown: 1 }, 'body unknown', 'is not a known member'],
    ['POST /boards', { name: 'x', one: 1, two: 2 }, 'body one, body two'],
    ['POST /boards', { name: 1, description: null, cover_color: 'red' }, 'body name, body description, body cover_color'],
    ['POST /boards', { name: 1 }, 'body name', 'expected string, received number'],
    ...[null, { x: 1 }, ' \u2003 ', '\u200b\u2060', 'a\nb', 'a\0b', 'a\ud800'].map((name): Row => ['POST /boards', { name }, 'body name']),
    ['POST /boards', { name: 'x', description: 'a\u001bb' }, 'body description'],
    ['POST /boards?a=1&b=2', {}, 'query a, query b, body name'],
    [PATCH, {}, 'body'],
    [PATCH, { name: 'x', visibility: 'private' }, 'body visibility'],
    ['POST /boards/{board}/columns', { name: 'x', before: 'a', after: 'b' }, 'body after'],
    [MOVE, {}, 'body', 'must have one of before, after, to'],
    [MOVE, { before: 'x', to: 'last' }, 'body to', 'cannot be combined with "before"'],
    [MOVE, { to: 'second' }, 'body to'],
    [MOVE, { after: '{card}', to: 'first' }, 'body to'],
    [MOVE, { before: '{column}' }, 'body before'],
    [MOVE, { after: '{column}' }, 'body after'],
    [MOVE, { before: '{card}', after: '{card}' }, 'body after'],
    [PLACE, {}, 'body'],
    [PLACE, { before: '{card}' }, 'body before'],
    [PLACE, { column_id: '{column}', after: '{card}' }, 'body after'],
    [PLACE, { before: '{column}', to: 'last' }, 'body to'],
    [`${PLACE}?x=1`, { after: '{card}' }, 'query x, body after'],
    ['POST /boards/{board}/cards', { column_id: 1, title: ' ' }, 'body column_id, body title'],
    ['POST /boards/{board}/cards', { column_id: 'x', title: 'x', due_at: 'tomorrow' }, 'body due_at'],
    ['POST /boards/{board}/cards', { column_id: 'x', title: 'x', to: 'top' }, 'body to', EXPECTED],
    ['POST /boards/{board}/labels', { color: '#d73a4a' }, 'body name'],
    ['POST /boards/{board}/labels', { name: 'Bug', color: 'red' }, 'body color'],
    [BATCH, { operations: [] }, 'body operations', 'expected array to have >=1 items'],
    [
      BATCH,
      { operations: [{ operation: 'cards.archive', params: { card_id: '$1' } }] },
      'body operations.0.params.card_id',
      'must refer to an earlier operation that creates something: "$1" does not',
    ],
    ['POST /cards/{card}/comments', { body: ' \n\t ' }, 'body body'],
    ['POST /cards/{card}/comments', { body: 'x', author_id: 'x' }, 'body author_id'],
    ['PATCH /columns/{column}', { name: 'x', board_id: '{board}', archived_at: null }, 'body board_id, body archived_at'],
    ['PATCH /cards/{card}', {}, 'body'],
    ...['column_id', 'completed_at', 'archived_at', 'assignee_ids', 'label_ids', 'cover_attachment_id'].map((name): Row => [
      'PATCH /cards/{card}',
      { title: 'x', [name]: null },
      `body ${name}`,
    ]),
    ['PATCH /labels/{label}', {}, 'body'],
    ['PATCH /labels/{label}', { name: '', color: null, board_id: 'x' }, 'body name, body color, body board_id'],
    ['PATCH /comments/{comment}', { body: '' }, 'body body'],
    ['PATCH /files/{file}', { visibility: 'public', owner_id: 'x' }, 'body visibility, body owner_id'],
    ['PATCH /subtasks/{subtask}', {}, 'body'],
    ['PATCH /subtasks/{subtask}', { before: 'a', after: 'b' }, 'body after'],
    ['PATCH /subtasks/{subtask}', { title: 'x', completed_at: null }, 'body completed_at'],
    ['PATCH /subtasks/{subtask}', { before: '{subtask}' }, 'body before'],
    ['PATCH /subtasks/{subtask}', { title: 'x', after: '{subtask}' }, 'body after'],
    ['PUT /cards/{card}/completion', { completed: 'yes' }, 'body completed'],
    ['PUT /cards/{card}/cover', {}, 'body attachment_id'],
    ['POST /cards/{card}/attachments', { file_id: null }, 'body file_id'],
    ['POST /cards/{card}/archive', { x: 1 }, 'body x'],
    [ASK, ask('boards.read', {}, { subject: STRANGER }), 'body subject.id', NO_SUBJECT],
    [ASK, ask('boards.read', {}, { subject: { ...STRANGER, type: 'token' } }), 'body subject.id', NO_SUBJECT],
    [ASK, ask('boards.paint'), 'body action.name', 'is not the id of an operation'],
    [ASK, ask('cards.read'), 'body resource.type', 'must be card for cards.read'],
    [ASK, ask('boards.list'), 'body resource.type', 'must be workspace for boards.list'],
    [ASK, ask('cards.assign', { type: 'card', id: '{card}' }), 'body resource.properties.user_id', 'is missing'],
    [ASK, ask('cards.assign', { type: 'card', properties: { user_id: 7 } }), 'body resource.properties.user_id', 'must be text'],
    [ASK, ask('cards.create'), 'body resource.properties.column_id', 'is missing'],
    [
      ASK,
      ask('cards.create', { properties: { column_id: [] } }),
      'body resource.properties.column_id',
      'has not the type that the operation takes',
    ],
    [ASK, ask('boards.read', { properties: { column_id: 'x' } }), 'body resource.properties.column_id', 'names nothing in this operation'],
    [ASK, ask('boards.update', { properties: { name: 'x' } }), 'body resource.properties.name', 'names nothing in this operation'],
    [
      ASK_ALL,
      { evaluations: [ask('boards.read'), ask('boards.paint'), ask('cards.create')] },
      'body evaluations.1.action.name, body evaluations.2.resource.properties.column_id',
      'is not the id of an operation',
    ],
    [ASK, {}, 'body subject, body action, body resource'],
    [ASK, ask('boards.read', {}, { subject: { type: 'group', id: 'me' } }), 'body subject.type'],
    [ASK, ask('boards.read', {}, { action: 'boards.read' }), 'body action'],
    [ASK, ask('boards.read', {}, { more: 1 }), 'body more'],
    [ASK_ALL, { subject: { type: 'user', id: 'me' } }, 'body evaluations'],
    [ASK_ALL, { evaluations: [] }, 'body evaluations'],
    [ASK_ALL, { evaluations: [ask('boards.read')], options: { evaluations_semantic: 'any' } }, 'body options.evaluations_semantic'],
    [
      ASK_ALL,
      { action: { name: 'boards.read' }, evaluations: [ask('boards.read'), {}] },
      'body evaluations.1.subject, body evaluations.1.resource',
    ],
    ...INHERITED.flatMap((name): Row[] => {
      const [member, question] = [{ [name]: 'x' }, ask('boards.read', { properties: { [name]: 'x' } })]
      return [
        ['POST /boards', { name: 'x', ...member }, `body ${name}`],
        [BATCH, itemOf({ params: { card_id: '{card}', ...member } }), `body operations.0.params.${name}`],
        [BATCH, itemOf({ body: { title: 'x', ...member } }), `body operations.0.body.${name}`],
        [BATCH, itemOf(member), `body operations.0.${name}`],
        [BATCH, itemOf({ operation: name }), 'body operations.0.operation'],
        [ASK, question, `body resource.properties.${name}`],
        [ASK_ALL, { evaluations: [question] }, `body evaluations.0.resource.properties.${name}`],
        [ASK, ask(name), 'body action.name'],
        [ASK, ask('boards.read', { type: name }), 'body resource.type'],
      ]
    }),
    [FIND_ACTIONS, { resource: BOARD, subject: STRANGER }, 'body subject.id', NO_SUBJECT],
    [
      FIND_ACTIONS,
      { resource: { type: 'planet', id: 'x' } },
      'body resource.type',
      'must be one of workspace, board, column, card, label, subtask, comment, attachment, file, webhook',
    ],
    [
      FIND_ACTIONS,
      { resource: { ...BOARD, properties: { planet: 'x', title: 'x' } } },
      'body resource.properties.planet, body resource.properties.title',
      ['names nothing in an operation on this resource', 'names nothing in an operation on this resource'],
    ],
    // Once, however many operations take it.
    [
      FIND_ACTIONS,
      { resource: { type: 'card', id: 'x', properties: { user_id: 1, attachment_id: 1 } } },
      'body resource.properties.user_id, body resource.properties.attachment_id',
      ['must be text', 'has not the type that the operation takes'],
    ],
    [FIND_ACTIONS, { resource: BOARDS }, 'body resource.id', 'is missing'],
    [FIND_ACTIONS, { resource: BOARD, action: { name: 'boards.read' } }, 'body action', 'is not a known member'],
    [FIND_ACTIONS, { resource: BOARD, page: { token: 'x' } }, 'body page.token', NO_TOKEN],
    [FIND_ACTIONS, { resource: BOARD, page: { limit: 0 } }, 'body page.limit'],
    [FIND_BOARDS, { action: { name: 'boards.read' }, resource: BOARDS, subject: STRANGER }, 'body subject.id', NO_SUBJECT],
    ...['boards.paint', ...INHERITED].map((name): Row => [
      FIND_BOARDS,
      { action: { name }, resource: BOARDS },
      'body action.name',
      'is not the id of an operation',
    ]),
    [
      FIND_BOARDS,
      { action: { name: 'boards.list' }, resource: BOARDS },
      'body action.name',
      'is no operation on a board, but on a workspace',
    ],
    [
      FIND_BOARDS,
      { action: { name: 'cards.read' }, resource: { type: 'card' } },
      'body resource.type, body action.name',
      ['must be board: list other resources, and ask /access/evaluations about them', 'is no operation on a board, but on a card'],
    ],
    [
      FIND_BOARDS,
      { action: { name: 'boards.update', properties: { name: 'x', more: 1 } }, resource: { ...BOARDS, properties: { other: 'x' } } },
      'body resource.properties.other, body action.properties.more',
      ['names nothing in this operation', 'is not a known member'],
    ],
    ...['', '2', '01', 'on', 'yes', 'True,True'].map((value): Row => [`${PATCH}?dry_run=${value}`, { name: 'x' }, 'query dry_run']),
    // What changes nothing has no dry run.
    ['GET /boards/{board}?dry_run=true', undefined, 'query dry_run'],
    [`${ASK}?dry_run=true`, ask('boards.read'), 'query dry_run'],
    ...INHERITED.map((name): Row => [`GET /boards?${name}=1&${name}=2`, undefined, `query ${name}, query ${name}`]),
    ['GET /boards?limit=x&cursor=x', undefined, 'query limit, query cursor'],
    [
      'GET /boards/{board}/cards?completed=yes&updated_since=2026-01-01T00:00:00Z&q=%20',
      undefined,
      'query completed, query q, query updated_since',
    ],
    ['DELETE /cards/{card}?force=1', undefined, 'query force'],
  ])('the issues of %s with %j are at: %s', async (request, body, places, messages) => {
    const [method, path] = fill(request).split(' ') as [string, string]
    const sent = typeof body === 'string' || body === undefined ? body : fill(JSON.stringify(body))
    const { status, body: answer } = await service.send(person.admin, method, path, sent)
    const { code, issues, message: first } = answer.error
    expect({ status, code }).toEqual({ status: 422, code: 'validation_failed' })
    const found = issues.map((issue: Record<'in' | 'path' | 'message', string>) => `${issue.in} ${issue.path}`.trim())
    expect(found.join(', ')).toBe(places)
    for (const issue of issues) expect(issue.message).toMatch(/./)
    const stated = [messages ?? []].flat()
    expect(issues.slice(0, stated.length).map(({ message }: any) => message)).toEqual(stated)
    const { in: place, path: name, message: text } = issues[0]
    expect(first).toBe(`The request does not match what this operation accepts: ${name === '' ? `the ${place}` : `"${name}"`} ${text}.`)
  })

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/jsonp', 415],
    ['application/json; charset=latin1', 415],
    ['application/json; odata=verbose; charset=utf-16', 415],
    ['application/json, text/plain', 415],
    ['application/json; charset=utf-8', 200],
    ['Application/JSON;charset="UTF-8"', 200],
    ['application/json; charset=utf8', 200],
    ['application/json; charset=us-ascii', 200],
    ['application/json;', 200],
    ['application/json; odata=verbose; charset=UTF-8', 200],
    ['application/merge-patch+json', 200],
    ['application/merge-patch+json; charset=utf-8', 200],
    ['Application/Merge-Patch+JSON', 200],
    ['application/json-patch+json', 415],
    ['application/vnd.api+json', 415],
  ])('a JSON body with the content type %s is answered with %i', async (type, status) => {
    const send = (method: string, path: string) => service.send(person.admin, method, path, '{"name":"x"}', { 'content-type': type })
    expect((await send('PATCH', `/boards/${board.id}`)).status).toBe(status)
    const isPatch = type.toLowerCase().includes('merge-patch')
    expect((await send('POST', '/boards')).status).toBe(isPatch ? 415 : status === 200 ? 201 : status)
  })

  test('the text of a PATCH that merges is as strict as any other', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const patch = (body: object) => service.send(person.admin, 'PATCH', `/cards/${card}`, body, headers)
    expect((await patch({ due_at: '2026-12-01T12:00:00+02:00' })).body.data.due_at).toBe('2026-12-01T10:00:00.000Z')
    expect((await patch({ due_at: null })).body.data.due_at).toBeNull()
    for (const body of [{ title: null }, { description: null }, { title: 'x', unknown: null }, { due_at: '2026-12-01T12:00:00 02:00' }])
      expect((await patch(body)).status).toBe(422)
  })

  test('a body nested beyond the limit is refused', async () => {
    const body = `{"name":${'['.repeat(limits.jsonDepth)}${']'.repeat(limits.jsonDepth)}}`
    expect((await service.send(person.admin, 'POST', '/boards', body)).body.error.code).toBe('bad_request')
  })

  test.each([
    ['OPTIONS', '/boards', 'GET, HEAD, POST'],
    ['PUT', '/boards/x', 'GET, HEAD, PATCH, DELETE'],
    ['HEAD', '/boards/x/visibility', 'PUT'],
    ['PROPFIND', '/boards', 'GET, HEAD, POST'],
    ['PUT', '/boards/', 'GET, HEAD, POST'],
    ['PUT', '/boards/x/?limit=1', 'GET, HEAD, PATCH, DELETE'],
  ])('%s %s is answered with 405, and Allow lists %s', async (method, path, allow) => {
    const reply = await service.send(person.admin, method, path)
    expect({ status: reply.status, allow: reply.headers.get('allow') }).toEqual({ status: 405, allow })
  })

  test('a slash at the end of a path is dropped, whatever the method', async () => {
    const get = async (path: string, token = person.admin) => service.send(token, 'GET', path)
    for (const path of ['/boards', `/boards/${board.id}`, `/cards/${card}`, '/account']) {
      const [plain, withSlash] = [await get(path), await get(`${path}/`)]
      expect({ status: withSlash.status, body: withSlash.body }).toEqual({ status: plain.status, body: plain.body })
      expect((await get(`${path}/?x=1`)).body.error.issues).toEqual((await get(`${path}?x=1`)).body.error.issues)
    }
    for (const path of ['/', '', '//', '/boards//', '//boards', `/boards//${board.id}`, '/boards/x/', '/nothing/'])
      expect([path, (await get(path)).status]).toEqual([path, 404])
    expect((await service.send(null, 'GET', '/boards/')).status).toBe(401)
    expect((await service.send(person.read, 'POST', '/boards/', { name: 'x' })).body.error.code).toBe('insufficient_scope')
    // It is the same request, also for an Idempotency-Key, and its answer names the same path.
    const create = (path: string) => service.send(person.admin, 'POST', path, { name: 'Once' }, { 'idempotency-key': 'slash' })
    const [first, again] = [await create('/boards/'), await create('/boards')]
    expect({ status: first.status, location: first.headers.get('location') }).toEqual({
      status: 201,
      location: `/v1/boards/${first.body.data.id}`,
    })
    expect({ idempotentReplayed: again.headers.get('idempotent-replayed'), id: again.body.data.id }).toEqual({
      idempotentReplayed: 'true',
      id: first.body.data.id,
    })
  })
})

test.each(drivers)('invalid input is refused before the resources that the body names are read, on $name', async (driver) => {
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
