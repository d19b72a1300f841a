import type { VNode } from 'preact'
import { authorName } from '../../model/author.ts'
import { html } from '../html.ts'
import { createProse } from '../markdown.ts'
import { renderTime } from '../times.ts'
import { renderAttachments } from './card-attachments.ts'
import { renderComments } from './card-comments.ts'
import { ofVersion, type CardData } from './card-data.ts'
import { renderFacts } from './card-facts.ts'
import { oneMore, renderPart } from './card-part.ts'
import { renderSubtasks } from './card-subtasks.ts'
import { doButton, doForm, editor, type Controls } from './controls.ts'
import { renderHistory } from './history-view.ts'
import { icon } from './icons.ts'
import { renderLive, renderLiveSign } from './live-view.ts'
import { renderCrumbs } from './crumbs.ts'
import { answerForm, renderElsewhere, renderQuestion } from './questions-view.ts'
import type { Reader } from '../reader.ts'
import { nextMoment } from './work.ts'

/** A card with all that is on it. */
export function renderCard(reader: Reader, data: CardData): VNode {
  const { context, base } = reader
  const { card, board, may } = data
  const controls = { context, may: may.card }
  const prose = createProse(data.known)
  const column = board.columns?.find(({ id }) => id === card.column_id)
  return renderLive(
    reader,
    { board, className: 'whole-card', data: { 'data-card': card.id, 'data-until': nextMoment(card) } },
    html`${renderHeld(data, controls)}
      <div class="board-head" id="card-head" data-merge>
        ${renderCrumbs([['Boards', '/app'], [board.name, `${base}/boards/${board.id}`], ...(column ? [[column.name] as const] : [])])}
        <h1 id="card-title" dir="auto">${card.title}</h1>
        ${renderElsewhere(base, data.waiting)} ${renderLiveSign()} ${textEditor(data, controls, 'title', 'Edit')}
      </div>
      ${renderAsked(data, controls, prose)}
      <div class="columns" id="card-columns" data-merge>
        <div class="card-text" id="card-text" data-merge>
          ${renderParts(data, controls, base, prose)} ${renderComments(data, prose, controls)} ${renderHistory(data.history, data.people)}
        </div>
        ${renderFacts(data, controls, base, prose)}
      </div>`,
  )
}

/** What a card has of text, subtasks and files. What it has none of is offered after that, by a button each. */
function renderParts(data: CardData, controls: Controls, base: string, prose: (text: string) => VNode[]): unknown {
  const { card, subtasks, attachments } = data
  const parts = [
    [card.description, renderDescription(data, controls, prose)],
    [subtasks, renderSubtasks(data, controls)],
    [attachments, renderAttachments(data, controls, base)],
  ] as const
  return [...parts.filter(([{ length }]) => length > 0), ...parts.filter(([{ length }]) => length === 0)].map(([, part]) => part)
}

function renderDescription(data: CardData, controls: Controls, prose: (text: string) => VNode[]): VNode | undefined {
  const { description } = data.card
  const isEmpty = description === ''
  const editing = textEditor(data, controls, 'description', isEmpty ? oneMore('Description') : 'Edit', isEmpty ? '' : 'description')
  if (isEmpty && editing === undefined) return undefined
  const content = html`${editing} ${!isEmpty && html`<div class="prose" id="description">${prose(description)}</div>`}`
  return renderPart({ name: 'description', heading: 'Description', isEmpty, content })
}

/** Says to those who could change the card that somebody is at work on it. */
function renderHeld({ card, people }: CardData, controls: Controls): VNode | undefined {
  if (card.claim == null || !controls.may.has('cards.update')) return undefined
  const { holder_id, token_name, expires_at } = card.claim
  return html`<p class="message warning held" id="held">
      ${icon('claim')}<span
        ><bdi>${authorName(people.memberName(holder_id), token_name)}</bdi> is at work on this card until ${renderTime(expires_at)}.</span
      >
    </p>
    ${doButton(controls, 'claims.release', { card_id: card.id, over_claim: String(card.claim.epoch) }, 'End the claim', { id: 'end-claim' })}` as VNode
}

/** The question that the card waits for an answer to. */
function renderAsked({ card, question, people }: CardData, controls: Controls, prose: (text: string) => VNode[]): VNode | undefined {
  if (question === undefined) return undefined
  const answering = answerForm(controls, card)
  return html`<section class="question" id="card-question" aria-labelledby="question-title" data-merge>
    <h2 id="question-title">Waits for an answer</h2>
    <div id="question-text">${renderQuestion(question, people, prose)}</div>
    ${answering && html`<div id="write-answer" data-draft>${answering}</div>`}
  </section>` as VNode
}

function textEditor(
  data: CardData,
  controls: Controls,
  name: 'title' | 'description',
  word: unknown,
  about: string = name,
): VNode | undefined {
  // With an id, the field keeps the focus when its part of the page gets another place.
  const part = { fields: [name], record: data.card, button: 'Save', attributes: { id: `${name}-text` }, boardId: data.card.board_id }
  return editor(`edit-${name}`, word, about, doForm(controls, 'cards.update', ofVersion(data), part))
}
