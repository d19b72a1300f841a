import type { ErrorCode } from '../../model/errors.ts'
import type { Membership } from '../../model/workspace.ts'
import { dependence, type Dependence } from '../../policy/explain.ts'
import type { Engine } from '../../policy/engine.ts'
import type { Facts } from '../../policy/evaluate.ts'
import { isOfWebApp, type PolicyOperation } from '../../policy/operations.ts'
import { pointsOf } from '../../policy/points.ts'
import { describeOperation, type ExpectedResponse, type OperationExplanation } from '../../resources/explanation.ts'
import type { Operation } from '../../resources/operation.ts'
import { webActions } from '../../resources/web-actions.ts'
import { membersOf } from '../../http/body-members.ts'

/** A member of a workspace, and what they are answered. */
export interface MemberAnswer {
  readonly membership: Membership
  readonly answer: OperationExplanation
}

type Members = readonly Pick<Membership, 'user_id' | 'display_name' | 'role'>[]

/** Members that the same rules decide for. */
export interface MemberGroup {
  readonly rules: readonly { readonly id: string; readonly reason: string }[]
  readonly members: Members
}

/** Members who are denied for the same reason. */
export interface DeniedGroup {
  readonly response: ExpectedResponse
  readonly reason: string
  readonly members: Members
}

/** Groups members by the rules that decide, and those who are denied by the reason. */
export function groupMembers(answers: readonly MemberAnswer[]): { readonly allowed: MemberGroup[]; readonly denied: DeniedGroup[] } {
  const groups = new Map<string, MemberGroup | DeniedGroup>()
  for (const { membership, answer } of answers) {
    const { user_id, display_name, role } = membership
    const shared = answer.allowed ? { rules: rulesOf(answer) } : { response: answer.response, reason: reasonOf(answer) }
    const key = JSON.stringify(shared)
    groups.set(key, { ...shared, members: [...(groups.get(key)?.members ?? []), { user_id, display_name, role }] })
  }
  const all = [...groups.values()]
  return { allowed: all.filter((group) => 'rules' in group), denied: all.filter((group) => 'reason' in group) }
}

/** All rules that decide: of the operation's permission, and of the further ones. */
function rulesOf({ decision, further }: OperationExplanation): MemberGroup['rules'] {
  const rules = [decision, ...further].flatMap(({ stage }) => stage.rules.filter(({ holds }) => holds))
  return [...new Map(rules.map(({ id, reason }) => [id, { id, reason }])).values()]
}

/** What the first denied decision misses. */
function reasonOf({ decision, further }: OperationExplanation): string {
  const { missing, rules } = [decision, ...further].find(({ answer }) => answer !== 'allowed')!.stage
  return missing.length > 0 ? `${missing[0]} does not hold` : rules.map(({ id, reason }) => `${id}: ${reason}`).join(' Or ')
}

/** What a member may do with an operation. */
export interface OperationPermission {
  readonly operation: string
  readonly request: string
  readonly row: string
  /** null if only the web app does it: there is no token */
  readonly required_scope: string | null
  /**
   * `needs_scope`: only the scope is missing. `denied`: whatever the scope. `depends`: on facts that the request names, such as who wrote
   * a comment.
   */
  readonly answer: 'allowed' | 'needs_scope' | 'denied' | 'depends'
  /** if it is denied: the error, whatever the scope */
  readonly code?: ErrorCode
  /** the reasons of the deciding rules, or what is missing */
  readonly reason: string
  /** if it depends on further facts: how */
  readonly answers?: readonly Dependence[]
  /** a list: each item is decided on its own */
  readonly each_item?: true
  /** what is asked in addition about each item that a member of the body names, and how its answer depends on the item */
  readonly further: readonly { readonly member: string; readonly row: string; readonly answers: readonly Dependence[] }[]
}

/**
 * Decides all operations of the workspace, or of a board and its contents, where these facts suffice. Actions of the web app alone belong
 * to the workspace.
 * @param facts the scope, and the facts of the caller; for a board, also the board's facts
 */
export function permissionsOn(engine: Engine, operations: readonly Operation[], facts: Facts, onBoard: boolean): OperationPermission[] {
  const isOnBoard = ({ permission, kind }: PolicyOperation) =>
    kind === 'single' && engine.vocabulary.permissions.get(permission)!.groups.includes('board')
  return [...operations, ...webActions].filter((one) => isOnBoard(one) === onBoard).map((one) => permissionTo(engine, one, facts))
}

function permissionTo(engine: Engine, operation: PolicyOperation & Pick<Partial<Operation>, 'body'>, facts: Facts): OperationPermission {
  const { permissions, scopeOrder } = engine.vocabulary
  const permission = permissions.get(operation.permission)!
  const { [scopeOrder.name]: _scope, ...known } = facts
  const scope = isOfWebApp(operation) ? undefined : engine.checkScope(permission.id, facts)
  const further = operation.also.map(({ member, row, permission: id }) => ({ member, row, answers: dependence(engine, id, known) }))
  const described = { ...describeOperation(operation), row: operation.row, required_scope: scope?.required ?? null, further }
  const possible = scope?.allowed === false ? 'needs_scope' : 'allowed'
  if (operation.kind === 'filtered_list')
    return { ...described, answer: possible, reason: 'Each item is decided on its own.', each_item: true }
  const members = membersOf(operation.body)
  const fields = permission.fields?.filter((name) => Object.hasOwn(members, name))
  const answers = dependence(engine, permission.id, known, fields)
  const depends = answers.length > 1 && { answers }
  if (depends && answers.some(({ answer }) => answer === 'allowed'))
    return {
      ...described,
      answer: scope?.allowed === false ? possible : 'depends',
      reason: 'It depends on what the request names.',
      answers,
    }
  // Any value does for facts that make no difference.
  const [any] = pointsOf(permission.facts)
  const { reason } = engine.decide(permission.id, { ...any, ...known }, fields)
  const [{ answer }] = answers as [Dependence]
  if (answer === 'allowed') return { ...described, answer: possible, reason }
  return { ...described, answer: 'denied', ...(!depends && { code: answer }), reason, ...depends }
}
