import type { BoardHead, BoardLine, BoardOperation } from '../admin/board-lines.ts'
import type { ImportTarget, TargetCard } from '../admin/import-target.ts'
import type { Board } from '../model/board.ts'
import { externalRef } from '../model/card.ts'
import { limits } from '../model/limits.ts'
import { CardLinks, type Linked } from './card-links.ts'
import { CardTexts } from './card-texts.ts'
import { addedComments, presentCards } from './earlier-import.ts'
import type { ForeignAttachment, ForeignBoard, ForeignCard, ForeignPerson } from './foreign-board.ts'
import { groupBy } from './input.ts'
import { explicitMembers, nameOf, type MemberMatcher } from './members.ts'
import type { ImportReport, Loss } from './report.ts'
import { requireRoom } from './room.ts'
import { TextFitter } from './text-fitter.ts'

/** Where a board is imported to. */
export interface Destination {
  /** the user who imports it: the creator of everything */
  readonly userId: string
  /** by default as in the other program */
  readonly visibility: Board['visibility'] | undefined
  readonly members: MemberMatcher
  /** the board that gets the cards; undefined: a new one */
  readonly target?: ImportTarget | undefined
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
  /** what an earlier import has made of the cards, by their ids in the file */
  readonly #present: ReadonlyMap<string, TargetCard>
  /** the external references of its cards so far */
  readonly #refs = new Set<string>()
  /** how many operations there are so far */
  #operations = 0

  constructor(board: ForeignBoard, to: Destination, report: ImportReport) {
    this.#board = board
    this.#to = to
    this.#report = report
    this.#present = to.target === undefined ? new Map() : presentCards(board, to.target)
    this.#fit = new TextFitter(report)
    this.#people = new Map(board.people.map((person) => [person.id, person]))
    this.#texts = new CardTexts({ userId: to.userId, members: to.members, theirs: this.#people }, to.files, this.#fit, report)
    // If several have one, the first counts.
    const keys = board.cards.toReversed().flatMap(({ id, linkKey }): [string, string][] => (linkKey === null ? [] : [[linkKey, id]]))
    this.#links = new CardLinks(board.cardAddress, new Map(keys))
    this.#visibility = to.visibility ?? (board.isPrivate ? 'private' : 'workspace')
    this.#members = this.#visibility === 'private' ? explicitMembers(board, to.members, to.userId) : new Set()
    if (to.target === undefined) requireRoom(board, this.#members.size)
  }

  /** How many cards of an earlier import it brings up to date. */
  get updated(): number {
    return this.#present.size
  }

  /** The lines of the board, in the order of `board-lines.ts`. */
  *lines(): Generator<PlannedLine> {
    const { target } = this.#to
    yield target === undefined ? { board: this.#head() } : { into: target.board_id }
    yield* this.#content()
    for (const card of this.#board.cards) if (this.#here(card) === undefined) yield* this.#filesOf(card)
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
    const { target } = this.#to
    const { labels, columns, cards } = target === undefined ? this.#board : this.#partsFor(target)
    const ids = new Map<string, string>()
    const present = (items: readonly { readonly id: string; readonly name: string }[] = [], name: string) =>
      items.find((item) => item.name === name)?.id
    for (const { id, name, color } of labels) {
      const fitted = this.#fit.name(name, limits.labelName, `label: ${name}`, 'Label')
      ids.set(`label ${id}`, present(target?.labels, fitted) ?? (yield* this.#operation('labels.create', {}, { name: fitted, color })))
    }
    const byColumn = groupBy(cards, ({ column }) => column)
    for (const { id, name, archived, completes, wipLimit } of columns.toSorted((a, b) => Number(b.archived) - Number(a.archived))) {
      const fitted = this.#fit.name(name, limits.columnName, `list: ${name}`, 'Untitled')
      const here = archived ? undefined : present(target?.columns, fitted)
      const column_id = here ?? (yield* this.#operation('columns.create', {}, { name: fitted, completes }))
      ids.set(`column ${id}`, column_id)
      if (!archived) continue
      yield* this.#cards(byColumn.get(id) ?? [], ids)
      if (wipLimit !== null) yield* this.#limit(column_id, wipLimit)
      yield* this.#operation('columns.archive', { column_id })
    }
    const active = columns.flatMap(({ id, archived }) => (archived ? [] : (byColumn.get(id) ?? [])))
    yield* this.#cards(active, ids)
    for (const { id, archived, wipLimit } of target === undefined ? columns : [])
      if (!archived && wipLimit !== null) yield* this.#limit(ids.get(`column ${id}`)!, wipLimit)
    for (const card of this.#board.cards) {
      const here = this.#here(card)
      if (here !== undefined) yield* this.#update(card, here, ids)
    }
    for (const linked of this.#linked) yield* this.#linkedText(linked)
  }

  /** The card that an earlier import has made of a card of the file. */
  #here({ id }: ForeignCard): TargetCard | undefined {
    return this.#present.get(id)
  }

  /** What a board that exists gets: its new cards, with their columns, and all labels. */
  #partsFor(target: ImportTarget): Pick<ForeignBoard, 'labels' | 'columns' | 'cards'> {
    const cards = this.#board.cards.filter((card) => this.#here(card) === undefined)
    for (const card of this.#board.cards) {
      const here = this.#here(card)
      if (here !== undefined) this.#created.set(card.id, here.id)
    }
    const used = new Set(cards.map(({ column }) => column))
    const worn = new Set(this.#board.cards.flatMap((card) => card.labels))
    for (const { external_ref } of target.cards) this.#refs.add(external_ref)
    return {
      cards,
      columns: this.#board.columns.filter(({ id }) => used.has(id)),
      labels: this.#board.labels.filter(({ id }) => worn.has(id)),
    }
  }

  /**
   * Brings a card of an earlier import up to date: the texts, the due time, the labels, the completion and the comments of the file. What
   * people have done here stays: its column, its place, its people, its subtasks, its further labels, and whether it is archived.
   */
  *#update(card: ForeignCard, here: TargetCard, ids: ReadonlyMap<string, string>): Generator<BoardOperation> {
    const description = this.#texts.description(card)
    const text = this.#links.split(description)
    if (text !== undefined) this.#linked.push({ operation: 'cards.update', card_id: here.id, member: 'description', text })
    const title = this.#fit.line(card.title, limits.cardTitle, `card: ${card.title}`, 'Untitled')
    // What the file has no place for stays, too.
    const isKept = text !== undefined || (card.description === undefined && description === '')
    const changes = { title, due_at: card.dueAt, ...(!isKept && { description }) }
    yield* this.#operation('cards.update', { card_id: here.id }, changes)
    const labels = this.#labelsOf(card, ids).filter((id) => !here.label_ids.includes(id))
    const room = limits.labelsPerCard - here.label_ids.length
    for (const label_id of this.#first(labels, room, 'labels_left_out', () => card.title))
      yield* this.#operation('cards.apply_label', { card_id: here.id, label_id })
    if (card.completed !== undefined && card.completed !== here.completed) yield* this.#completion(here.id, card)
    const added = addedComments(this.#texts.comments(card), here.comments).map((body) => ({ text: body, rest: {} }))
    yield* this.#parts({ operation: 'comments.create', card_id: here.id, member: 'body' }, added)
  }

  *#completion(card_id: string, { completed, failed }: ForeignCard): Generator<BoardOperation> {
    yield* this.#operation('cards.complete', { card_id }, { completed, ...(completed && failed === true && { outcome: 'failed' }) })
  }

  /** A column may have more cards than its limit from before it was set. */
  *#limit(column_id: string, wip_limit: number): Generator<BoardOperation> {
    yield* this.#operation('columns.rename', { column_id }, { wip_limit })
  }

  *#cards(cards: readonly ForeignCard[], ids: ReadonlyMap<string, string>): Generator<BoardOperation> {
    for (const card of cards.toSorted((one, other) => Number(other.archived) - Number(one.archived))) yield* this.#card(card, ids)
  }

  /** @returns a text that stands for the id of the record that it creates */
  *#operation(operation: string, params: BoardOperation['params'], body?: Record<string, unknown>): Generator<BoardOperation, string> {
    yield { operation, params, ...(body !== undefined && { body }) }
    return `$${this.#operations++}`
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
    if (card.completed) yield* this.#completion(card_id, card)
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
    if (ref === null) return null
    const { success, data } = externalRef.safeParse(ref)
    if (!success) this.#report.add('refs_left_out', `${title}: ${ref}`)
    else if (this.#refs.has(data)) this.#report.add('refs_repeated', `${title}: ${data}`)
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
    // Several labels of the file can be one label of a board that exists.
    return this.#first([...new Set(found)], limits.labelsPerCard, 'labels_left_out', () => title)
  }

  #assigneesOf({ title, assignees }: ForeignCard): string[] {
    const found = assignees.flatMap((id) => {
      const user = this.#to.members.find(id)
      if (user !== undefined && this.#canBeAssigned(user)) return user
      const person = this.#people.get(id)
      this.#report.add('assignments_unmatched', `${title}: ${person === undefined ? id : nameOf(person)}`)
      return []
    })
    return this.#first([...new Set(found)], limits.assigneesPerCard, 'assignees_left_out', () => title)
  }

  /** On a private board, only its members can be assigned. */
  #canBeAssigned(user: string): boolean {
    const { target, userId } = this.#to
    if (target !== undefined) return target.members?.includes(user) ?? true
    return this.#visibility === 'workspace' || user === userId || this.#members.has(user)
  }

  /** The items up to a limit. The others are reported. */
  #first<T>(items: readonly T[], limit: number, loss: Loss, describe: (item: T) => string): T[] {
    for (const item of items.slice(limit)) this.#report.add(loss, describe(item))
    return items.slice(0, limit)
  }
}
