import type { JsonSchema } from '../http/openapi/types.ts'
import { argumentNames, listedArgument, OPERATION, schemaOf, type Callable } from './callable.ts'
import { clearingValue } from './listed-schema.ts'
import { mergeSchemas } from './merged-schema.ts'

// An item of a batch has an operation and its arguments side by side, as they are in a call of its own. The API takes them in `params` and
// `body`: an object of any members, which several clients refuse to send to a model.

/** Arguments of a call that an item cannot have. */
export const OF_CALL: ReadonlySet<string> = new Set(['dry_run', 'idempotency_key'])

/** Whether an argument is the list of the items of a batch. */
export function isBatchItems({ operation }: Callable, name: string): boolean {
  return operation.id === 'boards.batch' && name === 'operations'
}

/**
 * The list of the items, as the list of tools states it: the other tools describe the arguments.
 * @param callables what a batch may have
 */
export function batchSchema(callables: readonly Callable[]): JsonSchema {
  const schemas = new Map<string, JsonSchema[]>()
  for (const one of callables)
    for (const name of argumentNames(one))
      // The batch names the board.
      if (!OF_CALL.has(name) && name !== 'board_id') schemas.set(name, [...(schemas.get(name) ?? []), listedArgument(one, name)])
  const clearing = (name: string) => {
    const values = callables.map((one) => clearingValue(schemaOf(one, name) ?? {}))
    const value = values.find((one) => one !== undefined)
    return value === undefined ? {} : { description: `${JSON.stringify(value)} clears it; null keeps it.` }
  }
  const listed = [...schemas].map(([name, all]) => [name, { ...undescribed(mergeSchemas(all, false)), ...clearing(name) }] as const)
  const properties = { [OPERATION]: { type: 'string' }, ...Object.fromEntries(listed) }
  return { type: 'array', items: { type: 'object', properties, required: [OPERATION], additionalProperties: false } }
}

const SAID_ELSEWHERE = new Set(['description', 'minimum', 'maximum'])

/** A schema without what another tool says of it. */
function undescribed(listed: JsonSchema): JsonSchema {
  const schema = Object.fromEntries(Object.entries(listed).filter(([keyword]) => !SAID_ELSEWHERE.has(keyword)))
  const { items } = schema
  return items === undefined ? schema : { ...schema, items: undescribed(items as JsonSchema) }
}
