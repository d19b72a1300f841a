import type { BoardHead, BoardLine, BoardOperation } from '../admin/board-lines.ts'
import { AdminError } from '../admin/deps.ts'
import type { Board } from '../model/board.ts'
import { externalRef } from '../model/card.ts'
import { limits } from '../model/limits.ts'
import { CardLinks, type LinkedText } from './card-links.ts'
import { CardTexts } from './card-texts.ts'
import type { ForeignAttachment, ForeignBoard, ForeignCard, ForeignPerson } from './foreign-board.ts'
import { groupBy } from './input.ts'
import { nameOf, type MemberMatcher } from './members.ts'
import type { ImportReport, Loss } from './report.ts'
import { TextFitter } from './text-fitter.ts'

/** Where a board is imported to. */
export interface Destination {
  /** the user who imports it: the creator of everything */
  readonly userId: string
  /** by default as in the other program */
  readonly visibility: Board['visibility'] | undefined
  readonly members: MemberMatcher
  /** the files of attachments that are uploaded: the path of each */
  readonly files: ReadonlyMap<ForeignAttachment, string>
}

/** A line of the board, or a file whose bytes make several lines. */
export type PlannedLine = BoardLine | { readonly file: { readonly card_id: string; readonly name: string }; readonly path: string }

/** Fits a board of another program to the limits here, and reports what it cannot carry. */
export class ImportPlan {
  readonly #board: ForeignBoard
  readonly #to: Destination
  readonly #report: ImportReport
  readonly #fit: TextFitter
  readonly #people: ReadonlyMap<string, ForeignPerson>
  readonly #texts: CardTexts
  readonly #links: CardLinks
  /** the operations that create the cards, by the ids of the cards in the file */
  readonly #created = new Map<string, string>()
  /** the texts that link to cards: they are written when all cards are there */
  readonly #linked: Linked[] = []
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
    this.#texts = new CardTexts({ userId: to.userId, members: to.members, theirs: this.#people }, to.files, this.#fit, report)
    // If several have one, the first counts.
    const keys = board.cards.toReversed().flatMap(({ id, linkKey }): [string, string][] => (linkKey === null ? [] : [[linkKey, id]]))
    this.#links = new CardLinks(board.cardAddress, new Map(keys))
    this.#visibility = to.visibility ?? (board.isPrivate ? 'private' : 'workspace')
    this.#members = this.#visibility === 'private' ? this.#explicitMembers() : new Set()
    this.#requireRoom()
  }

  /** The lines of the board, in the order of `board-lines.ts`. */
  *lines(): Generator<PlannedLine> {
    yield { board: this.#head() }
    yield* this.#content()
    for (const card of this.#board.cards) yield* this.#filesOf(card)
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
    for (const { id, name, archived, completes, wipLimit } of columns.toSorted((a, b) => Number(b.archived) - Number(a.archived))) {
      const column_id = yield* this.#operation(
        'columns.create',
        {},
        { name: this.#fit.name(name, limits.columnName, `list: ${name}`, 'Untitled'), completes },
      )
      ids.set(`column ${id}`, column_id)
      if (!archived) continue
      yield* this.#cards(byColumn.get(id) ?? [], ids)
      if (wipLimit !== null) yield* this.#limit(column_id, wipLimit)
      yield* this.#operation('columns.archive', { column_id })
    }
    const active = columns.flatMap(({ id, archived }) => (archived ? [] : (byColumn.get(id) ?? [])))
    yield* this.#cards(active, ids)
    for (const { id, archived, wipLimit } of columns)
      if (!archived && wipLimit !== null) yield* this.#limit(ids.get(`column ${id}`)!, wipLimit)
    for (const linked of this.#linked) yield* this.#linkedText(linked)
  }

  /** A column may have more cards than its limit from before it was set. */
  *#limit(column_id: string, wip_limit: number): Generator<BoardOperation> {
    yield* this.#operation('columns.update', { column_id }, { wip_limit })
  }

  *#cards(cards: readonly ForeignCard[], ids: ReadonlyMap<string, string>): Generator<BoardOperation> {
    for (const card of cards.toSorted((one, other) => Number(other.archived) - Number(one.archived))) yield* this.#card(card, ids)
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
    const open = cards.filter(({ archived }) => !archived)
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
    const description = this.#texts.description(card)
    const card_id = yield* this.#operation(
      'cards.create',
      {},
      {
        column_id: ids.get(`column ${card.column}`),
        title: this.#fit.line(title, limits.cardTitle, `card: ${title}`, 'Untitled'),
        description,
        external_ref: this.#refOf(card),
        due_at: card.dueAt,
        label_ids: this.#labelsOf(card, ids),
        assignee_ids: this.#assigneesOf(card),
      },
    )
    this.#created.set(card.id, card_id)
    const text = this.#links.split(description)
    if (text !== undefined) this.#linked.push({ operation: 'cards.update', card_id, member: 'description', text })
    const subtasks = this.#first(card.subtasks, limits.subtasksPerCard, 'subtasks_left_out', (subtask) => `${title}: ${subtask.title}`)
    yield* this.#parts(
      { operation: 'subtasks.create', card_id, member: 'title' },
      subtasks.map(({ title: name, completed }) => ({
        text: this.#fit.line(name, limits.subtaskTitle, `subtask of ${title}: ${name}`, 'Untitled'),
        rest: { completed },
      })),
    )
    const comments = this.#texts.comments(card).map((body) => ({ text: body, rest: {} }))
    yield* this.#parts({ operation: 'comments.create', card_id, member: 'body' }, comments)
    if (card.completed)
      yield* this.#operation('cards.complete', { card_id }, { completed: true, ...(card.failed === true && { outcome: 'failed' }) })
    if (card.archived) yield* this.#operation('cards.archive', { card_id })
  }

  /** Parts of a card, in their order. If one links to a card, all wait until all cards are there. */
  *#parts(
    { operation, card_id, member }: Omit<Linked, 'text' | 'rest'>,
    items: readonly { readonly text: string; readonly rest: object }[],
  ): Generator<BoardOperation> {
    const split = items.map(({ text }) => this.#links.split(text))
    if (split.some((pieces) => pieces !== undefined))
      for (const [i, { text, rest }] of items.entries()) this.#linked.push({ operation, card_id, member, text: split[i] ?? [text], rest })
    else for (const { text, rest } of items) yield* this.#operation(operation, { card_id }, { [member]: text, ...rest })
  }

  *#filesOf({ id, title, attachments }: ForeignCard): Generator<PlannedLine> {
    const found = attachments.filter((attachment) => this.#to.files.has(attachment))
    for (const attachment of this.#first(found, limits.attachmentsPerCard, 'attachments_beyond', ({ name }) => `${title}: ${name}`)) {
      const name = this.#fit.name(attachment.name, limits.fileName, `attachment of ${title}: ${attachment.name}`, 'file')
      yield { file: { card_id: this.#created.get(id)!, name }, path: this.#to.files.get(attachment)! }
    }
  }

  *#linkedText({ operation, card_id, member, text, rest }: Linked): Generator<BoardOperation> {
    const pieces = text.map((piece) => {
      if (typeof piece === 'string') return piece
      this.#report.add('links_rewritten', piece.card)
      return { id: this.#created.get(piece.card)! }
    })
    this.#operations++
    yield { operation, params: { card_id }, ...(rest !== undefined && { body: { ...rest } }), texts: { [member]: pieces } }
  }

  /** What identifies a card elsewhere, once: no two cards have the same one here. */
  #refOf({ ref, title }: ForeignCard): string | null {
    const { success, data } = externalRef.safeParse(ref)
    if (!success) return null
    if (this.#refs.has(data)) this.#report.add('refs_repeated', `${title}: ${data}`)
    else {
      this.#refs.add(data)
      return data
    }
    return null
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

/** A text that links to cards, as a member of the body of an operation. */
interface Linked {
  readonly operation: string
  readonly card_id: string
  readonly member: string
  readonly text: LinkedText
  /** the rest of the body */
  readonly rest?: object
}
