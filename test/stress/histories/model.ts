/**
 * The service as one would explain it on paper: plain arrays, no storage, no policy engine, no ranks. It says
 * what each step must be answered and what there is afterwards.
 */
export type Outcome = 'ok' | 403 | 404 | 409 | 422

export interface ModelCard {
  id: string
  title: string
  archived: boolean
  done: boolean
  assignees: string[]
  labels: string[]
  subtasks: { id: string; title: string }[]
  comments: { id: string; author: string; body: string }[]
  attachments: { id: string; file: string; image: boolean }[]
  cover: string | null
}

export interface ModelColumn {
  id: string
  archived: boolean
  cards: ModelCard[]
}

export interface ModelBoard {
  id: string
  creator: string
  private: boolean
  members: string[]
  labels: string[]
  columns: ModelColumn[]
}

export interface ModelFile {
  owner: string
  private: boolean
}

/** What there is, and what may be done with it. */
export class Model {
  readonly people = new Set<string>()
  readonly boards: ModelBoard[] = []
  readonly files = new Map<string, ModelFile>()

  sees(person: string, board: ModelBoard): boolean {
    return this.people.has(person) && (!board.private || board.creator === person || board.members.includes(person))
  }

  uses(person: string, file: string): boolean {
    const found = this.files.get(file)
    return found !== undefined && (found.owner === person || !found.private)
  }

  /** What someone is answered who asks for something that only the creator may. */
  creatorOnly(person: string, board: ModelBoard | undefined): Outcome {
    if (board === undefined || !this.sees(person, board)) return 404
    return board.creator === person ? 'ok' : 403
  }

  access(person: string, board: ModelBoard | undefined): Outcome {
    return board !== undefined && this.sees(person, board) ? 'ok' : 404
  }

  boardOf(cardId: string): ModelBoard | undefined {
    return this.boards.find((board) => board.columns.some((column) => column.cards.some(({ id }) => id === cardId)))
  }

  /** Nobody stays assigned who does not see the board. */
  unassign(board: ModelBoard): void {
    for (const column of board.columns)
      for (const card of column.cards) card.assignees = card.assignees.filter((person) => this.sees(person, board))
  }

  leave(person: string): void {
    this.people.delete(person)
    for (const board of this.boards) {
      board.members = board.members.filter((member) => member !== person)
      this.unassign(board)
    }
  }
}

/** Takes an element out of a list and puts it next to another, or to an end. */
export function reposition<T extends { id: string }>(list: T[], element: T, place: { before?: string; after?: string; to?: string }): void {
  const from = list.indexOf(element)
  if (from !== -1) list.splice(from, 1)
  const anchor = place.before ?? place.after
  const at =
    anchor === undefined
      ? place.to === 'first'
        ? 0
        : list.length
      : list.findIndex(({ id }) => id === anchor) + (place.after === undefined ? 0 : 1)
  list.splice(at, 0, element)
}
