import { ConfigError } from '../../config.ts'
import { membersOf } from '../../http/body-members.ts'
import { factsOf } from '../../policy/explain.ts'
import { didYouMean } from '../../policy/diagnostic.ts'
import type { Engine } from '../../policy/engine.ts'
import type { Facts } from '../../policy/evaluate.ts'
import { isOfWebApp, type PolicyOperation } from '../../policy/operations.ts'
import type { Permission } from '../../policy/vocabulary.ts'
import { dependenceOf, explainOperation, type OperationDependence, type OperationExplanation } from '../../resources/explanation.ts'
import type { Operation } from '../../resources/operation.ts'
import { webActions } from '../../resources/web-actions.ts'
import { readPairs, readScope, refuseTokenOptions, splitList, type ExplainFlags } from './explain-flags.ts'
import { listOperations, readPolicy, SHIPPED } from './read-policy.ts'

const STORED = ['as', 'workspace', 'resource', 'with', 'storage', 'bytes'] as const

/** What is known of an operation whose facts are stated. For another domain, no body is known. */
type StatedOperation = PolicyOperation & Pick<Partial<Operation>, 'body'>

/**
 * Explains a decision about stated facts, or how it depends on the others.
 * @throws {ConfigError}
 */
export async function explainStated(flags: ExplainFlags): Promise<OperationExplanation | OperationDependence> {
  for (const name of STORED)
    if (flags[name] !== undefined) throw new ConfigError(`--${name} is about a stored workspace, and needs --as, --workspace and --storage`)
  const { engine } = readPolicy(flags.policies ?? SHIPPED)
  const { domain, permissions, scopeOrder } = engine.vocabulary
  const operation = findOperation([...(await listOperations(engine)), ...(domain === undefined ? webActions : [])], flags.operation)
  if (isOfWebApp(operation)) refuseTokenOptions(flags)
  const scope = isOfWebApp(operation) ? {} : { [scopeOrder.name]: readScope(scopeOrder.values, flags.scope) }
  const permission = permissions.get(operation.permission)
  if (permission === undefined)
    throw new ConfigError(`policies: the vocabulary has no permission "${operation.permission}", which ${operation.id} needs`)
  const fields = readFields(operation, permission, splitList(flags.fields))
  const { facts, further, missing } = readFacts(engine, operation, scope, readPairs('facts', flags.facts))
  const asked = { operation, facts, fields, further }
  if (missing.length === 0) return explainOperation(engine, asked)
  if (flags.any === true) return dependenceOf(engine, asked)
  const lines = missing.map(({ name, values, means }) => `  ${name}=${values.join('|')}  ${means}`)
  throw new ConfigError(['facts: these are missing; state them, or add --any to see how the answer depends on them', ...lines].join('\n'))
}

/** @throws {ConfigError} */
function findOperation(operations: readonly StatedOperation[], id: string): StatedOperation {
  const operation = operations.find((one) => one.id === id)
  if (operation !== undefined) return operation
  const ids = operations.map((one) => one.id)
  throw new ConfigError(`operation: "${id}" is not one. ${didYouMean(id, ids) ?? 'See "lanekeeper policy matrix".'}`)
}

/**
 * The fields that are changed; undefined if the permission is not decided field by field.
 * @throws {ConfigError}
 */
function readFields({ id, body }: StatedOperation, { fields }: Permission, named: readonly string[]): readonly string[] | undefined {
  const taken = fields?.filter((name) => body === undefined || Object.hasOwn(membersOf(body), name))
  for (const name of named)
    if (taken?.includes(name) !== true)
      throw new ConfigError(
        `fields: ${id} ${taken === undefined ? 'is not decided field by field' : `does not take "${name}", but ${taken.join(', ')}`}`,
      )
  return taken && named.length > 0 ? named : taken
}

/**
 * Reads facts that are stated about an operation. A further permission is asked about if the body must name an item of it, or one of its
 * own facts is stated: `label.board=this`. An item's fact can be stated apart from the operation's: `attachment_id:file.owner=caller`.
 * @param scope the fact of the scope order, if the scope table is asked
 * @returns the facts of its permission, of each further one that is asked about, and what is missing of them
 * @throws {ConfigError} if a fact or a value is unknown, or is not a fact of the operation
 */
function readFacts(engine: Engine, operation: StatedOperation, scope: Facts, stated: ReadonlyMap<string, readonly string[]>) {
  const own = factsOf(engine, operation.permission, false).map((fact) => ({ ...fact, key: fact.name }))
  const members = membersOf(operation.body)
  const isRequired = (member: string) => members[member]?.safeParse(undefined).success === false
  const further = operation.also.map((one) => {
    const all = factsOf(engine, one.permission, false).map((fact) => ({ ...fact, key: `${one.member}:${fact.name}` }))
    const isStated = all.some(({ name, key }) => stated.has(key) || (stated.has(name) && !own.some((fact) => fact.name === name)))
    return { ...one, all, isAsked: isStated || isRequired(one.member) }
  })
  const asked = further.filter(({ isAsked }) => isAsked)
  const possible = new Set([own, ...further.map(({ all }) => all)].flat().flatMap(({ name, key }) => [name, key]))
  for (const [name, values] of stated) checkFact(engine, name, values, possible, scope)
  const valueOf = ({ name, key }: (typeof own)[number]) => (stated.get(key) ?? stated.get(name))?.[0]
  const pick = (facts: typeof own): Facts =>
    Object.fromEntries(facts.flatMap((fact) => (valueOf(fact) === undefined ? [] : [[fact.name, valueOf(fact)!]])))
  const missing = [own, ...asked.map(({ all }) => all)].flat().filter((fact) => valueOf(fact) === undefined)
  return {
    facts: { ...scope, ...pick(own) },
    further: asked.map(({ all, ...one }) => ({ ...one, facts: pick(all) })),
    missing: [...new Map(missing.map((fact) => [fact.name, fact])).values()],
  }
}

function checkFact({ vocabulary }: Engine, name: string, values: readonly string[], possible: ReadonlySet<string>, scope: Facts): void {
  const fact = vocabulary.facts.get(name.split(':').at(-1)!)
  const list = `It depends on ${[...possible].join(', ')}.`
  if (fact === undefined) throw new ConfigError(`facts: "${name}" is not a fact. ${didYouMean(name, possible) ?? list}`)
  if (Object.hasOwn(scope, fact.name)) throw new ConfigError(`facts: ${name} is stated by --scope`)
  if (!possible.has(name)) throw new ConfigError(`facts: the operation does not depend on ${name}. ${list}`)
  if (values.length > 1) throw new ConfigError(`facts: ${name} is stated more than once`)
  if (!fact.values.includes(values[0]!)) throw new ConfigError(`facts: "${values[0]}" is not a value of ${name}: ${fact.values.join(', ')}`)
}
