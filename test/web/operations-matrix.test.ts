import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memory } from '../support/memory.ts'
import {
  handWrittenCells,
  handWrittenOperations,
  type HandWrittenCell,
  type HandWrittenOperation,
} from '../support/hand-written-decisions.ts'
import { additionOf, buildWorld, createScenario, exampleBody, scenarioOptions, type Scenario, type World } from '../support/scenario.ts'
import { Service } from '../support/service.ts'
import { signedIn, type Visitor } from '../support/visitor.ts'

/** What no person does: a batch and questions are for programs, and a claim belongs to a token. */
const FOR_PROGRAMS = ['boards.batch', 'access.', 'claims.']
/** What has to be typed before it is deleted. */
const NAMES: Readonly<Record<string, string>> = { 'boards.delete': 'Scenario', 'cards.delete': 'Card' }
const VALUES: Readonly<Record<string, string>> = { name: 'New', description: 'New', cover_color: '#00ff00' }

const written = handWrittenOperations.filter(({ id, method }) => method !== 'GET' && !FOR_PROGRAMS.some((prefix) => id.startsWith(prefix)))
/** Each operation, and each member of its body whose items are decided in addition. */
const rows = written.flatMap((operation): (readonly [string, HandWrittenOperation, string | undefined])[] => [
  [operation.id, operation, undefined],
  ...Object.entries(operation.also).map(
    ([member, { decision }]) => [`${operation.id} (${member})`, { ...operation, decision }, member] as const,
  ),
])

/** The fields of the form that a person would send. */
function fieldsOf(
  operation: HandWrittenOperation,
  member: string | undefined,
  { field }: HandWrittenCell,
  scenario: Scenario,
): Record<string, string> {
  const { id, path } = operation
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, scenario.params[name!]!])
  const example = field === undefined ? (exampleBody(id, scenario) as object | undefined) : { [field]: VALUES[field] }
  const body = { ...example, ...(member === undefined ? {} : additionOf(member, scenario)) }
  const members = Object.entries(body).map(([name, value]) => [name, Array.isArray(value) ? value.join('\n') : String(value)])
  return { ...Object.fromEntries([...members, ...params]), confirmed: NAMES[id] ?? '' }
}

/** Whether the form is there for those who may send it, and only for them, as far as that does not depend on what they choose in it. */
function isOffered({ path, also }: HandWrittenOperation, { response, field }: HandWrittenCell, status: number): boolean {
  if (response === 'ok') return status === 200
  const isDecidedBefore = path.split('{').length <= 2 && Object.keys(also).length === 0 && field === undefined
  return !isDecidedBefore || response !== 403 || status === 403
}

describe('the forms of the web app answer what the decisions of the API say', () => {
  let service: Service
  let world: World
  const visitors = new Map<string, { visitor: Visitor; form_token: string }>()
  const outcomes: Record<string, number> = {}
  /** the operations whose form was shown, with a title */
  const shown = new Set<string>()
  beforeAll(async () => {
    service = await Service.start(memory, { proxies: 1 })
    world = await buildWorld(service)
    for (const person of world.callers.values()) {
      const visitor = await signedIn(service, person)
      visitors.set(person.id, { visitor, form_token: visitor.formToken })
    }
  })
  afterAll(() => service.stop())

  test.each(rows)('%s', async (_title, operation, member) => {
    const wrong: unknown[] = []
    for (const [i, cell] of handWrittenCells(operation)
      .filter(({ representative }) => representative)
      .entries()) {
      // The form has no such field.
      if (cell.field !== undefined && VALUES[cell.field] === undefined) continue
      const scenario = await createScenario(world, cell.facts, scenarioOptions(operation))
      if (scenario === undefined) continue
      const { visitor, form_token } = visitors.get(scenario.caller.id)!
      const target = `/app/${world.workspaceId}/do/${operation.id}`
      // The form is a page, and takes longer than what it does.
      if (i % 4 === 0) {
        const form = await visitor.request(`${target}?${new URLSearchParams(scenario.params)}`)
        if (form.status === 200 && /<h1>[A-Z][a-z ]+<\/h1>/.test(form.text)) shown.add(operation.id)
        if (!isOffered(operation, cell, form.status)) wrong.push({ ...cell.facts, response: cell.response, form: form.status })
      }
      const fields = { ...fieldsOf(operation, member, cell, scenario), form_token }
      const reply = await visitor.post(target, fields, { headers: { accept: 'application/json' } })
      // A session stays when a membership ends: the workspace is then one that does not exist.
      const expected = cell.response === 'ok' ? 200 : cell.response === 401 ? 404 : cell.response
      if (reply.status !== expected) wrong.push({ ...cell.facts, field: cell.field, expected, status: reply.status, text: reply.text })
      outcomes[expected] = (outcomes[expected] ?? 0) + 1
    }
    expect(wrong.slice(0, 5)).toEqual([])
  })

  test('forms are shown with a title, accepted, forbidden and hidden', () => {
    expect(written.filter(({ id }) => !shown.has(id)).map(({ id }) => id)).toEqual([])
    expect(Object.entries(outcomes).map(([status, count]) => [status, count > 50])).toEqual([
      ['200', true],
      ['403', true],
      ['404', true],
    ])
  })
})
