import { positionAfter, positionsOfNewList } from '../listing/ranks.ts'
import type { Board, BoardMember } from '../model/board.ts'
import type { Card } from '../model/card.ts'
import type { Column } from '../model/column.ts'
import type { Comment } from '../model/comment.ts'
import { newId } from '../model/ids.ts'
import type { Label } from '../model/label.ts'
import { limits } from '../model/limits.ts'
import type { Subtask } from '../model/subtask.ts'
import { timestamp } from '../model/time.ts'
import { keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import type { BoardLine } from './board-lines.ts'
import { AdminError, type AdminDeps } from './deps.ts'
import { readRecord } from './import-records.ts'

/** A record with its key. */
export type BoardRecord = readonly [key: string, value: Value]

type Line<Name extends string> = Extract<BoardLine, { [name in Name]: unknown }>[Name]

/** Makes records from the lines of a board, with new ids. */
export class BoardRecords {
  readonly #deps: AdminDeps
  readonly #boardId: string
  readonly #userId: string
  readonly #now: number
  readonly #columns: { readonly id: string; readonly archived: boolean; last: string | undefined }[] = []
  readonly #labels: string[] = []
  #board: Board | undefined
  #cardId: string | undefined
  #lastColumn: string | undefined
  #activeCards = 0

  /** @param userId the creator of everything, except of comments */
  constructor(deps: AdminDeps, boardId: string, userId: string) {
    this.#deps = deps
    this.#boardId = boardId
    this.#userId = userId
    this.#now = deps.clock()
  }

  /** The board itself. It is not among the records of its line: it is written last. @throws {AdminError} `invalid` if there was none */
  get board(): Board {
    if (this.#board === undefined) throw new AdminError('invalid', 'the lines have no board')
    return this.#board
  }

  /** @throws {AdminError} `invalid` if the line refers to what is not there, or goes beyond a limit */
  of(line: BoardLine): readonly BoardRecord[] {
    const records = this.#recordsOf(line)
    return records.map(([key, value]) => [key, readRecord(key, { ...value })])
  }

  #recordsOf(line: BoardLine): readonly (readonly [string, object])[] {
    if ('board' in line) return this.#addBoard(line.board)
    if ('joins' in line) return this.#memberOf(line.joins)
    if ('label' in line) return this.#labelOf(line.label)
    if ('column' in line) return this.#columnOf(line.column)
    if ('card' in line) return this.#cardOf(line.card)
    if ('comment' in line) return this.#commentOf(line.comment)
    return []
  }

  #addBoard(board: Line<'board'>): [] {
    this.#board = { id: this.#boardId, ...board, creator_id: this.#userId, ...this.#times() }
    readRecord(keys.board(this.#boardId), { ...this.#board })
    return []
  }

  #memberOf(user_id: string): [[string, BoardMember]] {
    const { created_at } = this.board
    return [
      [keys.boardMember(this.#boardId, user_id), { board_id: this.#boardId, user_id, board_created_at: created_at, added_at: created_at }],
    ]
  }

  #labelOf(label: Line<'label'>): [[string, Label]] {
    requireLimit(this.#labels.length, 'labelsPerBoard')
    const id = newId('label', this.#deps.random)
    this.#labels.push(id)
    // Labels are listed by the time of their creation.
    return [[keys.label(id), { id, board_id: this.#boardId, ...label, ...this.#times(this.#labels.length - limits.labelsPerBoard) }]]
  }

  #columnOf({ name, archived }: Line<'column'>): [[string, Column]] {
    if (!archived) requireLimit(this.#columns.filter((column) => !column.archived).length, 'columnsPerBoard')
    const id = newId('column', this.#deps.random)
    this.#columns.push({ id, archived, last: undefined })
    const position = (this.#lastColumn = positionAfter(this.#lastColumn))
    const archived_at = archived ? timestamp(() => this.#now) : null
    return [[keys.column(id), { id, board_id: this.#boardId, name, position, wip_limit: null, archived_at, ...this.#times() }]]
  }

  #cardOf({ column, labels, assignees, subtasks, ...card }: Line<'card'>): [string, Card | Subtask][] {
    const parent = this.#columns[column]
    if (parent === undefined) throw new AdminError('invalid', `there is no column ${column}`)
    if (!parent.archived && card.archived_at === null) requireLimit(this.#activeCards++, 'cardsPerBoard')
    const id = (this.#cardId = newId('card', this.#deps.random))
    const label_ids = labels.map((label) => {
      if (this.#labels[label] === undefined) throw new AdminError('invalid', `there is no label ${label}`)
      return this.#labels[label]
    })
    const position = (parent.last = positionAfter(parent.last))
    const record: Card = {
      id,
      board_id: this.#boardId,
      column_id: parent.id,
      ...card,
      completed_by_id: null,
      position,
      assignee_ids: assignees,
      label_ids,
      blocker_ids: [],
      cover_attachment_id: null,
      creator_id: this.#userId,
    }
    const positions = positionsOfNewList(subtasks.length)
    return [[keys.card(id), record], ...subtasks.map((subtask, i) => this.#subtaskOf(id, subtask, positions[i]!))]
  }

  #subtaskOf(card_id: string, { title, completed }: Line<'card'>['subtasks'][number], position: string): [string, Subtask] {
    const id = newId('subtask', this.#deps.random)
    const completed_at = completed ? timestamp(() => this.#now) : null
    return [keys.subtask(id), { id, card_id, title, completed_at, position, ...this.#times() }]
  }

  #commentOf({ author, body, created_at }: Line<'comment'>): [[string, Comment]] {
    if (this.#cardId === undefined) throw new AdminError('invalid', 'a comment comes before the first card')
    const id = newId('comment', this.#deps.random)
    return [[keys.comment(id), { id, card_id: this.#cardId, author_id: author, body, created_at, updated_at: created_at }]]
  }

  /** @param offset in milliseconds */
  #times(offset = 0): { created_at: string; updated_at: string } {
    const time = timestamp(() => this.#now + offset)
    return { created_at: time, updated_at: time }
  }
}

function requireLimit(count: number, name: 'labelsPerBoard' | 'columnsPerBoard' | 'cardsPerBoard'): void {
  if (count >= limits[name]) throw new AdminError('invalid', `the board has too much: ${name} is ${limits[name]}`)
}
