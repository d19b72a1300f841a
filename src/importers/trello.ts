import {
  attachmentOf,
  type ForeignBoard,
  type ForeignCard,
  type ForeignChecklist,
  type ForeignComment,
  type ForeignPerson,
  inTimeOrder,
  subtasksOf,
} from './foreign-board.ts'
import { groupBy, inOrder, readFileOf, readJson, readTime, uniqueById } from './input.ts'
import type { ImportReport } from './report.ts'
import { timesOf } from './trello-events.ts'
import { TrelloLabels } from './trello-labels.ts'
import { type person, trelloBoard, type TrelloBoard, type TrelloCard, type TrelloComment } from './trello-shape.ts'
import type { z } from 'zod'
import { limits } from '../model/limits.ts'

/** A card that separates others. Trello makes one of a title such as `---`. */
const SEPARATOR = /^-{3,}$/
const CARD_ADDRESS = /https?:\/\/trello\.com\/c\/([0-9A-Za-z]{4,30})(?:[/?#](?:[^\s)"'<>\]]{0,300}[\w/-])?)?/
/** The addresses of files that Trello stores. */
const UPLOAD_ADDRESS = /^https?:\/\/(?:trello\.com\/1\/cards\/|trello-attachments\.s3\.)/
/** Cards that stand for something else. */
const LINKED: ReadonlySet<string> = new Set(['mirror', 'board', 'link'])

/**
 * Reads a board that Trello has exported.
 * @throws {AdminError} `invalid`, with the paths of the mistakes in the file, if it is no board
 */
export function readTrello(text: string, report: ImportReport): ForeignBoard {
  const kind = { name: 'a board of Trello', schema: trelloBoard, essential: ['lists', 'cards'] }
  const board = readFileOf(kind, readJson(text), report)
  if (board.closed === true) report.add('closed_boards', board.name)
  report.add('plugin_data', board.name, board.pluginData?.length ?? 0)
  const labels = new TrelloLabels(board, report)
  const lists = uniqueById('lists', board.lists, report)
  return {
    name: board.name,
    description: board.desc ?? '',
    isPrivate: board.prefs?.permissionLevel !== 'org' && board.prefs?.permissionLevel !== 'public',
    people: peopleOf(board, report),
    labels: labels.all,
    columns: inOrder(lists, ({ pos }) => pos).map(({ id, name, closed, softLimit, color }) => {
      if (color) report.add('list_colors', `${name}: ${color}`)
      return { id, name, archived: closed, completes: false, wipLimit: wipLimitOf(name, softLimit, report) }
    }),
    cards: cardsOf(board, new Set(lists.map(({ id }) => id)), labels, report),
    cardAddress: CARD_ADDRESS.source,
  }
}

/** The members of the board, and those who have commented on it or created a card. */
function peopleOf({ members, actions }: TrelloBoard, report: ImportReport): ForeignPerson[] {
  const people = new Map<string, ForeignPerson>()
  const add = ({ id, fullName, username }: z.infer<typeof person>, onBoard: boolean) => {
    if (!people.has(id)) people.set(id, { id, name: fullName || username || id, username: username || null, onBoard })
  }
  for (const member of uniqueById('members', members, report)) add(member, true)
  for (const { memberCreator } of [...actions.comments, ...actions.events]) if (memberCreator) add(memberCreator, false)
  return [...people.values()]
}

/** Trello's limit is a warning. 0 means that there is no limit. */
function wipLimitOf(name: string, limit: number | null | undefined, report: ImportReport): number | null {
  if (!limit) return null
  if (Number.isInteger(limit) && limit >= 1 && limit <= limits.wipLimit) return limit
  report.add('wip_limits', `${name}: ${limit}`)
  return null
}

function cardsOf(board: TrelloBoard, lists: ReadonlySet<string>, labels: TrelloLabels, report: ImportReport): ForeignCard[] {
  const placed = uniqueById('cards', board.cards, report).filter(({ idList, name }) => {
    if (!lists.has(idList)) report.add('cards_unplaced', name)
    return lists.has(idList)
  })
  const cards = new Set(placed.map(({ id }) => id))
  const known = uniqueById('checklists', allChecklists(board), report)
  const ids = new Set(known.map(({ id }) => id))
  const checklists = groupBy(known, ({ idCard }) => idCard)
  const comments = groupBy(board.actions.comments, ({ data }) => data.card.id)
  for (const [id, own] of checklists) if (!cards.has(id)) report.add('checklists_unplaced', own[0]!.name, own.length)
  for (const [id, own] of comments) if (!cards.has(id)) report.add('comments_unplaced', own[0]!.data.text, own.length)
  const fieldsOf = customFieldsOf(board, report)
  const times = timesOf(board)
  return inOrder(placed, ({ pos }) => pos).map((item) => {
    const own = checklists.get(item.id) ?? []
    reportUncarried(item, report)
    report.add('checklists_missing', item.name, item.idChecklists.filter((id) => !ids.has(id)).length)
    reportCounts(
      item,
      { comments: comments.get(item.id)?.length ?? 0, subtasks: own.flatMap(({ checkItems }) => checkItems).length },
      report,
    )
    return {
      id: item.id,
      column: item.idList,
      title: item.name,
      description: item.desc ?? '',
      fields: fieldsOf(item),
      ref: item.shortUrl || item.url || (item.shortLink ? `https://trello.com/c/${item.shortLink}` : item.id),
      linkKey: CARD_ADDRESS.exec(item.shortUrl || item.url || '')?.[1] ?? item.shortLink ?? null,
      dueAt: item.due ?? null,
      completed: item.dueComplete === true,
      archived: item.closed || isNoWork(item, report),
      ...times(item),
      ...(item.dueComplete !== true && { completedAt: null }),
      ...(!item.closed && { archivedAt: null }),
      updatedAt: item.dateLastActivity ?? null,
      labels: labels.of(item),
      assignees: item.idMembers,
      subtasks: subtasksOf(item.name, checklistsOf(own), report),
      attachments: item.attachments.map(({ id, name, fileName, url, isUpload }) =>
        attachmentOf(id ?? '', name || fileName, url, isUpload ?? UPLOAD_ADDRESS.test(url ?? '')),
      ),
      comments: commentsOf(comments.get(item.id) ?? []),
    }
  })
}

/** An export has the checklists of the board. In the response of the REST API, its cards have them. */
function allChecklists({ checklists, cards }: TrelloBoard): TrelloBoard['checklists'] {
  const known = new Set(checklists.map(({ id }) => id))
  const own = cards.flatMap((item) => item.checklists.map((checklist) => ({ ...checklist, idCard: item.id })))
  return [...checklists, ...own.filter(({ id }) => !known.has(id))]
}

/** Whether nobody can work on a card. It is reported, unless it is archived there. */
function isNoWork({ name, closed, isTemplate, cardRole }: TrelloCard, report: ImportReport): boolean {
  if (closed) return false
  if (isTemplate === true) report.add('templates_archived', name)
  else if (cardRole === 'separator' || SEPARATOR.test(name.trim())) report.add('separators_archived', name)
  else return false
  return true
}

function commentsOf(own: readonly TrelloComment[]): ForeignComment[] {
  // The export has the newest first. Several can have the same time.
  const written = own.toReversed().map(({ idMemberCreator, memberCreator, data, date }) => ({
    author: memberCreator?.id ?? idMemberCreator ?? null,
    text: data.text,
    writtenAt: date ?? null,
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

/** Returns a function that gives the values of the custom fields of a card. */
function customFieldsOf({ customFields }: TrelloBoard, report: ImportReport): (card: TrelloCard) => ForeignCard['fields'] {
  const known = new Map(customFields.map((field) => [field.id, field]))
  return ({ name: card, customFieldItems }) =>
    customFieldItems.flatMap(({ idCustomField, idValue, value }) => {
      const field = known.get(idCustomField ?? '')
      const option = idValue ? field?.options?.find(({ id }) => id === idValue)?.value?.text : undefined
      const text = option ?? valueOf(value)
      if (field !== undefined && text !== undefined) return { name: field.name, value: text }
      report.add('custom_fields', card)
      return []
    })
}

/** The value of a custom field: its only member is called after its kind. */
function valueOf(value: Readonly<Record<string, unknown>> | null | undefined): string | undefined {
  const [kind, found] = Object.entries(value ?? {})[0] ?? []
  if (kind === 'checked') return found === 'true' || found === true ? 'yes' : 'no'
  if (typeof found !== 'string' && typeof found !== 'number') return undefined
  const time = kind === 'date' ? readTime(String(found)) : undefined
  return time ?? String(found)
}

function reportUncarried(item: TrelloCard, report: ImportReport): void {
  const { name, badges, cover, cardRole, mirrorSourceId } = item
  report.add('stickers', name, item.stickers?.length ?? 0)
  report.add('plugin_data', name, item.pluginData?.length ?? 0)
  report.add('votes', name, Math.max(badges?.votes ?? 0, 0))
  if (item.start) report.add('start_dates', name)
  if (cover?.color || cover?.idAttachment || cover?.idUploadedBackground) report.add('covers', name)
  if (item.coordinates || item.address) report.add('locations', name)
  if (mirrorSourceId || LINKED.has(cardRole ?? '')) report.add('linked_cards', name)
  if (item.recurrenceRule) report.add('recurrences', name)
  if ((item.dueReminder ?? -1) >= 0) report.add('reminders', name)
}

/** What Trello counts may not be in the file. */
function reportCounts(
  { name, badges, attachments }: TrelloCard,
  found: { comments: number; subtasks: number },
  report: ImportReport,
): void {
  const differing = (counted: number | null | undefined, here: number) => (typeof counted === 'number' ? Math.abs(counted - here) : 0)
  report.add('comments_missing', name, Math.max((badges?.comments ?? 0) - found.comments, 0))
  report.add('subtasks_counted', name, differing(badges?.checkItems, found.subtasks))
  report.add('attachments_counted', name, differing(badges?.attachments, attachments.length))
}
