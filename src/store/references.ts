import type { Reference, Snapshot, Stored, Value } from './port.ts'

/** A placeholder of a template: it is replaced by `member` of the record with this index in the same read. */
export interface Placeholder {
  readonly index: number
  readonly member: string
}

/** Whether a reference is a template. */
export function isTemplate(reference: Reference): boolean {
  return reference.includes('{')
}

/**
 * Replaces the placeholders of a reference.
 * @param valueAt returns the known record with an index, or undefined
 * @returns the key; null if a placeholder has no text
 */
export function resolveReference(reference: Reference, valueAt: (index: number) => Value | undefined): string | null {
  let start = reference.indexOf('{')
  if (start === -1) return reference
  let key = ''
  let end = 0
  for (; start !== -1; start = reference.indexOf('{', end)) {
    const { index, member } = placeholderAt(reference, start)
    const text = valueAt(index)?.[member]
    if (typeof text !== 'string') return null
    key += reference.slice(end, start) + text
    end = reference.indexOf('}', start) + 1
  }
  return key + reference.slice(end)
}

/** The placeholders of a reference, from left to right. */
export function placeholdersOf(reference: Reference): Placeholder[] {
  const found: Placeholder[] = []
  for (let start = reference.indexOf('{'); start !== -1; start = reference.indexOf('{', start + 1))
    found.push(placeholderAt(reference, start))
  return found
}

/**
 * Resolves references in order: a template is resolved from the records before it.
 * @param get returns the record of a key; the index belongs to its reference
 */
export function resolveReferences(
  references: readonly Reference[],
  get: (key: string, index: number) => Stored | null,
): Snapshot['records'] {
  const resolved: { key: string | null; stored: Stored | null }[] = []
  const valueAt = (index: number) => resolved[index]?.stored?.value
  for (let i = 0; i < references.length; i++) {
    const key = resolveReference(references[i]!, valueAt)
    resolved.push({ key, stored: key === null ? null : get(key, i) })
  }
  return resolved
}

/** By their texts. Code writes all references, so there are few; to parse them for each read takes as long as to read their records. */
const placeholders = new Map<string, Placeholder>()

function placeholderAt(reference: Reference, start: number): Placeholder {
  const text = reference.slice(start + 1, reference.indexOf('}', start))
  let placeholder = placeholders.get(text)
  if (placeholder === undefined) {
    const dot = text.indexOf('.')
    placeholders.set(text, (placeholder = { index: Number(text.slice(0, dot)), member: text.slice(dot + 1) }))
  }
  return placeholder
}
