import type { Command } from 'commander'
import { ConfigError } from '../../config.ts'
import type { Engine } from '../../policy/engine.ts'
import type { AskedOperation, ExpectedResponse, OperationDependence, OperationExplanation } from '../../resources/explanation.ts'
import type { Operation } from '../../resources/operation.ts'
import type { WebAction } from '../../resources/web-actions.ts'
import { addSetting, noIo, runOnStorage, type CommonOptions } from '../command.ts'
import { Failure } from '../exit.ts'
import { painter } from '../text.ts'
import { describeResponse, renderDependence, renderExplanation } from './explanation-text.ts'
import { readFacts, readOperation, readPairs, readScope, readWebAction, requireAny, splitList } from './fact-options.ts'

interface ExplainFlags extends CommonOptions {
  readonly operation: string
  readonly scope?: string
  readonly facts?: string
  readonly fields?: string
  readonly any?: boolean
  readonly policies?: string
  readonly as?: string
  readonly workspace?: string
  readonly resource?: string
  readonly with?: string
}

type StoredResult = OperationExplanation | (OperationDependence & { readonly allowed: boolean; readonly response: ExpectedResponse })

const STORED = ['as', 'workspace', 'resource', 'with', 'storage', 'bytes'] as const

/** Adds `lanekeeper policy explain`. */
export function addExplainCommand(policy: Command): void {
  const command = policy
    .command('explain')
    .description('explain a decision of both tables, about stated facts or a stored workspace, and what would change it')
    .requiredOption(
      '--operation <id>',
      'the id of an operation, such as boards.delete, or of what only the web app does, such as workspace.audit',
    )
    .option('--scope <scope>', 'the scope of the token: none, kanban:read, kanban:write or kanban:admin; the web app has no token')
    .option('--facts <facts>', 'stated facts: name=value,name=value')
    .option('--any', 'show how the answer depends on the facts that are not stated')
    .option('--fields <names>', 'the fields to change: name,name; default: all that the operation takes')
    .option(
      '--policies <policy>',
      'the policy to decide stated facts with: a folder or a revision of git; default: the one that is shipped',
    )
    .option('--as <user>', 'the id of the user, instead of stated facts')
    .option('--workspace <workspace>', 'the id of their workspace')
    .option('--resource <id>', 'the id of the resource that the path of the operation names first')
    .option('--with <ids>', 'what the operation names besides: label_id=ID,user_id=ID; a list has one for each item')
  addStorage(command).action(printExplanation)
}

/** Adds the options of a command about a stored workspace. */
export function addStorage(command: Command): Command {
  addSetting(command, 'storage', 'where records are stored: fs:PATH, redis[s]://…, redis-cluster://… or redis-sentinel://…')
  addSetting(command, 'bytes')
  return command.option('--json', 'print the result as one line of JSON')
}

/** @throws {Failure} `denied` */
async function printExplanation(flags: ExplainFlags): Promise<void> {
  const result = flags.as === undefined ? await explainStated(flags) : await explainStored(flags)
  const paint = painter(process.stdout)
  if (flags.json === true) console.log(JSON.stringify(result))
  else console.log('decision' in result ? renderExplanation(result, paint) : renderDependence(result, paint))
  if ('response' in result && !result.allowed) throw new Failure('denied', `denied: ${describeResponse(result.response)}`)
  const isDenied =
    !('response' in result) && [result, ...result.further].some(({ answers }) => answers.some(({ answer }) => answer !== 'allowed'))
  if (isDenied) throw new Failure('denied', 'denied in at least one case')
}

async function explainStated(flags: ExplainFlags): Promise<OperationExplanation | OperationDependence> {
  for (const name of STORED)
    if (flags[name] !== undefined) throw new ConfigError(`--${name} is about a stored workspace, and needs --as, --workspace and --storage`)
  const [
    { readPolicy, SHIPPED },
    { operations },
    { dependenceOf, explainOperation, explainWebAction, permissionOf, webDependenceOf },
    { shapeOf },
  ] = await Promise.all([
    import('./read-policy.ts'),
    import('../../resources/table.ts'),
    import('../../resources/explanation.ts'),
    import('../../http/body-members.ts'),
  ])
  const { engine } = readPolicy(flags.policies ?? SHIPPED)
  if (engine.vocabulary.domain !== undefined) return (await import('./explain-in-domain.ts')).explainInDomain(engine, flags)
  const stated = readPairs('facts', flags.facts)
  const action = readWebAction(flags.operation)
  if (action !== undefined) {
    refuseTokenOptions(action, flags)
    const permission = permissionOf(action)
    requirePermission(engine, permission, action.id)
    const { facts, missing } = readFacts(engine, { permission, also: [] }, undefined, stated, [])
    if (missing.length === 0) return explainWebAction(engine, action, facts)
    requireAny(missing, flags.any)
    return webDependenceOf(engine, action, facts)
  }
  const operation = readOperation(operations, flags.operation)
  const scope = readScope(engine, requireScope(flags.scope))
  requirePermission(engine, operation.permission, operation.id)
  const fields = readFields(operation, Object.keys(shapeOf(operation)), splitList(flags.fields))
  const required = Object.entries(shapeOf(operation)).flatMap(([name, schema]) => (schema.safeParse(undefined).success ? [] : [name]))
  const { facts, further, missing } = readFacts(engine, operation, scope, stated, required)
  const asked: AskedOperation = { operation, facts, fields, further }
  if (missing.length === 0) return explainOperation(engine, asked)
  requireAny(missing, flags.any)
  return dependenceOf(engine, asked)
}

/** @throws {ConfigError} */
function requirePermission({ vocabulary }: Engine, permission: string, id: string): void {
  if (!vocabulary.permissions.has(permission))
    throw new ConfigError(`policies: the vocabulary has no permission "${permission}", which ${id} needs`)
}

/** @throws {ConfigError} */
function requireScope(scope: string | undefined): string {
  if (scope === undefined) throw new ConfigError('scope: state the scope of the token: none, kanban:read, kanban:write or kanban:admin')
  return scope
}

/** @throws {ConfigError} if there is something that has a meaning for requests only */
function refuseTokenOptions({ id }: WebAction, flags: ExplainFlags): void {
  for (const name of ['scope', 'fields', 'resource', 'with'] as const)
    if (flags[name] !== undefined)
      throw new ConfigError(`${name}: ${id} is done in the web app, where there is no token, and is decided for the person alone`)
}

/** The fields that are changed; undefined if the permission is not decided field by field. @throws {ConfigError} */
function readFields(operation: Operation, taken: readonly string[], named: readonly string[]): readonly string[] | undefined {
  if (operation.fields === undefined) {
    if (named.length > 0) throw new ConfigError(`fields: ${operation.id} is not decided field by field`)
    return undefined
  }
  for (const name of named)
    if (!taken.includes(name)) throw new ConfigError(`fields: ${operation.id} does not take "${name}", but ${taken.join(', ')}`)
  return operation.fields(Object.fromEntries((named.length > 0 ? named : taken).map((name) => [name, null])))
}

async function explainStored({ as: user, workspace, operation, resource, ...flags }: ExplainFlags): Promise<StoredResult> {
  for (const name of ['facts', 'any', 'policies'] as const)
    if (flags[name] !== undefined) throw new ConfigError(`--${name} is about stated facts, and has no effect with --as`)
  if (workspace === undefined) throw new ConfigError('--as needs --workspace: the id of the workspace of the user')
  const action = readWebAction(operation)
  if (action !== undefined) refuseTokenOptions(action, { operation, ...flags, ...(resource !== undefined && { resource }) })
  const scope = action === undefined ? await scopeOf(requireScope(flags.scope)) : undefined
  const fields = splitList(flags.fields)
  const named = Object.fromEntries(readPairs('with', flags.with))
  const question = {
    workspace,
    user,
    ...(scope !== undefined && { scope }),
    operation,
    resource,
    named,
    ...(fields.length > 0 && { fields }),
  }
  return (await runOnStorage(flags, 'policy.explain', question, noIo)) as StoredResult
}

/** Reads a scope of the shipped policy. @throws {ConfigError} */
export async function scopeOf(text: string): Promise<string> {
  const { scopes } = await import('../../model/token.ts')
  const vocabulary = { scopeOrder: { values: ['none', ...scopes] } } as unknown as Engine['vocabulary']
  return readScope({ vocabulary }, text)
}
