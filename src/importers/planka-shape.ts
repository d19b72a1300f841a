import { z } from 'zod'
import { AdminError } from '../admin/deps.ts'
import { foreignId, foreignTime, optionalText, place, readFileOf } from './input.ts'
import type { ImportReport } from './report.ts'

const list = z.object({
  id: foreignId,
  type: z.enum(['active', 'closed', 'archive', 'trash']).default('active'),
  name: optionalText,
  position: place,
  color: optionalText,
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
  creatorUserId: optionalText,
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
const attachment = z.object({
  id: optionalText,
  cardId: foreignId,
  name: optionalText,
  type: optionalText,
  data: z.object({ url: optionalText }).nullish(),
})
const customField = z.object({ id: foreignId, name: z.string(), position: place })
const customFieldValue = z.object({ cardId: foreignId, customFieldId: optionalText, content: z.string() })
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
    attachments: z.array(attachment).default([]),
    comments: z.array(z.object({ cardId: foreignId, userId: foreignId.nullish(), text: z.string(), createdAt: foreignTime })).default([]),
    customFields: z.array(customField).default([]),
    customFieldValues: z.array(customFieldValue).default([]),
  }),
})
export type PlankaBoard = z.infer<typeof plankaBoard>
export type Included = PlankaBoard['included']
export type PlankaCard = Included['cards'][number]
type Response = { item?: unknown; items?: unknown; included?: Record<string, unknown> }

const kind = { name: 'a board of Planka', schema: plankaBoard, essential: ['included.lists', 'included.cards'] }

/**
 * Reads the response to `GET /api/boards/:id` of Planka 2, or a list of it and further ones: of `GET /api/lists/:id/cards` and of
 * `GET /api/cards/:id/comments`.
 * @param json is changed
 * @throws {AdminError} `invalid`, with the paths of the mistakes in the file, if it is no board
 */
export function readPlankaBoard(json: unknown, report: ImportReport): PlankaBoard {
  const board = Array.isArray(json) ? joined(json.filter(isObject)) : json
  if (isOfPlanka1(board))
    throw new AdminError('invalid', 'the file is a board of Planka 1: update Planka to version 2, and get the response for the board again')
  return readFileOf(kind, board, report)
}

/** One response, with what the others add to it. Where several have something, the first counts. */
function joined(responses: readonly Response[]): unknown {
  const board = responses.find(({ item }) => item !== undefined)
  if (board === undefined) return undefined
  const included: Record<string, unknown> = { ...board.included }
  const add = (list: string, items: unknown) => {
    if (!Array.isArray(items)) return
    const present: unknown[] = Array.isArray(included[list]) ? included[list] : []
    const ids = new Set(present.flatMap((item) => (isObject(item) && 'id' in item ? item.id : [])))
    included[list] = [...present, ...items.filter((item) => !isObject(item) || !('id' in item) || !ids.has(item.id))]
  }
  for (const response of responses) {
    if (response === board) continue
    const items: unknown[] = Array.isArray(response.items) ? response.items : []
    add(
      'cards',
      items.filter((item) => isObject(item) && 'listId' in item),
    )
    add(
      'comments',
      items.filter((item) => isObject(item) && 'text' in item),
    )
    for (const [list, further] of Object.entries(response.included ?? {})) add(list, further)
  }
  return { ...board, included }
}

/** In Planka 1, a task belongs to a card, and a list has no type. */
function isOfPlanka1(board: unknown): boolean {
  const included = isObject(board) ? (board as Response).included : undefined
  const has = (list: string, member: string) => {
    const items = included?.[list]
    return Array.isArray(items) && items.some((item) => isObject(item) && member in item)
  }
  const isSecond = has('lists', 'type') || Array.isArray(included?.['taskLists'])
  return !isSecond && (has('tasks', 'cardId') || has('cards', 'isDueDateCompleted'))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
