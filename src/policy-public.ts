// `lanekeeper/policy`: the policy engine without the service. src/policy/README.md is its page.
import { createMongoAbility, subject, type MongoAbility, type RawRuleOf } from '@casl/ability'
import type { Writable } from 'node:stream'
import { findEnd, splitLines, type LogEnd } from './decision-log/line.ts'
import { DecisionLog } from './decision-log/log.ts'
import { Replay, type Difference } from './decision-log/replay.ts'
import { streamSink } from './decision-log/sink.ts'
import { verifyLog, type Finding, type LogFile, type VerifiedLog } from './decision-log/verify.ts'
import type { Answer } from './policy/enumerate.ts'
import { caslConditions, recordKey } from './policy/compile.ts'
import { Coverage, type CoverageKind, type CoverageShare } from './policy/coverage.ts'
import type { PolicyDiff } from './policy/decision-diff.ts'
import { filesFrom, loadEngine, type Decision, type Engine, type ScopeDecision } from './policy/engine.ts'
import type { Facts } from './policy/evaluate.ts'
import { PolicyInvariantError, readPolicyFolder } from './policy/folder.ts'
import { operationsOf } from './policy/operations.ts'
import { renderMatrix } from './policy/matrix.ts'
import { proveInvariants, requireSuccess, type Proof } from './policy/prove.ts'
import { isDefinition, type Rule } from './policy/rules.ts'
import { readSource } from './policy/source.ts'
import { readWidenings, type Widening } from './policy/widenings.ts'

export { diffPolicies, undeclared } from './policy/decision-diff.ts'
export { renderDiffJson, renderDiffMarkdown, renderDiffText } from './policy/result-formats.ts'
export { PolicyError } from './policy/diagnostic.ts'
export { explain } from './policy/explain.ts'
export { findEnd, PolicyInvariantError }
export type { Decision, Difference, Engine, Facts, Finding, LogFile, PolicyDiff, Proof, Rule, VerifiedLog, Widening }

/**
 * Loads a policy from a folder, as `policies/` is one. Nothing is proved yet.
 * @throws {PolicyError} with the position of each error in the first file that has any
 * @throws {PolicyInvariantError} if a file cannot be read
 */
export function loadPolicy(folder: string): Engine {
  return loadEngine(readPolicyFolder(folder, folder))
}

/**
 * Loads a policy from texts.
 * @param texts path in the folder → text: `vocabulary.yaml`, `specification.yaml`, `scopes.yaml`, `permissions.yaml`,
 * `decisions/cases.yaml` and `decisions/operations.yaml`
 * @throws {PolicyError} with the position of each error in the first file that has any
 * @throws {PolicyInvariantError} if a text is missing
 */
export function loadPolicyTexts(texts: Readonly<Record<string, string>>): Engine {
  const read = (path: string) => {
    if (!Object.hasOwn(texts, path)) throw new PolicyInvariantError(`${path} is missing`)
    return { path, text: texts[path]! }
  }
  return loadEngine(filesFrom(read))
}

/**
 * Reads what a policy declares to allow more than the one before it, for {@link diffPolicies}.
 * @param text of its file `widenings.yaml`
 * @throws {PolicyError}
 */
export function loadWidenings(engine: Engine, text: string): readonly Widening[] {
  return readWidenings(readSource({ path: 'widenings.yaml', text }), engine.vocabulary)
}

/**
 * Proves a policy: each cell of its decision space has the answer that is written by hand, scopes are cumulative, no rule can be removed,
 * and the rest of what `lanekeeper policy test` prints.
 * @returns its `failures` are empty if the policy holds
 */
export function prove(engine: Engine): Proof {
  return proveInvariants(engine)
}

/**
 * Proves a policy at a start.
 * @throws {PolicyInvariantError} with all failures
 */
export function requireProof(engine: Engine): Proof {
  return requireSuccess(prove(engine))
}

/** What is asked of a policy. */
export interface Question {
  /** `action Subject` */
  readonly permission: string
  /** the fact of the scope order, and the facts of the permission's groups */
  readonly facts: Facts
  /** the fields to change, if the permission is decided field by field */
  readonly fields?: readonly string[]
}

/** What both tables answer. Plain data, which a decision log can record. */
export interface Answered {
  readonly allowed: boolean
  readonly answer: Exclude<Answer, 'absent'>
  /** undefined: no token can have the permission, so the scope table is not asked */
  readonly scope: (ScopeDecision & { readonly permission: string; readonly facts: Facts }) | undefined
  /** undefined: the scope was not sufficient, so the permission table was not asked */
  readonly decision: Decision | undefined
}

/**
 * Asks the scope table, and if it allows, the permission table.
 * @throws {TypeError} if the permission, a fact, a value or a field is missing or not in the vocabulary: a defect of the caller, not a
 * denial
 */
export function decide(engine: Engine, { permission, facts, fields }: Question): Answered {
  const { name } = engine.vocabulary.scopeOrder
  const isOfTokens = engine.vocabulary.permissions.get(permission)?.surface === undefined
  const ofScope = Object.hasOwn(facts, name) ? { [name]: facts[name]! } : {}
  const scope = isOfTokens ? { ...engine.checkScope(permission, ofScope), permission, facts: ofScope } : undefined
  if (scope?.allowed === false) return { allowed: false, answer: 'insufficient_scope', scope, decision: undefined }
  const decision = engine.decide(permission, facts, fields)
  return { allowed: decision.outcome === 'allowed', answer: decision.outcome, scope, decision }
}

/** What the hand-written decisions cover of the tables: rules, values of conditions, cases and cells. */
export function coverageOf(engine: Engine): Readonly<Record<CoverageKind, CoverageShare>> {
  const coverage = new Coverage(engine)
  coverage.addAllCells()
  return coverage.shares()
}

/** Who may do what, as Markdown: each operation of the hand-written decisions with the conditions under which it is allowed. */
export function matrixOf(engine: Engine): string {
  return renderMatrix(engine, operationsOf(engine))
}

/**
 * The policy as one HTML page that loads nothing.
 * @param changes since another policy
 */
export async function reportOf(engine: Engine, changes?: PolicyDiff): Promise<string> {
  const { renderReport } = await import('./web/policy-report/page.ts')
  return renderReport(engine, operationsOf(engine), changes)
}

/** Rules as CASL takes them: `createMongoAbility(caslRules(engine))`. */
export type CaslRule = RawRuleOf<MongoAbility>

/**
 * The rules of the permission table, without definitions, as CASL rules. A dot in the name of a fact is a slash there, because CASL takes a
 * dot for a path. Ask the ability about what {@link caslSubject} returns.
 */
export function caslRules(engine: Engine): CaslRule[] {
  return engine.permissionRules
    .filter((rule) => !isDefinition(rule))
    .map((rule) => ({
      action: [...rule.action],
      subject: [...rule.subject],
      ...(rule.fields !== undefined && { fields: [...rule.fields] }),
      conditions: caslConditions(rule) as NonNullable<CaslRule['conditions']>,
      reason: rule.reason,
    }))
}

/**
 * The facts of a permission and all that its definitions make of them, as a subject of CASL.
 * @throws {TypeError} if the permission, a fact or a value is missing or not in the vocabulary
 */
export function caslSubject(engine: Engine, { permission, facts, fields }: Question): Readonly<Record<string, unknown>> {
  const { derived } = engine.decide(permission, facts, fields)
  const terms = Object.entries({ ...facts, ...derived }).map(([name, value]) => [recordKey(name), value])
  return subject(engine.vocabulary.permissions.get(permission)!.subject, Object.fromEntries(terms) as Record<string, unknown>)
}

/**
 * All that the stated facts allow, as an ability of CASL without conditions: `abilityFor(engine, facts).can('read', 'Repository')`. What
 * depends on a fact that is not stated is denied.
 * @throws {TypeError} if a value is not in the vocabulary
 */
export function abilityFor(engine: Engine, facts: Facts): MongoAbility {
  const { permissions, scopeOrder } = engine.vocabulary
  const rules = [...permissions.values()].flatMap((one): CaslRule[] => {
    const needed = [...one.facts, ...(one.surface === undefined ? [scopeOrder] : [])]
    if (!needed.every(({ name }) => Object.hasOwn(facts, name))) return []
    const asked = { permission: one.id, facts }
    if (one.fields === undefined) return decide(engine, asked).allowed ? [{ action: one.action, subject: one.subject }] : []
    const fields = one.fields.filter((field) => decide(engine, { ...asked, fields: [field] }).allowed)
    return fields.length === 0 ? [] : [{ action: one.action, subject: one.subject, fields }]
  })
  return createMongoAbility(rules)
}

/**
 * Begins a decision log on a stream, or goes on with one. Each line has the hash of the line before it.
 * @param end what {@link findEnd} has found in the file that the stream appends to; default: the log begins
 */
export function openDecisionLog(engine: Engine, stream: Writable, end?: LogEnd): Promise<DecisionLog> {
  return DecisionLog.open(streamSink(stream, end), { sync: 'never', onFull: 'fail', policy: engine.hash, clock: Date.now })
}

/**
 * A line of a decision log, for `log.write` or `log.append`.
 * @param about further members, such as `request_id` and `operation`; none is a name of this record
 */
export function recordOf(engine: Engine, { answer, scope, decision }: Answered, about: Readonly<Record<string, string>> = {}): string {
  const { reason: _reason, ...permission } = decision ?? { reason: '' }
  const decided = decision && { ...permission, fields: decision.fields ?? null }
  return JSON.stringify({
    ...about,
    time: new Date().toISOString(),
    kind: 'decision',
    policy: engine.hash,
    answer,
    scope,
    permission: decided,
  }).slice(1, -1)
}

/**
 * Verifies that no line of a log was altered, removed or moved.
 * @param anchors hashes of lines that it must have, such as an earlier `head`
 */
export async function verifyDecisionLog(
  files: Iterable<LogFile>,
  anchors: readonly string[] = [],
): Promise<VerifiedLog & { readonly found: readonly Finding[] }> {
  const found: Finding[] = []
  return { ...(await verifyLog(files, anchors, (finding) => found.push(finding))), found }
}

/** What a replay has found. */
export interface Replayed {
  readonly records: number
  readonly decisions: number
  readonly differences: readonly Difference[]
}

/** Decides what a log has recorded again, with another policy or the same one. */
export async function replayDecisionLog(engine: Engine, files: Iterable<LogFile>): Promise<Replayed> {
  const replay = new Replay(engine)
  for (const { name, parts } of files) {
    let line = 0
    for await (const { bytes } of splitLines(parts)) replay.add(bytes.toString(), { file: name, line: ++line })
  }
  return { records: replay.records, decisions: replay.decisions, differences: replay.differences }
}
