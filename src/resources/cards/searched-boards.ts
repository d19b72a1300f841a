import type { BoardAccess } from '../../authz/context.ts'
import type { BoardMember } from '../../model/board.ts'
import { entriesOfWord, indexes, lastWord, type Index } from '../../store/indexes.ts'
import type { Key } from '../../store/keys.ts'
import type { RangeRequest } from '../../store/reads.ts'
import { firstPage } from '../../store/reads.ts'
import type { OperationRequest } from '../operation.ts'
import { boardReads, identityOf } from '../targets.ts'
import type { CardFilter } from './filter.ts'
import { partsOfEachCard } from './named.ts'

/** A board that is searched, with the facts that decide about its cards. */
export interface SearchedBoard {
  readonly board: BoardAccess
  readonly boardMember: BoardMember | undefined
}

/** The number of boards that are asked at once whether they have cards. */
const BOARDS_AT_ONCE = 100
const ENTRIES = { weak: true, entriesOnly: true } as const

/** The place of a board among the boards of a search: by their creation. */
export function placeOfBoard({ board }: SearchedBoard): string {
  return `${board.created_at} ${board.id}`
}

/**
 * The boards of a search. The policy decides about each before anything on it is read, so that neither the cards of a hidden
 * board nor their number have an effect. The relevant records are validated with each further read.
 */
export class SearchedBoards {
  readonly #request: Pick<OperationRequest, 'tx' | 'caller' | 'holds'>
  /** undefined for a board that is absent or hidden */
  readonly #boards = new Map<string, SearchedBoard | undefined>()

  constructor(request: Pick<OperationRequest, 'tx' | 'caller' | 'holds'>) {
    this.#request = request
  }

  /** A board that was loaded; undefined if it is absent or hidden. */
  get(boardId: string): SearchedBoard | undefined {
    return this.#boards.get(boardId)
  }

  /**
   * Loads boards.
   * @param further records to read with them
   * @returns those records
   */
  async load<T = never>(boardIds: readonly string[], further: readonly Key<T>[] = []): Promise<readonly (T | undefined)[]> {
    const { tx, caller } = this.#request
    const missing = [...new Set(boardIds)].filter((id) => !this.#boards.has(id))
    const records = await tx.read([...missing.flatMap((id) => boardReads(id, caller.userId)), ...further])
    for (const [i, id] of missing.entries())
      this.#decide(id, records[2 * i] as BoardAccess | undefined, records[2 * i + 1] as BoardMember | undefined)
    return records.slice(2 * missing.length) as (T | undefined)[]
  }

  /** All boards that the caller can read, by their creation. */
  async readable(): Promise<SearchedBoard[]> {
    const { tx, caller } = this.#request
    const both = [indexes.workspaceBoards(), indexes.boardsOf(caller.userId)]
    await tx.prefetch({ ranges: both.map((index) => firstPage(index, ENTRIES)) })
    const entries = new Set<string>()
    for (const index of both) for (const entry of (await tx.all(index, ENTRIES)).entries) entries.add(entry)
    const ids = [...entries].toSorted().map(lastWord)
    await this.load(ids)
    return ids.flatMap((id) => this.get(id) ?? [])
  }

  /** The boards that a search can find cards on: all that the caller can read, or the one that its filters name. */
  async of(filter: CardFilter): Promise<SearchedBoard[]> {
    const { board_id } = filter
    const parts = partsOfEachCard(filter)
    const found = parts.length === 0 ? [] : await this.#request.tx.read(parts.map(({ key }) => identityOf(key)))
    const named = new Set([...(board_id === undefined ? [] : [board_id]), ...found.map((part) => part?.board_id)])
    if (named.size === 0) return this.readable()
    // All that the filters name is on one board.
    const [id] = named
    if (id === undefined) return []
    await this.load([id])
    return [this.get(id) ?? []].flat()
  }

  /** Those boards that have cards, or cards that a user is assigned to. */
  async withCards(boards: readonly SearchedBoard[], assigneeId: string | undefined): Promise<SearchedBoard[]> {
    const found: SearchedBoard[] = []
    for (let i = 0; i < boards.length; i += BOARDS_AT_ONCE) {
      const part = boards.slice(i, i + BOARDS_AT_ONCE)
      const { ranges } = await this.#request.tx.load({ ranges: part.map(({ board }) => firstCard(board.id, assigneeId)) })
      found.push(...part.filter((_board, n) => ranges[n]!.entries.length > 0))
    }
    return found
  }

  #decide(id: string, board: BoardAccess | undefined, boardMember: BoardMember | undefined): void {
    const searched = board && { board, boardMember }
    this.#boards.set(id, searched && this.#request.holds('board.access', searched) ? searched : undefined)
  }
}

function firstCard(boardId: string, assigneeId: string | undefined): RangeRequest & { readonly index: Index<unknown> } {
  const options = { limit: 1, ...ENTRIES }
  if (assigneeId === undefined) return { index: indexes.boardCards(boardId), options }
  return { index: indexes.boardAssignments(boardId), options: { ...options, ...entriesOfWord(assigneeId) } }
}
