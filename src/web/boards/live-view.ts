import type { VNode } from 'preact'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { assetAddress } from '../public-assets.ts'
import { html } from '../html.ts'
import { renderDone } from '../operations/undo.ts'
import { decidedBy, type Reader } from '../reader.ts'

/** The script of the shared worker. Pages of another version have another one. */
const WORKER = assetAddress('/settings/assets/stream-worker.js')

/** A page that shows what changes on its board. */
interface LivePart {
  readonly board: BoardSnapshot
  /** what else the script gets to know */
  readonly data: Readonly<Record<string, string | undefined>>
  readonly className: string
}

/** The root of a live page, with the data that its script needs. */
export function renderLive(reader: Reader, { board, data, className }: LivePart, content: unknown): VNode {
  const { context, base } = reader
  const { web, session } = context
  return html`<article
    class=${className}
    id=${className}
    data-merge
    data-feed=${board.id}
    data-base=${base}
    data-board="${base}/boards/${board.id}"
    data-worker=${WORKER}
    data-person=${session.user_id}
    data-after=${board.changes_cursor}
    data-as=${decidedBy(reader, reader.caller())}
    data-now=${web.clock()}
    data-forms="${base}/do"
    data-token=${session.form_token}
    ...${data}
  >
    ${renderDone(context)} ${content}
    <div class="toast" id="announcement" data-announcement data-keep>
      <p role="status" dir="auto"></p>
      <button type="button" aria-label="Dismiss">✕</button>
    </div>
  </article>`
}

/** What the head of a live page says of its connection. */
export function renderLiveSign(): VNode {
  return html`<p class="live" id="live" data-live data-keep hidden><span data-live-text>Connecting</span></p>`
}
