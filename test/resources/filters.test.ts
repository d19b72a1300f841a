import { describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { recordUses } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { defaultDocument } from '../support/document-check.ts'
import { buildWorld, createAllowed, pathOf } from '../support/scenario.ts'
import { Service } from '../support/service.ts'
import { invalid, notFoundBy } from './refusals.ts'

/** The parameters of reads, by the document, with whether each is a list. Of a free text no value is unknown. */
const parameters = operations
  .filter(({ method }) => method === 'GET')
  .flatMap(({ id, path }) =>
    defaultDocument().paths[path]!['get']!.parameters.flatMap((parameter) => {
      const { $ref } = parameter as { $ref?: string }
      const resolved = $ref === undefined ? parameter : (defaultDocument().components.parameters as any)[$ref.split('/').at(-1)!]
      const { name, in: place, schema } = resolved as { name: string; in: string; schema: { type: string; items?: { enum?: string[] } } }
      return place === 'query' ? [{ id, name, words: schema.type === 'array' ? schema.items!.enum : undefined }] : []
    }),
  )

describe('the parameters of reads', async () => {
  const service = await Service.forSuite()
  const world = await buildWorld(service)
  const scenario = await createAllowed(world, { id: 'cards.read', method: 'GET' }, { hasWebhook: true })
  const get = (id: string, query: string) =>
    service.send(scenario.caller.admin, 'GET', `${pathOf(operations.find((row) => row.id === id)!.path, scenario)}?${query}`)

  const refused = (path: string) => ({
    status: 422,
    body: { error: { issues: [{ in: 'query', path, message: expect.stringMatching(/../) }] } },
  })

  test('are more than the filters of the cards', () => {
    expect(new Set(parameters.map(({ id }) => id)).size).toBeGreaterThan(15)
    expect(parameters.filter(({ id }) => id === 'cards.search').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['board_id', 'column_id', 'assignee_id', 'label_id', 'completed_by', 'include', 'fields', 'sort']),
    )
  })

  test.each(parameters.map(({ id, name }) => [id, name]))(
    '%s refuses an empty %s, and one that is given twice unless it is a list',
    async (id, name) => {
      expect(await get(id, `${name}=`)).toMatchObject(refused(name))
      const twice = await get(id, `${name}=&${name}=`)
      expect({ status: twice.status, issues: twice.body.error.issues[0] }).toMatchObject({
        status: 422,
        issues: { in: 'query', path: name },
      })
    },
  )

  test.each(parameters.filter(({ name }) => name !== 'q' && name !== 'external_ref').map(({ id, name }) => [id, name]))(
    '%s refuses an unknown word in %s',
    async (id, name) => {
      expect(await get(id, `${name}=Nonsense!`)).toMatchObject(refused(name))
    },
  )

  /** What `include` adds cannot be selected without it. */
  const added = (id: string) => parameters.find((parameter) => parameter.id === id && parameter.name === 'include')?.words ?? []
  test.each(parameters.flatMap(({ id, name, words }) => (words === undefined ? [] : [[id, name, words] as const])))(
    '%s takes %s as a list with commas, as a repeated parameter, and as both',
    async (id, name, all) => {
      const words = name === 'fields' ? all.filter((word) => !added(id).includes(word)) : all
      const [first, ...others] = words
      const forms = [
        `${name}=${words.join()}`,
        words.map((word) => `${name}=${word}`).join('&'),
        // axios, PHP, and a client that escapes the brackets.
        words.map((word) => `${name}[]=${word}`).join('&'),
        words.map((word, i) => `${name}[${i}]=${word}`).join('&'),
        words.map((word, i) => `${name}%5B${i}%5D=${word}`).join('&'),
        ...(others.length === 0 ? [] : [`${name}=${first}&${name}=${others.join()}`, `${name}=${first}&${name}[]=${others.join()}`]),
      ]
      const replies = []
      for (const query of forms) replies.push(await get(id, query))
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
      for (const query of [`${name}=${first}&${name}=nonsense`, `${name}[]=nonsense`, `${name}[0]=${first}&${name}[1]=`])
        expect(await get(id, query)).toMatchObject(refused(name))
    },
  )

  test.each([
    ['true', ['True', 'TRUE', '1']],
    ['false', ['False', 'FALSE', '0']],
  ])('a parameter that is %s may be written as one of %j', async (plain, forms) => {
    for (const name of ['archived', 'completed', 'ready']) {
      const { text } = await get('cards.list', `${name}=${plain}`)
      for (const form of forms) expect([name, form, (await get('cards.list', `${name}=${form}`)).text]).toEqual([name, form, text])
    }
  })

  test('the plus of an offset that arrived as a space is that plus', async () => {
    const { column_id } = scenario.params
    const due = { column_id, title: 'Due', due_at: '2026-11-20T12:00:00.000Z' }
    const created = await service.send(scenario.caller.admin, 'POST', pathOf('/boards/{board_id}/cards', scenario), due)
    const found = async (query: string) => (await get('cards.search', query)).body.data.map(({ id }: { id: string }) => id)
    for (const plus of ['+', '%20', '%2B']) {
      expect(await found(`due_after=2026-11-20T14:00:00${plus}02:00`)).toEqual([created.body.data.id])
      expect(await found(`due_after=2026-11-20T14:00:01${plus}02:00`)).toEqual([])
    }
    for (const text of ['2026-11-20 14:00:00Z', '2026-11-20T14:00:00%20', '2026-11-20T14:00:00%20%2002:00', '2026-11-20T14:00:00%202:00'])
      expect(await get('cards.search', `due_after=${text}`)).toMatchObject(refused('due_after'))
  })

  test.each<[id: string, query: string, path: string, message: RegExp]>([
    ['cards.list', 'limit[]=5', 'limit[]', /^is not a known member$/],
    ['cards.list', 'include[x]=counts', 'include[x]', /^is not a known member$/],
    ['cards.list', 'include[][]=counts', 'include[][]', /^is not a known member$/],
    ...['__proto__', 'constructor', 'toString'].map((name): [string, string, string, RegExp] => [
      'cards.list',
      `${name}[]=x`,
      `${name}[]`,
      /^is not a known member$/,
    ]),
    ['cards.list', 'column_id=Done', 'column_id', /^must be the id of a column, which begins with col_$/],
    ['cards.list', 'assignee_id=someone', 'assignee_id', /^must be me, or none, or the id of a user, which begins with usr_$/],
    ['cards.list', 'label_id=hot', 'label_id', /^must be none, or the id of a label, which begins with lbl_$/],
    ['cards.list', 'label_id=none,hot', 'label_id', /^must be none, or the id of a label, which begins with lbl_$/],
    ['cards.list', 'label_id=none,', 'label_id', /^must be none, or the id/],
    ['cards.list', 'column_id=none', 'column_id', /^must be the id of a column/],
    [
      'cards.list',
      `column_id=${Array.from({ length: 21 }, (_, i) => `col_${String(i).padStart(20, '0')}`).join()}`,
      'column_id',
      /^must have at most 20 ids$/,
    ],
    ['cards.list', 'assignee_id=', 'assignee_id', /me, or none/],
    ['cards.list', 'q=%20', 'q', /^must not be blank$/],
    ['cards.list', 'q=%22%22', 'q', /^has no word$/],
    ['cards.search', 'q=%22%20%22%20%CC%81', 'q', /^has no word$/],
    ['cards.search', 'completed_by=me&completed_by=me', 'completed_by', /^is given twice, and is no list$/],
    ['cards.search', 'completed_by=none', 'completed_by', /^must be me, or the id of a user/],
    ['cards.search', 'board_id=me', 'board_id', /^must be the id of a board/],
    ['cards.search', 'sort=completed', 'sort', /position, due_at, updated_at, created_at, completed_at/],
    ['cards.search', 'completed=false&completed_by=me', 'completed', /^must be true or absent/],
    ['cards.search', 'completed=false&sort=completed_at', 'completed', /^must be true or absent beside sort=completed_at/],
    ['cards.search', 'due_after=2027-01-02T00:00:00Z&due_before=2027-01-01T00:00:00Z', 'due_before', /^must be later than due_after$/],
    [
      'cards.search',
      'completed_after=2027-01-01T00:00:00Z&completed_before=2027-01-01T02:00:00%2B02:00',
      'completed_before',
      /^must be later than completed_after$/,
    ],
    ['columns.list', 'archived=yes', 'archived', /true or false/],
    ['boards.list', 'include=counts', 'include', /etag/],
    ['members.list', 'include=etag', 'include', /is not a known member/],
  ])('%s says what ?%s must be', async (id, query, path, message) => {
    const { status, body } = await get(id, query)
    expect({ status, issues: body.error.issues }).toEqual({
      status: 422,
      issues: [{ in: 'query', path, message: expect.stringMatching(message) }],
    })
  })
})

describe.each(drivers)('"me", on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const world = await buildWorld(service)
  const scenario = await createAllowed(world, { id: 'cards.read', method: 'GET' }, { hasWebhook: true })
  const userId = scenario.caller.id
  await recordUses(service, scenario.caller)
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.send(scenario.caller.admin, method, pathOf(path, scenario), body, headers)
  const assignees = async () => (await send('GET', '/cards/{card_id}')).body.data.assignee_ids as string[]

  test('is the user of the token in a path, in a body and in a batch', async () => {
    const { card_id, column_id } = scenario.params
    expect((await send('PUT', '/cards/{card_id}/assignees/me')).body.data.assignee_ids).toEqual([userId])
    expect(service.records.at(-1)).toMatchObject({ related: userId })
    expect((await send('DELETE', '/cards/{card_id}/assignees/me')).body.data.assignee_ids).toEqual([])
    const { status, body } = await send('PUT', '/boards/{board_id}/members/me')
    expect({ status, userId: body.data.user_id }).toEqual({ status: 200, userId })
    const create = (members: object) => send('POST', '/boards/{board_id}/cards', { column_id, title: 'Mine', ...members })
    expect((await create({ assignee_ids: ['me'] })).body.data.assignee_ids).toEqual([userId])
    expect(await create({ assignee_ids: [userId, 'me'] })).toMatchObject(invalid('assignee_ids.1'))
    // It is no id of anything else.
    expect(await create({ column_id: 'me' })).toMatchObject(notFoundBy('column_id'))
    const operations = [
      { operation: 'cards.assign', params: { card_id, user_id: 'me' } },
      { operation: 'cards.create', body: { column_id, title: 'x', assignee_ids: ['me'] } },
      { operation: 'cards.unassign', params: { card_id, user_id: 'me' } },
    ]
    const { results } = (await send('POST', '/boards/{board_id}/batch', { operations })).body.data
    expect(results.map(({ data }: any) => data.assignee_ids)).toEqual([[userId], [userId], []])
  })

  test('is the user of the token in an evaluation', async () => {
    const ask = async (name: string, type: string, who: string, member: 'user_id' | 'assignee_ids') => {
      const { column_id } = scenario.params
      const properties = member === 'user_id' ? { user_id: who } : { column_id, assignee_ids: [who] }
      const resource = { type, id: scenario.params[`${type}_id`], properties }
      return (await send('POST', '/access/evaluation', { subject: { type: 'user', id: 'me' }, action: { name }, resource })).body.data
    }
    for (const [name, type, member] of [
      ['cards.assign', 'card', 'user_id'],
      ['cards.create', 'board', 'assignee_ids'],
    ] as const) {
      expect(await ask(name, type, 'me', member)).toEqual(await ask(name, type, userId, member))
      expect(await ask(name, type, 'me', member)).toMatchObject({ decision: true })
      expect(await ask(name, type, 'you', member)).toMatchObject({ decision: false })
    }
  })

  test('is the same request as with the id of the user, for an Idempotency-Key', async () => {
    const key = (name: string) => ({ 'idempotency-key': `"${name}"` })
    const card = { column_id: scenario.params['column_id'], title: 'Once' }
    for (const [name, method, path, body] of [
      ['body', 'POST', '/boards/{board_id}/cards', (who: string) => ({ ...card, assignee_ids: [who] })],
      ['path', 'PUT', '/cards/{card_id}/assignees/$', () => undefined],
    ] as const) {
      const first = await send(method, path.replace('$', 'me'), body('me'), key(name))
      const again = await send(method, path.replace('$', userId), body(userId), key(name))
      expect({ name, text: again.text, idempotentReplayed: again.headers.get('idempotent-replayed') }).toEqual({
        name,
        text: first.text,
        idempotentReplayed: 'true',
      })
      const other = await send(method, path.replace('$', world.other.id), body(world.other.id), key(name))
      expect([name, other.body.error.code]).toEqual([name, 'idempotency_key_reused'])
    }
    expect(await assignees()).toEqual([userId])
    await send('DELETE', '/cards/{card_id}/assignees/me')
  })

  test('is refused as the id would be', async () => {
    const unassigned = await Promise.all(['me', userId].map((who) => send('DELETE', `/cards/{card_id}/assignees/${who}`)))
    const message = '"user_id" names no resource that can be used here.'
    for (const reply of unassigned) expect(reply).toMatchObject({ status: 404, body: { error: { message, parameter: 'user_id' } } })
  })
})
