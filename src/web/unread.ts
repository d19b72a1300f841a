import { LRUCache } from 'lru-cache'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { isActive } from '../model/workspace.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { listAll, transact } from '../store/transact.ts'
import type { SignedInContext } from './page-context.ts'
import { readerOf } from './reader.ts'

/** How many unread notices a person has. */
export interface Unread {
  readonly count: number
  /** whether there are others, which are not counted */
  readonly hasMore: boolean
}

/** The same of one workspace. */
export interface UnreadOf extends Unread {
  readonly workspace: { readonly id: string; readonly name: string }
  /** the name of the person there */
  readonly displayName: string
}

/** A count is not made again while the notices are the same, for so many milliseconds: a page costs two numbers then. */
const KEPT = 10_000
const NONE: Unread = { count: 0, hasMore: false }
const counted = new LRUCache<string, Unread & { readonly of: string; readonly until: number }>({ max: 10_000 })

/** The sum of counts, as pages show it: `3`, or `100+`; empty without any. */
export function unreadText(unread: readonly Unread[]): string {
  const sum = unread.reduce((all, { count }) => all + count, 0)
  return sum === 0 ? '' : `${sum}${unread.some(({ hasMore }) => hasMore) ? '+' : ''}`
}

/** Counts the unread notices of the person in each of their workspaces, by name: those that they may read now. */
export async function readUnread(context: SignedInContext): Promise<readonly UnreadOf[]> {
  const { web, session } = context
  const links = await listAll(web, GLOBAL, indexes.workspacesOf(session.user_id))
  const found = await Promise.all(links.map(({ workspace_id }) => unreadIn(context, workspace_id)))
  return found.filter((one) => one !== undefined).toSorted((a, b) => a.workspace.name.localeCompare(b.workspace.name, 'en'))
}

/** @returns undefined if the person is not an active member of the workspace */
async function unreadIn(context: SignedInContext, workspaceId: string): Promise<UnreadOf | undefined> {
  const { web, session } = context
  const userId = session.user_id
  const [workspace, member, counts] = await transact(web.store, workspaceId, web.random, async (tx) => {
    const [records, indexed] = [
      [keys.workspace(), keys.membership(userId)],
      [indexes.notices(userId), indexes.readNotices(userId)],
    ] as const
    await tx.prefetch({ records, counts: indexed })
    return [...(await tx.read(records)), await tx.counts(indexed)] as const
  })
  if (workspace === undefined || !isActive(member)) return undefined
  const [all, read] = counts
  const unread = all === read ? NONE : await decided(context, workspaceId, `${all} ${read} ${web.services().engine.hash}`)
  return { workspace: { id: workspaceId, name: workspace.name }, displayName: member.display_name, ...unread }
}

/** @param of what the count depends on, apart from what the policy decides about */
async function decided(context: SignedInContext, workspaceId: string, of: string): Promise<Unread> {
  const [key, now] = [`${workspaceId} ${context.session.user_id}`, context.web.clock()]
  const known = counted.get(key)
  if (known?.of === of && now < known.until) return known
  const found = { ...(await count(context, workspaceId)), of, until: now + KEPT }
  counted.set(key, found)
  return found
}

async function count(context: SignedInContext, workspaceId: string): Promise<Unread> {
  const query = { unread: 'true', order: 'desc', limit: String(limits.pageSize.max) }
  try {
    const { data, nextCursor } = await readerOf(context, workspaceId).read('notices.list', {}, query)
    return { count: (data as readonly unknown[]).length, hasMore: nextCursor != null }
  } catch (error) {
    // Another policy may show nobody their notices.
    if (error instanceof ApiError && (error.code === 'forbidden' || error.code === 'not_found')) return NONE
    throw error
  }
}
