import { AdminError, type PolicyAnswers } from '../../admin/deps.ts'
import { listMembers } from '../../admin/memberships.ts'
import { tokenOf, type Caller } from '../../authz/context.ts'
import { factsFor, scopeFacts } from '../../authz/facts.ts'
import type { Services } from '../../http/services.ts'
import { Unit } from '../../http/unit.ts'
import { isActive } from '../../model/workspace.ts'
import type { OperationExplanation } from '../../resources/explanation.ts'
import { transact, type Deps } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { groupMembers, permissionsOn, type MemberAnswer } from './answer-groups.ts'
import { callerIn, NO_SCOPE } from './assumed-caller.ts'
import { explainStored, loadBoard } from './stored-explanation.ts'
import { requiredScope, webActionOf } from './stored-request.ts'

/** Answers questions about decisions on stored data. */
export function createPolicyAnswers(services: Pick<Services, 'engine' | 'operations'>): PolicyAnswers {
  // Its engine is another one after a reload.
  const unitOf = (deps: Deps, tx: Transaction, caller: Caller) =>
    new Unit({ ...deps, engine: services.engine }, { tx, caller, params: {}, query: {}, body: {} })
  return {
    explain: (deps, { user, scope, ...question }) =>
      transact(deps.store, question.workspace, deps.random, async (tx) => {
        const held = webActionOf(question) === undefined ? scope : NO_SCOPE
        if (held === undefined) throw new AdminError('invalid', 'the scope of the token is missing')
        return explainStored(services, question, unitOf(deps, tx, await callerIn(tx, question.workspace, user, held)))
      }),

    /** Each member is decided on one state of the data. */
    async whoCan(deps, question) {
      const required = requiredScope(services, question)
      const members: MemberAnswer[] = []
      for (const { user_id } of await listMembers(deps, question.workspace)) {
        const answer = await transact(deps.store, question.workspace, deps.random, async (tx) => {
          const caller = await callerIn(tx, question.workspace, user_id, required ?? NO_SCOPE)
          if (!isActive(caller.membership)) return undefined
          // What is answered about a list is refused above.
          const answer = (await explainStored(services, question, unitOf(deps, tx, caller))) as OperationExplanation
          return { membership: caller.membership, answer }
        })
        if (answer !== undefined) members.push(answer)
      }
      const { operation, resource = null } = question
      return { operation, resource, required_scope: required ?? null, ...groupMembers(members) }
    },

    whatCan: (deps, { workspace, user, board, scope }) =>
      transact(deps.store, workspace, deps.random, async (tx) => {
        const { engine, operations } = services
        const caller = await callerIn(tx, workspace, user, scope)
        if (!isActive(caller.membership)) throw new AdminError('not_found', `${user} is not a member of ${workspace}`)
        const context = board === undefined ? {} : await loadBoard(services, unitOf(deps, tx, caller), board)
        const groups = board === undefined ? ['caller'] : ['caller', 'board']
        const facts = { ...scopeFacts(engine.vocabulary, tokenOf(caller)), ...factsFor(engine.vocabulary, groups, caller, context) }
        return { user, board: board ?? null, scope, facts, operations: permissionsOn(engine, operations, facts, board !== undefined) }
      }),
  }
}
