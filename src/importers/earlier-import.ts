import type { ImportTarget, TargetCard } from '../admin/import-target.ts'
import type { ForeignBoard } from './foreign-board.ts'

/**
 * Finds what an earlier import has made of the cards of a file, by their `external_ref`.
 * @returns by the ids of the cards in the file
 */
export function presentCards({ cards }: ForeignBoard, target: ImportTarget): Map<string, TargetCard> {
  const left = new Map(target.cards.map((card) => [card.external_ref, card]))
  const found = new Map<string, TargetCard>()
  for (const { id, ref } of cards) {
    const here = ref === null ? undefined : left.get(ref.trim())
    if (here === undefined) continue
    found.set(id, here)
    // Of several cards with one address, the first counts, as on a new board.
    left.delete(here.external_ref)
  }
  return found
}

/**
 * The comments of a file that a card lacks. A comment is known by its first line, which names its author and its time.
 * @param bodies the comments of the file, as they are imported
 * @param lines the first lines of the comments of the card
 */
export function addedComments(bodies: readonly string[], lines: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const line of lines) left.set(line, (left.get(line) ?? 0) + 1)
  return bodies.filter((body) => {
    const line = body.split('\n', 1)[0]!
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count <= 0
  })
}
