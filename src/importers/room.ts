import { AdminError } from '../admin/deps.ts'
import { limits } from '../model/limits.ts'
import type { ForeignBoard } from './foreign-board.ts'
import { groupBy } from './input.ts'

/**
 * What is written must not exceed the limits of a board, and must end: nothing is written of a file that is beyond them.
 * @param members how many explicit members the board gets
 * @throws {AdminError} `invalid`
 */
export function requireRoom(board: ForeignBoard, members: number): void {
  const { columns, cards, labels } = board
  const active = new Set(columns.flatMap(({ id, archived }) => (archived ? [] : id)))
  const open = cards.filter(({ archived }) => !archived)
  const inArchived = groupBy(open, ({ column }) => (active.has(column) ? '' : column))
  inArchived.delete('')
  const counts: readonly [number, limit: keyof typeof limits & `${string}Per${string}`, what: string][] = [
    [active.size, 'columnsPerBoard', 'lists that are not archived'],
    [open.filter(({ column }) => active.has(column)).length, 'cardsPerBoard', 'cards that are not archived'],
    [
      Math.max(0, ...Array.from(inArchived.values(), (own) => own.length)),
      'cardsPerBoard',
      'cards of an archived list that are not archived themselves',
    ],
    [cards.length, 'cardsPerImport', 'cards, archived ones included'],
    [labels.length, 'labelsPerBoard', 'labels'],
    [members, 'membersPerBoard', 'members'],
  ]
  const over = counts.filter(([count, limit]) => count > limits[limit])
  if (over.length === 0) return
  const parts = over.map(([count, limit, what]) => `${count} ${what} (at most ${limits[limit]})`)
  throw new AdminError('invalid', `the file has more than a board can have: ${parts.join(', ')}; nothing was imported`)
}
