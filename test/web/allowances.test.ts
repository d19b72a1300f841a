import { describe, expect, test } from 'vitest'
import { stringify, parse } from 'yaml'
import { operations } from '../../src/resources/table.ts'
import { createEngine, type Engine } from '../../src/policy/engine.ts'
import { startForSuite } from '../support/board-team.ts'
import { withOwnDecisions, load, shipped, shippedFiles } from '../support/policy.ts'
import { formOf, signedIn, textOf } from '../support/visitor.ts'

const SCOPES = ['kanban:read', 'kanban:write', 'kanban:admin'] as const
type Scope = (typeof SCOPES)[number]

/** A policy that lets a token with `kanban:write` delete cards, and has other words in a row. */
function changedEngine(): Engine {
  const data = parse(shippedFiles.scopes.text) as { rules: { id: string; action: string | string[]; subject: string | string[] }[] }
  data.rules.find(({ id }) => id === 'S3.deletion')!.subject = ['Board']
  const cards = data.rules.find(({ id }) => id === 'S2.cards')!
  cards.action = [...[cards.action].flat(), 'delete']
  const scopes = { ...shippedFiles.scopes, text: stringify(data, { aliasDuplicateObjects: false }) }
  const engine = load({ ...shippedFiles, scopes })
  const rows = new Map(engine.vocabulary.rows)
  rows.set('P10', { ...rows.get('P10')!, scopes: ['kanban:write'] })
  rows.set('S1', { ...rows.get('S1')!, words: 'kanban:read: look at <everything> that is visible' })
  return withOwnDecisions(createEngine({ ...engine, vocabulary: { ...engine.vocabulary, rows } }))
}
const changed = changedEngine()
const services = new Map([
  [shipped, await startForSuite()],
  [changed, await startForSuite({ engine: changed })],
])

/** Returns for each scope on the confirmation page its description and the ids of its rows. */
async function readConfirmationPage(engine: Engine, scope: Scope): Promise<Map<string, { words: string; rows: string[] }>> {
  const service = services.get(engine)!
  const workspaceId = await service.workspace()
  const visitor = await signedIn(service, await service.person(workspaceId))
  const confirm = (await visitor.choose(workspaceId, { scope })).text
  await visitor.open(formOf(confirm).action)
  const list = /<dl class="allowances">(.*?)<\/dl>/s.exec(visitor.page!.text)![1]!
  const scopes = new Map<string, { words: string; rows: string[] }>()
  for (const [, term, details] of list.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/gs)) {
    const [name = '', ...words] = textOf(term!).split(' ')
    scopes.set(name, { words: words.join(' '), rows: [...details!.matchAll(/href="\/policies#row-([PX]\d+)"/g)].map(([, row]) => row!) })
  }
  return scopes
}

/** The rows that each scope adds, derived from the table of operations: independent of the page's code. */
function expectedOf(engine: Engine): Map<Scope, Set<string>> {
  const rows = new Map<Scope, Set<string>>(SCOPES.map((scope) => [scope, new Set()]))
  for (const { needs } of operations) {
    const minimum = SCOPES.find((scope) => engine.checkScope(needs.join(' '), { 'token.scope': scope }).allowed)!
    for (const rule of engine.permissionRules)
      if (rule.action.includes(needs[0]) && rule.subject.includes(needs[1])) rows.get(minimum)!.add(rule.row)
  }
  return rows
}

describe('the list of the abilities of a token', () => {
  test.each(SCOPES)('for %s, the page shows exactly the abilities that the policy tables allow, scope by scope', async (scope) => {
    const scopes = await readConfirmationPage(shipped, scope)
    expect([...scopes.keys()]).toEqual(SCOPES.slice(0, SCOPES.indexOf(scope) + 1))
    const expected = expectedOf(shipped)
    for (const [name, { rows }] of scopes) expect([name, rows.toSorted()]).toEqual([name, [...expected.get(name as Scope)!].toSorted()])
  })

  test('when the tables move a permission to another scope, or change the text of a row, the page changes too', async () => {
    const [before, after] = [await readConfirmationPage(shipped, 'kanban:write'), await readConfirmationPage(changed, 'kanban:admin')]
    expect(before.get('kanban:write')!.rows).not.toContain('P10')
    expect(after.get('kanban:write')!.rows).toContain('P10')
    expect(after.get('kanban:admin')!.rows).toContain('P7')
    expect(after.get('kanban:admin')!.rows).not.toContain('P10')
    expect(after.get('kanban:read')).toMatchObject({ words: 'look at <everything> that is visible' })
  })

  test('the page where a scope is chosen shows the description of each scope, and the page of a rotation the same list', async () => {
    const service = services.get(shipped)!
    const person = await service.person(await service.workspace())
    const { workspaceId } = person
    const visitor = await signedIn(service, person)
    const text = (await visitor.open(`/settings/tokens/new?workspace=${workspaceId}`)).shown
    for (const row of ['S1', 'S2', 'S3']) expect(text).toContain(shipped.vocabulary.rows.get(row)!.words.replace(': ', ' '))
    const list = ({ text }: { text: string }) => /<dl class="allowances">.*?<\/dl>/s.exec(text)![0]
    const confirm = list(await visitor.choose(workspaceId, { scope: 'kanban:write' }))
    const id = (await service.send(person.write, 'GET', '/account')).body.data.token.id
    expect(list(await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`))).toBe(confirm)
  })
})
