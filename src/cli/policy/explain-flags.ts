import type { StoredQuestion } from '../../admin/deps.ts'
import { ConfigError } from '../../config.ts'
import { scopes } from '../../model/token.ts'
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

/**
 * Reads what a question about stored resources names beside the resource.
 * @throws {ConfigError}
 */
export function readNamed({ with: ids, fields }: Pick<ExplainFlags, 'with' | 'fields'>): Pick<StoredQuestion, 'named' | 'fields'> {
  const list = splitList(fields)
  return { named: Object.fromEntries(readPairs('with', ids)), fields: list.length > 0 ? list : undefined }
}

/** Reads a list with commas. */
export function splitList(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
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

/** @throws {ConfigError} */
export function readServiceScope(text: string | undefined): string {
  return readScope(['none', ...scopes], text)
}
