import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memory } from '../support/memory.ts'
import {
  handWrittenCells,
  handWrittenOperations,
  type HandWrittenCell,
  type HandWrittenOperation,
} from '../support/hand-written-decisions.ts'
import { buildWorld, createScenario, type Scenario, type World } from '../support/scenario.ts'
import { Service } from '../support/service.ts'
import { signedIn, type Visitor } from '../support/visitor.ts'

/** A page: the operations whose decisions decide it, its path, and what only it says of its subject. */
interface Place {
  readonly operation: string
  readonly path: (workspaceId: string, params: Scenario['params']) => string
  /** whether the page answers 200 to everybody, and what is hidden is left out */
  readonly isList?: true
}
const places: readonly Place[] = [
  { operation: 'boards.list', path: () => '/app', isList: true },
  { operation: 'cards.search', path: (id) => `/app/${id}/cards?view=recent`, isList: true },
  { operation: 'boards.read', path: (id, { board_id }) => `/app/${id}/boards/${board_id}` },
  { operation: 'cards.list', path: (id, { board_id, column_id }) => `/app/${id}/boards/${board_id}?column=${column_id}` },
  { operation: 'boards.read', path: (id, { board_id }) => `/app/${id}/boards/${board_id}/archive` },
  { operation: 'labels.list', path: (id, { board_id }) => `/app/${id}/boards/${board_id}/labels` },
  { operation: 'board_members.list', path: (id, { board_id }) => `/app/${id}/boards/${board_id}/members` },
  { operation: 'boards.events', path: (id, { board_id }) => `/app/${id}/boards/${board_id}/events` },
  { operation: 'cards.read', path: (id, { card_id }) => `/app/${id}/cards/${card_id}` },
  { operation: 'attachments.download', path: (id, { attachment_id }) => `/app/${id}/attachments/${attachment_id}` },
]

const linkToMore = (html: string) => /href="([^"]*)">More cards<\/a>/.exec(html)?.[1]!.replaceAll('&amp;', '&')

describe('the pages of boards answer what the decisions of the API say', () => {
  let service: Service
  let world: World
  const visitors = new Map<string, Visitor>()
  let shown = 0
  let refused = 0
  beforeAll(async () => {
    service = await Service.start(memory, { proxies: 1 })
    world = await buildWorld(service)
    for (const person of world.callers.values()) visitors.set(person.id, await signedIn(service, person))
  })
  afterAll(() => service.stop())

  const answer = async ({ path, isList }: Place, { caller, params }: Scenario): Promise<string> => {
    const target = path(world.workspaceId, params)
    const visitor = visitors.get(caller.id)!
    let page = await visitor.request(target, target.endsWith('/events') ? { method: 'HEAD' } : {})
    let isListed = page.text.includes(params['board_id']!)
    for (let next = linkToMore(page.text); next !== undefined && !isListed; next = linkToMore(page.text)) {
      page = await visitor.request(target.replace(/\?.*/, next))
      isListed = page.text.includes(params['board_id']!)
    }
    if (isList && page.status === 200) return isListed ? 'ok' : 'hidden'
    if (page.status === 404) return page.text.includes(params['board_id']!) ? 'a 404 that names the board' : 'hidden'
    return page.status === 200 ? 'ok' : `status ${page.status}`
  }

  test.each(places)('$operation', async (place) => {
    const operation = handWrittenOperations.find(({ id }) => id === place.operation) as HandWrittenOperation
    const cells: readonly HandWrittenCell[] = handWrittenCells(operation)
    const wrong: unknown[] = []
    for (const cell of cells) {
      const scenario = (await createScenario(world, cell.facts))!
      const expected = cell.response === 'ok' ? 'ok' : 'hidden'
      const actual = await answer(place, scenario)
      if (actual !== expected) wrong.push({ ...cell.facts, expected, actual })
      if (expected === 'ok') shown++
      else refused++
    }
    expect(wrong).toEqual([])
  })

  test('the cells show boards and hide boards', () => {
    expect([shown > 50, refused > 50]).toEqual([true, true])
  })
})
