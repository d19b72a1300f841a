import { LRUCache } from 'lru-cache'
import type { Reference, Snapshot } from '../port.ts'
import { placeholdersOf, resolveReference, resolveReferences } from '../references.ts'

/** How many records the ids of their parents are remembered of. */
const REMEMBERED = 100_000

/**
 * Guesses the keys of templates, so that Redis needs no script to resolve them: a card never moves to another board, for
 * example. A guess is only used to read. Whether it was right is checked with the records that were read.
 */
export class ParentKeyCache {
  /** `partition key` → the members that templates have taken from that record */
  readonly #members = new LRUCache<string, Record<string, string>>({ maxSize: REMEMBERED, sizeCalculation: () => 1 })

  /** @returns the keys of all references; undefined if one of them cannot be guessed */
  guess(partition: string, references: readonly Reference[]): string[] | undefined {
    const keys: string[] = []
    for (const reference of references) {
      const key = resolveReference(reference, ({ index, member }) => this.#members.get(`${partition} ${keys[index]}`)?.[member])
      if (key === null) return undefined
      keys.push(key)
    }
    return keys
  }

  /** Remembers the members of the records that the templates of a read were resolved with. */
  learn(partition: string, references: readonly Reference[], records: Snapshot['records']): void {
    for (const reference of references)
      for (const { index, member } of placeholdersOf(reference)) {
        const { key, stored } = records[index]!
        const text = stored?.value[member]
        if (typeof text !== 'string') continue
        const name = `${partition} ${key}`
        const known = this.#members.get(name)
        if (known === undefined) this.#members.set(name, { [member]: text })
        else known[member] = text
      }
  }
}

/**
 * Checks guessed keys with the records that were read.
 * @returns the records with the keys that the templates really have; undefined if a guess was wrong
 */
export function confirmGuess(references: readonly Reference[], read: Snapshot['records']): Snapshot['records'] | undefined {
  let isRight = true
  const records = resolveReferences(references, (key, i) => {
    isRight &&= key === read[i]!.key
    return isRight ? read[i]!.stored : null
  })
  return isRight ? records : undefined
}
