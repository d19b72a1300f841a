import type { BoardAccess } from '../../authz/context.ts'
import { notFound } from '../../model/errors.ts'
import { isActive, type Membership } from '../../model/workspace.ts'
import { keys, type Key } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { NamedByQuery, OperationRequest } from '../operation.ts'
import { boardReads, identityOf, withBoard, type OnBoard } from '../targets.ts'
import { indexedIds, type CardFilter } from './filter.ts'
import { NONE } from './schema.ts'

// Records that the filters of cards name. An absent, hidden or foreign one is 404 with `parameter`: an empty list would be mistaken for an
// answer (src/http/README.md, "Filters and reports").

/** A filter that names a record. */
interface Named<T> {
  readonly parameter: string
  readonly key: Key<T>
}

function named<T>(parameter: string, ids: Ids, keyOf: (id: string) => Key<T>): readonly Named<T>[] {
  return [ids ?? []].flat().flatMap((id) => (id === NONE ? [] : [{ parameter, key: keyOf(id) }]))
}

/** The filters that name something, with an id or with several. */
type Naming = { readonly [name in 'column_id' | 'label_id' | 'blocker_id' | 'assignee_id' | 'completed_by']?: Ids }
type Ids = string | readonly string[] | undefined

/** The filters that name columns, labels and a blocker. */
function partsNamedBy({ column_id, label_id, blocker_id }: Naming): readonly Named<OnBoard>[] {
  return [
    ...named<OnBoard>('column_id', column_id, keys.column),
    ...named<OnBoard>('label_id', label_id, keys.label),
    ...named<OnBoard>('blocker_id', blocker_id, keys.card),
  ]
}

/** The parts that each card which matches belongs to, so that it is on their board. A card without a label belongs to none. */
export function partsOfEachCard(filter: Naming): readonly Named<OnBoard>[] {
  return partsNamedBy({ ...filter, label_id: indexedIds([filter.label_id ?? []].flat()) })
}

function usersNamedBy(filter: Naming): readonly Named<Membership>[] {
  return [...named('assignee_id', filter.assignee_id, keys.membership), ...named('completed_by', filter.completed_by, keys.membership)]
}

/**
 * Checks what the filters of a list of one board name: columns and labels of this board, and active members of the workspace. A member
 * without access to the board is assigned to none of its cards.
 * @throws {ApiError} `not_found`
 */
export async function requireNamed(tx: Transaction, { id }: BoardAccess, filter: Naming): Promise<void> {
  const [parts, users] = [partsNamedBy(filter), usersNamedBy(filter)]
  if (parts.length + users.length === 0) return
  await tx.read([...parts.map(({ key }) => identityOf(key)), ...users.map(({ key }) => key)])
  for (const { parameter, key } of parts) if (tx.known(key)?.board_id !== id) throw notFound(parameter)
  for (const { parameter, key } of users) if (!isActive(tx.known(key))) throw notFound(parameter)
}

/**
 * What the filters of a search name: a board, columns, labels and a card of any board, and active members of the workspace. Nothing is on
 * two boards, so what is not on the board of the others is answered like what is absent.
 */
export async function namedInSearch({ tx, caller, query }: OperationRequest<CardFilter>): Promise<NamedByQuery[]> {
  const [boards, parts, users] = [named('board_id', query.board_id, keys.board), partsNamedBy(query), usersNamedBy(query)]
  if (boards.length + parts.length + users.length === 0) return []
  await tx.read([
    ...parts.flatMap(({ key }) => withBoard(identityOf(key), caller.userId)),
    ...(query.board_id === undefined ? [] : boardReads(query.board_id, caller.userId)),
    ...users.map(({ key }) => key),
  ])
  const contextOf = (boardId: string | undefined): NamedByQuery['context'] => {
    const board = boardId === undefined ? undefined : tx.known(keys.board(boardId))
    return board && { board, boardMember: tx.known(keys.boardMember(board.id, caller.userId)) }
  }
  const boardIds = parts.map(({ key }) => tx.known(key)?.board_id)
  const common = query.board_id ?? boardIds[0]
  return [
    ...boards.map(({ parameter }) => ({ parameter, context: contextOf(query.board_id) })),
    ...parts.map(({ parameter }, i) => ({ parameter, context: boardIds[i] === common ? contextOf(common) : undefined })),
    // A former member is answered like an absent one. Nothing about a member depends on a board.
    ...users.flatMap(({ parameter, key }) => (isActive(tx.known(key)) ? [] : [{ parameter, context: undefined }])),
  ]
}
