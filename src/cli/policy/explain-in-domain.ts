import { ConfigError } from '../../config.ts'
import { didYouMean } from '../../policy/diagnostic.ts'
import type { Engine } from '../../policy/engine.ts'
import { operationsOf } from '../../policy/listed-operations.ts'
import {
  dependenceOf,
  explainOperation,
  explainWebAction,
  webDependenceOf,
  type AskedOperation,
  type ExplainedOperation,
  type OperationDependence,
  type OperationExplanation,
} from '../../resources/explanation.ts'
import { readFacts, readPairs, readScope, requireAny, splitList } from './fact-options.ts'

/** What is asked about a policy of another domain than that of the service. */
export interface DomainQuestion {
  readonly operation: string
  readonly scope?: string
  readonly facts?: string
  readonly fields?: string
  readonly any?: boolean
}

/** Explains a decision of a policy whose operations only its hand-written decisions know. @throws {ConfigError} */
export function explainInDomain(
  engine: Engine,
  { operation: id, any, ...options }: DomainQuestion,
): OperationExplanation | OperationDependence {
  const { decisions, vocabulary } = engine
  const stated = readPairs('facts', options.facts)
  const action = decisions.webActions.get(id)
  if (action !== undefined) {
    if (options.scope !== undefined) throw new ConfigError(`scope: ${id} is done in the web app, where there is no token`)
    const needs = action.permission.split(' ') as [string, string]
    const { facts, missing } = readFacts(engine, { permission: action.permission, also: [] }, undefined, stated, [])
    if (missing.length === 0) return explainWebAction(engine, { ...action, needs }, facts)
    requireAny(missing, any)
    return webDependenceOf(engine, { ...action, needs }, facts)
  }
  const operation = findOperation(engine, id)
  if (options.scope === undefined) throw new ConfigError(`scope: state the scope of the token: ${vocabulary.scopeOrder.values.join(', ')}`)
  const { facts, further, missing } = readFacts(engine, operation, readScope(engine, options.scope), stated, [])
  const asked: AskedOperation = { operation, facts, further, fields: fieldsOf(engine, operation.permission, splitList(options.fields)) }
  if (missing.length === 0) return explainOperation(engine, asked)
  requireAny(missing, any)
  return dependenceOf(engine, asked)
}

/** @throws {ConfigError} */
function findOperation(engine: Engine, id: string): ExplainedOperation {
  const found = operationsOf(engine).find((one) => one.id === id)
  if (found !== undefined) {
    const also = found.also.map((one) => ({ ...one, parameter: one.member, row: '' }))
    return { ...found, permission: found.needs.join(' '), status: 200, kind: 'single', also } as unknown as ExplainedOperation
  }
  const ids = [...engine.decisions.operations.keys(), ...engine.decisions.webActions.keys()]
  throw new ConfigError(`operation: "${id}" is not one. ${didYouMean(id, ids) ?? 'See "lanekeeper policy matrix".'}`)
}

/** The fields that are changed; undefined if the permission is not decided field by field. @throws {ConfigError} */
function fieldsOf({ vocabulary }: Engine, permission: string, named: readonly string[]): readonly string[] | undefined {
  const { fields } = vocabulary.permissions.get(permission)!
  for (const name of named)
    if (fields?.includes(name) !== true) throw new ConfigError(`fields: "${name}" is none on which "${permission}" is decided`)
  return named.length > 0 ? named : fields
}
