import { validationFailed, type ValidationIssue } from '../http/error-mapping.ts'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { didYouMean } from '../policy/diagnostic.ts'
import type { CallArguments } from './tool-request.ts'
import { argumentNames, OPERATION, type Callable, type CallableTool, type ToolList } from './tool-list.ts'

/**
 * Checks that a call has the arguments of its operation, and no others. Their values are checked by the pipeline.
 * @throws {ApiError} `validation_failed`, with `known_arguments`
 */
export function requireArguments(list: ToolList, tool: CallableTool, selected: Callable, args: CallArguments): void {
  const known = argumentNames(selected)
  const missing = selected.arguments.required.filter((name) => args[name] === undefined)
  const unknown = Object.keys(args).filter((name) => name !== OPERATION && !known.includes(name))
  if (missing.length + unknown.length === 0) return
  const issues = [
    ...missing.map((path): ValidationIssue => ({ in: 'body', path, message: `is missing: ${meaningOf(selected, path)}` })),
    ...unknown
      .slice(0, limits.issues)
      .map((path): ValidationIssue => ({ in: 'body', path, message: notAnArgument(list, tool, selected, path, args) })),
  ]
  const { code, message, details } = validationFailed(issues, missing.length + unknown.length)
  throw new ApiError(code, { ...details, message, members: { ...details.members, known_arguments: known } })
}

function meaningOf({ arguments: { query, body } }: Callable, name: string): string {
  const { description } = query[name] ?? body[name] ?? {}
  return typeof description === 'string' ? description.replace(/\.$/, '') : `the id of the ${name.replace(/_id$/, '')}`
}

function notAnArgument(list: ToolList, tool: CallableTool, selected: Callable, name: string, args: CallArguments): string {
  const takers = takersOf(list, tool, selected, name, args)
  const hint = takers.length > 0 ? `${takers.join(', ')} takes it` : suggestion(name, argumentNames(selected))
  return `is not an argument of ${selected.operation.id}${hint === undefined ? '' : ` (${hint})`}`
}

/** The operations on the same resource that take an argument: the client has chosen the wrong one. */
function takersOf(list: ToolList, tool: CallableTool, { operation }: Callable, name: string, args: CallArguments): string[] {
  const [resource] = operation.id.split('.')
  const isLike = (other: Callable) =>
    other.operation.id.startsWith(`${resource}.`) &&
    other.operation.isRead === operation.isRead &&
    other.arguments.path.every((parameter) => args[parameter] !== undefined) &&
    argumentNames(other).includes(name)
  return list.all.flatMap((one) =>
    one.callables.filter(isLike).map((other) => `${other.operation.id}${one === tool ? '' : ` of ${one.name}`}`),
  )
}

/** No name is longer. To compare a much longer one would take long. */
const LONGEST = 100

/** Which of these names a client may have meant; undefined if none is near. */
export function suggestion(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST) return undefined
  const longer = known.find((one) => one.startsWith(`${name}_`))
  return longer === undefined ? didYouMean(name, known) : `did you mean "${longer}"?`
}
