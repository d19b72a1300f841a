import { issuesOf, issuesOfInput } from '../http/input.ts'
import type { JsonSchema } from '../http/openapi/types.ts'
import { limits } from '../model/limits.ts'
import type { Refuse, ValidationIssue } from '../model/validation.ts'
import { missingArgument } from './argument-messages.ts'
import { schemaOf, type Callable } from './callable.ts'
import { clearingValue } from './listed-schema.ts'
import { textFile } from './text-file.ts'
import { argumentIssue, partsOf, type CallArguments } from './tool-request.ts'

// One way of reading the arguments of an operation, from a call and from an item of a batch.

/** An argument that could be cleared and was given as null: it is kept unchanged. */
export interface Kept {
  readonly path: string
  /** what clears it */
  readonly clearing: 'none' | 0
}

/** What differs between a call and an item of a batch. */
export interface ReadingRules {
  /** the caller, whom `me` stands for */
  readonly userId: string
  /** the value of an argument; undefined if it has none */
  readonly valueOf: (name: string, schema: JsonSchema, value: unknown, refuse: Refuse) => unknown
  /** what is wrong with an argument that the operation does not take; undefined if it is ignored */
  readonly foreign: (name: string, value: unknown) => string | undefined
  /** arguments that have these values unless they are given */
  readonly assumed: CallArguments
  /** a required argument that is known without being given */
  readonly known?: string
}

/** The arguments of an operation, as they are meant. */
export interface OperationArgumentsRead {
  readonly values: CallArguments
  readonly kept: readonly Kept[]
  readonly issues: readonly ValidationIssue[]
  /** what the API would say of the arguments that have no issue yet */
  readonly further: () => readonly ValidationIssue[]
}

/** Characters of a name that an error repeats. */
const LONGEST_NAME = 100

/**
 * Reads the arguments of an operation. What is null was left out. An argument that is given twice must have one value.
 * @param given their names and values, as the client sent them
 */
export function readOperation(
  callable: Callable,
  given: readonly (readonly [name: string, value: unknown])[],
  { userId, valueOf, foreign, assumed, known }: ReadingRules,
): OperationArgumentsRead {
  const issues: ValidationIssue[] = []
  const paths = new Set<string>()
  const refuse: Refuse = (path, message) => {
    if (!paths.has(path)) issues.push({ in: 'body', path, message })
    paths.add(path)
  }
  const values = new Map<string, unknown>()
  const nulls = new Map<string, Kept['clearing']>()
  for (const [name, value] of given) {
    const schema = schemaOf(callable, name)
    if (schema === undefined) {
      // Only the first issues are shown. To look for what was meant by each of thousands would take long.
      const message = issues.length < limits.issues ? foreign(name, value) : 'is not an argument'
      if (message !== undefined) refuse(name.slice(0, LONGEST_NAME), message)
      continue
    }
    const clearing = clearingValue(schema)
    const read = valueOf(name, schema, value, refuse)
    if (read === undefined) {
      if (value === null && callable.operation.method === 'PATCH' && clearing !== undefined) nulls.set(name, clearing)
      continue
    }
    if (values.has(name) && JSON.stringify(values.get(name)) !== JSON.stringify(read)) refuse(name, 'is given twice, with different values')
    values.set(name, read)
    const message = argumentIssue(name, read)
    if (message !== undefined) refuse(name, message)
  }
  const missing = callable.arguments.required.filter((name) => !values.has(name) && assumed[name] === undefined && name !== known)
  issues.unshift(...missing.map((path): ValidationIssue => ({ in: 'body', path, message: missingArgument(callable, path) })))
  const meant = { ...assumed, ...Object.fromEntries(values) }
  const kept = [...nulls].filter(([name]) => !values.has(name)).map(([path, clearing]) => ({ path, clearing }))
  return { values: meant, kept, issues, further: () => furtherIssues(callable, meant, issues, userId) }
}

/** What the API would say of the other arguments. */
function furtherIssues(
  callable: Callable,
  meant: CallArguments,
  found: readonly ValidationIssue[],
  userId: string,
): readonly ValidationIssue[] {
  if (found.length >= limits.issues) return []
  const { operation, uploadsText } = callable
  const { params, search, members } = partsOf(callable, meant)
  const further = uploadsText
    ? issuesOf(textFile.safeParse(members).error ?? { issues: [] }, 'body')
    : issuesOfInput(operation, params, userId, search, operation.body && members)
  return further.filter(({ path }) => !found.some((one) => one.path === path || one.path.startsWith(`${path}.`)))
}

/** Arguments that a note names. */
const MOST_NAMED = 10

/** Says which arguments null has kept, and what clears them; undefined if there are none. */
export function keptNote(kept: readonly Kept[]): string | undefined {
  const sentences = (['none', 0] as const).flatMap((clearing) => {
    const paths = kept.filter((one) => one.clearing === clearing).map(({ path }) => path)
    if (paths.length === 0) return []
    const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : ''
    const [are, them] = paths.length === 1 ? ['which is', 'it'] : ['which are', 'them']
    return `Null was given for ${paths.slice(0, MOST_NAMED).join(', ')}${more}, ${are} kept: ${JSON.stringify(clearing)} clears ${them}.`
  })
  return sentences.length === 0 ? undefined : sentences.join(' ')
}
