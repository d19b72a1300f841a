import { z } from 'zod'
import { booleanParameter, cursorOf, pageLimit } from '../../listing/pages.ts'
import { waitParameter } from '../../listing/wait.ts'
import { durations } from '../../model/durations.ts'
import { documented, idField, timeField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { notice, noticeEntry, type Notice } from '../../model/notice.ts'
import { time } from '../../model/text.ts'
import { timestamp } from '../../model/time.ts'
import { isOf } from '../../model/workspace.ts'
import { appendedEntry } from '../../store/appended.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { filteredList, operation, type Candidates, type OperationRequest } from '../operation.ts'
import { presentNotices, type NumberedNotice } from './present.ts'

const LIST = 'notices.list'

const noticesQuery = z
  .strictObject({
    limit: pageLimit,
    after: documented(cursorOf(LIST).optional(), {
      description:
        'Returns the notices after this cursor: `page.next_cursor` of the previous response. Omit it to begin with the first one.',
    }),
    order: documented(z.enum(['asc', 'desc']).default('asc'), {
      description: '`asc`: the oldest notice first, and each response has a cursor to go on from. `desc`: the newest first.',
    }),
    unread: documented(booleanParameter.default(false), { description: 'Only notices that you have not marked as read.' }),
    wait: waitParameter('a notice'),
  })
  .refine(({ order, wait }) => order === 'asc' || wait === 0, { path: ['wait'], message: 'must be 0 with order=desc' })

const marked = z
  .strictObject({
    ids: documented(z.array(idField('notice', 'The id of a notice.')).min(1).max(limits.pageSize.max).readonly(), {
      description: 'These notices. Ids of notices that you do not have are ignored.',
    }).optional(),
    before: documented(time.optional(), { description: 'All notices until this time.', format: 'date-time' }),
  })
  .refine(({ ids, before }) => (ids === undefined) !== (before === undefined), 'must have either ids or before')

const markedData = documented(z.strictObject({ read_at: timeField('The time that they are marked with.') }), {
  id: 'NoticesRead',
  description: 'Notices were marked as read.',
})

/** The notices of the caller (src/http/notices.md; row X13). */
export const noticeOperations = [
  filteredList({
    id: LIST,
    method: 'GET',
    path: '/notices',
    summary: 'Lists what you have to know: questions, mentions, assignments and more, oldest first. What you may not read is left out.',
    needs: ['read', 'Notice'],
    row: 'X13',
    query: noticesQuery,
    data: z.array(notice),
    candidates,
    follow({ caller, query }) {
      if (query.order === 'desc') return undefined
      return { start: appendedEntry(0), awaited: { index: indexes.notices(caller.userId), seconds: query.wait } }
    },
  }),

  operation({
    id: 'notices.mark',
    method: 'POST',
    path: '/notices/read',
    summary: 'Marks notices of yours as read: some of them, or all until a time.',
    needs: ['mark', 'Notice'],
    row: 'X13',
    entity: undefined,
    body: marked,
    data: markedData,
    example: { body: { before: '2027-01-15T17:00:00Z' } },
    async run(request) {
      const read_at = timestamp(request.clock)
      for (const { entry, record } of await readUnread(request, request.body))
        request.tx.put(keys.notice(request.caller.userId, entry), { ...record, read_at })
      return { data: { read_at } }
    },
  }),
]

type ListRequest = OperationRequest<z.infer<typeof noticesQuery>, unknown>

/** The notices of the caller after a position, in the order of the query. */
async function candidates(request: ListRequest, after: string | undefined, limit: number): Promise<Candidates<Notice>> {
  const { tx, caller, query, clock } = request
  const index = indexes.notices(caller.userId)
  if (query.unread) {
    const [all, read] = await tx.counts([index, indexes.readNotices(caller.userId)])
    if (all === read) return { candidates: [], more: false }
  }
  const weak = { limit, weak: true } as const
  const last = { index, options: { limit: 1, reverse: true, weak: true, entriesOnly: true } } as const
  const options = query.order === 'asc' ? { ...weak, after } : { ...weak, before: after, reverse: true }
  const { ranges } = await tx.load({ ranges: [{ index, options }, last] })
  // Garbage collection removes the others in its time.
  const end = appendedEntry(Math.max(0, Number(ranges[1].entries[0] ?? 0) - limits.noticesPerPerson))
  const isCutOff = query.order === 'asc' && ranges[0].entries.some((entry) => entry <= end)
  const page = isCutOff ? await tx.range(index, { ...options, after: after !== undefined && after > end ? after : end }) : ranges[0]
  const [entries, oldest] = [page.entries.filter((entry) => entry > end), timestamp(() => clock() - durations.notices)]
  const listed = page.entries.flatMap((entry, i): NumberedNotice[] => {
    const record = page.values[i]
    if (record === undefined || entry <= end || record.at < oldest || !isOf(caller.membership, record)) return []
    return query.unread && record.read_at !== null ? [] : [{ entry, record }]
  })
  const presented = await presentNotices(request, listed)
  const byEntry = new Map(listed.map(({ entry }, i) => [entry, presented[i]]))
  return { candidates: entries.map((position) => ({ position, item: byEntry.get(position) })), more: entries.length >= limit }
}

/** The unread notices that a body names. The commit relies on them. */
async function readUnread({ tx, caller }: OperationRequest, { ids, before }: z.infer<typeof marked>): Promise<readonly NumberedNotice[]> {
  const { userId } = caller
  const keyOf = (entry: string) => keys.notice(userId, entry)
  const isUnread = (entry: string): NumberedNotice[] => {
    const record = tx.known(keyOf(entry))
    return record?.read_at === null && (before === undefined || record.at <= before) ? [{ entry, record }] : []
  }
  if (ids !== undefined) {
    const entries = [...new Set(ids.flatMap((id) => noticeEntry(id) ?? []))]
    await tx.read(entries.map(keyOf))
    return entries.flatMap(isUnread)
  }
  const { entries } = await tx.range(indexes.notices(userId), { limit: limits.noticesPerPerson, reverse: true, weak: true })
  const unread = entries.flatMap(isUnread)
  await tx.confirm(unread.map(({ entry }) => keyOf(entry)))
  return unread
}
