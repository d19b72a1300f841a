import { issuesOf, issuesOfInput } from '../http/input.ts'
import { ApiError } from '../model/errors.ts'
import { validationFailed, type ValidationIssue } from '../model/validation.ts'
import { missingArgument, notAnArgument } from './argument-messages.ts'
import { readValue } from './argument-values.ts'
import { readBatchItems } from './batch-items.ts'
import { isBatchItems } from './batch-schema.ts'
import { assumedInCalls } from './catalog.ts'
import { OFFSET } from './input-schema.ts'
import { clearingValue } from './listed-schema.ts'
import { textFile } from './text-file.ts'
import { argumentNames, OPERATION, schemaOf, type Callable, type CallableTool } from './callable.ts'
import type { ToolList } from './tool-list.ts'
import { argumentIssue, partsOf, type CallArguments } from './tool-request.ts'

/** The arguments of a call, as they are meant. */
export interface GivenArguments {
  readonly values: CallArguments
  /** the offset in a long answer where the part begins, in characters */
  readonly offset: number | undefined
  /** the names of arguments that could be cleared and were given as null: they are kept unchanged */
  readonly kept: readonly string[]
}

/** Characters of a name that an error repeats. */
const LONGEST_NAME = 100

/**
 * Reads the arguments of a call. What is null was left out, and what only another operation of the tool takes is ignored if it has its
 * default: clients send both without their users having said so.
 * @param userId the caller
 * @throws {ApiError} `validation_failed`, with all that is wrong with the call, and `known_arguments`
 */
export function readArguments(list: ToolList, tool: CallableTool, selected: Callable, args: CallArguments, userId: string): GivenArguments {
  const issues: ValidationIssue[] = []
  const refuse = (path: string, message: string): void => void issues.push({ in: 'body', path, message })
  const { id, method } = selected.operation
  const values = new Map<string, unknown>(Object.entries(assumedInCalls[id] ?? {}))
  const kept: string[] = []
  for (const [name, value] of Object.entries(args)) {
    const schema = schemaOf(selected, name)
    if (name === OPERATION || (schema === undefined && saysNothing(tool, name, value))) continue
    if (schema === undefined) {
      refuse(name.slice(0, LONGEST_NAME), notAnArgument(list, tool, selected, name, args))
      continue
    }
    const read = isBatchItems(selected, name)
      ? readBatchItems(list, value, userId, refuse)
      : readValue(schema, value, { path: name, refuse })
    if (read !== undefined) values.set(name, read)
    else if (value === null && method === 'PATCH' && clearingValue(schema) !== undefined) kept.push(name)
    const message = read === undefined ? undefined : argumentIssue(name, read)
    if (message !== undefined) refuse(name, message)
  }
  const missing = selected.arguments.required.filter((name) => !values.has(name))
  issues.unshift(...missing.map((path): ValidationIssue => ({ in: 'body', path, message: missingArgument(selected, path) })))
  const offset = values.get(OFFSET) as number | undefined
  values.delete(OFFSET)
  const meant = Object.fromEntries(values)
  if (issues.length > 0) throw refusal(selected, [...issues, ...furtherIssues(selected, meant, issues, userId)])
  return { values: meant, offset: offset === 0 ? undefined : offset, kept }
}

/** Whether an argument that the operation does not take says nothing: it is null, or has the default of another operation of the tool. */
function saysNothing({ callables }: CallableTool, name: string, value: unknown): boolean {
  if (value === null) return true
  return callables.some((other) => {
    const schema = schemaOf(other, name)
    if (schema?.['default'] === undefined) return false
    return JSON.stringify(readValue(schema, value, { path: name, refuse: () => {} })) === JSON.stringify(schema['default'])
  })
}

/** What the API would say of the other arguments. */
function furtherIssues(
  selected: Callable,
  meant: CallArguments,
  found: readonly ValidationIssue[],
  userId: string,
): readonly ValidationIssue[] {
  const { operation, uploadsText } = selected
  const { params, search, members } = partsOf(selected, meant)
  const further = uploadsText
    ? issuesOf(textFile.safeParse(members).error ?? { issues: [] }, 'body')
    : issuesOfInput(operation, params, userId, search, operation.body && members)
  return further.filter(({ path }) => !found.some((one) => one.path === path || one.path.startsWith(`${path}.`)))
}

function refusal(selected: Callable, issues: readonly ValidationIssue[]): ApiError {
  const { code, message, details } = validationFailed(issues)
  return new ApiError(code, { ...details, message, members: { ...details.members, known_arguments: argumentNames(selected) } })
}
