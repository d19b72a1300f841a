import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { argumentsOf } from '../../src/mcp/input-schema.ts'
import { mergeSchemas } from '../../src/mcp/merged-schema.ts'
import { ToolList } from '../../src/mcp/tool-list.ts'
import { tools, withoutTool } from '../../src/mcp/catalog.ts'
import { operations } from '../../src/resources/table.ts'
import { handWrittenOperations } from '../support/hand-written-decisions.ts'
import { engine } from '../support/service.ts'

const SCOPES = ['kanban:read', 'kanban:write', 'kanban:admin']
const list = new ToolList(() => engine, operations)
const visibleWith = (count: number) => list.visibleWith(SCOPES.slice(0, count))
/** What the page about MCP says of the list: its bytes with all scopes, for writing and for reading, to the nearest thousand. */
const STATED_SIZES =
  /([\d,]+)\s+bytes\s+of\s+JSON\s+with\s+all\s+scopes,\s+([\d,]+)\s+for\s+`kanban:write`\s+and\s+([\d,]+)\s+for\s+`kanban:read`/g
/** The operations that a listed tool offers. */
const offered = ({ name, inputSchema }: { name: string; inputSchema: any }): string[] =>
  inputSchema.properties.operation?.enum ?? tools.find((tool) => tool.name === name)!.operations

describe('the table of tools', () => {
  const named = [...tools.flatMap((tool) => tool.operations), ...Object.keys(withoutTool)]

  test('has every operation exactly once, or states why it has not; a text is uploaded by an operation that attaches files too', () => {
    expect(named.toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
  })

  test('names each tool by a verb and what it acts on, short enough for the prefix of a client', () => {
    for (const { name } of tools)
      expect(name).toMatch(/^(?:read|find|check|claim|renew|end|create|add|attach|move|edit|delete|make|manage)(?:_[a-z]+){1,4}$/)
    // `mcp__lanekeeper__` and at most 64 characters in all: the strictest clients.
    expect(tools.filter(({ name }) => name.length > 47)).toEqual([])
  })

  test('marks a tool as read-only if its operations need only the scope for reading, and no other tool', () => {
    const scopes = new Map(handWrittenOperations.map(({ id, scope }) => [id, scope]))
    for (const { name, effect, operations: ids } of tools)
      for (const id of ids) expect([name, id, effect === 'read']).toEqual([name, id, scopes.get(id) === 'read'])
  })

  test('marks a tool as destructive if one of its operations deletes something, replaces a text or takes access away', () => {
    // Assignments, labels, blockers, claims and covers are removed from a card by DELETE, and can be set again.
    const revocable = new Set(['cards.unassign', 'cards.remove_label', 'cards.clear_cover', 'blockers.remove', 'claims.release'])
    const losing = (id: string) => {
      const method = operations.find((operation) => operation.id === id)?.method
      return !revocable.has(id) && (method === 'DELETE' || method === 'PATCH' || id === 'boards.set_visibility' || id === 'boards.batch')
    }
    for (const { name, effect, operations: ids } of tools)
      expect([name, effect === 'replace' || effect === 'any']).toEqual([name, ids.some(losing)])
  })

  test('marks a tool as idempotent if none of its operations creates something', () => {
    const creating = (id: string) => id === 'boards.batch' || operations.find((operation) => operation.id === id)?.status === 201
    for (const { name, effect, operations: ids } of tools)
      expect([name, effect === 'add' || effect === 'any']).toEqual([name, ids.some(creating)])
  })

  test('has an argument for each member of a body', () => {
    for (const operation of operations) {
      const members = Object.keys((operation.example.body as object | undefined) ?? {})
      expect([operation.id, Object.keys(argumentsOf(operation).body)]).toEqual([operation.id, expect.arrayContaining(members)])
    }
  })

  test('no argument of an operation has two meanings', () => {
    for (const operation of operations) {
      const { path, query, body } = argumentsOf(operation)
      const names = [...[path, query, body].flatMap(Object.keys), 'operation', 'idempotency_key', 'if_match', 'if_claim']
      expect([operation.id, names.length]).toEqual([operation.id, new Set(names).size])
    }
  })
})

describe('the list of tools', () => {
  test.each([
    [0, []],
    [1, ['read']],
    [2, ['read', 'write']],
    [3, ['read', 'write', 'admin']],
  ] as const)('with the %i least scopes has exactly the operations that these allow', (count, scopes) => {
    const allowed = handWrittenOperations.filter(
      ({ id, scope }) => (scopes as readonly string[]).includes(scope) && withoutTool[id] === undefined,
    )
    expect([...new Set(visibleWith(count).flatMap(offered))].toSorted()).toEqual(allowed.map(({ id }) => id).toSorted())
  })

  test('has at most 37 kB with all scopes: about 9,000 tokens', () => {
    expect(Buffer.byteLength(JSON.stringify({ tools: visibleWith(3) }))).toBeLessThan(37_000)
  })

  test('has the size that the documents state', () => {
    const pages = ['README.md', 'src/mcp/README.md'].filter((page) => existsSync(page))
    const stated = pages.flatMap((page) => [...readFileSync(page, 'utf8').matchAll(STATED_SIZES)].map((found) => found.slice(1)))
    const bytes = [3, 2, 1].map((count) => Buffer.byteLength(JSON.stringify({ tools: visibleWith(count) })))
    expect(stated).toEqual([bytes.map((size) => (Math.round(size / 1000) * 1000).toLocaleString('en-US'))])
  })

  test('states how each operation of a tool is called, and no operation that the token may not call', () => {
    const [write, admin] = [2, 3].map((count) => visibleWith(count).find(({ name }) => name === 'manage_access')!)
    expect(write!.description).toContain('- files.update(file_id, visibility): ')
    expect(write!.description).not.toContain('boards.set_visibility')
    expect(write!.inputSchema.required).toEqual(['operation', 'file_id', 'visibility'])
    expect(write!.inputSchema.properties).not.toHaveProperty('board_id')
    expect(admin!.description).toContain('- board_members.add(board_id, user_id): ')
    expect(admin!.inputSchema.required).toEqual(['operation'])
  })

  test('says which operations need a claim, and offers nothing that each call of an operation states, or that the service ignores', () => {
    const of = (name: string) => visibleWith(3).find((tool) => tool.name === name)!
    expect(of('end_claim').description).toContain('- claims.fail(card_id, reason, retry_after?, if_claim): ')
    expect(of('end_claim').description).toContain('- claims.release(card_id, force?, retry_after?): ')
    expect(Object.keys(of('claim_next_card').inputSchema.properties!)).not.toContain('include')
    expect(Object.keys(of('check_access').inputSchema.properties!)).not.toContain('context')
  })

  test('repeats nothing in a description that the name of an argument or an operation says', () => {
    const texts = visibleWith(3).map((tool) => JSON.stringify(tool))
    expect(texts.filter((text) => /The title of the card\.|The id of a label\.|Returns a column\./.test(text))).toEqual([])
    const { properties } = visibleWith(3).find(({ name }) => name === 'create_card')!.inputSchema
    expect(properties).toMatchObject({ title: { type: 'string' }, description: { description: 'The text of the card.' } })
  })

  test('offers neither keys nor preconditions nor a dry run for reading', () => {
    for (const { name, inputSchema } of visibleWith(1))
      for (const argument of ['dry_run', 'idempotency_key', 'if_match'])
        expect([name, Object.keys(inputSchema.properties!)]).not.toEqual([name, expect.arrayContaining([argument])])
  })
})

describe('the schema of an argument that several operations have', () => {
  test('says what all of them say, and has all of their descriptions', () => {
    const merged = mergeSchemas([
      { type: 'string', maxItems: 1, description: 'One.' },
      { type: 'string', maxItems: 2, description: 'Two.' },
      { type: 'string', maxItems: 2, description: 'One. Three.' },
    ])
    expect(merged).toEqual({ type: 'string', description: 'One. / Two. / Three.' })
  })
})
