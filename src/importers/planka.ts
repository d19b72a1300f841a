import { z } from 'zod'
import { GRAY, plankaColor } from './colors.ts'
import {
  type ForeignBoard,
  type ForeignCard,
  type ForeignChecklist,
  type ForeignPerson,
  inTimeOrder,
  linksOf,
  subtasksOf,
} from './foreign-board.ts'
import { byId, foreignId, foreignTime, groupBy, inOrder, optionalText, past, place, readFileOf, requireThere } from './input.ts'
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
 * @throws {AdminError} `invalid`, with the path of the mistake in the file
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

/** The lists, and the archive's list if it has cards. */
function columnsOf({ lists, cards }: Included): ForeignBoard['columns'] {
  const used = new Set(cards.map(({ listId }) => listId))
  return inOrder(lists, ({ position }) => position).flatMap(({ id, type, name }) => {
    if (type === 'active' || type === 'closed') return { id, name: name ?? '', archived: false, completes: type === 'closed' }
    return type === 'archive' && used.has(id) ? { id, name: name || 'Archive', archived: true, completes: false } : []
  })
}

function cardsOf(included: Included, report: ImportReport, now: string): ForeignCard[] {
  const parts = partsOf(included, report, now)
  const lists = byId('included.lists', included.lists)
  included.cards.forEach(({ listId }, i) => requireThere('list', lists, listId, `included.cards[${i}].listId`))
  return inOrder(included.cards, ({ position }) => position).flatMap((item) => {
    const { type } = lists.get(item.listId)!
    if (type === 'trash') {
      report.add('trash', item.name)
      return []
    }
    const updatedAt = past(item.updatedAt ?? item.createdAt, now)
    const movedAt = past(item.listChangedAt, updatedAt)
    return {
      id: item.id,
      column: item.listId,
      title: item.name,
      description: item.description ?? '',
      dueAt: item.dueDate ?? null,
      completedAt: item.isClosed === true || item.isDueCompleted === true || type === 'closed' ? movedAt : null,
      archivedAt: type === 'archive' ? movedAt : null,
      createdAt: past(item.createdAt, updatedAt),
      updatedAt,
      ...parts(item),
    }
  })
}

/** Returns a function that gives what belongs to a card of a board. */
function partsOf(included: Included, report: ImportReport, now: string) {
  const cards = byId('included.cards', included.cards)
  const allTaskLists = byId('included.taskLists', included.taskLists)
  const cardOf = ({ cardId }: { readonly cardId: string }) => cardId
  const labels = groupBy(included.cardLabels, cardOf)
  const assignees = groupBy(included.cardMemberships, cardOf)
  const taskLists = groupBy(included.taskLists, cardOf)
  const tasks = groupBy(included.tasks, ({ taskListId }) => taskListId)
  const attachments = groupBy(included.attachments, cardOf)
  const comments = groupBy(included.comments, cardOf)
  for (const { cardId, name } of included.taskLists) if (!cards.has(cardId)) report.add('checklists_unplaced', name)
  for (const { cardId, name } of included.attachments) if (!cards.has(cardId)) report.add('attachments_unplaced', name ?? '')
  for (const { cardId, text } of included.comments) if (!cards.has(cardId)) report.add('comments_unplaced', text)
  included.tasks.forEach(({ taskListId }, i) => requireThere('task list', allTaskLists, taskListId, `included.tasks[${i}].taskListId`))

  const checklistsOf = (id: string): ForeignChecklist[] =>
    inOrder(taskLists.get(id) ?? [], ({ position }) => position).map((taskList) => ({
      name: taskList.name,
      isNamed: true,
      items: inOrder(tasks.get(taskList.id) ?? [], ({ position }) => position).map((item) => ({
        name: item.name,
        completed: item.isCompleted,
        hasDetails: Boolean(item.assigneeUserId || item.linkedCardId),
      })),
    }))

  return (item: PlankaCard): Pick<ForeignCard, 'labels' | 'assignees' | 'subtasks' | 'links' | 'comments'> => {
    const { id, name } = item
    const own = comments.get(id) ?? []
    report.add('comments_missing', name, Math.max((item.commentsTotal ?? 0) - own.length, 0))
    if (item.stopwatch) report.add('stopwatches', name)
    if (item.coverAttachmentId) report.add('covers', name)
    if (item.type && item.type !== 'project') report.add('card_types', `${name}: ${item.type}`)
    const files = (attachments.get(id) ?? []).map((attachment) => ({ name: attachment.name, url: attachment.data?.url }))
    return {
      labels: (labels.get(id) ?? []).map(({ labelId }) => labelId),
      assignees: (assignees.get(id) ?? []).map(({ userId }) => userId),
      subtasks: subtasksOf(name, checklistsOf(id), report),
      links: linksOf(name, files, report),
      comments: inTimeOrder(own.map(({ userId, text, createdAt }) => ({ author: userId ?? null, text, writtenAt: past(createdAt, now) }))),
    }
  }
}
