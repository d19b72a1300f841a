import { ConfigError } from '../../config.ts'
import { scopes } from '../../model/token.ts'
import { factsOf } from '../../policy/dependence.ts'
import { didYouMean } from '../../policy/diagnostic.ts'
import type { Engine } from '../../policy/engine.ts'
import type { Facts } from '../../policy/evaluate.ts'
import type { PolicyOperation } from '../../policy/operations.ts'
import type { FurtherFacts } from '../../resources/explanation.ts'
import type { CommonOptions } from '../command.ts'

/** The options of `lanekeeper policy explain`. */
export interface ExplainFlags extends CommonOptions {
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

/** @throws {ConfigError} if there is something that has a meaning for requests only */
export function refuseTokenOptions({ operation, ...flags }: ExplainFlags): void {
  for (const name of ['scope', 'fields', 'resource', 'with'] as const)
    if (flags[name] !== undefined)
      throw new ConfigError(`${name}: ${operation} is done in the web app, where there is no token, and is decided for the person alone`)
}

/**
 * Reads `name=value,name=value`.
 * @returns the values of each name, in their order
 * @throws {ConfigError}
 */
export function readPairs(option: string, text: string | undefined): Map<string, string[]> {
  const pairs = new Map<string, string[]>()
  for (const pair of splitList(text)) {
    const [, name, value] = /^([^=]+)=(.+)$/.exec(pair) ?? []
    if (name === undefined) throw new ConfigError(`${option}: "${pair}" is not name=value`)
    pairs.set(name, [...(pairs.get(name) ?? []), value!])
  }
  return pairs
}

/** Reads a list with commas. */
export function splitList(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/**
 * Finds an operation.
 * @throws {ConfigError}
 */
export function readOperation<Operation extends PolicyOperation>(operations: readonly Operation[], id: string): Operation {
  const operation = operations.find((one) => one.id === id)
  if (operation !== undefined) return operation
  const ids = operations.map((one) => one.id)
  throw new ConfigError(`operation: "${id}" is not one. ${didYouMean(id, ids) ?? 'See "lanekeeper policy matrix".'}`)
}

/**
 * Reads a scope: `kanban:write`, or `write` for short.
 * @throws {ConfigError}
 */
export function readScope(values: readonly string[], text: string | undefined): string {
  if (text === undefined) throw new ConfigError(`scope: state the scope of the token: ${values.join(', ')}`)
  const found = values.find((value) => value === text || value.split(':').at(-1) === text)
  if (found === undefined) throw new ConfigError(`scope: "${text}" is not one of ${values.join(', ')}`)
  return found
}

/**
 * Reads a scope of the service.
 * @throws {ConfigError}
 */
export function readServiceScope(text: string | undefined): string {
  return readScope(['none', ...scopes], text)
}

/** What was stated about an operation. */
export interface StatedFacts {
  /** of its permission, with the scope if it is asked */
  readonly facts: Facts
  /** of each further permission whose facts were all stated */
  readonly further: readonly FurtherFacts[]
  /** facts of its permission, and of further permissions with only some facts stated */
  readonly missing: readonly { readonly name: string; readonly values: readonly string[]; readonly means: string }[]
}

/**
 * Reads facts that are stated about an operation. A further permission is asked about if the body must name an item of it, or one of its
 * own facts is stated: `label.board=this`. An item's fact can be stated apart from the operation's: `attachment_id:file.owner=caller`.
 * @param scope undefined: the scope table is not asked
 * @param required the members that every body of the operation has
 * @throws {ConfigError} if a fact or a value is unknown, or is not a fact of the operation
 */
export function readFacts(
  engine: Engine,
  operation: PolicyOperation,
  scope: string | undefined,
  stated: ReadonlyMap<string, readonly string[]>,
  required: readonly string[],
): StatedFacts {
  const { vocabulary } = engine
  const own = factsOf(engine, operation.permission, false)
  const further = operation.also.map((one) => {
    const { member, permission } = one
    const all = factsOf(engine, permission, false).map((fact) => ({ ...fact, key: `${member}:${fact.name}` }))
    const isStated = all.some(({ name, key }) => stated.has(key) || (stated.has(name) && !own.some((fact) => fact.name === name)))
    return { ...one, all, isAsked: isStated || required.includes(member) }
  })
  const asked = further.filter(({ isAsked }) => isAsked)
  const possible = new Set([...own.map(({ name }) => name), ...further.flatMap(({ all }) => all.flatMap(({ name, key }) => [name, key]))])
  for (const [name, values] of stated) checkFact(engine, name, values, possible, scope !== undefined)
  const valueOf = ({ name, key = name }: { name: string; key?: string }) => (stated.get(key) ?? stated.get(name))?.[0]
  const pick = (facts: readonly { name: string; key?: string }[]): Facts =>
    Object.fromEntries(facts.flatMap((fact) => (valueOf(fact) === undefined ? [] : [[fact.name, valueOf(fact)!]])))
  const missing = [...own, ...asked.flatMap(({ all }) => all)].filter((fact) => valueOf(fact) === undefined)
  return {
    facts: { ...(scope !== undefined && { [vocabulary.scopeOrder.name]: scope }), ...pick(own) },
    further: asked.map(({ all, ...one }) => ({ ...one, facts: pick(all) })),
    missing: [...new Map(missing.map((fact) => [fact.name, fact])).values()],
  }
}

/** @throws {ConfigError} if facts are missing, and the answer is not wanted for any value of them */
export function requireAny(missing: StatedFacts['missing'], any = false): void {
  if (any) return
  const lines = missing.map(({ name, values, means }) => `  ${name}=${values.join('|')}  ${means}`)
  throw new ConfigError(['facts: these are missing; state them, or add --any to see how the answer depends on them', ...lines].join('\n'))
}

function checkFact(
  { vocabulary }: Engine,
  name: string,
  values: readonly string[],
  possible: ReadonlySet<string>,
  hasScope: boolean,
): void {
  const fact = vocabulary.facts.get(name.split(':').at(-1)!)
  if (fact === undefined) throw new ConfigError(`facts: "${name}" is not a fact. ${didYouMean(name, possible) ?? listOf(possible)}`)
  if (hasScope && fact === vocabulary.scopeOrder) throw new ConfigError(`facts: ${name} is stated by --scope`)
  if (!possible.has(name)) throw new ConfigError(`facts: the operation does not depend on ${name}. ${listOf(possible)}`)
  if (values.length > 1) throw new ConfigError(`facts: ${name} is stated more than once`)
  if (!fact.values.includes(values[0]!)) throw new ConfigError(`facts: "${values[0]}" is not a value of ${name}: ${fact.values.join(', ')}`)
}

const listOf = (names: Iterable<string>): string => `It depends on ${[...names].join(', ')}.`
