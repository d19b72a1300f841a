import type { VNode } from 'preact'
import type { Comment } from '../../model/comment.ts'
import { html } from '../html.ts'
import { baseOf } from '../operations/form.ts'
import { renderMoment } from '../times.ts'
import type { ListedCard } from '../listed-card.ts'
import { doForm, type Controls } from './controls.ts'
import { questionTexts } from './counts.ts'
import { icon } from './icons.ts'
import { renderWriter, type People } from './people.ts'
import type { Waiting } from './questions.ts'

/** How many questions wait for the person. The script of a live page writes it anew: it knows by the ids which cards are counted. */
export function renderCountOfQuestions({ cards, hasMore }: Waiting): VNode {
  const texts = questionTexts(cards.length, hasMore)
  return html`<span class="asking" data-asking=${cards.map(({ id }) => id).join(' ')} data-more=${hasMore ? '' : undefined}
    >${texts.map(([text, isUnseen]) => (isUnseen ? html`<span class="unseen">${text}</span>` : text))}</span
  >`
}

/** The way to the cards of all boards, with the number of questions that wait for the person. */
export function renderElsewhere(base: string, waiting: Waiting): VNode {
  return html`<p class="elsewhere" id="elsewhere">
    <a href="${base}/cards?view=mine">My cards ${renderCountOfQuestions(waiting)}</a> <a href="${base}/cards?view=overdue">Overdue</a>${' '}
    <a href="${base}/agents">Agents</a>
  </p>`
}

/** The form that answers the question of a card, for those who may. */
export function answerForm(controls: Controls, { id, title, board_id }: ListedCard): VNode | undefined {
  const attributes = { 'aria-label': `Answer to the question on ${title}`, placeholder: 'Write an answer (Markdown)', rows: 2 }
  const part = { fields: ['body'], button: 'Answer', attributes, isLine: true, className: 'stacked', boardId: board_id }
  return doForm(controls, 'cards.answer', { card_id: id }, part)
}

/** What a question says, and who has asked it. */
export function renderQuestion(question: Comment, people: People, prose: (text: string) => VNode[]): VNode {
  const { body, created_at } = question
  return html`<div>
    <p class="comment-head">
      ${icon('question')} ${renderWriter(question, people)} asked <span class="hint">${renderMoment(created_at)}</span>
    </p>
    <div class="prose">${prose(body)}</div>
  </div>`
}

/** A card that waits for an answer, in a list: its question, and the form for those who may answer it. */
export function renderAsked(controls: Controls, card: ListedCard, boardName: string, question: VNode | undefined): VNode {
  return html`<li class="question" id="asked-${card.id}" data-draft>
    <p>
      <a class="found-title" dir="auto" href="${baseOf(controls.context)}/cards/${card.id}">${card.title}</a>${' '}
      <span class="hint" dir="auto">${boardName}</span>
    </p>
    ${question} ${answerForm(controls, card)}
  </li>` as VNode
}
