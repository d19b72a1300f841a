import { BEGINNING, cut, LONGEST, RESERVE } from './fitting-answer.ts'

type Board = Readonly<Record<string, unknown>>

const CUT = `Where truncated is true, only the first ${BEGINNING} characters of a text are there: boards.read and cards.read have the whole.`

/**
 * Makes the snapshot of a board fit. A resource cannot be read in parts, so long texts have only their beginning, and then the longest
 * list has only its first items. A `note` says so.
 * @param text its JSON
 * @returns the JSON of a snapshot that is no longer than any answer
 */
export function fitSnapshot(text: string): string {
  if (text.length <= LONGEST) return text
  const whole = cut(JSON.parse(text)) as Board
  let board = whole
  for (;;) {
    const excess = JSON.stringify(board).length - (LONGEST - RESERVE)
    const lists = listsOf(board).map(([name, items]) => ({ name, items, length: lengthOf(items) }))
    const [longest] = lists.toSorted((a, b) => b.length - a.length)
    if (excess <= 0 || longest === undefined) break
    const { name, items } = longest
    const { [`${name}_cursor`]: _, ...others } = board
    // A cursor that follows the last item of the whole list would leave out others.
    board = { ...others, [name]: withoutLast(items, excess) }
  }
  const left = listsOf(whole).flatMap(([name, all]) => {
    const { length } = board[name] as readonly unknown[]
    return length === all.length ? [] : [`${name} has only its first ${length} items`]
  })
  const rest = left.length === 0 ? '' : ` ${left.join(', ')}: the tools find_cards, read_boards and read_account_and_members list all.`
  return JSON.stringify({ ...board, note: `${CUT}${rest}` })
}

/** The lists that have items. */
function listsOf(board: Board): (readonly [string, readonly unknown[]])[] {
  return Object.entries(board).flatMap(([name, value]) => (Array.isArray(value) && value.length > 0 ? [[name, value] as const] : []))
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value).length
}

/** A list without as many of its last items as have so many characters; if it is shorter, without any. */
function withoutLast(items: readonly unknown[], excess: number): readonly unknown[] {
  let count = items.length
  for (let removed = 0; removed < excess && count > 0;) removed += lengthOf(items[--count]) + 1
  return items.slice(0, count)
}
