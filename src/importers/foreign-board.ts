import { hasAtMost, withoutInvisible } from '../model/text.ts'
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
}

/** A card of another program. Times are as they are stored here. */
export interface ForeignCard {
  readonly id: string
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

/** Fits texts to the limits, and reports what this changes. */
export class TextFitter {
  readonly #report: ImportReport

  constructor(report: ImportReport) {
    this.#report = report
  }

  /**
   * One line of up to `max` characters.
   * @param where names the text in the report
   * @param fallback if the text has no visible character
   */
  line(text: string, max: number, where: string, fallback: string): string {
    const clean = this.#clean(text, /\p{Cc}/gu, ' ', where).trim()
    if (/[^\s\p{Cf}]/u.test(clean)) return this.#cut(clean, max, where).trimEnd()
    this.#report.add('texts_blank', where)
    return fallback
  }

  /** A name of up to `max` characters: a line without invisible ones. */
  name(text: string, max: number, where: string, fallback: string): string {
    const visible = withoutInvisible(text)
    if (visible !== text) this.#report.add('characters_replaced', where)
    return this.line(visible, max, where, fallback)
  }

  /** Text of several lines with up to `max` characters. */
  prose(text: string, max: number, where: string): string {
    return this.#cut(this.#clean(text, /(?![\t\n\r])\p{Cc}/gu, '', where), max, where)
  }

  #clean(text: string, refused: RegExp, replacement: string, where: string): string {
    const clean = text.toWellFormed().replace(refused, replacement)
    if (clean !== text) this.#report.add('characters_replaced', where)
    return clean
  }

  #cut(text: string, max: number, where: string): string {
    if (hasAtMost(max, text.slice(0, 2 * max + 1))) return text
    this.#report.add('texts_shortened', where)
    // A character has up to two code units.
    return Array.from(text.slice(0, 2 * max))
      .slice(0, max)
      .join('')
      .toWellFormed()
  }
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

/** The attachments of a card that have an address. */
export function linksOf(
  card: string,
  attachments: readonly { readonly name?: string | null | undefined; readonly url?: string | null | undefined }[],
  report: ImportReport,
): ForeignCard['links'] {
  return attachments.flatMap(({ name, url }) => {
    if (/^https?:\/\//i.test(url ?? '')) return { name: name || url!, url: url! }
    report.add('attachments_without_link', `${card}: ${name ?? ''}`)
    return []
  })
}

/** Comments in the order in which they were written. Comments of the same time keep their order. */
export function inTimeOrder(comments: readonly ForeignComment[]): ForeignComment[] {
  return comments.toSorted((a, b) => (a.writtenAt < b.writtenAt ? -1 : Number(a.writtenAt > b.writtenAt)))
}
