import type { ZodType } from 'zod'
import { ConfigError } from '../../config.ts'
import { membersOf } from '../../http/body-members.ts'
import { isOfWebApp, type PolicyOperation } from '../../policy/operations.ts'
import type { Permission } from '../../policy/vocabulary.ts'
import {
  dependenceOf,
  explainOperation,
  type AskedOperation,
  type OperationDependence,
  type OperationExplanation,
} from '../../resources/explanation.ts'
import { webActions } from '../../resources/web-actions.ts'
import {
  readFacts,
  readOperation,
  readPairs,
  readScope,
  refuseTokenOptions,
  requireAny,
  splitList,
  type ExplainFlags,
} from './fact-options.ts'
import { listOperations, readPolicy, SHIPPED } from './read-policy.ts'

const STORED = ['as', 'workspace', 'resource', 'with', 'storage', 'bytes'] as const

/**
 * Explains a decision about stated facts, or how it depends on the others.
 * @throws {ConfigError}
 */
export async function explainStated(flags: ExplainFlags): Promise<OperationExplanation | OperationDependence> {
  for (const name of STORED)
    if (flags[name] !== undefined) throw new ConfigError(`--${name} is about a stored workspace, and needs --as, --workspace and --storage`)
  const { engine } = readPolicy(flags.policies ?? SHIPPED)
  const { domain, permissions, scopeOrder } = engine.vocabulary
  const listed: readonly StatedOperation[] = await listOperations(engine)
  const operations = domain === undefined ? [...listed, ...webActions] : listed
  const operation = readOperation<StatedOperation>(operations, flags.operation)
  const isOfTokens = !isOfWebApp(operation)
  if (!isOfTokens) refuseTokenOptions(flags)
  const scope = isOfTokens ? readScope(scopeOrder.values, flags.scope) : undefined
  const permission = permissions.get(operation.permission)
  if (permission === undefined)
    throw new ConfigError(`policies: the vocabulary has no permission "${operation.permission}", which ${operation.id} needs`)
  const members = operation.body && membersOf(operation.body)
  const fields = readFields(operation.id, permission, members, splitList(flags.fields))
  const required = Object.entries(members ?? {}).flatMap(([name, schema]) => (schema.safeParse(undefined).success ? [] : [name]))
  const { facts, further, missing } = readFacts(engine, operation, scope, readPairs('facts', flags.facts), required)
  const asked: AskedOperation = { operation, facts, fields, further }
  if (missing.length === 0) return explainOperation(engine, asked)
  requireAny(missing, flags.any)
  return dependenceOf(engine, asked)
}

/** What is known of an operation whose facts are stated. For another domain, no body is known. */
type StatedOperation = PolicyOperation & { readonly body?: ZodType | undefined }

/**
 * The fields that are changed; undefined if the permission is not decided field by field.
 * @throws {ConfigError}
 */
function readFields(
  id: string,
  { fields }: Permission,
  members: object | undefined,
  named: readonly string[],
): readonly string[] | undefined {
  const taken = fields?.filter((name) => members === undefined || Object.hasOwn(members, name))
  for (const name of named)
    if (taken?.includes(name) !== true)
      throw new ConfigError(
        `fields: ${id} ${taken === undefined ? 'is not decided field by field' : `does not take "${name}", but ${taken.join(', ')}`}`,
      )
  return taken && named.length > 0 ? named : taken
}
