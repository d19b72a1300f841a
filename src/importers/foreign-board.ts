/** A board of another program, before it is fitted to what is accepted here. */
export interface ForeignBoard {
  readonly name: string
  readonly description: string
  /** whether only its members have access to it */
  readonly isPrivate: boolean
  readonly people: readonly ForeignPerson[]
  readonly labels: readonly { readonly id: string; readonly name: string; readonly color: string }[]
  /** in their order */
  readonly columns: readonly { readonly id: string; readonly name: string; readonly archived: boolean }[]
  /** in the order of their column */
  readonly cards: readonly ForeignCard[]
}

/** A user of the other program. */
export interface ForeignPerson {
  readonly id: string
  readonly name: string
  readonly username: string | null
  /** whether they are a member of the board */
  readonly onBoard: boolean
}

/** A card of another program. Times are as they are stored here. */
export interface ForeignCard {
  readonly column: string
  readonly title: string
  readonly description: string
  readonly dueAt: string | null
  readonly completedAt: string | null
  readonly archivedAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
  /** the ids of its labels; some may not exist */
  readonly labels: readonly string[]
  /** the ids of its assignees; some may not exist */
  readonly assignees: readonly string[]
  readonly subtasks: readonly { readonly title: string; readonly completed: boolean }[]
  readonly links: readonly { readonly name: string; readonly url: string }[]
  /** oldest first */
  readonly comments: readonly ForeignComment[]
}

/** A comment of another program. */
export interface ForeignComment {
  /** the id of its author; null: unknown */
  readonly author: string | null
  readonly text: string
  readonly writtenAt: string
}
