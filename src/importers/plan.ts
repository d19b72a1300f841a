import type { BoardHead, BoardLine, BoardOperation } from '../admin/board-lines.ts'
import { AdminError } from '../admin/deps.ts'
import type { Board } from '../model/board.ts'
import { externalRef } from '../model/card.ts'
import { limits } from '../model/limits.ts'
import { hasAtMost } from '../model/text.ts'
import { type ForeignBoard, type ForeignCard, type ForeignComment, type ForeignPerson, TextFitter } from './foreign-board.ts'
import { groupBy } from './input.ts'
import { nameOf, type MemberMatcher } from './members.ts'
import type { ImportReport, Loss } from './report.ts'

/** The part of a description that links of attachments may take. */
const MAX_LINKS = 10_000

/** Where a board is imported to. */
export interface Destination {
  /** the user who imports it: the creator of everything */
  readonly userId: string
  /** by default as in the other program */
  readonly visibility: Board['visibility'] | undefined
  readonly members: MemberMatcher
}

/** Fits a board of another program to the limits here, and reports what it cannot carry. */
export class ImportPlan {
  readonly #board: ForeignBoard
  readonly #to: Destination
  readonly #report: ImportReport
  readonly #fit: TextFitter
  readonly #people: ReadonlyMap<string, ForeignPerson>
  readonly #visibility: Board['visibility']
  /** the explicit members of a private board */
  readonly #members: ReadonlySet<string>
  /** the external references of its cards so far */
  readonly #refs = new Set<string>()
  /** how many operations there are so far */
  #operations = 0

  constructor(board: ForeignBoard, to: Destination, report: ImportReport) {
    this.#board = board
    this.#to = to
    this.#report = report
    this.#fit = new TextFitter(report)
    this.#people = new Map(board.people.map((person) => [person.id, person]))
    this.#visibility = to.visibility ?? (board.isPrivate ? 'private' : 'workspace')
    this.#members = this.#visibility === 'private' ? this.#explicitMembers() : new Set()
    this.#requireRoom()
  }

  /** The lines of the board, in the order of `board-lines.ts`. */
  *lines(): Generator<BoardLine> {
    yield { board: this.#head() }
    yield* this.#content()
  }

  #head(): BoardHead {
    const { name, description } = this.#board
    return {
      name: this.#fit.name(name, limits.boardName, 'the name of the board', 'Imported board'),
      description: this.#fit.prose(description, limits.boardDescription, 'the description of the board'),
      visibility: this.#visibility,
      members: [...this.#members],
    }
  }

  /** What is archived comes first: at no moment there are more active columns or cards than there may be. */
  *#content(): Generator<BoardOperation> {
    const { labels, columns, cards } = this.#board
    const ids = new Map<string, string>()
    for (const { id, name, color } of labels) {
      const fitted = this.#fit.name(name, limits.labelName, `label: ${name}`, 'Label')
      ids.set(`label ${id}`, yield* this.#operation('labels.create', {}, { name: fitted, color }))
    }
    const byColumn = groupBy(cards, ({ column }) => column)
    for (const { id, name, archived, completes } of columns.toSorted((one, other) => Number(other.archived) - Number(one.archived))) {
      const column_id = yield* this.#operation(
        'columns.create',
        {},
        { name: this.#fit.name(name, limits.columnName, `list: ${name}`, 'Untitled'), completes },
      )
      ids.set(`column ${id}`, column_id)
      if (!archived) continue
      yield* this.#cards(byColumn.get(id) ?? [], ids)
      yield* this.#operation('columns.archive', { column_id })
    }
    const active = columns.flatMap(({ id, archived }) => (archived ? [] : (byColumn.get(id) ?? [])))
    yield* this.#cards(active, ids)
  }

  *#cards(cards: readonly ForeignCard[], ids: ReadonlyMap<string, string>): Generator<BoardOperation> {
    for (const card of cards.toSorted((one, other) => Number(one.archivedAt === null) - Number(other.archivedAt === null)))
      yield* this.#card(card, ids)
  }

  /** @returns a text that stands for the id of the record that it creates */
  *#operation(operation: string, params: BoardOperation['params'], body?: Record<string, unknown>): Generator<BoardOperation, string> {
    yield { operation, params, ...(body !== undefined && { body }) }
    return `$${this.#operations++}`
  }

  /**
   * What is written must not exceed the limits of a board, and must end: nothing is written of a file that is beyond them.
   * @throws {AdminError} `invalid`
   */
  #requireRoom(): void {
    const { columns, cards, labels } = this.#board
    const active = new Set(columns.flatMap(({ id, archived }) => (archived ? [] : id)))
    const open = cards.filter(({ archivedAt }) => archivedAt === null)
    const inArchived = groupBy(open, ({ column }) => (active.has(column) ? '' : column))
    inArchived.delete('')
    const counts: readonly [number, limit: keyof typeof limits & `${string}Per${string}`, what: string][] = [
      [active.size, 'columnsPerBoard', 'lists that are not archived'],
      [open.filter(({ column }) => active.has(column)).length, 'cardsPerBoard', 'cards that are not archived'],
      [
        Math.max(0, ...Array.from(inArchived.values(), (own) => own.length)),
        'cardsPerBoard',
        'cards of an archived list that are not archived themselves',
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

  *#card(card: ForeignCard, ids: ReadonlyMap<string, string>): Generator<BoardOperation> {
    const { title } = card
    const card_id = yield* this.#operation(
      'cards.create',
      {},
      {
        column_id: ids.get(`column ${card.column}`),
        title: this.#fit.line(title, limits.cardTitle, `card: ${title}`, 'Untitled'),
        description: this.#description(card),
        external_ref: this.#refOf(card),
        due_at: card.dueAt,
        label_ids: this.#labelsOf(card, ids),
        assignee_ids: this.#assigneesOf(card),
      },
    )
    const subtasks = this.#first(card.subtasks, limits.subtasksPerCard, 'subtasks_left_out', (subtask) => `${title}: ${subtask.title}`)
    for (const { title: name, completed } of subtasks) {
      const fitted = this.#fit.line(name, limits.subtaskTitle, `subtask of ${title}: ${name}`, 'Untitled')
      yield* this.#operation('subtasks.create', { card_id }, { title: fitted, completed })
    }
    for (const body of this.#comments(card)) yield* this.#operation('comments.create', { card_id }, { body })
    if (card.completedAt !== null) yield* this.#operation('cards.complete', { card_id }, { completed: true })
    if (card.archivedAt !== null) yield* this.#operation('cards.archive', { card_id })
  }

  /** The id of a card in the other program, once: no two cards have the same one here. */
  #refOf({ id }: ForeignCard): string | null {
    const { success, data } = externalRef.safeParse(id)
    if (!success || this.#refs.has(data)) return null
    this.#refs.add(data)
    return data
  }

  /** The description, the links of the attachments, and the times. */
  #description({ title, description, links, ...times }: ForeignCard): string {
    let list = ''
    for (const { name, url } of links) {
      const item = this.#fit.prose(`\n- ${linkTo(name, url)}`, MAX_LINKS + 1, `attachment of ${title}: ${name}`)
      if (list.length + item.length <= MAX_LINKS) list += item
      else this.#report.add('attachments_left_out', `${title}: ${name}`)
    }
    const rest = `${list === '' ? '' : `Attachments:${list}\n\n`}${historyOf(times)}`
    const separator = description === '' ? '' : '\n\n'
    return (
      this.#fit.prose(description, limits.cardDescription - separator.length - rest.length, `description of ${title}`) + separator + rest
    )
  }

  #labelsOf({ title, labels }: ForeignCard, ids: ReadonlyMap<string, string>): string[] {
    const found = [...new Set(labels)].flatMap((id) => {
      const label = ids.get(`label ${id}`)
      if (label !== undefined) return label
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

  /** The texts of the comments of a card: all have the same author here. */
  #comments({ title, comments }: ForeignCard): string[] {
    const written = comments.filter(({ text }) => /[^\s\p{Cc}\p{Cf}]/u.test(text))
    this.#report.add('comments_blank', title, comments.length - written.length)
    const excess = Math.max(written.length - limits.commentsPerCard, 0)
    this.#report.add('comments_left_out', title, excess)
    return written.slice(excess).map((comment) => {
      const body = `${this.#headingOf(comment)}\n\n${comment.text}`
      if (comment.author === null || this.#to.members.find(comment.author) !== this.#to.userId) this.#report.add('comments_by_others', body)
      return this.#fit.prose(body, limits.commentBody, `comment on ${title}: ${comment.text}`)
    })
  }

  #headingOf({ author, writtenAt }: ForeignComment): string {
    const person = author === null ? undefined : this.#people.get(author)
    const name = person === undefined ? 'an unknown person' : nameOf(person)
    return `${this.#fit.line(name, 2 * limits.displayName, `author: ${name}`, 'an unknown person')}, ${minuteOf(writtenAt)}:`
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

/** The original times of a card, which has other times here. */
function historyOf({ createdAt, updatedAt, completedAt, archivedAt }: Pick<ForeignCard, `${string}At` & keyof ForeignCard>): string {
  const times = { Created: createdAt, completed: completedAt, archived: archivedAt, 'last changed': updatedAt }
  const known = Object.entries(times).flatMap(([what, time]) => (time === null ? [] : `${what} ${minuteOf(time)}`))
  return `${known.join(', ')}.`
}

/** A time to the minute. */
function minuteOf(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`
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
