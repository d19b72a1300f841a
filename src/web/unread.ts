import { LRUCache } from 'lru-cache'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { indexes } from '../store/indexes.ts'
import { transact } from '../store/transact.ts'
import { workspacesOf, type MemberWorkspace } from './memberships.ts'
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
  readonly workspace: MemberWorkspace
}

/** A count is not made again while the notices are the same, for so many milliseconds: a page costs two numbers then. */
const KEPT = 10_000
const counted = new LRUCache<string, Unread & { readonly of: string; readonly until: number }>({ max: 10_000 })

/** The sum of counts, as pages show it: `3`, or `100+`; empty without any. */
export function unreadText(unread: readonly Unread[]): string {
  const sum = unread.reduce((all, { count }) => all + count, 0)
  return sum === 0 ? '' : `${sum}${unread.some(({ hasMore }) => hasMore) ? '+' : ''}`
}

/** Counts the unread notices of the person in each of their workspaces: those that they may read now. */
export async function readUnread(context: SignedInContext): Promise<readonly UnreadOf[]> {
  const workspaces = await workspacesOf(context.web, context.session.user_id)
  return Promise.all(workspaces.map(async (workspace) => ({ workspace, ...(await unreadIn(context, workspace.id)) })))
}

async function unreadIn(context: SignedInContext, workspaceId: string): Promise<Unread> {
  const { web, session } = context
  const userId = session.user_id
  const stored = [indexes.notices(userId), indexes.readNotices(userId)]
  const [all, read] = await transact(web.store, workspaceId, web.random, (tx) => tx.counts(stored))
  if (all === read) return { count: 0, hasMore: false }
  const [key, of, now] = [`${workspaceId} ${userId}`, `${all} ${read} ${web.services().engine.hash}`, web.clock()]
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
    if (error instanceof ApiError && (error.code === 'forbidden' || error.code === 'not_found')) return { count: 0, hasMore: false }
    throw error
  }
}
