import type { VNode } from 'preact'
import { limits } from '../../model/limits.ts'
import { formActions } from '../form-page.ts'
import { html, toast } from '../html.ts'
import { createProse } from '../markdown.ts'
import { operationForm, textOfArea } from '../operations/form.ts'
import { renderDone } from '../operations/undo.ts'
import type { SignedInContext } from '../page-context.ts'
import { renderTime } from '../times.ts'
import { renderAttachments } from './card-attachments.ts'
import { renderComments } from './card-comments.ts'
import type { CardData } from './card-data.ts'
import { renderHistory } from './history-view.ts'
import { renderFacts } from './card-facts.ts'
import { renderSubtasks } from './card-subtasks.ts'
import { editor, type Controls } from './controls.ts'
import { nextExpiry } from './holders.ts'
import { icon } from './icons.ts'

/** @param base the path of the workspace */
export function renderCard(data: CardData, base: string, context: SignedInContext): VNode {
  const { web, session } = context
  const { card, board, may } = data
  const controls = { context, base, may: may.card }
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
    ${renderDone(context)} ${renderHeld(data, controls)}
    <div class="board-head" id="card-head" data-merge>
      <nav class="crumbs" id="crumbs" aria-label="Breadcrumb">
        <a href="/app">Boards</a> <span aria-hidden="true">/</span>
        <a href=${boardPath}>${board.name}</a>${column && html` <span aria-hidden="true">/</span> ${column.name}`}
      </nav>
      <h1 id="card-title">${card.title}</h1>
      <p class="live" id="live" data-live data-keep hidden><span data-live-text>Connecting</span></p>
      ${renderTitleEditor(data, controls)}
    </div>
    <div class="columns" id="card-columns" data-merge>
      <div class="card-text" id="card-text" data-merge>
        <section id="card-description" aria-labelledby="description-title" data-merge>
          <h2 id="description-title">Description</h2>
          ${renderDescriptionEditor(data, controls)}
          ${
            card.description === ''
              ? html`<p class="hint" id="description">No description.</p>`
              : html`<div class="prose" id="description">${prose(card.description)}</div>`
          }
        </section>
        ${renderSubtasks(data, controls)} ${renderAttachments(data, controls)} ${renderComments(data, prose, controls)}
        ${renderHistory(data.history, data.people)}
      </div>
      ${renderFacts(data, controls, web.clock())}
    </div>
    ${toast()}
  </article>`
}

/** Says to those who could change the card that somebody is at work on it. */
function renderHeld({ card, holders }: CardData, { may }: Controls): VNode | undefined {
  if (card.claim == null || !may.has('cards.update')) return undefined
  const holder = holders.get(card.claim.token_id) ?? 'A token'
  return html`<p class="notice warning held" id="held">
    ${icon('claim')}<span
      >${holder[0]!.toUpperCase() + holder.slice(1)} is at work on this card until ${renderTime(card.claim.expires_at)}.</span
    >
  </p>`
}

function renderTitleEditor({ card: { id, title }, revision }: CardData, { context, may }: Controls): VNode | undefined {
  if (!may.has('cards.update')) return undefined
  const content = html`<label for="edit-title-text">Title</label>
    <input id="edit-title-text" name="title" value=${title} required maxlength=${limits.cardTitle} autocomplete="off" />
    ${formActions('Save')}`
  const form = operationForm(context, 'cards.update', { card_id: id, revision, 'was.title': title }, content, 'stacked')
  return editor('edit-title', 'Edit', 'title', form)
}

function renderDescriptionEditor({ card: { id, description }, revision }: CardData, { context, may }: Controls): VNode | undefined {
  if (!may.has('cards.update')) return undefined
  const content = html`<label for="edit-description-text">Description <span class="hint">(Markdown)</span></label>
    <textarea id="edit-description-text" name="description" rows="10">${textOfArea(description)}</textarea>
    ${formActions('Save')}`
  const form = operationForm(context, 'cards.update', { card_id: id, revision, 'was.description': description }, content, 'stacked')
  return editor('edit-description', description === '' ? 'Write' : 'Edit', 'description', form)
}
