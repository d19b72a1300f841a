import type { VNode } from 'preact'
import { ApiError } from '../../model/errors.ts'
import { html } from '../html.ts'
import type { ListedCard } from '../listed-card.ts'
import type { SignedInContext } from '../page-context.ts'
import { readerOf } from '../reader.ts'

/** Claimed cards that are looked at, and titles that are shown. */
const READ = '100'
const SHOWN = 10

/** Says which cards a token holds, of those that the person may see: they are free when it ends. */
export async function renderHeldCards(context: SignedInContext, workspaceId: string, tokenId: string): Promise<VNode | undefined> {
  const cards = await readHeldCards(context, workspaceId, tokenId)
  if (cards.length === 0) return undefined
  return html`<p>It works on these cards. They are free for others at once:</p>
    <ul>
      ${cards.slice(0, SHOWN).map(({ id, title }) => html`<li><a href="/app/${workspaceId}/cards/${id}" dir="auto">${title}</a></li>`)}
      ${cards.length > SHOWN && html`<li>and ${cards.length - SHOWN} more</li>`}
    </ul>` as VNode
}

async function readHeldCards(context: SignedInContext, workspaceId: string, tokenId: string): Promise<readonly ListedCard[]> {
  try {
    const query = { completed: 'false', work_state: 'claimed', include: 'claim', limit: READ }
    const { data } = await readerOf(context, workspaceId).read('cards.search', {}, query)
    return (data as readonly ListedCard[]).filter(({ claim }) => claim?.token_id === tokenId)
  } catch (error) {
    // Whatever refuses the read, a token can be revoked.
    if (error instanceof ApiError) return []
    throw error
  }
}
