import type { Board } from '../model/board.ts'
import type { ForeignBoard } from './foreign-board.ts'
import { ImportPlan, type Destination, type PlannedLine } from './plan.ts'
import type { ImportReport, ReportLine } from './report.ts'

/** What an import has created, or would create, and what it does not carry. */
export interface ImportResult {
  readonly dry_run: boolean
  /** null in a dry run */
  readonly board_id: string | null
  readonly name: string
  readonly visibility: Board['visibility']
  readonly columns: number
  readonly cards: number
  /** how many cards of an earlier import were brought up to date */
  readonly updated: number
  readonly labels: number
  readonly subtasks: number
  readonly comments: number
  readonly attachments: number
  readonly board_members: number
  readonly not_carried: readonly ReportLine[]
}

/** The lines that import a board. What they create is counted while they are made. */
export class PlannedImport {
  readonly #plan: ImportPlan
  readonly #target: Destination['target']
  readonly #report: ImportReport
  #head = { name: '', visibility: 'private' as Board['visibility'], board_members: 0 }
  readonly #made = new Map<string, number>()
  #files = 0

  /** @throws {AdminError} `invalid` if the board has more than a board can have */
  constructor(board: ForeignBoard, to: Destination, report: ImportReport) {
    this.#plan = new ImportPlan(board, to, report)
    this.#target = to.target
    this.#report = report
  }

  *lines(): Generator<PlannedLine> {
    for (const line of this.#plan.lines()) {
      if ('board' in line) {
        const { name, visibility, members } = line.board
        this.#head = { name, visibility, board_members: members.length }
      } else if ('path' in line) this.#files++
      else if ('operation' in line) this.#made.set(line.operation, (this.#made.get(line.operation) ?? 0) + 1)
      yield line
    }
  }

  /**
   * The result, after all lines were made.
   * @param boardId undefined: a dry run
   */
  resultOf(boardId?: string): ImportResult {
    const made = (kind: string) => this.#made.get(`${kind}.create`) ?? 0
    const { name, visibility } = this.#target ?? this.#head
    return {
      dry_run: boardId === undefined,
      board_id: boardId ?? null,
      name,
      visibility,
      columns: made('columns'),
      cards: made('cards'),
      updated: this.#plan.updated,
      labels: made('labels'),
      subtasks: made('subtasks'),
      comments: made('comments'),
      attachments: this.#files,
      board_members: this.#head.board_members,
      not_carried: this.#report.lines,
    }
  }
}
