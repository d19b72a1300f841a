import type { VNode } from 'preact'
import { html } from '../html.ts'
import { createProse } from '../markdown.ts'
import { renderTime } from '../times.ts'
import { renderAttachments } from './card-attachments.ts'
import { renderComments } from './card-comments.ts'
import { ofVersion, type CardData } from './card-data.ts'
import { renderFacts } from './card-facts.ts'
import { renderSubtasks } from './card-subtasks.ts'
import { doForm, editor, type Controls } from './controls.ts'
import { renderHistory } from './history-view.ts'
import { icon } from './icons.ts'
import { renderLive, renderLiveSign } from './live-view.ts'
import { renderCrumbs } from './crumbs.ts'
import type { Reader } from './reader.ts'

/** A card with all that is on it. */
export function renderCard(reader: Reader, data: CardData): VNode {
  const { context, base } = reader
  const { card, board, may } = data
  const controls = { context, may: may.card }
  const prose = createProse()
  const column = board.columns?.find(({ id }) => id === card.column_id)
  return renderLive(
    reader,
    { board, className: 'whole-card', data: { 'data-card': card.id, 'data-until': card.claim?.expires_at } },
    html`${renderHeld(data, controls)}
      <div class="board-head" id="card-head" data-merge>
        ${renderCrumbs([['Boards', '/app'], [board.name, `${base}/boards/${board.id}`], ...(column ? [[column.name] as const] : [])])}
        <h1 id="card-title">${card.title}</h1>
        ${renderLiveSign()} ${textEditor(data, controls, 'title', 'Edit')}
      </div>
      <div class="columns" id="card-columns" data-merge>
        <div class="card-text" id="card-text" data-merge>
          <section id="card-description" aria-labelledby="description-title" data-merge>
            <h2 id="description-title">Description</h2>
            ${textEditor(data, controls, 'description', card.description === '' ? 'Write' : 'Edit')}
            ${
              card.description === ''
                ? html`<p class="hint" id="description">No description.</p>`
                : html`<div class="prose" id="description">${prose(card.description)}</div>`
            }
          </section>
          ${renderSubtasks(data, controls)} ${renderAttachments(data, controls, base)} ${renderComments(data, prose, controls)}
          ${renderHistory(data.history, data.people)}
        </div>
        ${renderFacts(data, controls, base)}
      </div>`,
  )
}

/** Says to those who could change the card that somebody is at work on it. */
function renderHeld({ card, holders }: CardData, { may }: Controls): VNode | undefined {
  if (card.claim == null || !may.has('cards.update')) return undefined
  const holder = holders.get(card.claim.token_id)!
  return html`<p class="notice warning held" id="held">
    ${icon('claim')}<span
      >${holder[0]!.toUpperCase() + holder.slice(1)} is at work on this card until ${renderTime(card.claim.expires_at)}.</span
    >
  </p>`
}

function textEditor(data: CardData, controls: Controls, name: 'title' | 'description', word: string): VNode | undefined {
  const part = { fields: [name], record: data.card, button: 'Save' }
  return editor(`edit-${name}`, word, name, doForm(controls, 'cards.update', ofVersion(data), part))
}
