import type { VNode } from 'preact'
import type { Attachment } from '../../model/file.ts'
import { html, toast } from '../html.ts'
import { renderMoment, renderTime } from '../times.ts'
import type { SignedInContext } from '../page-context.ts'
import type { ListedCard } from './board-data.ts'
import { renderDue, renderLabels } from './board-view.ts'
import type { CardData } from './card-data.ts'
import { renderHistory } from './history-view.ts'
import { nextExpiry } from './holders.ts'
import { icon } from './icons.ts'
import { renderPerson, type People } from './people.ts'
import { renderDone } from '../operations/undo.ts'
import { createProse } from '../markdown.ts'

/** Images that browsers show, and that cannot contain a program. Others are links. */
const SHOWN_IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])

/** @param base the path of the workspace */
export function renderCard(data: CardData, base: string, context: SignedInContext): VNode {
  const { web, query, session } = context
  const { card, board, subtasks, attachments } = data
  const boardPath = `${base}/boards/${board.id}`
  const prose = createProse()
  const column = board.columns?.find(({ id }) => id === card.column_id)
  const changes = `${boardPath}/events?after=${encodeURIComponent(board.changes_cursor ?? '')}`
  return html`<article
    class="whole-card"
    id="card"
    data-merge
    data-card=${card.id}
    data-board=${boardPath}
    data-events=${changes}
    data-expiry=${nextExpiry([card], web.clock())}
    data-forms="${base}/do"
    data-token=${session.form_token}
  >
    ${renderDone(context)}
    <div class="board-head" id="card-head" data-merge>
      <nav class="crumbs" id="crumbs" aria-label="Breadcrumb">
        <a href="/app">Boards</a> <span aria-hidden="true">/</span>
        <a href=${boardPath}>${board.name}</a>${column && html` <span aria-hidden="true">/</span> ${column.name}`}
      </nav>
      <h1 id="card-title">${card.title}</h1>
      <p class="live" id="live" data-live data-keep hidden><span data-live-text>Connecting</span></p>
    </div>
    <div class="columns" id="card-columns" data-merge>
      <div class="card-text" id="card-text" data-merge>
        <section id="card-description" aria-labelledby="description-title">
          <h2 id="description-title">Description</h2>
          ${card.description === '' ? html`<p class="hint">No description.</p>` : html`<div class="prose">${prose(card.description)}</div>`}
        </section>
        ${subtasks.length > 0 && renderSubtasks(data)} ${attachments.length > 0 && renderAttachments(attachments, base)}
        ${renderComments(data, prose, query.has('comments'))} ${renderHistory(data.history, data.people)}
      </div>
      ${renderMeta(data, column?.name, base, web.clock())}
    </div>
    ${toast()}
  </article>`
}

function renderMeta(
  { card, board, people, holders, claimedAt, blockers, blocked }: CardData,
  column: string | undefined,
  base: string,
  now: number,
): VNode {
  const labels = renderLabels(card.label_ids, new Map((board.labels ?? []).map((label) => [label.id, label])))
  const { due_at, completed_at, completed_by_id, archived_at } = card
  return html`<aside class="card facts-list" id="card-facts" aria-label="About this card">
    <dl>
      <dt>Column</dt>
      <dd>${column ?? 'archived'}</dd>
      <dt>State</dt>
      <dd>
        ${completed_at === null ? 'Open' : html`<span class="fact done">${icon('done')}Done</span> ${renderMoment(completed_at)}${completed_by_id !== null && ` by ${people.nameOf(completed_by_id)}`}`}${archived_at !== null && ', archived'}
      </dd>
      ${
        due_at !== null &&
        html`<dt>Due</dt>
          <dd>${renderDue({ due_at, completed_at }, renderTime(due_at), now)}</dd>`
      }
      ${
        card.claim != null &&
        html`<dt>Claimed by</dt>
          <dd>
            ${renderNamed(card.claim.holder_id, people)}
            <p>
              ${holders.get(card.claim.token_id)}${claimedAt !== undefined && html`, since ${renderTime(claimedAt)}`}, until${' '}
              ${renderTime(card.claim.expires_at)}
            </p>
          </dd>`
      }
      <dt>Assignees</dt>
      <dd>
        ${
          card.assignee_ids.length === 0
            ? 'None'
            : html`<ul class="persons">
                ${card.assignee_ids.map((userId) => html`<li>${renderNamed(userId, people)}</li>`)}
              </ul>`
        }
      </dd>
      ${
        labels !== undefined &&
        html`<dt>Labels</dt>
          <dd>${labels}</dd>`
      }
      ${renderOthers('Blocked by', blockers, base, card.blocker_ids.length)} ${renderOthers('Blocks', blocked, base)}
      <dt>Created</dt>
      <dd>${renderMoment(card.created_at)} by ${people.nameOf(card.creator_id)}</dd>
      <dt>Changed</dt>
      <dd>${renderMoment(card.updated_at)}</dd>
      <dt>ID</dt>
      <dd><code>${card.id}</code></dd>
    </dl>
  </aside>`
}

/** Cards that block this one, or that it blocks. Those that are done or archived block no more. @param total default: these are all */
function renderOthers(name: string, cards: readonly ListedCard[], base: string, total = cards.length): VNode | undefined {
  if (cards.length === 0) return undefined
  return html`<dt>${name}</dt>
    <dd>
      <ul class="persons">
        ${cards.map(
          ({ id, title, completed_at, archived_at }) =>
            html`<li>
              <a href="${base}/cards/${id}">${title}</a
              >${completed_at !== null && html` <span class="hint">done</span>`}${archived_at !== null && html` <span class="hint">archived</span>`}
            </li>`,
        )}
      </ul>
      ${total > cards.length && html`<span class="hint">and ${total - cards.length} more</span>`}
    </dd>` as VNode
}

function renderNamed(userId: string, people: People): VNode {
  const name = people.nameOf(userId)
  return html`<span class="person"><span aria-hidden="true">${renderPerson(userId, name)}</span>${name}</span>`
}

function renderSubtasks({ subtasks }: CardData): VNode {
  const done = subtasks.filter(({ completed_at }) => completed_at !== null).length
  return html`<section id="card-subtasks" aria-labelledby="subtasks-title">
    <h2 id="subtasks-title">Subtasks <span class="count">${done} of ${subtasks.length}</span></h2>
    <progress max=${subtasks.length} value=${done} aria-labelledby="subtasks-title"></progress>
    <ul class="subtasks">
      ${subtasks.map(
        ({ id, title, completed_at }) =>
          html`<li id=${id} class=${completed_at === null ? '' : 'done'}>
            <span class="unseen">${completed_at === null ? 'to do: ' : 'done: '}</span
            >${completed_at === null ? html`<span class="box" aria-hidden="true"></span>` : icon('subtasks')}<span>${title}</span>
          </li>`,
      )}
    </ul>
  </section>`
}

function renderAttachments(attachments: readonly Attachment[], base: string): VNode {
  return html`<section id="card-attachments" aria-labelledby="attachments-title">
    <h2 id="attachments-title">Attachments <span class="count">${attachments.length}</span></h2>
    <ul class="attachments">
      ${attachments.map(({ id, name, content_type, size }) => {
        const path = `${base}/attachments/${id}`
        const isImage = SHOWN_IMAGES.has(content_type.toLowerCase())
        return html`<li id=${id}>
          <a href=${path} download=${name}>
            ${isImage ? html`<img src=${path} alt="" loading="lazy" decoding="async" />` : html`<span class="no-image">${icon('file')}</span>`}
            <span class="file-name">${name}</span>
          </a>
          <span class="hint">${sizeOf(size)}</span>
        </li>`
      })}
    </ul>
  </section>`
}

function renderComments(
  { card, comments, commentsCursor, people }: CardData,
  prose: (text: string) => VNode[],
  isContinued: boolean,
): VNode {
  const total = card.counts?.comments ?? comments.length
  return html`<section id="card-comments" aria-labelledby="comments-title">
    <h2 id="comments-title">Comments <span class="count">${total}</span></h2>
    ${total === 0 && html`<p class="hint">No comments.</p>`} ${isContinued && html`<p><a href="?">First comments</a></p>`}
    <ol class="comments">
      ${comments.map(
        ({ id, author_id, body, created_at, updated_at }) =>
          html`<li id=${id}>
            <p class="comment-head">
              ${renderNamed(author_id, people)}
              <span class="hint">${renderMoment(created_at)}${updated_at !== created_at && ', edited'}</span>
            </p>
            <div class="prose">${prose(body)}</div>
          </li>`,
      )}
    </ol>
    ${commentsCursor !== undefined && html`<p class="more"><a href="?comments=${encodeURIComponent(commentsCursor)}">Later comments</a></p>`}
  </section>`
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
