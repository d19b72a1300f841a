import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { Value } from '../store/port.ts'
import { AdminError } from './deps.ts'
import { kinds, type RecordReference } from './record-kinds.ts'

/** The first word of a key, and what follows its colon. */
function partsOf(key: string): [kind: string, rest: string] {
  const colon = key.indexOf(':')
  return [key.slice(0, colon), key.slice(colon + 1)]
}

/** Whether a record has a kind that is there. */
export function isIn(place: keyof typeof kinds, key: string): boolean {
  return Object.hasOwn(kinds[place], partsOf(key)[0])
}

/**
 * Validates a record.
 * @returns the same record
 * @throws {AdminError} `invalid`
 */
export function readRecord(place: keyof typeof kinds, key: string, value: Value): Value {
  const [kind, rest] = partsOf(key)
  if (!isIn(place, key)) throw new AdminError('invalid', `unknown kind of record "${kind}"`)
  const { schema, isKey } = kinds[place][kind]!
  const result = parse(key, schema, value)
  if (!result.success) throw new AdminError('invalid', `${key}: ${describe(result.error)}`)
  if (!isKey(key, result.data, rest)) throw new AdminError('invalid', `${key} is not the key of its record`)
  // Text that the schemas would trim, for example.
  if (!isDeepStrictEqual(result.data, value)) throw new AdminError('invalid', `${key}: it has a value that is never stored in this form`)
  return value
}

/** @throws {AdminError} `invalid` if the value is nested so deep that validating it overflows the stack: none that is stored is */
function parse(key: string, recordSchema: z.ZodType, value: Value): z.ZodSafeParseResult<unknown> {
  try {
    return recordSchema.safeParse(value)
  } catch (error) {
    if (error instanceof RangeError) throw new AdminError('invalid', `${key}: it is nested too deeply`)
    throw error
  }
}

function describe({ issues: [issue] }: z.ZodError): string {
  return [issue!.path.join('.'), issue!.message].filter((part) => part !== '').join(': ')
}

/** The records that a valid stored record refers to. */
export function referencesOf(place: keyof typeof kinds, key: string, value: Value): readonly RecordReference[] {
  const [kind, rest] = partsOf(key)
  return kinds[place][kind]!.references(value, rest).filter((reference) => reference !== undefined)
}

/** Whether a record is what a reference to it needs, apart from tombstones. */
export function isMet({ absent = false, members = {}, matches = () => true }: RecordReference, value: Value | undefined): boolean {
  if (absent || value === undefined) return absent && value === undefined
  return Object.entries(members).every(([name, expected]) => value[name] === expected) && matches(value)
}
