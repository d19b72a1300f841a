import type { Entry } from '../decision-log/log.ts'
import type { ErrorCode } from '../model/errors.ts'
import type { TokenRecord } from '../model/token.ts'
import type { ClaimEvent, WorkEvent } from '../resources/result.ts'
import type { ScopeRecord } from '../authz/decisions.ts'
import type { Decision } from '../policy/engine.ts'
import type { Facts } from '../policy/evaluate.ts'
import type { Quota } from '../governor/quotas.ts'
import { isAnyId } from '../model/ids.ts'

/** How far a request has come, in the order of the steps. */
export type Stage = 'credential' | 'rate_limit' | 'route' | 'scope' | 'input' | 'idempotency' | 'target' | 'permission' | 'run'

/** A line of the decision log that was written before the commit that it is about. */
export interface WrittenAhead {
  readonly entry: Entry
  readonly status: number
  /** what was written later: the commit was not made, or that is unknown */
  outcome?: 'not_done' | 'unknown'
}

/**
 * The record of one request: who asked for what, and what both tables decided, and why. With the policy's hash and the
 * facts of the decision, the decision can be replayed against any version of the tables.
 */
export interface DecisionRecord {
  /** where a person who is signed in made it, or an operator as a member; undefined: below /v1, with a token */
  readonly surface?: 'web_app' | 'operator' | 'webhook'
  readonly requestId: string
  readonly method: string
  /** when the request arrived, by the monotonic clock of this process in milliseconds */
  readonly arrivedAt: number
  /** SHA-256 of the policy files, in hex */
  readonly policy: string
  readonly stage?: Stage
  readonly operation?: string
  /** the id in the path, and the second one */
  readonly resource?: string
  readonly related?: string
  readonly userId?: string
  readonly workspaceId?: string
  readonly tokenId?: string
  /** the resource that was created */
  readonly created?: string
  /** whether something was changed, apart from the memory of the response; `unknown`: storage did not answer the commit */
  readonly effect?: 'done' | 'unknown'
  readonly scope?: ScopeRecord
  readonly decision?: Decision
  /** the decisions about what the body names in addition, up to the one that was denied */
  readonly further?: Decision[]
  /** instead of a decision: the definition that denied access to the target, and its facts */
  readonly hidden?: { readonly definition: string; readonly facts: Facts }
  /** instead of a decision: the number of list items that were decided, and that were allowed */
  readonly listed?: { readonly permission: string; asked: number; allowed: number }
  /** for the decision log: the decisions about these items, and how often each was made */
  readonly vectors?: Vectors | undefined
  /** whether something is absent that the body names in addition */
  readonly absent?: true
  /** what an evaluation or a search decided, for each of its questions */
  readonly evaluations?: readonly ItemRecord[]
  /** what was decided about each operation of a batch, up to the one that failed */
  readonly batch?: readonly ItemRecord[]
  /** whether the response repeats an earlier request with the same Idempotency-Key */
  readonly replayed?: true
  readonly dryRun?: true
  /** what was done with claims of cards; `lost`: the claim that If-Claim states does not count */
  readonly claimed?: readonly (ClaimEvent | 'lost')[]
  /** what was done with the work on cards */
  readonly work?: readonly WorkEvent[]
  /** the number of attempts; more than one if concurrent writes caused a conflict */
  readonly attempts: number
  readonly status: number
  readonly code?: ErrorCode
  /** the rate limit that the request exceeded */
  readonly exceeded?: Quota['exceeded']
}

/** The record of an attempt while it is made, with the state that no sink reads. */
export type AttemptRecord = { -readonly [Member in keyof DecisionRecord]: DecisionRecord[Member] } & AttemptState

interface AttemptState {
  /** when the token expires, if that is soon: the value of the header Lanekeeper-Token-Expires */
  tokenExpires?: string
  /** when the claim that If-Claim states runs out, in milliseconds since 1970: nothing is committed after that */
  claimedUntil?: number
  /** the line of the decision log that was written before the commit */
  logged?: WrittenAhead
  /** the bytes of its lines in the decision log */
  logBytes: number
  /** whether the decision log cannot take the record */
  isUnrecorded?: true
}

/** What was decided about one question of an evaluation, or one operation of a batch. */
export interface ItemRecord extends Pick<
  AttemptRecord,
  'scope' | 'decision' | 'further' | 'hidden' | 'absent' | 'stage' | 'resource' | 'related'
> {
  /** undefined: a question names none that exists */
  readonly operation?: string
  /** the other person whom a question is about */
  subject?: string
  /**
   * what a search has left open: the facts of it are then assumed, and the decision is the first one that allows the operation, if there is
   * one
   */
  open?: readonly string[]
  /** the number of resources that a search decided alike from the same facts */
  count?: number
  /** the error that the operation answers, or would answer */
  code?: ErrorCode
}

/** A token that a request presents, and its workspace. */
export interface PresentedToken {
  readonly partition: string
  readonly token: TokenRecord
}

/** Gets the record of each answered request below /v1: the audit trail, the usage of tokens, the metrics, the access log. */
export type Sink = (
  record: DecisionRecord,
  call: { readonly headers: Headers; readonly presented: PresentedToken | undefined; readonly address: string | null },
) => void

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
          decisions: shownVectors(vectors),
        },
      }),
    ...(evaluations !== undefined && { evaluations: itemsOf(evaluations) }),
    ...(batch !== undefined && { batch: itemsOf(batch) }),
  }
  return JSON.stringify(members).slice(1, -1)
}

/** An absence is a 404 that no table was asked about: there is nothing to ask about. */
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
    const { subject, open, count, code = null } = item
    return {
      ...what(item),
      ...(subject && { subject_id: subject }),
      code,
      ...(open && { open }),
      ...(count !== undefined && { count }),
      ...(as === undefined ? stages : { as }),
    }
  })
}

function decisionOf({ permission, fields, facts, derived, outcome, row, rules }: Decision) {
  return { permission, fields: fields ?? null, facts, derived, outcome, row, rules }
}

/** Decisions about items, grouped by what equal decisions share, and how often each was made. */
export type Vectors = Map<string, { readonly decision: Decision; count: number }>

/** Counts a decision. */
export function countDecision(vectors: Vectors, decision: Decision): void {
  const vector = vectorOf(decision.permission, decision.facts, decision.fields)
  const known = vectors.get(vector)
  if (known === undefined) vectors.set(vector, { decision, count: 1 })
  else known.count++
}

/** Decisions in the order of their first occurrence, with each fact vector once. A denied one is the last one. */
function counted(decisions: readonly Decision[]): object[] {
  const vectors: Vectors = new Map()
  for (const decision of decisions) countDecision(vectors, decision)
  return shownVectors(vectors)
}

function shownVectors(vectors: Vectors): object[] {
  return [...vectors.values()].map(({ decision, count }) => ({ count, permission: decisionOf(decision) }))
}

/** A text that is the same for the same question to the permission table. */
function vectorOf(permission: string, facts: Decision['facts'], fields?: readonly string[]): string {
  const key = [permission, ...Object.values(facts)].join('|')
  return fields === undefined ? key : `${key}||${fields.join()}`
}

/** Records the ids in a path. What is no id is content of a user, and is left out. */
export function recordResources(record: Pick<AttemptRecord, 'resource' | 'related'>, params: Readonly<Record<string, string>>): void {
  const [resource, related] = Object.values(params)
  if (resource !== undefined && isAnyId(resource)) record.resource = resource
  if (related !== undefined && isAnyId(related)) record.related = related
}
