import { didYouMean } from '../policy/diagnostic.ts'
import { argumentNames, schemaOf, type Callable, type CallableTool } from './callable.ts'
import type { ToolList } from './tool-list.ts'
import type { CallArguments } from './tool-request.ts'

/** Says what a missing argument is. */
export function missingArgument(callable: Callable, name: string): string {
  const { description } = schemaOf(callable, name) ?? {}
  const meaning = typeof description === 'string' ? description.replace(/\.$/, '') : `the id of the ${name.replace(/_id$/, '')}`
  return `is missing: ${meaning}`
}

/** Says that an operation has no argument of this name, and which one does. */
export function notAnArgument(list: ToolList, tool: CallableTool, selected: Callable, name: string, args: CallArguments): string {
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
    Object.keys(other.arguments.path).every((parameter) => args[parameter] !== undefined) &&
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
