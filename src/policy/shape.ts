import { z } from 'zod'
import { didYouMean, PolicyError, type PolicyDiagnostic } from './diagnostic.ts'
import type { Path, Report, Source } from './source.ts'

/** Text that is shown in generated tables and in API responses: one line. */
export const singleLine = z.string().regex(/^\S[^\n]*$/, 'must be one line of text')

/**
 * Reads a policy file: its members by a schema that lists all keys, and then what no schema can say.
 * @param read is called if the schema fits. What it returns is not used if it has reported anything.
 * @throws {PolicyError} with the position of every member that does not fit
 */
export function readShape<Shape extends z.ZodType, Result>(
  source: Source,
  schema: Shape,
  read: (data: z.output<Shape>, report: Report) => Result,
): Result {
  // The message about unknown keys is the list of the known ones, for suggestions.
  const known = ({ code, inst }: z.core.$ZodRawIssue) =>
    code === 'unrecognized_keys' ? Object.keys((inst as unknown as z.ZodObject).shape).join() : undefined
  const { data, error } = schema.safeParse(source.data, { error: known })
  if (error !== undefined) throw new PolicyError(error.issues.flatMap((issue) => toDiagnostics(source, issue)))
  const diagnostics: PolicyDiagnostic[] = []
  const result = read(data as z.output<Shape>, (at, message, suggestion, on) => {
    diagnostics.push(source.diagnostic(at, message, { suggestion, on, rule: ruleAt(source.data, at) }))
  })
  if (diagnostics.length > 0) throw new PolicyError(diagnostics)
  return result
}

/** Reports a value that a fact does not have. */
export function checkValue(
  value: unknown,
  fact: { readonly name: string; readonly values: readonly string[] },
  at: Path,
  report: Report,
): void {
  const [text, { name, values }] = [String(value), fact]
  if (typeof value !== 'string' || !values.includes(value))
    report(at, `"${text}" is not a value of ${name}`, didYouMean(text, values) ?? `one of ${values.join(', ')}`)
}

function toDiagnostics(source: Source, issue: z.core.$ZodIssue): PolicyDiagnostic[] {
  const at = issue.path as Path
  const rule = ruleAt(source.data, at)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      source.diagnostic([...at, key], `unknown key "${key}"`, {
        rule,
        on: 'key',
        suggestion: didYouMean(key, issue.message.split(',')) ?? 'remove it: unknown keys are refused',
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
