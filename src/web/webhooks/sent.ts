import type { VNode } from 'preact'
import type { Change } from '../../model/change.ts'
import { ApiError } from '../../model/errors.ts'
import type { DeliveryRecord, Webhook } from '../../model/webhook.ts'
import { bodyOf, isWanted, messageOf } from '../../webhooks/feed.ts'
import { html, textToCopy } from '../html.ts'
import type { Reader } from '../reader.ts'

/**
 * The body of a delivery. Bodies are not stored: what was deleted since would be kept in them. So the changes are read again from the feed,
 * as the person may read them now.
 * @returns undefined: the feed does not keep the changes any more, or an earlier version has not stored where they are
 */
export async function readSent(reader: Reader, webhook: Webhook, { at, entries, part }: DeliveryRecord): Promise<string | undefined> {
  if (entries === 0) return messageOf(webhook, at, { after: null, next: null, entries: [] })
  if (part === undefined) return undefined
  const { cursor, count, after = cursor } = part
  try {
    const of = { board_id: webhook.board_id }
    const { data, nextCursor } = await reader.read('boards.changes', of, { after: cursor, limit: String(count) })
    const sent = (data as readonly Change[]).filter((entry) => isWanted(entry, webhook.kinds))
    return sent.length === 0 ? undefined : bodyOf(webhook, { after, next: nextCursor! }, sent)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'cursor_expired') return undefined
    throw error
  }
}

/** @param body undefined: it cannot be read again */
export function renderSent(body: string | undefined): VNode {
  return html`<section id="sent" aria-labelledby="sent-body-label">
    <h2 id="sent-body-label">What was sent</h2>
    ${
      body === undefined
        ? html`<p class="empty">The feed of the board does not keep these changes any more.</p>`
        : html`<p class="hint">
              Bodies are not stored: this one is read again from the feed, with the objects as they are now. The signature and the
              authorization are never shown.
            </p>
            <div class="secret">${textToCopy('sent-body', JSON.stringify(JSON.parse(body), null, 2), 'the body')}</div>`
    }
  </section>`
}
