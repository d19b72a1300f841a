import { describe, expect, test } from 'vitest'
import { startForSuite } from '../support/board-team.ts'
import { FORM_TYPE, formText, isFormText } from '../support/form-text.ts'
import {
  handWrittenCells,
  handWrittenOperations,
  type HandWrittenCell,
  type HandWrittenOperation,
} from '../support/hand-written-decisions.ts'
import { additionOf, buildWorld, createScenario, exampleBody, scenarioOptions, type Scenario } from '../support/scenario.ts'
import { sample } from '../support/sample.ts'
import { signedIn, type Visitor } from '../support/visitor.ts'

/** A service with the people of the decisions, who are signed in. */
async function startWorld() {
  const service = await startForSuite()
  const world = await buildWorld(service)
  const visitors = new Map<string, { visitor: Visitor; form_token: string }>()
  for (const person of world.callers.values()) {
    const visitor = await signedIn(service, person)
    visitors.set(person.id, { visitor, form_token: visitor.formToken })
  }
  return { world, visitors }
}

describe('the forms of the web app answer what the decisions of the API say', async () => {
  const { world, visitors } = await startWorld()
  /** What no person does: a batch and questions are for programs, and a claim belongs to a token. */
  const FOR_PROGRAMS = ['boards.batch', 'access.', 'claims.']
  /** What has to be typed before it is deleted. */
  const NAMES: Readonly<Record<string, string>> = { 'boards.delete': 'Scenario', 'cards.delete': 'Card' }
  const VALUES: Readonly<Record<string, string>> = { name: 'New', description: 'New', cover_color: '#00ff00' }

  const written = handWrittenOperations.filter(
    ({ id, method }) => method !== 'GET' && !FOR_PROGRAMS.some((prefix) => id.startsWith(prefix)),
  )
  /** Each operation, and each member of its body whose items are decided in addition. */
  const rows = written.flatMap((operation): (readonly [string, HandWrittenOperation, string | undefined])[] => [
    [operation.id, operation, undefined],
    ...Object.entries(operation.also).map(
      ([member, { decision }]) => [`${operation.id} (${member})`, { ...operation, decision }, member] as const,
    ),
  ])

  /** The fields of the form that a person would send. */
  function fieldsOf({ id, path }: HandWrittenOperation, member: string | undefined, field: string | undefined, scenario: Scenario) {
    const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, scenario.params[name!]!])
    const sent = field === undefined ? exampleBody(id, scenario) : { [field]: VALUES[field] }
    const example = isFormText(sent) ? {} : (sent as object | undefined)
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

  const outcomes: Record<string, number> = {}
  /** the operations whose form was shown, with a title */
  const shown = new Set<string>()

  test.each(rows)('%s', async (_title, operation, member) => {
    const wrong: unknown[] = []
    const all = handWrittenCells(operation).filter(({ representative }) => representative)
    // The same decisions as below /v1, where all cells are quick. Most facts have two to four values: every fifth cell meets all of them.
    const cells = sample(all, all.length / 5)
    for (const [i, cell] of cells.entries()) {
      const { facts, field, response } = cell
      // The form has no such field.
      if (field !== undefined && VALUES[field] === undefined) continue
      const scenario = await createScenario(world, facts, scenarioOptions(operation))
      if (scenario === undefined) continue
      const { visitor, form_token } = visitors.get(scenario.caller.id)!
      const target = `/app/${world.workspaceId}/do/${operation.id}`
      // The form is a page, and takes longer than what it does.
      if (i % 4 === 0) {
        const form = await visitor.request(`${target}?${new URLSearchParams(scenario.params)}`)
        if (form.status === 200 && /<h1>[A-Z][a-z ]+<\/h1>/.test(form.text)) shown.add(operation.id)
        if (!isOffered(operation, cell, form.status)) wrong.push({ ...facts, response, form: form.status })
      }
      const fields = { ...fieldsOf(operation, member, field, scenario), form_token }
      const parts = Object.entries(fields).map(
        ([name, value]) => `--form\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      )
      const form = { headers: { accept: 'application/json', 'content-type': FORM_TYPE }, body: parts.join('') + formText() }
      const { status, text } =
        operation.id === 'attachments.upload'
          ? await visitor.post(target, {}, form)
          : await visitor.post(target, fields, { headers: { accept: 'application/json' } })
      // A session stays when a membership ends: the workspace is then one that does not exist.
      const expected = response === 'ok' ? 200 : response === 401 ? 404 : response
      if (status !== expected) wrong.push({ ...facts, field, expected, status, text })
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

/** Pages: the operation whose decisions decide them, and their path. */
const places: readonly (readonly [operation: string, path: (workspaceId: string, params: Scenario['params']) => string])[] = [
  // These answer 200 to everybody, and what is hidden is left out.
  ['boards.list', () => '/app'],
  ['cards.search', (id) => `/app/${id}/cards?view=recent`],
  ['boards.read', (id, { board_id }) => `/app/${id}/boards/${board_id}`],
  ['cards.list', (id, { board_id, column_id }) => `/app/${id}/boards/${board_id}?column=${column_id}`],
  ['boards.read', (id, { board_id }) => `/app/${id}/boards/${board_id}/archive`],
  ['labels.list', (id, { board_id }) => `/app/${id}/boards/${board_id}/labels`],
  ['board_members.list', (id, { board_id }) => `/app/${id}/boards/${board_id}/members`],
  ['boards.events', (id, { board_id }) => `/app/${id}/events?board=${board_id}`],
  ['boards.changes', (id, { board_id }) => `/app/${id}/boards/${board_id}/changes`],
  ['cards.read', (id, { card_id }) => `/app/${id}/cards/${card_id}`],
  ['attachments.download', (id, { attachment_id }) => `/app/${id}/attachments/${attachment_id}`],
]

const linkToMore = (html: string) => /href="([^"]*)">More cards<\/a>/.exec(html)?.[1]!.replaceAll('&amp;', '&')

describe('the pages of boards answer what the decisions of the API say', async () => {
  const { world, visitors } = await startWorld()
  const counts = { ok: 0, hidden: 0 }

  const answer = async (target: string, isList: boolean, { caller, params }: Scenario): Promise<string> => {
    const { visitor } = visitors.get(caller.id)!
    let page = await visitor.request(target, target.includes('/events') ? { method: 'HEAD' } : {})
    const isListed = () => page.text.includes(params['board_id']!)
    for (let next = linkToMore(page.text); next !== undefined && !isListed(); next = linkToMore(page.text))
      page = await visitor.request(target.replace(/\?.*/, next))
    if (isList && page.status === 200) return isListed() ? 'ok' : 'hidden'
    if (page.status === 404) return isListed() ? 'a 404 that names the board' : 'hidden'
    return page.status === 200 ? 'ok' : `status ${page.status}`
  }

  test.each(places)('%s', async (id, path) => {
    const wrong: unknown[] = []
    const all = handWrittenCells(handWrittenOperations.find((operation) => operation.id === id)!)
    for (const { facts, response } of sample(all, all.length / 3)) {
      const scenario = (await createScenario(world, facts))!
      const expected = response === 'ok' ? 'ok' : 'hidden'
      const actual = await answer(path(world.workspaceId, scenario.params), ['boards.list', 'cards.search'].includes(id), scenario)
      if (actual !== expected) wrong.push({ ...facts, expected, actual })
      counts[expected]++
    }
    expect(wrong).toEqual([])
  })

  test('the cells show boards and hide boards', () => {
    expect(counts.ok).toBeGreaterThan(50)
    expect(counts.hidden).toBeGreaterThan(50)
  })
})
