import type { VNode } from 'preact'
import type { Comment } from '../../model/comment.ts'
import { limits } from '../../model/limits.ts'
import { hasAtMost } from '../../model/text.ts'
import { html } from '../html.ts'
import { renderMoment } from '../times.ts'
import type { CardData } from './card-data.ts'
import { doButton, doForm, doLink, type Controls } from './controls.ts'
import { renderWriter, writerName } from './people.ts'

/** The comments of a card, and a form for one more. */
export function renderComments(data: CardData, prose: (text: string) => VNode[], controls: Controls): VNode {
  const { card, comments, commentsCursor } = data
  const total = card.counts?.comments ?? comments.length
  const writing = doForm(controls, 'comments.create', { card_id: card.id }, { ...WRITING, boardId: card.board_id })
  return html`<section id="card-comments" aria-labelledby="comments-title" data-merge>
    <h2 id="comments-title">Comments <span class="count">${total}</span></h2>
    ${total === 0 && html`<p class="hint" id="no-comments">No comments.</p>`}
    ${controls.context.query.has('comments') && html`<p id="first-comments"><a href="?">First comments</a></p>`}
    <ol class="comments" id="comment-list" data-merge>
      ${comments.map((comment) => renderComment(comment, data, prose, controls))}
    </ol>
    ${commentsCursor !== undefined && html`<p class="more" id="later-comments"><a href="?comments=${encodeURIComponent(commentsCursor)}">Later comments</a></p>`}
    ${writing && html`<div id="write-comment" data-draft>${writing}</div>`}
  </section>`
}

const WRITING = {
  fields: ['body'],
  button: 'Comment',
  attributes: { 'aria-label': 'New comment', placeholder: 'Write a comment (Markdown)', rows: 3 },
  isLine: true,
  className: 'stacked',
}

/** The special kinds of comment: a question of an agent, or the answer to one. */
function kindOf({ kind, answers }: Comment, { comments, people }: CardData): unknown {
  if (kind === 'question') return 'asked'
  if (kind !== 'answer') return false
  const question = comments.find(({ id }) => id === answers)
  return question === undefined
    ? 'answered a question'
    : html`answered <a href="#${question.id}">the question of <bdi>${writerName(question, people)}</bdi></a>`
}

/**
 * What makes a comment under an open question its answer: an answer is a comment of its own, so its text is said again, and says whose it is.
 */
function renderAnswering(comment: Comment, { card, question, people }: CardData, controls: Controls): VNode | undefined {
  if (question === undefined || comment.kind !== 'comment' || comment.created_at < question.created_at) return undefined
  const isOwn = comment.author_id === controls.context.session.user_id && comment.token_id === null
  const writer = writerName(comment, people)
  const body = isOwn ? comment.body : `${writer}:\n\n> ${comment.body.replaceAll('\n', '\n> ')}`
  if (!hasAtMost(limits.commentBody, body)) return undefined
  return doButton(controls, 'cards.answer', { card_id: card.id, body }, 'This is the answer', { about: `by ${writer}` })
}

/** Whether a comment was edited, and by whom if that is not who wrote it: words of an agent that its person has changed, or the other way. */
function editOf({ author_id, token_id, edited_by, created_at, updated_at }: Comment, { nameOf }: CardData['people']): unknown {
  if (updated_at === created_at && edited_by === undefined) return ''
  if (edited_by === undefined || (edited_by === 'token') === (token_id !== null)) return ', edited'
  return edited_by === 'person' ? html`, edited by <bdi>${nameOf(author_id)}</bdi>` : ', edited by an agent'
}

function renderComment(comment: Comment, data: CardData, prose: (text: string) => VNode[], { context }: Controls): VNode {
  const { people, may } = data
  const { id, body, created_at } = comment
  const kind = kindOf(comment, data)
  const controls = { context, may: may.comment(comment) }
  const look = { about: `the comment of ${writerName(comment, people)}` }
  return html`<li id=${id}>
    <p class="comment-head">
      ${renderWriter(comment, people)} ${kind !== false && html`<span class="kind">${kind}</span>`}
      <span class="hint">${renderMoment(created_at)}${editOf(comment, people)}</span>
      <span class="comment-actions">
        ${renderAnswering(comment, data, { context, may: may.card })}
        ${doLink(controls, 'comments.update', { comment_id: id }, 'Edit', look)}
        ${doLink(controls, 'comments.delete', { comment_id: id }, 'Delete', look)}
      </span>
    </p>
    <div class="prose">${prose(body)}</div>
  </li>`
}
