import type { BoardLine } from '../admin/board-lines.ts'
import { AdminError } from '../admin/deps.ts'
import type { Board } from '../model/board.ts'
import { limits } from '../model/limits.ts'
import { hasAtMost } from '../model/text.ts'
import type { ForeignBoard, ForeignCard, ForeignPerson } from './foreign-board.ts'
import { nameOf, type MemberMatcher } from './members.ts'
import type { ImportReport, Loss } from './report.ts'
import { TextFitter } from './text.ts'

/** The part of a description that links of attachments may take. */
const MAX_LINKS = 10_000

/** Where a board is imported to. */
export interface Destination {
  /** the user who imports it: its creator, and the author of comments whose author is not in the workspace */
  readonly userId: string
  /** by default as in the other program */
  readonly visibility: Board['visibility'] | undefined
  readonly members: MemberMatcher
  /** the present time */
  readonly now: string
}

type Line<Name extends string> = Extract<BoardLine, { [name in Name]: unknown }>[Name]

/** Fits a board of another program to what is accepted here, and reports what it cannot carry. */
export class ImportPlan {
  readonly #board: ForeignBoard
  readonly #to: Destination
  readonly #report: ImportReport
  readonly #fit: TextFitter
  readonly #people: ReadonlyMap<string, ForeignPerson>
  readonly #visibility: Board['visibility']
  /** the explicit members of a private board */
  readonly #members: ReadonlySet<string>
  /** the numbers of the labels that are imported, by their ids */
  readonly #labels: ReadonlyMap<string, number>

  constructor(board: ForeignBoard, to: Destination, report: ImportReport) {
    this.#board = board
    this.#to = to
    this.#report = report
    this.#fit = new TextFitter(report)
    this.#people = new Map(board.people.map((person) => [person.id, person]))
    this.#visibility = to.visibility ?? (board.isPrivate ? 'private' : 'workspace')
    this.#members = this.#visibility === 'private' ? this.#explicitMembers() : new Set()
    this.#labels = new Map(board.labels.map(({ id }, i) => [id, i]))
    this.#requireRoom()
  }

  /** The lines of the board, in the order of `board-lines.ts`. */
  *lines(): Generator<BoardLine> {
    let count = 0
    for (const line of this.#content()) {
      count++
      yield line
    }
    yield { end: count }
  }

  *#content(): Generator<BoardLine> {
    const { name, description, labels } = this.#board
    yield {
      board: {
        name: this.#fit.name(name, limits.boardName, 'the name of the board', 'Imported board'),
        description: this.#fit.prose(description, limits.boardDescription, 'the description of the board'),
        cover_color: null,
        visibility: this.#visibility,
      },
    }
    for (const joins of this.#members) yield { joins }
    for (const label of labels)
      yield { label: { name: this.#fit.name(label.name, limits.labelName, `label: ${label.name}`, 'Label'), color: label.color } }
    for (const { name, archived } of this.#board.columns)
      yield { column: { name: this.#fit.name(name, limits.columnName, `list: ${name}`, 'Untitled'), archived } }
    const byColumn = new Map(this.#board.columns.map(({ id }, i) => [id, { index: i, cards: [] as ForeignCard[] }]))
    for (const card of this.#board.cards) byColumn.get(card.column)?.cards.push(card)
    for (const { index, cards } of byColumn.values()) {
      for (const card of cards) {
        yield { card: this.#card(card, index) }
        for (const comment of this.#comments(card)) yield { comment }
      }
    }
  }

  /**
   * What is written must not exceed the limits of a board, and must end: nothing is written of a file that is beyond them.
   * @throws {AdminError} `invalid`
   */
  #requireRoom(): void {
    const { columns, cards, labels } = this.#board
    const active = new Set(columns.flatMap(({ id, archived }) => (archived ? [] : id)))
    const counts: readonly [number, limit: keyof typeof limits & `${string}Per${string}`, what: string][] = [
      [active.size, 'columnsPerBoard', 'lists that are not archived'],
      [
        cards.filter(({ column, archivedAt }) => archivedAt === null && active.has(column)).length,
        'cardsPerBoard',
        'cards that are not archived',
      ],
      [cards.length, 'cardsPerImport', 'cards, archived ones included'],
      [labels.length, 'labelsPerBoard', 'labels'],
      [this.#members.size, 'membersPerBoard', 'members'],
    ]
    const over = counts.filter(([count, limit]) => count > limits[limit])
    if (over.length === 0) return
    const parts = over.map(([count, limit, what]) => `${count} ${what} (at most ${limits[limit]})`)
    throw new AdminError('invalid', `the file has more than a board can have: ${parts.join(', ')}; nothing was imported`)
  }

  #card(card: ForeignCard, column: number): Line<'card'> {
    const { title } = card
    return {
      column,
      title: this.#fit.line(title, limits.cardTitle, `card: ${title}`, 'Untitled'),
      description: this.#description(card),
      due_at: card.dueAt,
      completed_at: card.completedAt,
      archived_at: card.archivedAt,
      labels: this.#labelsOf(card),
      assignees: this.#assigneesOf(card),
      subtasks: this.#first(card.subtasks, limits.subtasksPerCard, 'subtasks_left_out', (subtask) => `${title}: ${subtask.title}`).map(
        (subtask) => ({
          title: this.#fit.line(subtask.title, limits.subtaskTitle, `subtask of ${title}: ${subtask.title}`, 'Untitled'),
          completed: subtask.completed,
        }),
      ),
      created_at: card.createdAt,
      updated_at: card.updatedAt,
    }
  }

  /** The description, and the links of the attachments. */
  #description({ title, description, links }: ForeignCard): string {
    let list = ''
    for (const { name, url } of links) {
      const item = this.#fit.prose(`\n- ${linkTo(name, url)}`, MAX_LINKS + 1, `attachment of ${title}: ${name}`)
      if (list.length + item.length <= MAX_LINKS) list += item
      else this.#report.add('attachments_left_out', `${title}: ${name}`)
    }
    const block = list === '' ? '' : `Attachments:${list}`
    const separator = list !== '' && description !== '' ? '\n\n' : ''
    return (
      this.#fit.prose(description, limits.cardDescription - separator.length - block.length, `description of ${title}`) + separator + block
    )
  }

  #labelsOf({ title, labels }: ForeignCard): number[] {
    const found = [...new Set(labels)].flatMap((id) => {
      const index = this.#labels.get(id)
      if (index !== undefined) return index
      this.#report.add('labels_unknown', title)
      return []
    })
    return this.#first(found, limits.labelsPerCard, 'labels_left_out', () => title)
  }

  #assigneesOf({ title, assignees }: ForeignCard): string[] {
    const found = assignees.flatMap((id) => {
      const user = this.#to.members.find(id)
      // On a private board, only its members can be assigned.
      if (user !== undefined && (this.#visibility === 'workspace' || user === this.#to.userId || this.#members.has(user))) return user
      const person = this.#people.get(id)
      this.#report.add('assignments_unmatched', `${title}: ${person === undefined ? id : nameOf(person)}`)
      return []
    })
    return this.#first([...new Set(found)], limits.assigneesPerCard, 'assignees_left_out', () => title)
  }

  #comments({ title, comments }: ForeignCard): Line<'comment'>[] {
    const written = comments.filter(({ text }) => /[^\s\p{Cc}\p{Cf}]/u.test(text))
    this.#report.add('comments_blank', title, comments.length - written.length)
    const excess = Math.max(written.length - limits.commentsPerCard, 0)
    this.#report.add('comments_left_out', title, excess)
    let last = ''
    return written.slice(excess).map(({ author, text, writtenAt }) => {
      // Comments are listed by their time, so no two have the same.
      last = writtenAt > last ? writtenAt : new Date(Date.parse(last) + 1).toISOString()
      const user = author === null ? undefined : this.#to.members.find(author)
      const body = user === undefined ? `${this.#headingOf(author, writtenAt)}\n\n${text}` : text
      if (user === undefined) this.#report.add('comments_by_others', body)
      return {
        author: user ?? this.#to.userId,
        body: this.#fit.prose(body, limits.commentBody, `comment on ${title}: ${text}`),
        created_at: last,
      }
    })
  }

  #headingOf(author: string | null, writtenAt: string): string {
    const person = author === null ? undefined : this.#people.get(author)
    const name = person === undefined ? 'an unknown person' : nameOf(person)
    return `${this.#fit.line(name, 2 * limits.displayName, `author: ${name}`, 'an unknown person')}, ${writtenAt.slice(0, 16).replace('T', ' ')} UTC:`
  }

  /** The members of the board, and those who are assigned to its cards. */
  #explicitMembers(): Set<string> {
    const assigned = this.#board.cards.flatMap(({ assignees }) => assignees)
    const onBoard = this.#board.people.filter((person) => person.onBoard).map(({ id }) => id)
    const users = new Set([...onBoard, ...assigned].flatMap((id) => this.#to.members.find(id) ?? []))
    users.delete(this.#to.userId)
    return users
  }

  /** The items up to a limit. The others are reported. */
  #first<T>(items: readonly T[], limit: number, loss: Loss, describe: (item: T) => string): T[] {
    for (const item of items.slice(limit)) this.#report.add(loss, describe(item))
    return items.slice(0, limit)
  }
}

/** A link in Markdown. */
function linkTo(name: string, url: string): string {
  const safeUrl = url
    .replace(/[\s<>]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29')
  const safeName = hasAtMost(200, name) ? name : `${Array.from(name.slice(0, 400)).slice(0, 199).join('')}…`
  return `[${safeName.replace(/\s+/g, ' ').replace(/[\\[\]]/g, '\\$&')}](${safeUrl})`
}
