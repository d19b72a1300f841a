import { afterAll, describe, expect, test } from 'vitest'
import { stringify, parse } from 'yaml'
import { operations } from '../../src/resources/table.ts'
import { loadEngine, type Engine } from '../../src/policy/engine.ts'
import { drivers } from '../support/drivers.ts'
import { shipped, shippedFiles } from '../support/policy.ts'
import { Service } from '../support/service.ts'
import { formOf, signedIn, textOf } from '../support/visitor.ts'

const LADDER = ['kanban:read', 'kanban:write', 'kanban:admin'] as const
type Scope = (typeof LADDER)[number]
const services: Service[] = []
afterAll(() => Promise.all(services.map((service) => service.stop())))

interface Rules {
  rules: { id: string; row: string; action: string | string[]; subject: string | string[]; conditions: Record<string, unknown> }[]
}

/** The shipped tables with one of them changed. */
function changed(table: 'scopes' | 'permissions' | 'vocabulary', change: (text: any) => void): Engine {
  const data = parse(shippedFiles[table].text)
  change(data)
  return loadEngine({ ...shippedFiles, [table]: { ...shippedFiles[table], text: stringify(data, { aliasDuplicateObjects: false }) } })
}

/** What the page that asks for confirmation says of each scope: the rows, and its own words. */
async function shownOn(engine: Engine, scope: Scope): Promise<Map<string, { words: string; rows: string[] }>> {
  const service = await Service.start(drivers[0]!, { engine, proxies: 1 })
  services.push(service)
  const workspaceId = await service.workspace()
  const visitor = await signedIn(service, await service.person(workspaceId))
  const confirm = (await visitor.choose(workspaceId, { scope })).text
  await visitor.open(formOf(confirm).action)
  const plain = /<dl class="allowances">(.*?)<\/dl>/s.exec(visitor.shown!.text)![1]!
  const found = new Map<string, { words: string; rows: string[] }>()
  for (const [, head, list] of plain.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/gs)) {
    const [name = '', ...words] = textOf(head!).split(' ')
    found.set(name, { words: words.join(' '), rows: [...textOf(list!).matchAll(/\(([PX]\d+): /g)].map(([, row]) => row!) })
  }
  return found
}

/** The rows that decide what each scope adds, counted out from the operations there are, and not from the page's own code. */
function expectedOf(engine: Engine): Map<Scope, Set<string>> {
  const rows = new Map<Scope, Set<string>>(LADDER.map((scope) => [scope, new Set()]))
  for (const { needs } of operations) {
    const least = LADDER.find((scope) => engine.checkScope(needs.join(' '), { 'token.scope': scope }).allowed)!
    for (const rule of engine.permissionRules)
      if (rule.action.includes(needs[0]) && rule.subject.includes(needs[1])) rows.get(least)!.add(rule.row)
  }
  return rows
}

describe('what a token is said to be able to do', () => {
  test.each(LADDER)('%s: just what the two tables allow it, scope by scope', async (scope) => {
    const shown = await shownOn(shipped, scope)
    expect([...shown.keys()]).toEqual(LADDER.slice(0, LADDER.indexOf(scope) + 1))
    const expected = expectedOf(shipped)
    for (const [name, { rows }] of shown) expect([name, rows.toSorted()]).toEqual([name, [...expected.get(name as Scope)!].toSorted()])
  })

  test('together, every row of the permission table', async () => {
    const rows = [...(await shownOn(shipped, 'kanban:admin')).values()].flatMap((one) => one.rows)
    const all = [...shipped.vocabulary.rows.keys()].filter((row) => /^[PX]/.test(row))
    expect([...new Set(rows)].toSorted()).toEqual(all.toSorted())
  })

  test('where the scope table moves something to another scope, it moves on the page', async () => {
    const moved = changed('scopes', ({ rules }: Rules) => {
      rules.find(({ id }) => id === 'S3.deletion')!.subject = ['Board']
      const cards = rules.find(({ id }) => id === 'S2.cards')!
      cards.action = [...[cards.action].flat(), 'delete']
    })
    const [before, after] = [await shownOn(shipped, 'kanban:write'), await shownOn(moved, 'kanban:write')]
    expect([before.get('kanban:write')!.rows.includes('P10'), after.get('kanban:write')!.rows.includes('P10')]).toEqual([false, true])
    const admin = (await shownOn(moved, 'kanban:admin')).get('kanban:admin')!.rows
    expect([admin.includes('P10'), admin.includes('P7')]).toEqual([false, true])
  })

  test('where the words of a row are others, they are on the page', async () => {
    const reworded = changed('vocabulary', ({ rows }: { rows: Record<string, string> }) => {
      rows['S1'] = 'kanban:read: look at <everything> that is visible'
      rows['P2'] = 'List whatever: being there'
    })
    const shown = await shownOn(reworded, 'kanban:read')
    expect(shown.get('kanban:read')).toMatchObject({ words: 'look at <everything> that is visible' })
  })

  test('on the page where a scope is chosen each stands with its words', async () => {
    const service = await Service.start(drivers[0]!, { proxies: 1 })
    services.push(service)
    const workspaceId = await service.workspace()
    const visitor = await signedIn(service, await service.person(workspaceId))
    const text = textOf((await visitor.open(`/settings/tokens/new?workspace=${workspaceId}`)).text)
    for (const row of ['S1', 'S2', 'S3']) expect(text).toContain(shipped.vocabulary.rows.get(row)!.replace(': ', ' '))
  })

  test('before a rotation the same is shown', async () => {
    const service = await Service.start(drivers[0]!, { proxies: 1 })
    services.push(service)
    const workspaceId = await service.workspace()
    const person = await service.person(workspaceId)
    const visitor = await signedIn(service, person)
    const list = (text: string) => /<dl class="allowances">.*?<\/dl>/s.exec(text)![0]
    const confirm = list((await visitor.choose(workspaceId, { scope: 'kanban:write' })).text)
    const id = (await service.send(person.write, 'GET', '/account')).body.data.token.id
    expect(list((await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)).text)).toBe(confirm)
  })
})
