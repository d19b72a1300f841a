import type { VNode } from 'preact'
import type { Board } from '../../model/board.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import { postForm } from '../form-page.ts'
import { html } from '../html.ts'
import type { Page, SignedInContext } from '../page-context.ts'
import { ifFound, readerOf } from '../reader.ts'

// A star puts a board before the others in the list of one person. It is no part of the board: nobody else sees it, and it decides nothing.

/** The ids of the boards that a person has starred. */
export async function readStars({ web, session }: SignedInContext): Promise<ReadonlySet<string>> {
  const account = await transact(web.store, GLOBAL, web.random, (tx) => tx.get(keys.account(session.user_id)))
  return new Set(account?.starred_boards)
}

/** The form that stars a board, or takes its star back: `starred` is `true` or `false`. */
export const starPage: Page = {
  path: '/app/{workspace}/boards/{board}/star',
  post: (context) =>
    ifFound(context, 'boards.read', async () => {
      const boardId = context.params['board']!
      await readerOf(context).read('boards.read', { board_id: boardId })
      await star(context, boardId, context.form.get('starred') === 'true')
      return { redirect: `/app#${boardId}`, audit: false }
    }),
}

async function star({ web, session }: SignedInContext, boardId: string, isStarred: boolean): Promise<void> {
  await transact(web.store, GLOBAL, web.random, async (tx) => {
    const account = await tx.get(keys.account(session.user_id))
    if (account === undefined) return
    const others = account.starred_boards?.filter((id) => id !== boardId) ?? []
    const starred_boards = (isStarred ? [boardId, ...others] : others).slice(0, limits.starredBoards)
    tx.put(keys.account(session.user_id), { ...account, starred_boards, updated_at: timestamp(web.clock) })
  })
}

/** The star of a board in the list. */
export function renderStar({ session }: SignedInContext, base: string, { id, name }: Board, isStarred: boolean): VNode {
  const fields = html`<button class="star" aria-pressed=${String(isStarred)} title=${isStarred ? 'Starred' : 'Star'}>
    <span aria-hidden="true">${isStarred ? '★' : '☆'}</span><span class="unseen">Star <bdi>${name}</bdi></span>
  </button>`
  const form = { action: `${base}/boards/${id}/star`, token: session.form_token, hidden: { starred: String(!isStarred) }, fields }
  return postForm(form, 'starring')
}
