import { ApiError } from '../model/errors.ts'
import { validationFailed, type ValidationIssue } from '../model/validation.ts'
import { isAskedAbout, readAskedAbout } from './access-question.ts'
import { notAnArgument } from './argument-messages.ts'
import { readValue } from './argument-values.ts'
import { readBatchItems, type BatchItemsRead } from './batch-items.ts'
import { isBatchItems } from './batch-schema.ts'
import { assumedInCalls } from './catalog.ts'
import { OFFSET } from './input-schema.ts'
import { keptNote, readOperation, type Kept } from './operation-arguments.ts'
import { argumentNames, OPERATION, schemaOf, type Callable, type CallableTool } from './callable.ts'
import type { ToolList } from './tool-list.ts'
import type { CallArguments } from './tool-request.ts'

/** The arguments of a call, as they are meant. */
export interface GivenArguments {
  readonly values: CallArguments
  /** the offset in a long answer where the part begins, in characters */
  readonly offset: number | undefined
  readonly kept: readonly Kept[]
}

/**
 * Reads the arguments of a call. What is null was left out, and what only another operation of the tool takes is ignored if it has its
 * default: clients send both without their users having said so.
 * @param userId the caller
 * @throws {ApiError} `validation_failed`, with all that is wrong with the call, and `known_arguments`
 */
export function readArguments(list: ToolList, tool: CallableTool, selected: Callable, args: CallArguments, userId: string): GivenArguments {
  let batch: BatchItemsRead | undefined
  const given = Object.entries(args).filter(([name]) => name !== OPERATION)
  const read = readOperation(selected, given, {
    userId,
    valueOf(name, schema, value, refuse) {
      if (isAskedAbout(selected.operation.id, name))
        return readAskedAbout(list, name, readValue(schema, value, { path: name, refuse }), actionOf(args), refuse)
      if (!isBatchItems(selected, name)) return readValue(schema, value, { path: name, refuse })
      batch = readBatchItems(list, value, userId, refuse)
      return batch.items
    },
    foreign: (name, value) => (saysNothing(tool, name, value) ? undefined : notAnArgument(list, tool, selected, name, args)),
    assumed: assumedInCalls[selected.operation.id] ?? {},
  })
  const { [OFFSET]: offset, ...values } = read.values
  const kept = [...read.kept, ...(batch?.kept ?? [])]
  if (read.issues.length > 0) throw refusal(selected, [...read.issues, ...read.further(), ...(batch?.further() ?? [])], kept)
  return { values, offset: offset === 0 ? undefined : (offset as number | undefined), kept }
}

/** The operation that a question is about. */
function actionOf({ action }: CallArguments): unknown {
  const read = readValue({ type: 'object' }, action, { path: '', refuse: () => {} })
  return (read as { readonly name?: unknown } | undefined)?.name
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

function refusal(selected: Callable, issues: readonly ValidationIssue[], kept: readonly Kept[]): ApiError {
  const { code, message, details } = validationFailed(issues)
  const note = keptNote(kept)
  const members = { ...details.members, known_arguments: argumentNames(selected), ...(note === undefined ? {} : { note }) }
  return new ApiError(code, { ...details, message, members })
}
