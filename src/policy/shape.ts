import { z } from 'zod'
import { didYouMean, PolicyError, type PolicyDiagnostic } from './diagnostic.ts'
import type { Path, Source } from './source.ts'

/** Words that stand in generated tables and in answers: one line. */
export const sentence = z.string().regex(/^\S[^\n]*$/, 'a sentence in one line')

/**
 * Reads a policy file into a shape that knows all of its keys.
 * @param keys all keys that the shape has anywhere, for the "did you mean"
 * @throws {PolicyError} with the place of every member that does not fit
 */
export function readShape<Shape extends z.ZodType>(source: Source, schema: Shape, keys: readonly string[]): z.output<Shape> {
  const result = schema.safeParse(source.data)
  if (result.success) return result.data
  throw new PolicyError(result.error.issues.flatMap((issue) => explain(source, issue, keys)))
}

function explain(source: Source, issue: z.core.$ZodIssue, keys: readonly string[]): PolicyDiagnostic[] {
  const at = issue.path as Path
  const rule = ruleAt(source.data, at)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      source.diagnostic([...at, key], `unknown key "${key}"`, {
        rule,
        on: 'key',
        hint: didYouMean(key, keys) ?? 'remove it: what is not understood is not ignored',
      }),
    )
  }
  if (valueAt(source.data, at) === undefined)
    return [
      source.diagnostic(at.slice(0, -1), `"${String(at.at(-1))}" is missing`, {
        rule,
        hint: 'it must be stated: nothing is meant by leaving it out',
      }),
    ]
  return [source.diagnostic(at, `"${String(at.at(-1))}": ${issue.message}`, { rule })]
}

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
