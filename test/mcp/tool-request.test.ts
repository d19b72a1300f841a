import { describe, expect, test } from 'vitest'
import { selectOperation, toRequest } from '../../src/mcp/tool-request.ts'
import { toResult } from '../../src/mcp/tool-result.ts'
import { ToolList } from '../../src/mcp/tool-list.ts'
import { tools } from '../../src/mcp/catalog.ts'
import { operations } from '../../src/resources/table.ts'
import { engine } from '../support/service.ts'

const list = new ToolList(() => engine, operations)
const callable = (id: string) => selectOperation(list.find(tools.find((tool) => tool.operations.includes(id))!.name)!, { operation: id })!
// attach-text.test.ts is about the upload.
const offered = operations.filter(({ id }) => tools.some((tool) => tool.operations.includes(id) && tool.uploadsText !== true))
const expected = { isList: false, hasParts: false, hasFields: false, offset: undefined, wholeIn: 'cards.read' }
const answer = (status: number, body: object, headers: Record<string, string> = {}) =>
  toResult({ status, headers: new Headers(headers), content: JSON.stringify(body), body }, expected)

// A path that ends with no id names a list.
const isPaged = ({ method, path }: (typeof operations)[number]) => method === 'GET' && !path.endsWith('}') && path !== '/account'

describe('the request of a call', () => {
  test.each(offered.map((operation) => [operation.id, operation] as const))('%s is the same as in the API', (id, operation) => {
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    const params = Object.fromEntries(names.map((name, i) => [name, `id_${i}`]))
    const body = operation.example.body as object | undefined
    const request = toRequest(callable(id), { operation: id, ...params, ...body })
    expect(request).toEqual({
      method: operation.method,
      path: operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name]!),
      // The agent need not know of these.
      search: id === 'claims.take_next' ? '?include=work' : isPaged(operation) ? '?limit=20' : '',
      headers: {},
      // A body without members is still a body.
      body: operation.body === undefined ? undefined : (body ?? {}),
    })
  })

  test('has its query, its key and its precondition', () => {
    const args = { operation: 'columns.archive', column_id: 'col_1', dry_run: true, idempotency_key: 'k', if_match: '"e"' }
    expect(toRequest(callable('columns.archive'), args)).toMatchObject({
      path: '/columns/col_1/archive',
      search: '?dry_run=true',
      headers: { 'idempotency-key': 'k', 'if-match': '"e"' },
    })
    const search = toRequest(callable('cards.list'), { board_id: 'b', limit: 2, q: 'a&limit=3', completed: false }).search
    expect([...new URLSearchParams(search)]).toEqual([
      ['limit', '2'],
      ['q', 'a&limit=3'],
      ['completed', 'false'],
    ])
    expect(toRequest(callable('cards.read'), { card_id: 'c', include: ['a', 'b'] }).search).toBe('?include=a%2Cb')
    // Its conversion to a text would throw.
    expect(toRequest(callable('cards.read'), { card_id: 'c', include: { toString: 1 } }).search).toContain('toString')
  })

  test('sends null as a member of the body', () => {
    expect(toRequest(callable('cards.update'), { card_id: 'c', due_at: null })).toMatchObject({ search: '', body: { due_at: null } })
  })

  test('keeps an id from becoming another path', () => {
    for (const id of ['../boards', '..', 'x/archive', 'x?dry_run=true', '..%2f', 'x#', '{card_id}', '$&', '\ud800'])
      expect(toRequest(callable('cards.archive'), { operation: 'cards.archive', card_id: id }).path).toMatch(/^\/cards\/[\w-]+\/archive$/)
  })

  test.each([
    ['a missing id', 'cards.read', {}, 'card_id'],
    ['an id that is no text', 'cards.read', { card_id: ['x'] }, 'card_id'],
    ['an id without characters', 'cards.read', { card_id: '' }, 'card_id'],
    ['a key with a line break', 'cards.archive', { card_id: 'x', idempotency_key: 'a\r\nauthorization: b' }, 'idempotency_key'],
    ['a precondition that is no text', 'cards.archive', { card_id: 'x', if_match: 1 }, 'if_match'],
  ])('is not made with %s', (_, id, args, path) => {
    let refusal: unknown
    try {
      toRequest(callable(id), args)
    } catch (error) {
      refusal = error
    }
    expect(refusal).toMatchObject({ code: 'validation_failed', details: { members: { issues: [{ path }] } } })
  })

  test('passes on arguments that the operation does not know, so that the API refuses them', () => {
    expect(toRequest(callable('cards.update'), { card_id: 'c', foo: 1 }).body).toEqual({ foo: 1 })
    expect(toRequest(callable('cards.archive'), { card_id: 'c', foo: 1 }).search).toBe('?foo=1')
    expect(toRequest(callable('cards.read'), { card_id: 'c', if_match: '"e"' }).search).toBe('?if_match=%22e%22')
  })
})

describe('the operation of a call', () => {
  const tool = list.find('move_assign_complete_cards')!
  test.each([[{}], [{ operation: 'cards.delete' }], [{ operation: ['cards.move'] }]])(
    'is never one that the tool does not have: %o',
    (args) => expect(selectOperation(tool, args)).toBeUndefined(),
  )

  test('need not be selected in a tool with one', () => {
    const single = list.find('create_card')!
    expect(selectOperation(single, {})?.operation.id).toBe('cards.create')
    expect(selectOperation(single, { operation: 'cards.delete' })).toBeUndefined()
  })
})

describe('the result of a call', () => {
  test('has the answer, its ETag and the content of its headers, as text too', () => {
    const headers = { etag: '"e"', 'idempotent-replayed': 'true', 'dry-run': 'true' }
    const content = { data: [1], page: { next_cursor: 'c' }, etag: '"e"', dry_run: true, idempotent_replayed: true }
    const result = answer(200, { data: [1], page: { next_cursor: 'c' } }, headers)
    expect(result).toEqual({ content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content })
    expect(answer(201, { data: 1 }).structuredContent).toEqual({ data: 1 })
  })

  test.each([
    [403, { code: 'insufficient_scope', required_scope: 'kanban:admin' }, undefined, /a token with the scope kanban:admin/],
    [403, { code: 'forbidden', row: 'P5' }, undefined, /Do not repeat it/],
    [404, { code: 'not_found' }, undefined, /Take the id from a list/],
    [409, { code: 'conflict' }, undefined, /Read the resource again/],
    [410, { code: 'cursor_expired' }, undefined, /boards\.read.*changes_cursor/],
    [412, { code: 'precondition_failed', current_etag: '"e"' }, undefined, /another agent may be working on it\. Read it again/],
    [
      412,
      { code: 'precondition_failed', current_etag: '"e"', current: {} },
      undefined,
      /another agent may be working on it\. `current` is/,
    ],
    [422, { code: 'validation_failed' }, undefined, /Correct the arguments/],
    [429, { code: 'rate_limited' }, 7, /Wait `retry_after`/],
    [503, { code: 'unavailable', outcome: 'not_done' }, 1, /Nothing was changed/],
    [503, { code: 'unavailable', outcome: 'unknown' }, undefined, /only with the same idempotency_key/],
  ])('that is %i %o says what to do next', (status, error, wait, next) => {
    const given = { ...error, message: 'M', request_id: 'r' }
    const result = answer(status, { error: given }, wait === undefined ? {} : { 'retry-after': String(wait) })
    expect(result.isError).toBe(true)
    // Without Retry-After there is no such member: undefined does not count.
    expect(result.structuredContent).toEqual({ error: { ...given, retry_after: wait, next: expect.stringMatching(next) } })
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(result.structuredContent) }])
  })
})
