import type { ImportReport } from './report.ts'

/** A board of another program, before it is fitted to the limits of this one. */
export interface ForeignBoard {
  readonly name: string
  readonly description: string
  /** whether only its members have access to it */
  readonly isPrivate: boolean
  readonly people: readonly ForeignPerson[]
  readonly labels: readonly { readonly id: string; readonly name: string; readonly color: string }[]
  /** in their order */
  readonly columns: readonly ForeignColumn[]
  /** in the order of their column */
  readonly cards: readonly ForeignCard[]
  /** the source of a pattern of the addresses of its cards, whose only group is `linkKey` */
  readonly cardAddress?: string
}

/** What a file is read with. */
export interface ReaderOptions {
  /** pairs of a column of a CSV file and what it is */
  readonly map?: readonly string[] | undefined
  /** the name of the file, without its extension */
  readonly fileName?: string | undefined
}

/** A user of the other program. */
export interface ForeignPerson {
  readonly id: string
  readonly name: string
  readonly username: string | null
  /** whether they are a member of the board */
  readonly onBoard: boolean
}

/** A list of another program. */
export interface ForeignColumn {
  readonly id: string
  readonly name: string
  readonly archived: boolean
  /** whether a card that comes into it is done */
  readonly completes: boolean
  /** how many cards it may have, or null */
  readonly wipLimit: number | null
}

/** A card of another program. Times are as they are stored here; null: unknown. Undefined: the file has no place for it. */
export interface ForeignCard {
  readonly id: string
  readonly column: string
  readonly title: string
  readonly description: string | undefined
  /** what it has that there is no place for here */
  readonly fields: readonly { readonly name: string; readonly value: string }[]
  /** what identifies it for people elsewhere: its address, if that is known */
  readonly ref: string | null
  /** what its address has of it; null: unknown */
  readonly linkKey: string | null
  readonly dueAt: string | null | undefined
  readonly completed: boolean | undefined
  /** whether it was completed without success */
  readonly failed?: boolean
  readonly completedAt: string | null
  readonly archived: boolean
  readonly archivedAt: string | null
  readonly createdAt: string | null
  /** the id of who has created it; null: unknown */
  readonly createdBy: string | null
  readonly updatedAt: string | null
  /** the ids of its labels; some may not exist */
  readonly labels: readonly string[]
  /** the ids of its assignees; some may not exist */
  readonly assignees: readonly string[]
  readonly subtasks: readonly { readonly title: string; readonly completed: boolean }[]
  readonly attachments: readonly ForeignAttachment[]
  /** oldest first */
  readonly comments: readonly ForeignComment[]
}

/** An attachment of another program. */
export interface ForeignAttachment {
  readonly id: string
  readonly name: string
  /** its http or https address, or null */
  readonly url: string | null
  /** whether it is a file that the other program stores */
  readonly isUpload: boolean
}

/** A comment of another program. */
export interface ForeignComment {
  /** the id of its author; null: unknown */
  readonly author: string | null
  readonly text: string
  /** null: unknown */
  readonly writtenAt: string | null
}

/** A checklist of another program. */
export interface ForeignChecklist {
  readonly name: string
  /** false: the program has given it its name */
  readonly isNamed: boolean
  readonly items: readonly { readonly name: string; readonly completed: boolean; readonly hasDetails: boolean }[]
}

/** The items of the checklists of a card. If there are several, the name of each begins its items. */
export function subtasksOf(card: string, checklists: readonly ForeignChecklist[], report: ImportReport): ForeignCard['subtasks'] {
  return checklists.flatMap(({ name, isNamed, items }) => {
    if (checklists.length === 1 && isNamed) report.add('checklist_names', `${card}: ${name}`)
    return items.map((item) => {
      if (item.hasDetails) report.add('subtask_details', `${card}: ${item.name}`)
      return { title: checklists.length > 1 ? `${name}: ${item.name}` : item.name, completed: item.completed }
    })
  })
}

/** An attachment, whose address is left out unless it is of http or https. */
export function attachmentOf(
  id: string,
  name: string | null | undefined,
  url: string | null | undefined,
  isUpload: boolean,
): ForeignAttachment {
  const address = /^https?:\/\//i.test(url ?? '') ? url! : null
  return { id, name: name || address || 'Attachment', url: address, isUpload }
}

/** Comments in the order in which they were written. Comments of the same time keep their order. Comments without a time come last. */
export function inTimeOrder(comments: readonly ForeignComment[]): ForeignComment[] {
  const timeOf = ({ writtenAt }: ForeignComment) => writtenAt ?? '9999'
  return comments.toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : Number(timeOf(a) > timeOf(b))))
}
