import { isAnyId } from '../model/ids.ts'
import type { Decision } from '../policy/engine.ts'
import type { DecisionRecord, ItemRecord } from './decision-record.ts'

/** What kind of record a request has. */
type Kind = 'decision' | 'list' | 'absence' | 'repetition' | 'refusal'

/**
 * The members of a line of the decision log, as JSON without its braces.
 * @param time in milliseconds since 1970
 * @param effect whether a commit follows
 */
export function toLine(record: DecisionRecord, time: number, status: number, effect: 'commit' | 'none'): string {
  const { requestId, method, policy, surface, dryRun, attempts, code, vectors, listed, evaluations, batch } = record
  const kind = kindOf(record)
  const members = {
    time: new Date(time).toISOString(),
    kind,
    request_id: requestId,
    method,
    ...what(record),
    token_id: record.tokenId ?? null,
    user_id: record.userId ?? null,
    workspace_id: record.workspaceId ?? null,
    status,
    code: (effect === 'commit' ? undefined : code) ?? null,
    effect,
    attempts,
    policy,
    ...(kind === 'refusal' && { stage: record.stage ?? 'log' }),
    ...(dryRun === true && { dry_run: true }),
    ...(surface !== undefined && { surface }),
    ...stagesOf(record),
    ...(vectors !== undefined &&
      listed !== undefined && {
        list: {
          permission: listed.permission,
          decisions: [...vectors.values()].map(({ decision, count }) => ({ count, permission: decisionOf(decision) })),
        },
      }),
    ...(evaluations !== undefined && { evaluations: itemsOf(evaluations) }),
    ...(batch !== undefined && { batch: itemsOf(batch) }),
  }
  return JSON.stringify(members).slice(1, -1)
}

/** An absence is a 404 about which no table was asked: there is nothing to ask about. */
function kindOf({ listed, hidden, absent, decision, replayed, stage, code }: DecisionRecord): Kind {
  if (listed !== undefined) return 'list'
  if (absent === true) return 'absence'
  if (hidden !== undefined || decision !== undefined) return 'decision'
  return replayed === true ? 'repetition' : stage === 'target' && code === 'not_found' ? 'absence' : 'refusal'
}

function what({ operation, resource, related }: Pick<DecisionRecord, 'operation' | 'resource' | 'related'>) {
  return { operation: operation ?? null, resource_id: resource ?? null, related_id: related ?? null }
}

/** What both stages decided. */
function stagesOf({ scope, hidden, decision, further }: Pick<DecisionRecord, 'scope' | 'hidden' | 'decision' | 'further'>): object {
  return {
    ...(scope !== undefined && {
      scope: { permission: scope.permission, facts: scope.facts, required: scope.required, row: scope.row, allowed: scope.allowed },
    }),
    ...(hidden !== undefined && { hidden }),
    ...(decision !== undefined && { permission: decisionOf(decision) }),
    ...(further !== undefined && { further: counted(further) }),
  }
}

/** The records of items. One that was decided as an earlier one, from the same facts, has the number of that in place of the decisions. */
function itemsOf(items: readonly ItemRecord[]): object[] {
  const numbers = new Map<string, number>()
  return items.map((item, i) => {
    const stages = stagesOf(item)
    const key = JSON.stringify(stages)
    const as = numbers.get(key)
    if (as === undefined && key !== '{}') numbers.set(key, i)
    const { open, count, code = null } = item
    return { ...what(item), code, ...(open && { open }), ...(count !== undefined && { count }), ...(as === undefined ? stages : { as }) }
  })
}

function decisionOf({ permission, fields, facts, derived, outcome, row, rules }: Decision) {
  return { permission, fields: fields ?? null, facts, derived, outcome, row, rules }
}

/** Decisions, with each fact vector once, in the order in which they came first. One that was denied is the last one. */
function counted(decisions: readonly Decision[]): object[] {
  const groups = new Map<string, { count: number; readonly permission: object }>()
  for (const decision of decisions) {
    const name = vectorOf(decision.permission, decision.facts, decision.fields)
    const known = groups.get(name)
    if (known === undefined) groups.set(name, { count: 1, permission: decisionOf(decision) })
    else known.count++
  }
  return [...groups.values()]
}

/** A text that is the same for the same question to the permission table. */
export function vectorOf(permission: string, facts: Decision['facts'], fields?: readonly string[]): string {
  const key = [permission, ...Object.values(facts)].join('|')
  return fields === undefined ? key : `${key}||${fields.join()}`
}

/** Records the ids in a path. What is no id is content of a user, and is left out. */
export function recordResources(record: Pick<DecisionRecord, 'resource' | 'related'>, params: Readonly<Record<string, string>>): void {
  const [resource, related] = Object.values(params)
  if (resource !== undefined && isAnyId(resource)) record.resource = resource
  if (related !== undefined && isAnyId(related)) record.related = related
}
