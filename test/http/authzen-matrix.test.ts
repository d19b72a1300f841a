import { describe, expect, test } from 'vitest'
import { keys } from '../../src/store/keys.ts'
import { askPoint } from '../support/decision-point.ts'
import { questionOf } from '../support/evaluations.ts'
import {
  handWrittenCells,
  handWrittenOperations,
  type HandWrittenCell,
  type HandWrittenOperation,
} from '../support/hand-written-decisions.ts'
import {
  AT,
  buildWorld,
  createScenario,
  exampleBody,
  expectedOutcome,
  scenarioOptions,
  SCOPES,
  type Facts,
  type Scenario,
  type ScopeName,
} from '../support/scenario.ts'
import { sample } from '../support/sample.ts'
import { Service, type Person } from '../support/service.ts'

// Every cell of the hand-written decisions, asked at the decision point: by the person themself, and by an owner about them. matrix.test.ts
// sends the requests that are asked about here, and expects the same.

const CODES: Readonly<Record<string, string>> = { '401 unauthorized': 'not_found subject' }

const service = await Service.forSuite()
const world = await buildWorld(service)
const owner = await service.person(world.workspaceId, 'owner', 'Asker')

/** Whether the owner who asks has access to what a question names: they are a member of the board, and have no file of their own. */
function isSeen({ permission, decision }: HandWrittenOperation, facts: Facts): boolean {
  const named = permission.endsWith(' File') || decision === 'access and the named file'
  const isOpen = facts['file.visibility'] === 'workspace' || (facts['file.visibility'] === 'board' && facts['home.board'] === 'workspace')
  return !named || isOpen
}

/** The outcome of a question, in the words of `expectedOutcome`, without the status. */
const wordOf = ({ decision, context }: any): string =>
  decision ? 'ok' : `${context.code}${context.parameter === 'subject' ? ' subject' : ''}`
const expectedWord = (outcome: string): string => CODES[outcome] ?? outcome.replace(/^\d+ /, '')

async function join(person: Person, boardId: string): Promise<void> {
  await service.write(world.workspaceId, async (tx) => {
    const key = keys.boardMember(boardId, person.id)
    await tx.get(key)
    tx.put(key, { board_id: boardId, user_id: person.id, board_created_at: AT, added_at: AT })
  })
}

function questionIn(operation: HandWrittenOperation, { field }: HandWrittenCell, scenario: Scenario): any {
  const body = field === undefined ? (exampleBody(operation.id, scenario) as object | undefined) : { [field]: null }
  return questionOf(operation, scenario.params, body, field === undefined ? undefined : body)
}

const scopeOf = (scope: ScopeName): string => (scope === 'none' ? 'other:read' : `kanban:${scope}`)

describe.each(handWrittenOperations.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  test('is decided as it would be answered', async () => {
    const wrong: unknown[] = []
    for (const cell of sample(
      handWrittenCells(operation).filter(({ representative }) => representative),
      8,
    )) {
      const scenario = await createScenario(world, cell.facts, scenarioOptions(operation))
      if (scenario === undefined) continue
      const { caller, params } = scenario
      await join(owner, params['board_id']!)
      const question = questionIn(operation, cell, scenario)
      const about = (scope: ScopeName) => ({ ...question, subject: { type: 'user', id: caller.id, properties: { scope: scopeOf(scope) } } })
      const outcomes = SCOPES.map((scope) => expectedWord(expectedOutcome(operation, cell, scope)))
      // A list of the workspace leaves out what is hidden.
      const isListed = ['boards.list', 'cards.search'].includes(operation.id)
      const answers = outcomes.map((outcome) => (isListed && outcome === 'not_found' ? 'ok' : outcome))

      const { body } = await askPoint(service, owner.read, '/evaluations', { evaluations: SCOPES.map(about) })
      const seen = isSeen(operation, cell.facts)
      const expected = answers.map((answer) =>
        seen || ['insufficient_scope', 'not_found subject'].includes(answer) ? answer : 'not_found',
      )
      const others = body.evaluations.map(wordOf)
      if (others.join() !== expected.join()) wrong.push({ ...cell, expected, others })

      if (cell.facts['caller.membership'] === 'ended') continue
      const own = await Promise.all(
        SCOPES.map(async (scope) => {
          const { status, body: answer } = await askPoint(service, caller[scope], '/evaluation', question)
          return status === 200 ? wordOf(answer) : 'insufficient_scope'
        }),
      )
      if (own.join() !== answers.join()) wrong.push({ ...cell, expected: answers, own })
    }
    expect(wrong).toEqual([])
  })
})
