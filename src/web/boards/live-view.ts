import type { VNode } from 'preact'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { html } from '../html.ts'
import { renderDone } from '../operations/undo.ts'
import type { Claimed } from './authors.ts'
import type { Reader } from './reader.ts'

/** A page that is fetched again when its board changes. */
interface LivePart {
  readonly board: BoardSnapshot
  /** the cards that it shows */
  readonly cards: readonly Claimed[]
  /** what else the script gets to know */
  readonly data: Readonly<Record<string, string>>
  readonly className: string
}

/** The root of a live page, with what its script needs to know. */
export function renderLive({ context, base }: Reader, { board, cards, data, className }: LivePart, content: unknown): VNode {
  const path = `${base}/boards/${board.id}`
  // Nothing says that a claim has run out.
  const expiries = cards.flatMap(({ claim }) => (claim == null ? [] : Date.parse(claim.expires_at) - context.web.clock()))
  return html`<article
    class=${className}
    id=${className}
    data-merge
    data-board=${path}
    data-events="${path}/events?after=${encodeURIComponent(board.changes_cursor!)}"
    data-expiry=${expiries.length === 0 ? undefined : Math.max(0, Math.min(...expiries))}
    data-forms="${base}/do"
    data-token=${context.session.form_token}
    ...${data}
  >
    ${renderDone(context)} ${content}
    <div class="toast" id="announcement" data-announcement data-keep>
      <p role="status"></p>
      <button type="button" aria-label="Dismiss">✕</button>
    </div>
  </article>`
}

/** What the head of a live page says of its connection. */
export function renderLiveSign(): VNode {
  return html`<p class="live" id="live" data-live data-keep hidden><span data-live-text>Connecting</span></p>`
}
