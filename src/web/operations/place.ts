import type { Board } from '../../model/board.ts'
import type { Column } from '../../model/column.ts'
import { kindOfParameter, type IdKind } from '../../model/ids.ts'
import type { Label } from '../../model/label.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { namesInPath, type Operation } from '../../resources/operation.ts'
import type { ListedCard } from '../listed-card.ts'
import type { Reader } from '../reader.ts'
import type { Field } from './fields.ts'

/** Where an operation acts: what its path names, with the card and the board of it. */
export interface Place {
  /** undefined: the workspace */
  readonly target?: { readonly kind: IdKind; readonly record: Readonly<Record<string, unknown>>; readonly revision: string | undefined }
  readonly card?: ListedCard
  readonly board?: BoardSnapshot
}

/**
 * Reads where an operation acts.
 * @throws {ApiError} `not_found`
 */
export async function readPlace(reader: Reader, { path }: Operation, params: Readonly<Record<string, string>>): Promise<Place> {
  const [name] = namesInPath(path)
  const kind = name === undefined ? undefined : kindOfParameter(name)
  if (name === undefined || kind === undefined) return {}
  // Without more of it: only then it has an ETag.
  const { data, revision } = await reader.read(`${kind}s.read`, { [name]: params[name]! })
  const record = data as Readonly<Record<string, unknown>>
  const target = { kind, record, revision }
  const cardId = (kind === 'card' ? record['id'] : record['card_id']) as string | undefined
  // Something around the target can be gone, or hidden from the person: a file can have been on such a board.
  const card = cardId === undefined ? undefined : await reader.find<ListedCard>('cards.read', { card_id: cardId }, { include: 'claim' })
  const boardId = (kind === 'board' ? record['id'] : (record['board_id'] ?? card?.board_id)) as string | undefined
  const around = { include: 'columns,labels' }
  const board = boardId === undefined ? undefined : await reader.find<BoardSnapshot>('boards.read', { board_id: boardId }, around)
  return { target, ...(card !== undefined && { card }), ...(board !== undefined && { board }) }
}

/** The choices of a field: ids with their names. */
export type Choices = readonly (readonly [id: string, name: string])[]

/** What is called by its name or title. */
type Named = Readonly<Record<'id' | 'name' | 'title' | 'user_id' | 'display_name', string>>

/** Items that a choice offers at most. */
const OFFERED = '100'

/** Whether what there is to choose from for a field is searched: a board can have any number of cards. */
export const isSearched = ({ of }: Field): boolean => of === 'card'

/**
 * What there is to choose from for a field; undefined: an id has to be written.
 * @param q the words that a card has; '': all
 */
export async function readChoices(
  reader: Reader,
  operation: Operation,
  { of, name }: Field,
  place: Place,
  q: string,
): Promise<Choices | undefined> {
  const { board, card } = place
  if (of === 'column') return board?.columns?.map(({ id, name: text }: Column) => [id, text] as const)
  if (of === 'label') return board?.labels?.map(({ id, name: text }: Label) => [id, text] as const)
  const [list, params] =
    of === 'user' && operation.needs[1] === 'Card' && board !== undefined
      ? (['boards.assignable', { board_id: board.id }] as const)
      : of === 'user'
        ? (['members.list', {}] as const)
        : of === 'card' && board !== undefined
          ? (['cards.list', { board_id: board.id }] as const)
          : (of === 'attachment' || of === 'subtask') && card !== undefined
            ? ([`${of}s.list`, { card_id: card.id }] as const)
            : []
  if (list === undefined) return undefined
  const { data } = await reader.read(list, params, { limit: OFFERED, ...(of === 'card' && q !== '' && { q }) })
  const items = (data as readonly Named[]).map((one) => [one.id ?? one.user_id, one.name ?? one.title ?? one.display_name] as const)
  return name === 'blocker_id' ? items.filter(([id]) => id !== card?.id) : items
}

/**
 * The page that a place is on.
 * @param base the path of the workspace
 */
export function pathOf(
  base: string,
  { card, board }: { readonly card?: { readonly id: string }; readonly board?: Pick<Board, 'id'> },
): string {
  if (card !== undefined) return `${base}/cards/${card.id}`
  return board === undefined ? '/app' : `${base}/boards/${board.id}`
}
