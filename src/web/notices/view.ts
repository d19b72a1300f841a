import type { VNode } from 'preact'
import { placeOf } from '../../mail/notice-mail-text.ts'
import type { NoticeKind } from '../../model/notice-kind.ts'
import type { Notice } from '../../model/notice.ts'
import { doButton } from '../boards/controls.ts'
import { renderCrumbs } from '../boards/crumbs.ts'
import { answerForm } from '../boards/questions-view.ts'
import { postForm } from '../form-page.ts'
import { html } from '../html.ts'
import type { ListedCard } from '../listed-card.ts'
import type { Reader } from '../reader.ts'
import { renderMoment } from '../times.ts'
import { unreadText, type UnreadOf } from '../unread.ts'

/** A card that a notice is about, and what the person may do with it. */
export interface Acts {
  readonly card: ListedCard
  readonly may: ReadonlySet<string>
}

/** Notices that a page shows. */
interface ShownNotices {
  readonly notices: readonly Notice[]
  readonly acts: ReadonlyMap<string, Acts>
  /** the cursor of those before these; undefined: there are none */
  readonly next: string | undefined
  readonly isContinued: boolean
}

const kindWords: Readonly<Record<NoticeKind, string>> = {
  assigned: 'Assignment',
  mentioned: 'Mention',
  card_stuck: 'Stuck',
  question: 'Question',
  answered: 'Answer',
  commented: 'Comment',
  due: 'Due',
  token_ending: 'Token',
  webhook_disabled: 'Webhook',
}

/** The inboxes of a person, by workspace. */
export function renderInboxes(inboxes: readonly UnreadOf[]): VNode {
  return html`<h1>Inbox</h1>
    ${
      inboxes.length === 0
        ? html`<p class="empty">You are not a member of any workspace yet.</p>`
        : html`<ul class="inboxes">
            ${inboxes.map((one) => html`<li><a href="/app/${one.workspace.id}/notices" dir="auto">${one.workspace.name}</a> <span class="unread-count">${unreadText([one])}</span></li>`)}
          </ul>`
    }` as VNode
}

export function renderInbox(reader: Reader, { notices, acts, next, isContinued }: ShownNotices, workspace: string): VNode {
  const { context, base } = reader
  const unread = notices.filter(({ read_at }) => read_at === null)
  return html`<div data-inbox data-refreshed data-merge>
    ${renderCrumbs([['Boards', '/app'], [workspace]])}
    <div class="head" id="inbox-head">
      <h1>Inbox</h1>
      ${unread.length > 0 && markForm(reader, { before: unread[0]!.at }, 'Mark all as read')}
    </div>
    ${
      notices.length === 0
        ? html`<p class="empty" id="inbox-empty">
            ${isContinued ? 'There are no earlier notices.' : 'Nothing yet. Questions of agents, mentions, assignments and what needs you will be here.'}
          </p>`
        : html`<ul class="notices" id="notices" data-merge>
            ${notices.map((one) => renderNotice(reader, one, acts))}
          </ul>`
    }
    <p class="actions" id="inbox-more">
      ${isContinued && html`<a href="${base}/notices">Newest notices</a>`}
      ${next !== undefined && html` <a class="button" href=${`${context.path}?${new URLSearchParams({ after: next })}`}>Earlier notices</a>`}
    </p>
  </div>` as VNode
}

function renderNotice(reader: Reader, notice: Notice, acts: ReadonlyMap<string, Acts>): VNode {
  const { id, kind, at, read_at, text } = notice
  const isUnread = read_at === null
  return html`<li id=${id} class=${isUnread ? 'unread' : ''} data-draft>
    <p>
      ${isUnread && html`<span class="unseen">Unread: </span>`}<a href=${placeOf(reader.workspaceId, notice).path} dir="auto">${text}</a>
    </p>
    <p class="hint">${kindWords[kind]} · ${renderMoment(at)}</p>
    ${renderAct(reader, notice, notice.card_id === null ? undefined : acts.get(notice.card_id))}
    ${isUnread && markForm(reader, { id }, 'Mark as read', text)}
  </li>` as VNode
}

/** What the person can do at once: answer a question that waits, or try a stuck card again. */
function renderAct({ context }: Reader, { kind, comment_id }: Notice, acts: Acts | undefined): VNode | undefined {
  if (acts === undefined) return undefined
  const { card, may } = acts
  const isWaiting = card.work?.state === 'waiting' && card.work.question_id === comment_id
  if (kind === 'question' && isWaiting) return answerForm({ context, may }, card)
  if (kind !== 'card_stuck' || card.work?.state !== 'stuck') return undefined
  return doButton({ context, may }, 'cards.retry', { card_id: card.id }, 'Retry', { about: card.title })
}

function markForm({ context, base }: Reader, hidden: Readonly<Record<string, string>>, button: string, about = ''): VNode {
  const fields = html`<button class="small">${button}${about !== '' && html`<span class="unseen">: <bdi>${about}</bdi></span>`}</button>`
  return postForm({ action: `${base}/notices`, token: context.session.form_token, hidden, fields }, 'inline mark')
}
