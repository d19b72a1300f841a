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
    ...(evaluations !== undefined && { evaluations: evaluations.map(itemOf) }),
    ...(batch !== undefined && { batch: batch.map(itemOf) }),
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

function itemOf(item: ItemRecord): object {
  return { ...what(item), code: item.code ?? null, ...stagesOf(item) }
}

function decisionOf({ permission, fields, facts, derived, outcome, row, rules }: Decision) {
  return { permission, fields: fields ?? null, facts, derived, outcome, row, rules }
}

/** Decisions in their order; the same one several times in a row is written once. */
function counted(decisions: readonly Decision[]): object[] {
  const groups: { readonly name: string; count: number; readonly permission: object }[] = []
  for (const decision of decisions) {
    const name = vectorOf(decision.permission, decision.facts, decision.fields)
    const last = groups.at(-1)
    if (last?.name === name) last.count++
    else groups.push({ name, count: 1, permission: decisionOf(decision) })
  }
  return groups.map(({ count, permission }) => ({ count, permission }))
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
