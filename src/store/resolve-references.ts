import type { Reference, Snapshot, Stored } from './port.ts'

const PLACE = /\{(\d+)\.([a-z_]+)\}/g

/** Reads references in their order, each template filled from the records before it. */
export function resolveReferences(references: readonly Reference[], recordAt: (key: string) => Stored | null): Snapshot['records'] {
  const found: { key: string | null; stored: Stored | null }[] = []
  for (const reference of references) {
    const key = reference.includes('{') ? fill(reference, found) : reference
    found.push({ key, stored: key === null ? null : recordAt(key) })
  }
  return found
}

function fill(template: string, found: Snapshot['records']): string | null {
  let led = true
  const key = template.replace(PLACE, (_place, index: string, member: string) => {
    const value = found[Number(index)]?.stored?.value[member]
    if (typeof value === 'string') return value
    led = false
    return ''
  })
  return led ? key : null
}
