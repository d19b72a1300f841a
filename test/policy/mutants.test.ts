import { describe, expect, test } from 'vitest'
import { cells } from '../../src/policy/enumerate.ts'
import type { Engine } from '../../src/policy/engine.ts'
import { proveInvariants } from '../../src/policy/prove.ts'
import { effort } from '../support/effort.ts'
import { loadMutant, mutants, type Mutant } from '../support/mutants.ts'
import {
  handWrittenCells,
  handWrittenOperations,
  handWrittenWebActions,
  type HandWrittenOperation,
} from '../support/hand-written-decisions.ts'
import { decideCell, agrees, shipped, shippedFiles } from '../support/policy.ts'
import { sample } from '../support/sample.ts'

const space = [...cells(shipped.vocabulary)]
const scopes = shipped.vocabulary.scopeOrder.values

/** All decisions of the tables as one string. */
function behaviour(engine: Engine): string {
  const decisions = space.map((cell) => decideCell(engine, cell.permission.id, cell).outcome[0])
  const scopeDecisions = [...engine.vocabulary.permissions.keys()].flatMap((permission) =>
    scopes.map((value) => (engine.checkScope(permission, { 'token.scope': value }).allowed ? 'y' : 'n')),
  )
  return [...decisions, ...scopeDecisions].join('')
}

type Judge = Pick<HandWrittenOperation, 'permission' | 'decision'> & Partial<Pick<HandWrittenOperation, 'scope'>>
const judges: readonly Judge[] = [...handWrittenOperations, ...handWrittenWebActions]

function differs(engine: Engine, operation: Judge): boolean {
  // No scope is enough for what only the web app does.
  const minimum = operation.scope === undefined ? scopes.length : { read: 1, write: 2, admin: 3 }[operation.scope]
  if (scopes.some((value, i) => engine.checkScope(operation.permission, { 'token.scope': value }).allowed !== i >= minimum)) return true
  return handWrittenCells(operation).some((cell) => !agrees(decideCell(engine, operation.permission, cell), cell))
}

/** The operation that killed the last mutant. It is tried first, because it often kills the next mutant of the same rule too. */
let killer = judges[0]!

function killedByDecisions(engine: Engine): boolean {
  const found = [killer, ...judges].find((operation) => differs(engine, operation))
  killer = found ?? killer
  return found !== undefined
}

/** Mutants that add to a rule what another rule of the same row allows already, and the reason. */
const IMPLIED: Readonly<Record<string, string>> = {
  'D2.board: file.visibility or workspace': 'D2.workspace: a person with access to the home board is a workspace member',
  'X2.update: action read added': 'X2.read: the owner has access to the file',
  'X3.others: subject Access added': 'X3: every member may',
  'X12.creator: action create added': 'X12: everyone with access to the board may',
  'X12.creator: action read added': 'X12: everyone with access to the board may',
  'X12.role: action create added': 'X12: everyone with access to the board may',
  'X12.role: action read added': 'X12: everyone with access to the board may',
  'X14.owner: action read added': 'X14.read: owners and admins may',
  'X14.invite: caller.role or owner': 'X14.owner: an owner may invite everybody',
  'X14.change: caller.role or owner': 'X14.owner: an owner may change everybody',
  'X14.manage: caller.role or owner': 'X14.owner: an owner may do both for everybody',
}

type Verdict =
  | 'killed by the decisions'
  | 'refused by the loader'
  | 'refused by the proof'
  | 'accepted at start'
  | 'equivalent'
  | 'survived'

const original = behaviour(shipped)

// A proof takes longer than the comparison with the hand-written decisions, which stops at the first difference.
let judged = 0
const isProved = () => judged++ % Math.max(1, Math.round(12 / effort(1))) === 0

function judge(mutant: Mutant): Verdict {
  const engine = loadMutant(mutant, shipped)
  if (engine === undefined) return 'refused by the loader'
  if (killedByDecisions(engine))
    return isProved() && proveInvariants(engine, []).failures.length === 0 ? 'accepted at start' : 'killed by the decisions'
  if (behaviour(engine) !== original) return 'survived'
  return proveInvariants(engine, []).failures.length > 0 ? 'refused by the proof' : 'equivalent'
}

const mutantsByRule = new Map<string, Mutant[]>()
for (const mutant of sample([...mutants(shippedFiles, shipped.vocabulary)], 100)) {
  const rule = mutant.name.slice(0, mutant.name.indexOf(':'))
  mutantsByRule.set(rule, [...(mutantsByRule.get(rule) ?? []), mutant])
}

// One test for each rule: the test timeout then bounds one rule, however loaded the machine is.
describe('the mutants of the tables', () => {
  test.each([...mutantsByRule])(
    'the hand-written decisions kill every mutant of %s that changes a decision, and no service starts with it',
    (_rule, ofRule) => {
      const verdicts = ofRule.map((mutant) => ({ name: mutant.name, verdict: judge(mutant) }))
      // An equivalent mutant shows that a part of a rule has no effect.
      const equivalent = verdicts.filter(({ verdict }) => verdict === 'equivalent').map(({ name }) => name)
      expect(equivalent).toEqual(verdicts.map(({ name }) => name).filter((name) => IMPLIED[name] !== undefined))
      expect(verdicts.filter(({ verdict }) => ['survived', 'accepted at start'].includes(verdict))).toEqual([])
    },
  )
})
