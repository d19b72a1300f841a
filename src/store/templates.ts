import type { Snapshot, Stored, Template, Value } from './port.ts'

/** A template of no key. */
export const NO_RECORD: Template = []

/**
 * Replaces the placeholders of a template.
 * @param valueAt returns the known record with an index, or undefined
 * @returns the key; null if a placeholder has no text, or the template no parts
 */
export function resolveTemplate(template: Template, valueAt: (index: number) => Value | undefined): string | null {
  if (typeof template === 'string') return template
  if (template.length === 0) return null
  let key = ''
  for (const part of template) {
    const text = typeof part === 'string' ? part : valueAt(part.index)?.[part.member]
    if (typeof text !== 'string') return null
    key += text
  }
  return key
}

/**
 * Resolves keys and templates in order: a template is resolved from the records before it.
 * @param get returns the record of a key; the index belongs to its template
 */
export function resolveTemplates(templates: readonly Template[], get: (key: string, index: number) => Stored | null): Snapshot['records'] {
  const resolved: { key: string | null; stored: Stored | null }[] = []
  const valueAt = (index: number) => resolved[index]?.stored?.value
  for (let i = 0; i < templates.length; i++) {
    const key = resolveTemplate(templates[i]!, valueAt)
    resolved.push({ key, stored: key === null ? null : get(key, i) })
  }
  return resolved
}
