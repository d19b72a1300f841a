import { GRAY, plankaColor } from './colors.ts'
import {
  attachmentOf,
  type ForeignBoard,
  type ForeignCard,
  type ForeignChecklist,
  type ForeignPerson,
  inTimeOrder,
  subtasksOf,
} from './foreign-board.ts'
import { groupBy, inOrder, readJson, uniqueById } from './input.ts'
import { type Included, type PlankaCard, readPlankaBoard } from './planka-shape.ts'
import type { ImportReport } from './report.ts'

/** The address of a card, on any host: no other program has ids like these. */
const CARD_ADDRESS = /https?:\/\/[^\s/()<>[\]"]{1,200}(?:\/[^\s/()<>[\]"]{1,50}){0,3}\/cards\/(\d{15,25})/

/**
 * Reads a board as the API of Planka 2 returns it.
 * @throws {AdminError} `invalid`, with the paths of the mistakes in the file, if it is no board
 */
export function readPlanka(text: string, report: ImportReport): ForeignBoard {
  const { item, included } = readPlankaBoard(readJson(text), report)
  const lists = uniqueById('included.lists', included.lists, report)
  const archive = lists.find(({ type }) => type === 'archive')
  if (archive !== undefined && !included.cards.some(({ listId }) => listId === archive.id)) report.add('archive_missing', archive.id)
  for (const { name, color } of lists) if (color) report.add('list_colors', `${name}: ${color}`)
  return {
    name: item.name,
    description: '',
    // Only the members of a board, and the managers of its project, have access to it.
    isPrivate: true,
    people: peopleOf(included, report),
    labels: inOrder(uniqueById('included.labels', included.labels, report), ({ position }) => position).map(({ id, name, color }) => {
      const found = plankaColor(color)
      if (found === undefined) report.add('label_colors_unknown', `${name}: ${color}`)
      return { id, name: name || color || 'Label', color: found ?? GRAY }
    }),
    columns: columnsOf(lists, included),
    cards: cardsOf(new Map(lists.map((list) => [list.id, list])), included, report),
    cardAddress: CARD_ADDRESS.source,
  }
}

function peopleOf({ users, boardMemberships }: Included, report: ImportReport): ForeignPerson[] {
  const onBoard = new Set(boardMemberships.map(({ userId }) => userId))
  return uniqueById('included.users', users, report).map(({ id, name, username }) => ({
    id,
    name: name || username || id,
    username: username || null,
    onBoard: onBoard.has(id),
  }))
}

/** The lists, and the archive's list if it has cards. */
function columnsOf(lists: Included['lists'], { cards }: Included): ForeignBoard['columns'] {
  const used = new Set(cards.map(({ listId }) => listId))
  const rest = { wipLimit: null }
  return inOrder(lists, ({ position }) => position).flatMap(({ id, type, name }) => {
    if (type === 'active' || type === 'closed') return { id, name: name ?? '', archived: false, completes: type === 'closed', ...rest }
    return type === 'archive' && used.has(id) ? { id, name: name || 'Archive', archived: true, completes: false, ...rest } : []
  })
}

function cardsOf(lists: ReadonlyMap<string, Included['lists'][number]>, included: Included, report: ImportReport): ForeignCard[] {
  const placed = uniqueById('included.cards', included.cards, report).filter(({ listId, name }) => {
    const type = lists.get(listId)?.type
    if (type === undefined) report.add('cards_unplaced', name)
    else if (type === 'trash') report.add('trash', name)
    return type !== undefined
  })
  const parts = partsOf({ ...included, cards: placed }, report)
  return inOrder(placed, ({ position }) => position).flatMap((item) => {
    const { type } = lists.get(item.listId)!
    if (type === 'trash') return []
    const isClosed = item.isClosed === true || type === 'closed'
    const movedAt = item.listChangedAt ?? null
    return {
      id: item.id,
      column: item.listId,
      title: item.name,
      description: item.description ?? '',
      // The file does not say where its Planka is.
      ref: item.id,
      linkKey: item.id,
      dueAt: item.dueDate ?? null,
      completed: isClosed || item.isDueCompleted === true,
      completedAt: isClosed && type !== 'archive' ? movedAt : null,
      archived: type === 'archive',
      archivedAt: type === 'archive' ? movedAt : null,
      createdAt: item.createdAt ?? null,
      createdBy: item.creatorUserId ?? null,
      updatedAt: item.updatedAt ?? null,
      ...parts(item),
    }
  })
}

/** Returns a function that gives what belongs to a card of a board. */
function partsOf(included: Included, report: ImportReport) {
  const cards = new Set(included.cards.map(({ id }) => id))
  const allTaskLists = uniqueById('included.taskLists', included.taskLists, report)
  const lists = new Set(allTaskLists.map(({ id }) => id))
  const cardOf = ({ cardId }: { readonly cardId: string }) => cardId
  const labels = groupBy(included.cardLabels, cardOf)
  const assignees = groupBy(included.cardMemberships, cardOf)
  const taskLists = groupBy(allTaskLists, cardOf)
  const tasks = groupBy(included.tasks, ({ taskListId }) => taskListId)
  const attachments = groupBy(included.attachments, cardOf)
  const comments = groupBy(included.comments, cardOf)
  const values = groupBy(included.customFieldValues, cardOf)
  const fields = new Map(included.customFields.map((field) => [field.id, field]))
  for (const { cardId, name } of allTaskLists) if (!cards.has(cardId)) report.add('checklists_unplaced', name)
  for (const { cardId, name } of included.attachments) if (!cards.has(cardId)) report.add('attachments_unplaced', name ?? '')
  for (const { cardId, text } of included.comments) if (!cards.has(cardId)) report.add('comments_unplaced', text)
  for (const { taskListId, name } of included.tasks) if (!lists.has(taskListId)) report.add('subtasks_unplaced', name)
  for (const { cardId, content } of included.customFieldValues) if (!cards.has(cardId)) report.add('custom_fields', content)

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

  const fieldsOf = ({ id, name: card }: PlankaCard): ForeignCard['fields'] =>
    inOrder(values.get(id) ?? [], ({ customFieldId }) => fields.get(customFieldId ?? '')?.position).flatMap(
      ({ customFieldId, content }) => {
        const field = fields.get(customFieldId ?? '')
        if (field === undefined) report.add('custom_fields', card)
        return field === undefined ? [] : { name: field.name, value: content }
      },
    )

  return (item: PlankaCard): Pick<ForeignCard, 'fields' | 'labels' | 'assignees' | 'subtasks' | 'attachments' | 'comments'> => {
    const { id, name } = item
    const own = comments.get(id) ?? []
    report.add('comments_missing', name, Math.max((item.commentsTotal ?? 0) - own.length, 0))
    if (item.stopwatch) report.add('stopwatches', name)
    if (item.coverAttachmentId) report.add('covers', name)
    if (item.type && item.type !== 'project') report.add('card_types', `${name}: ${item.type}`)
    return {
      fields: fieldsOf(item),
      labels: (labels.get(id) ?? []).map(({ labelId }) => labelId),
      assignees: (assignees.get(id) ?? []).map(({ userId }) => userId),
      subtasks: subtasksOf(name, checklistsOf(id), report),
      attachments: (attachments.get(id) ?? []).map(({ id: own, name: file, type, data }) =>
        attachmentOf(own ?? '', file, data?.url, type === 'file'),
      ),
      comments: inTimeOrder(own.map(({ userId, text, createdAt }) => ({ author: userId ?? null, text, writtenAt: createdAt ?? null }))),
    }
  }
}
