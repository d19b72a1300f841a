import { z } from 'zod'
import { AdminError } from '../admin/deps.ts'
import { GRAY, plankaColor } from './colors.ts'
import { type ForeignBoard, type ForeignCard, type ForeignPerson, titleOfSubtask } from './foreign-board.ts'
import { byId, foreignId, foreignTime, groupBy, inOrder, optionalText, past, place, readFileOf } from './input.ts'
import type { ImportReport } from './report.ts'

const list = z.object({
  id: foreignId,
  type: z.enum(['active', 'closed', 'archive', 'trash']).default('active'),
  name: optionalText,
  position: place,
})
const card = z.object({
  id: foreignId,
  listId: foreignId,
  name: z.string(),
  description: optionalText,
  position: place,
  type: optionalText,
  dueDate: foreignTime,
  isDueCompleted: z.boolean().nullish(),
  isClosed: z.boolean().nullish(),
  stopwatch: z.unknown().optional(),
  coverAttachmentId: optionalText,
  commentsTotal: z.number().nullish(),
  listChangedAt: foreignTime,
  createdAt: foreignTime,
  updatedAt: foreignTime,
})
const task = z.object({
  taskListId: foreignId,
  name: z.string(),
  position: place,
  isCompleted: z.boolean(),
  assigneeUserId: optionalText,
  linkedCardId: optionalText,
})
/** The response to `GET /api/boards/:id` of Planka 2. The comments of the cards can be added to `included`. */
const plankaBoard = z.object({
  item: z.object({ id: foreignId, name: z.string() }),
  included: z.object({
    users: z.array(z.object({ id: foreignId, name: optionalText, username: optionalText })).default([]),
    boardMemberships: z.array(z.object({ userId: foreignId })).default([]),
    lists: z.array(list),
    cards: z.array(card),
    labels: z.array(z.object({ id: foreignId, name: optionalText, color: z.string(), position: place })).default([]),
    cardMemberships: z.array(z.object({ cardId: foreignId, userId: foreignId })).default([]),
    cardLabels: z.array(z.object({ cardId: foreignId, labelId: foreignId })).default([]),
    taskLists: z.array(z.object({ id: foreignId, cardId: foreignId, name: z.string(), position: place })).default([]),
    tasks: z.array(task).default([]),
    attachments: z.array(z.object({ cardId: foreignId, name: optionalText, data: z.object({ url: optionalText }).nullish() })).default([]),
    comments: z.array(z.object({ cardId: foreignId, userId: foreignId.nullish(), text: z.string(), createdAt: foreignTime })).default([]),
    customFieldValues: z.array(z.unknown()).default([]),
  }),
})
type Included = z.infer<typeof plankaBoard>['included']
type PlankaCard = Included['cards'][number]

/**
 * Reads a board as the API of Planka 2 returns it.
 * @param now the present time: no time of a card is later
 * @throws {AdminError} `invalid`, with the path of what is wrong in the file
 */
export function readPlanka(text: string, report: ImportReport, now: string): ForeignBoard {
  const { item, included } = readFileOf('Planka', plankaBoard, text)
  byId('included.labels', included.labels)
  report.add('custom_fields', item.name, included.customFieldValues.length)
  return {
    name: item.name,
    description: '',
    // Only the members of a board, and the managers of its project, have access to it.
    isPrivate: true,
    people: peopleOf(included),
    labels: inOrder(included.labels, ({ position }) => position).map(({ id, name, color }) => {
      const found = plankaColor(color)
      if (found === undefined) report.add('label_colors_unknown', `${name}: ${color}`)
      return { id, name: name || color || 'Label', color: found ?? GRAY }
    }),
    columns: columnsOf(included),
    cards: cardsOf(included, report, now),
  }
}

function peopleOf({ users, boardMemberships }: Included): ForeignPerson[] {
  byId('included.users', users)
  const onBoard = new Set(boardMemberships.map(({ userId }) => userId))
  return users.map(({ id, name, username }) => ({ id, name: name || username || id, username: username || null, onBoard: onBoard.has(id) }))
}

/** The lists, and that of the archive if it has cards. */
function columnsOf({ lists, cards }: Included): ForeignBoard['columns'] {
  const used = new Set(cards.map(({ listId }) => listId))
  return inOrder(lists, ({ position }) => position).flatMap(({ id, type, name }) => {
    if (type === 'active' || type === 'closed') return { id, name: name ?? '', archived: false }
    return type === 'archive' && used.has(id) ? { id, name: name || 'Archive', archived: true } : []
  })
}

function cardsOf(included: Included, report: ImportReport, now: string): ForeignCard[] {
  const parts = new CardParts(included, report)
  const lists = byId('included.lists', included.lists)
  for (const [i, { listId }] of included.cards.entries())
    if (!lists.has(listId)) throw new AdminError('invalid', `included.cards[${i}].listId: there is no list ${JSON.stringify(listId)}`)
  return inOrder(included.cards, ({ position }) => position).flatMap((item) => {
    const { type } = lists.get(item.listId)!
    if (type === 'trash') {
      report.add('trash', item.name)
      return []
    }
    const updatedAt = past(item.updatedAt ?? item.createdAt, now)
    const movedAt = past(item.listChangedAt, updatedAt)
    return {
      column: item.listId,
      title: item.name,
      description: item.description ?? '',
      dueAt: item.dueDate ?? null,
      completedAt: item.isClosed === true || item.isDueCompleted === true || type === 'closed' ? movedAt : null,
      archivedAt: type === 'archive' ? movedAt : null,
      createdAt: past(item.createdAt, updatedAt),
      updatedAt,
      ...parts.of(item, now),
    }
  })
}

/** What belongs to the cards of a board. */
class CardParts {
  readonly #report: ImportReport
  readonly #labels: Map<string, Included['cardLabels']>
  readonly #assignees: Map<string, Included['cardMemberships']>
  readonly #taskLists: Map<string, Included['taskLists']>
  readonly #tasks: Map<string, Included['tasks']>
  readonly #attachments: Map<string, Included['attachments']>
  readonly #comments: Map<string, Included['comments']>

  constructor(included: Included, report: ImportReport) {
    const cards = byId('included.cards', included.cards)
    const taskLists = byId('included.taskLists', included.taskLists)
    const cardOf = ({ cardId }: { readonly cardId: string }) => cardId
    this.#report = report
    this.#labels = groupBy(included.cardLabels, cardOf)
    this.#assignees = groupBy(included.cardMemberships, cardOf)
    this.#taskLists = groupBy(included.taskLists, cardOf)
    this.#tasks = groupBy(included.tasks, ({ taskListId }) => taskListId)
    this.#attachments = groupBy(included.attachments, cardOf)
    this.#comments = groupBy(included.comments, cardOf)
    for (const { cardId, name } of included.taskLists) if (!cards.has(cardId)) report.add('checklists_unplaced', name)
    for (const { cardId, name } of included.attachments) if (!cards.has(cardId)) report.add('attachments_unplaced', name ?? '')
    for (const { cardId, text } of included.comments) if (!cards.has(cardId)) report.add('comments_unplaced', text)
    for (const [i, { taskListId }] of included.tasks.entries())
      if (!taskLists.has(taskListId))
        throw new AdminError('invalid', `included.tasks[${i}].taskListId: there is no task list ${JSON.stringify(taskListId)}`)
  }

  of(item: PlankaCard, now: string): Pick<ForeignCard, 'labels' | 'assignees' | 'subtasks' | 'links' | 'comments'> {
    const { id, name } = item
    const comments = this.#comments.get(id) ?? []
    this.#report.add('comments_missing', name, Math.max((item.commentsTotal ?? 0) - comments.length, 0))
    if (item.stopwatch) this.#report.add('stopwatches', name)
    if (item.coverAttachmentId) this.#report.add('covers', name)
    if (item.type && item.type !== 'project') this.#report.add('card_types', `${name}: ${item.type}`)
    return {
      labels: (this.#labels.get(id) ?? []).map(({ labelId }) => labelId),
      assignees: (this.#assignees.get(id) ?? []).map(({ userId }) => userId),
      subtasks: this.#subtasksOf(item),
      links: this.#linksOf(item),
      comments: comments
        .map(({ userId, text, createdAt }) => ({ author: userId ?? null, text, writtenAt: past(createdAt, now) }))
        .toSorted((a, b) => (a.writtenAt < b.writtenAt ? -1 : Number(a.writtenAt > b.writtenAt))),
    }
  }

  #subtasksOf({ id, name }: PlankaCard): ForeignCard['subtasks'] {
    const own = this.#taskLists.get(id) ?? []
    return inOrder(own, ({ position }) => position).flatMap((taskList) => {
      if (own.length === 1) this.#report.add('checklist_names', `${name}: ${taskList.name}`)
      return inOrder(this.#tasks.get(taskList.id) ?? [], ({ position }) => position).map((item) => {
        if (item.assigneeUserId || item.linkedCardId) this.#report.add('subtask_details', `${name}: ${item.name}`)
        return { title: titleOfSubtask(item.name, taskList.name, own.length), completed: item.isCompleted }
      })
    })
  }

  #linksOf({ id, name }: PlankaCard): ForeignCard['links'] {
    return (this.#attachments.get(id) ?? []).flatMap((attachment) => {
      const url = attachment.data?.url ?? ''
      if (/^https?:\/\//i.test(url)) return { name: attachment.name || url, url }
      this.#report.add('attachments_without_link', `${name}: ${attachment.name ?? ''}`)
      return []
    })
  }
}
