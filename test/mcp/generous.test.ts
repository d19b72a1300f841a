import { beforeAll, describe, expect, test } from 'vitest'
import { argumentNames, schemaOf } from '../../src/mcp/callable.ts'
import { readArguments } from '../../src/mcp/given-arguments.ts'
import { ToolList } from '../../src/mcp/tool-list.ts'
import { selectOperation } from '../../src/mcp/tool-request.ts'
import { operations } from '../../src/resources/table.ts'
import { TestBoard } from '../support/board.ts'
import { setUpMcp } from '../support/mcp.ts'
import { engine } from '../support/service.ts'

// What client libraries add by themselves, and the forms that models write values in: it changes nothing, or it means one thing.

const list = new ToolList(() => engine, operations)
const PREFIXES: Record<string, string> = {
  blocker_id: 'crd',
  user_id: 'usr',
  card_id: 'crd',
  column_id: 'col',
  board_id: 'brd',
  label_id: 'lbl',
}
const idOf = (name: string) => `${PREFIXES[name] ?? name.slice(0, 3).replace('com', 'cmt')}_00000000000000000000`
const USER = idOf('user_id')
/** A call of each operation of each tool, with the arguments of its example. */
const calls = list.all.flatMap((tool) =>
  tool.callables.map((callable) => {
    const { operation, uploadsText } = callable
    const params = Object.fromEntries([...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, idOf(name!)]))
    const example = uploadsText ? { name: 'a.txt', text: 'a' } : (operation.example.body ?? {})
    const body = JSON.parse(JSON.stringify(example).replaceAll(/\{(\w+)\}/g, (_, name: string) => idOf(name))) as object
    return [`${tool.name} ${operation.id}`, tool, { operation: operation.id, ...params, ...body }] as const
  }),
)
const read = (tool: (typeof calls)[number][1], args: object) =>
  readArguments(list, tool, selectOperation(tool, args as Record<string, unknown>)!, args as Record<string, unknown>, USER)
const namesIn = (tool: (typeof calls)[number][1]) => [...new Set(tool.callables.flatMap(argumentNames))]

describe('a call where every other argument of the tool', () => {
  test.each(calls)('is null means the same: %s', (_, tool, args) => {
    const nulls = Object.fromEntries(namesIn(tool).map((name) => [name, null]))
    expect(read(tool, { ...nulls, unknown_to_all: null, ...args }).values).toEqual(read(tool, args).values)
  })

  test.each(calls)('has its default means the same: %s', (_, tool, args) => {
    const selected = selectOperation(tool, args)!
    const defaults = tool.callables.flatMap((one) => namesIn(tool).map((name) => [name, schemaOf(one, name)?.['default']] as const))
    const foreign = defaults.filter(([name, value]) => value !== undefined && schemaOf(selected, name) === undefined)
    expect(read(tool, { ...Object.fromEntries(foreign), ...args }).values).toEqual(read(tool, args).values)
  })
})

test('an argument that only a sibling takes is refused if it says something', () => {
  const tool = list.find('find_cards')!
  for (const [name, value] of [
    ['sort', 'due_at'],
    ['limit', 50],
    ['archived', true],
  ] as const)
    expect(() => read(tool, { operation: 'cards.read', card_id: idOf('card_id'), [name]: value })).toThrow(
      `"${name}" is not an argument of cards.read`,
    )
  // As text, too.
  for (const [name, value] of [
    ['limit', '20'],
    ['sort', 'updated_at'],
    ['archived', 'False'],
  ] as const)
    expect(read(tool, { operation: 'cards.read', card_id: idOf('card_id'), [name]: value }).values).toEqual({ card_id: idOf('card_id') })
})

describe('a value', () => {
  const card = { operation: 'cards.update', card_id: idOf('card_id') }
  test.each<[what: string, tool: string, args: object, name: string, meant: unknown]>([
    ['a number as text', 'renew_claim', { card_id: idOf('card_id'), ttl: ' 60 ' }, 'ttl', 60],
    ['an epoch as text', 'edit_cards_comments_subtasks', { ...card, title: 'T', if_claim: '7' }, 'if_claim', 7],
    ['a boolean as text', 'move_assign_complete_cards', { ...card, operation: 'cards.complete', completed: 'True' }, 'completed', true],
    ['an array as JSON text', 'find_cards', { operation: 'cards.search', include: '["claim","etag"]' }, 'include', ['claim', 'etag']],
    ['an array as words', 'find_cards', { operation: 'cards.search', fields: 'title, due_at' }, 'fields', ['title', 'due_at']],
    [
      'an object as JSON text',
      'check_access',
      { operation: 'access.search_action', resource: `{"type":"board","id":"${idOf('board_id')}"}` },
      'resource',
      { type: 'board', id: idOf('board_id') },
    ],
    [
      'an open object as JSON text',
      'check_access',
      { operation: 'access.search_action', resource: { type: 'board', id: idOf('board_id'), properties: '{"user_id":"me"}' } },
      'resource',
      { type: 'board', id: idOf('board_id'), properties: { user_id: 'me' } },
    ],
    [
      'null inside of an object',
      'check_access',
      { operation: 'access.search_action', resource: { type: 'board', id: idOf('board_id'), properties: null } },
      'resource',
      { type: 'board', id: idOf('board_id') },
    ],
    ['an id in quotation marks', 'find_cards', { operation: 'cards.read', card_id: ` "${idOf('card_id')}"\n` }, 'card_id', idOf('card_id')],
    ['"none" for a time', 'edit_cards_comments_subtasks', { ...card, due_at: 'none' }, 'due_at', null],
    [
      '0 for a limit',
      'edit_boards_columns_labels',
      { operation: 'columns.rename', column_id: idOf('column_id'), wip_limit: 0 },
      'wip_limit',
      null,
    ],
    [
      '"0" for a limit',
      'edit_boards_columns_labels',
      { operation: 'columns.rename', column_id: idOf('column_id'), max_attempts: '0' },
      'max_attempts',
      null,
    ],
    ['a text that looks like a number', 'edit_cards_comments_subtasks', { ...card, title: '2026' }, 'title', '2026'],
    ['a text that looks like a list', 'edit_cards_comments_subtasks', { ...card, description: '[1]' }, 'description', '[1]'],
    ['a text that says none', 'edit_cards_comments_subtasks', { ...card, title: 'none' }, 'title', 'none'],
    ['a filter for nobody', 'find_cards', { operation: 'cards.search', assignee_id: 'none' }, 'assignee_id', ['none']],
  ])('is read as it is meant: %s', (_, tool, args, name, meant) => {
    expect(read(list.find(tool)!, args).values[name]).toEqual(meant)
  })

  test('of a list of subtasks is an object, a title, or the JSON text of an object', () => {
    const args = { board_id: idOf('board_id'), column_id: idOf('column_id'), title: 'T' }
    const subtasks = ['One', '{"title":"Two","completed":"true"}', { title: 'Three', completed: null }]
    const meant = ['One', { title: 'Two', completed: true }, { title: 'Three' }]
    for (const given of [subtasks, JSON.stringify(subtasks)])
      expect(read(list.find('create_card')!, { ...args, subtasks: given }).values['subtasks']).toEqual(meant)
  })

  test.each(['null', 'None', 'false', '"x"', ' 12', '["One"', '{"title":'])(
    'of a list of subtasks is no title if it is the text %s',
    (subtasks) => {
      const args = { board_id: idOf('board_id'), column_id: idOf('column_id'), title: 'T' }
      expect(() => read(list.find('create_card')!, { ...args, subtasks })).toThrow('"subtasks" must be a list, or the JSON text of one')
      expect(read(list.find('create_card')!, { ...args, subtasks: 'Sow, then water' }).values['subtasks']).toEqual(['Sow, then water'])
    },
  )

  test.each([
    ['the id of another kind', idOf('column_id'), 'is not the id of a card: it is the id of a column'],
    [
      'in capitals',
      idOf('card_id').toUpperCase(),
      'is not the id of a card: such an id begins with "crd_" and ends with 20 characters in lower case. A name is no id',
    ],
    ['a name', 'Sow carrots', expect.stringContaining('A name is no id')],
    ['too short', 'crd_1', expect.stringContaining('is not the id of a card: ')],
    ['with something behind it', `${idOf('card_id')}/archive`, expect.stringContaining('is not the id of a card: ')],
  ])('is no id of a card if it is %s, and the error says so', (_, card_id, message) => {
    let refusal: any
    try {
      read(list.find('find_cards')!, { operation: 'cards.read', card_id })
    } catch (error) {
      refusal = error
    }
    expect(refusal.details.members.issues).toEqual([{ in: 'body', path: 'card_id', message }])
  })
})

const mcp = setUpMcp()
let board: TestBoard
let column: string
beforeAll(async () => {
  board = await TestBoard.create(mcp.service, mcp.ann)
  column = await board.column()
})
const call = async (name: string, args: object) => (await mcp.call(mcp.ann.write, name, args)).content

test('all mistakes of one call are named at once: of the tool, of ids, and the ones that only the API knows', async () => {
  const args = { board_id: board.id, column_id: board.id, title: '', due_at: 'soon', foo: 1, if_claim: 'x', subtasks: [{ titel: 'A' }] }
  const { error } = await call('create_card', args)
  expect(error.code).toBe('validation_failed')
  const paths = error.issues.map(({ path }: { path: string }) => path)
  expect(paths.toSorted()).toEqual(['column_id', 'due_at', 'foo', 'if_claim', 'subtasks.0', 'title'])
  expect(error.next).toContain('Take the id from a list')
  expect(error.known_arguments).toContain('column_id')
})

describe('a date', () => {
  const DUE = '2027-01-01T00:00:00.000Z'
  const change = (id: string, args: object) => call('edit_cards_comments_subtasks', { operation: 'cards.update', card_id: id, ...args })

  test('is kept by null, which the answer says, and cleared by "none"', async () => {
    const id = await board.card(column, 'Card', { due_at: DUE })
    const kept = await change(id, { title: 'New', description: null, due_at: null })
    expect(kept).toMatchObject({
      data: { title: 'New', due_at: DUE },
      note: expect.stringMatching(/^Null was given for due_at, which is kept/),
    })
    expect(await change(id, { due_at: 'none' })).toMatchObject({ data: { due_at: null } })
    expect(await change(id, { title: 'Newer' })).not.toHaveProperty('note')
    // The refusal says it, too: the API does not see what was null.
    const { error } = await change(id, { due_at: null })
    expect(error.issues[0].message).toContain('must have at least one of title')
    expect(error.note).toBe('Null was given for due_at, which is kept: "none" clears it.')
    expect((await change(id, { due_at: null, titel: 'T' })).error.note).toContain('which is kept')
  })

  test('is treated the same in a batch, also in the form of the API', async () => {
    const ids = [
      await board.card(column, 'A', { due_at: DUE }),
      await board.card(column, 'B', { due_at: DUE }),
      await board.card(column, 'C', { due_at: DUE }),
      await board.card(column, 'D', { due_at: DUE }),
    ]
    const items = [
      { operation: 'cards.update', card_id: ids[0], title: 'A2', due_at: null, body: null, comment_id: null },
      { operation: 'cards.update', card_id: ids[1], due_at: 'none' },
      { operation: 'cards.update', params: { card_id: ids[2] }, body: { title: 'C2', due_at: null } },
      { operation: 'cards.update', params: { card_id: ids[3] }, body: { due_at: 'none' } },
      { operation: 'columns.rename', params: { column_id: column }, body: { name: 'N', max_attempts: null, wip_limit: '0' } },
    ]
    const { data, note } = await call('make_many_changes', { board_id: board.id, operations: JSON.stringify(items) })
    expect(data.results.map(({ data: card }: any) => card.due_at)).toEqual([DUE, null, DUE, null, undefined])
    expect(data.results[4].data).toMatchObject({ name: 'N', max_attempts: 5, wip_limit: null })
    expect(note).toBe(
      'Null was given for operations.0.due_at, operations.2.due_at, which are kept: "none" clears them. Null was given for operations.4.max_attempts, which is kept: 0 clears it.',
    )
  })
})

describe('the operations of a batch', () => {
  const many = (...items: unknown[]) => call('make_many_changes', { board_id: board.id, operations: items })

  test('have their arguments beside them, also a member named body, and can refer to each other', async () => {
    const { data } = await many(
      { operation: 'cards.create', column_id: column, title: 'New', label_ids: [] },
      { operation: 'comments.create', card_id: '$0', body: '{"body":"a text"}' },
      { operation: 'cards.complete', card_id: '$0', completed: 'true' },
      { operation: 'comments.create', params: '{"card_id":"$0"}', body: { body: 'Old form' } },
    )
    const [card, comment, completed, old] = data.results.map((result: any) => result.data)
    expect(comment).toMatchObject({ card_id: card.id, body: '{"body":"a text"}' })
    expect(old).toMatchObject({ card_id: card.id, body: 'Old form' })
    expect(completed).toMatchObject({ id: card.id, completed_at: expect.any(String) })
  })

  test('take preconditions, and refuse unknown members, all mistakes at once', async () => {
    const id = await board.card(column)
    const { error } = await many(
      { operation: 'cards.move', card_id: column, colum_id: 'x' },
      { operation: 'cards.update', card_id: id, title: '', dry_run: true },
      { operation: 'cards.sing', card_id: id },
      { operation: 'labels.create', name: 'L' },
      'text',
    )
    const paths = error.issues.map(({ path }: { path: string }) => path)
    for (const path of ['0.card_id', '0.colum_id', '1.title', '1.dry_run', '2.operation', '3.color', '4'])
      expect(paths).toContain(`operations.${path}`)
    expect(error.next).toContain('its arguments stand beside it')
    const { etag } = await call('find_cards', { operation: 'cards.read', card_id: id })
    expect((await many({ operation: 'cards.update', card_id: id, title: 'T', if_match: etag })).data.results[0].data.title).toBe('T')
    expect((await many({ operation: 'cards.update', card_id: id, title: 'U', if_match: etag })).error.code).toBe('precondition_failed')
    expect((await many({ operation: 'cards.update', card_id: id, title: 'U', if_claim: '7' })).error.code).toBe('precondition_failed')
  })
})

describe('the mistakes of a batch', () => {
  const many = (operations: unknown[], others: object = {}) => call('make_many_changes', { board_id: board.id, operations, ...others })
  const issuesOf = async (...args: Parameters<typeof many>) =>
    (await many(...args)).error.issues.map(({ path, message }: any) => `${path} ${message}`)
  const [A, B] = ['crd_00000000000000000000', 'crd_11111111111111111111']

  test.each<[string, object, string]>([
    ['in params and beside', { operation: 'cards.archive', params: { card_id: A }, card_id: B }, 'card_id'],
    ['in a body as text and beside', { operation: 'cards.update', card_id: A, title: 'a', body: '{"title":"b"}' }, 'title'],
    ['in params and body', { operation: 'cards.update', params: { card_id: A }, body: { title: 'a', card_id: B } }, 'card_id'],
  ])('are named if an argument is given twice with different values: %s', async (_, item, name) => {
    expect(await issuesOf([item])).toEqual([`operations.0.${name} is given twice, with different values`])
  })

  test('need no refusal if an argument is given twice with one value, or once as null', async () => {
    const id = await board.card(column)
    const { data } = await many([
      { operation: 'cards.complete', params: { card_id: id }, card_id: ` "${id}"`, completed: 'true', body: { completed: true } },
      { operation: 'cards.update', card_id: id, title: null, due_at: null, body: { title: 'b', due_at: '2027-01-01T00:00:00Z' } },
    ])
    expect(data.results[1].data).toMatchObject({ title: 'b', due_at: '2027-01-01T00:00:00.000Z' })
  })

  test('are all named at once, beside the mistakes of the call', async () => {
    const items = [
      { operation: 'cards.update', card_id: 'bad', title: 't' },
      { operation: 'cards.complete', card_id: A, completed: 'maybe' },
      { operation: 'boards.delete' },
      { operation: 'cards.read', card_id: A },
    ]
    const inItems = ['operations.0.card_id', 'operations.1.completed', 'operations.2.operation', 'operations.3.operation']
    const paths = async (list: unknown[], others?: object) => (await many(list, others)).error.issues.map(({ path }: any) => path)
    expect((await paths(items)).toSorted()).toEqual(inItems)
    expect((await paths([items[1]], { foo: 1 })).toSorted()).toEqual(['foo', 'operations.1.completed'.replace('1', '0')])
    expect((await paths([items[1], { operation: 'cards.sing' }])).toSorted()).toEqual(['operations.0.completed', 'operations.1.operation'])
  })

  test('are named for an argument of the whole batch, which is no suggestion', async () => {
    expect(await issuesOf([{ operation: 'cards.archive', card_id: A, dry_run: true }])).toEqual([
      'operations.0.dry_run is not an argument of an item: give it beside "operations", for the whole batch',
    ])
    expect(await issuesOf([{ operation: 'cards.archive', card_id: A, dryrun: true, params: { operation: 'cards.delete' } }])).toEqual([
      'operations.0.dryrun is not an argument of cards.archive',
      'operations.0.operation is not an argument of cards.archive',
    ])
  })
})

test('access is asked about the caller, whom a call need not name', async () => {
  const question = { operation: 'access.evaluate', action: { name: 'boards.update' }, resource: { type: 'board', id: board.id } }
  expect((await call('check_access', question)).data.decision).toBe(true)
  expect((await call('check_access', { ...question, subject: { type: 'user', id: '"me"' } })).data.decision).toBe(true)
  expect((await call('check_access', { ...question, subject: { type: 'user', id: USER } })).error.code).toBe('validation_failed')
})

describe('a question about access', () => {
  const asked = (resource: object, action = 'cards.move') =>
    call('check_access', { operation: 'access.evaluate', action: { name: action }, resource })

  test('has ids that are read like those of any call', async () => {
    const id = await board.card(column)
    const place = await board.column()
    for (const given of [`"${id}"`, ` ${id}`])
      expect((await asked({ type: 'card', id: given, properties: { column_id: ` '${place}'\n` } })).data.decision).toBe(true)
    const found = await call('check_access', { operation: 'access.search_action', resource: { type: 'board', id: `"${board.id}"` } })
    expect(found.data.results).toContainEqual({ name: 'boards.update' })
  })

  test.each<[string, object, path: string, message: string]>([
    ['the id of another kind', { type: 'card', id: idOf('column_id') }, 'resource.id', 'it is the id of a column'],
    ['capitals', { type: 'card', id: idOf('card_id').toUpperCase() }, 'resource.id', 'is not the id of a card'],
    ['a name', { type: 'workspace', id: 'ours' }, 'resource.id', 'is not the id of a workspace'],
    [
      'the id of another kind in its properties',
      { type: 'card', id: idOf('card_id'), properties: { column_id: idOf('card_id') } },
      'resource.properties.column_id',
      'it is the id of a card',
    ],
    [
      'a text as its properties',
      { type: 'card', id: idOf('card_id'), properties: 'nope' },
      'resource.properties',
      'must be an object, or the',
    ],
  ])('is refused with %s, and not answered with no', async (_, resource, path, message) => {
    for (const one of [resource, JSON.stringify(resource)]) {
      const { issues } = (await asked(one as object)).error
      expect(issues).toEqual([{ in: 'body', path, message: expect.stringContaining(message) }])
    }
  })
})
