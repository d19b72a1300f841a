import { z } from 'zod'
import { didYouMean, PolicyError, type PolicyDiagnostic } from './diagnostic.ts'
import type { Path, Source } from './source.ts'

/** Text that is shown in generated tables and in API responses: one line. */
export const singleLine = z.string().regex(/^\S[^\n]*$/, 'must be one line of text')

/**
 * Validates a policy file against a schema that lists all of its keys.
 * @param keys all keys of the schema on every level, for suggestions
 * @throws {PolicyError} with the position of every member that does not fit
 */
export function readShape<Shape extends z.ZodType>(source: Source, schema: Shape, keys: readonly string[]): z.output<Shape> {
  const result = schema.safeParse(source.data)
  if (result.success) return result.data
  throw new PolicyError(result.error.issues.flatMap((issue) => toDiagnostics(source, issue, keys)))
}

function toDiagnostics(source: Source, issue: z.core.$ZodIssue, keys: readonly string[]): PolicyDiagnostic[] {
  const at = issue.path as Path
  const rule = ruleAt(source.data, at)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      source.diagnostic([...at, key], `unknown key "${key}"`, {
        rule,
        on: 'key',
        suggestion: didYouMean(key, keys) ?? 'remove it: unknown keys are refused',
      }),
    )
  }
  if (valueAt(source.data, at) === undefined)
    return [
      source.diagnostic(at.slice(0, -1), `"${String(at.at(-1))}" is missing`, { rule, suggestion: 'state it: there is no default value' }),
    ]
  return [source.diagnostic(at, `"${String(at.at(-1))}": ${issue.message}`, { rule })]
}

/** The id of the rule that contains a position. */
function ruleAt(data: unknown, at: Path): string | undefined {
  const id = at[0] === 'rules' && at.length > 1 ? valueAt(data, ['rules', at[1]!, 'id']) : undefined
  return typeof id === 'string' ? id : undefined
}

function valueAt(data: unknown, at: Path): unknown {
  let value = data
  for (const step of at) {
    if (value === null || typeof value !== 'object') return undefined
    value = (value as Record<string | number, unknown>)[step]
  }
  return value
}
