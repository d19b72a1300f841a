import type { Stored, Value } from '../port.ts'

/** A record as Redis stores it: its revision, a space, and JSON. */
export function encodeStored(revision: string, value: Value): string {
  return `${revision} ${JSON.stringify(value)}`
}

export function decodeStored(text: string | null): Stored | null {
  if (text === null) return null
  const space = text.indexOf(' ')
  return { revision: text.slice(0, space), value: JSON.parse(text.slice(space + 1)) as Value }
}
