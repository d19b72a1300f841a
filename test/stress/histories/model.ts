/** A simple model of the service: plain arrays, without storage, policy engine or ranks. */

/** The expected outcome of a request: success, or the status of its error. */
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
  readonly owner: string
  visibility: 'workspace' | 'board' | 'private'
  /** the id of the board that it was uploaded to */
  readonly home: string | null
}

/** The state of a workspace, and its rules. */
export class Model {
  readonly people = new Set<string>()
  readonly boards: ModelBoard[] = []
  readonly files = new Map<string, ModelFile>()

  canSee(person: string, board: ModelBoard): boolean {
    return this.people.has(person) && (!board.private || board.creator === person || board.members.includes(person))
  }

  canUse(person: string, fileId: string): boolean {
    const file = this.files.get(fileId)
    if (file === undefined || file.owner === person || file.visibility === 'workspace') return file !== undefined
    const home = this.boards.find(({ id }) => id === file.home)
    return file.visibility === 'board' && home !== undefined && this.canSee(person, home)
  }

  /** Removes assignees who can no longer see the board. */
  removeInvisibleAssignees(board: ModelBoard): void {
    for (const column of board.columns)
      for (const card of column.cards) card.assignees = card.assignees.filter((person) => this.canSee(person, board))
  }

  leave(person: string): void {
    this.people.delete(person)
    for (const file of this.files.values()) if (file.owner === person && file.visibility === 'private') file.visibility = 'board'
    for (const board of this.boards) {
      board.members = board.members.filter((member) => member !== person)
      this.removeInvisibleAssignees(board)
    }
  }
}

/** Moves or inserts an element: next to another one, to the beginning, or by default to the end. */
export function reposition<T extends { id: string }>(
  list: T[],
  element: T,
  destination: { before?: string; after?: string; to?: string },
): void {
  const from = list.indexOf(element)
  if (from !== -1) list.splice(from, 1)
  const neighbour = destination.before ?? destination.after
  if (neighbour === undefined) return void list.splice(destination.to === 'first' ? 0 : list.length, 0, element)
  const position = list.findIndex(({ id }) => id === neighbour) + (destination.after === undefined ? 0 : 1)
  list.splice(position, 0, element)
}
