import { z } from 'zod'
import { GRAY, trelloColor } from './colors.ts'
import {
  type ForeignBoard,
  type ForeignCard,
  type ForeignChecklist,
  type ForeignComment,
  type ForeignPerson,
  inTimeOrder,
  linksOf,
  subtasksOf,
} from './foreign-board.ts'
import { byId, foreignId, foreignTime, groupBy, inOrder, optionalText, past, place, readFileOf, requireThere } from './input.ts'
import type { ImportReport } from './report.ts'

const present = z.unknown().optional()
const person = z.object({ id: foreignId, fullName: optionalText, username: optionalText })
const checkItem = z.object({
  name: z.string(),
  state: z.string(),
  pos: place,
  due: optionalText,
  idMember: optionalText,
})
const checklist = z.object({ id: foreignId, idCard: foreignId, name: z.string(), pos: place, checkItems: z.array(checkItem) })
const card = z.object({
  id: foreignId,
  idList: foreignId,
  name: z.string(),
  desc: optionalText,
  closed: z.boolean(),
  pos: place,
  due: foreignTime,
  dueComplete: z.boolean().nullish(),
  start: optionalText,
  dateLastActivity: foreignTime,
  idLabels: z.array(foreignId).default([]),
  idMembers: z.array(foreignId).default([]),
  attachments: z.array(z.object({ name: optionalText, url: optionalText })).default([]),
  badges: z.object({ comments: z.number().nullish(), votes: z.number().nullish() }).nullish(),
  cover: z.object({ color: optionalText, idAttachment: optionalText, idUploadedBackground: optionalText }).nullish(),
  stickers: z.array(present).nullish(),
  customFieldItems: z.array(present).nullish(),
  pluginData: z.array(present).nullish(),
  coordinates: present,
  address: present,
})
/** Only the type is read of other kinds of actions. */
const action = z.object({
  type: z.string(),
  date: present,
  idMemberCreator: present,
  memberCreator: present,
  data: present,
})
const comment = z.object({
  date: foreignTime,
  idMemberCreator: foreignId.nullish(),
  memberCreator: person.nullish(),
  data: z.object({ text: z.string(), card: z.object({ id: foreignId }) }),
})
/** What is read of Trello's export of a board ("Export as JSON"). */
const trelloBoard = z.object({
  name: z.string(),
  desc: optionalText,
  closed: z.boolean().nullish(),
  prefs: z.object({ permissionLevel: optionalText }).nullish(),
  lists: z.array(z.object({ id: foreignId, name: z.string(), closed: z.boolean(), pos: place })),
  cards: z.array(card),
  labels: z.array(z.object({ id: foreignId, name: optionalText, color: optionalText })).default([]),
  checklists: z.array(checklist).default([]),
  members: z.array(person).default([]),
  actions: z
    .array(action)
    .default([])
    .transform((actions, context) =>
      actions.flatMap((item, i) => {
        if (item.type !== 'commentCard' && item.type !== 'copyCommentCard') return []
        const parsed = comment.safeParse(item)
        if (parsed.success) return parsed.data
        for (const issue of parsed.error.issues)
          context.addIssue({ code: 'custom', message: issue.message, path: [i, ...issue.path], input: item })
        return []
      }),
    ),
})
type TrelloBoard = z.infer<typeof trelloBoard>
type TrelloCard = TrelloBoard['cards'][number]

/**
 * Reads a board that Trello has exported.
 * @param now the present time: no time of a card is later
 * @throws {AdminError} `invalid`, with the path of the mistake in the file
 */
export function readTrello(text: string, report: ImportReport, now: string): ForeignBoard {
  const board = readFileOf('Trello', trelloBoard, text)
  byId('labels', board.labels)
  byId('members', board.members)
  if (board.closed === true) report.add('closed_boards', board.name)
  return {
    name: board.name,
    description: board.desc ?? '',
    isPrivate: board.prefs?.permissionLevel !== 'org' && board.prefs?.permissionLevel !== 'public',
    people: peopleOf(board),
    labels: board.labels.map(({ id, name, color }) => ({ id, name: name || color || 'Label', color: colorOf(name, color, report) })),
    columns: inOrder(board.lists, ({ pos }) => pos).map(({ id, name, closed }) => ({ id, name, archived: closed, completes: false })),
    cards: cardsOf(board, report, now),
  }
}

/** The members of the board, and those who have commented on it. */
function peopleOf({ members, actions }: TrelloBoard): ForeignPerson[] {
  const people = new Map<string, ForeignPerson>()
  const add = ({ id, fullName, username }: z.infer<typeof person>, onBoard: boolean) => {
    if (!people.has(id)) people.set(id, { id, name: fullName || username || id, username: username || null, onBoard })
  }
  for (const member of members) add(member, true)
  for (const { memberCreator } of actions) if (memberCreator) add(memberCreator, false)
  return [...people.values()]
}

function colorOf(name: string | null | undefined, color: string | null | undefined, report: ImportReport): string {
  const found = trelloColor(color ?? null)
  if (found === undefined) report.add('label_colors_unknown', `${name}: ${color}`)
  return found ?? GRAY
}

function cardsOf(board: TrelloBoard, report: ImportReport, now: string): ForeignCard[] {
  const cards = byId('cards', board.cards)
  const lists = byId('lists', board.lists)
  byId('checklists', board.checklists)
  board.cards.forEach(({ idList }, i) => requireThere('list', lists, idList, `cards[${i}].idList`))
  const checklists = groupBy(board.checklists, ({ idCard }) => idCard)
  const comments = groupBy(board.actions, ({ data }) => data.card.id)
  for (const [id, own] of checklists) if (!cards.has(id)) report.add('checklists_unplaced', own[0]!.name, own.length)
  for (const [id, own] of comments) if (!cards.has(id)) report.add('comments_unplaced', own[0]!.data.text, own.length)
  return inOrder(board.cards, ({ pos }) => pos).map((item) => {
    reportUncarried(item, comments.get(item.id)?.length ?? 0, report)
    const updatedAt = past(item.dateLastActivity, now)
    return {
      id: item.id,
      column: item.idList,
      title: item.name,
      description: item.desc ?? '',
      dueAt: item.due ?? null,
      completedAt: item.dueComplete === true ? updatedAt : null,
      archivedAt: item.closed ? updatedAt : null,
      createdAt: past(createdAt(item.id), updatedAt),
      updatedAt,
      labels: item.idLabels,
      assignees: item.idMembers,
      subtasks: subtasksOf(item.name, checklistsOf(checklists.get(item.id) ?? []), report),
      links: linksOf(item.name, item.attachments, report),
      comments: commentsOf(comments.get(item.id) ?? [], now),
    }
  })
}

/** The first eight digits of an id are the time of its creation, in seconds. */
function createdAt(id: string): string | undefined {
  return /^[0-9a-f]{24}$/.test(id) ? new Date(Number.parseInt(id.slice(0, 8), 16) * 1000).toISOString() : undefined
}

function commentsOf(own: TrelloBoard['actions'], now: string): ForeignComment[] {
  // The export has the newest first. Several can have the same time.
  const written = own.toReversed().map(({ idMemberCreator, memberCreator, data, date }) => ({
    author: memberCreator?.id ?? idMemberCreator ?? null,
    text: data.text,
    writtenAt: past(date, now),
  }))
  return inTimeOrder(written)
}

function checklistsOf(own: TrelloBoard['checklists']): ForeignChecklist[] {
  return inOrder(own, ({ pos }) => pos).map(({ name, checkItems }) => ({
    name,
    isNamed: name !== 'Checklist',
    items: inOrder(checkItems, ({ pos }) => pos).map((item) => ({
      name: item.name,
      completed: item.state === 'complete',
      hasDetails: Boolean(item.due || item.idMember),
    })),
  }))
}

function reportUncarried(item: TrelloCard, comments: number, report: ImportReport): void {
  const { name, badges, cover } = item
  report.add('custom_fields', name, item.customFieldItems?.length ?? 0)
  report.add('stickers', name, item.stickers?.length ?? 0)
  report.add('plugin_data', name, item.pluginData?.length ?? 0)
  report.add('votes', name, Math.max(badges?.votes ?? 0, 0))
  report.add('comments_missing', name, Math.max((badges?.comments ?? 0) - comments, 0))
  if (item.start) report.add('start_dates', name)
  if (cover?.color || cover?.idAttachment || cover?.idUploadedBackground) report.add('covers', name)
  if (item.coordinates || item.address) report.add('locations', name)
}
