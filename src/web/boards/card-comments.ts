import type { VNode } from 'preact'
import type { Comment } from '../../model/comment.ts'
import { html } from '../html.ts'
import { operationForm } from '../operations/form.ts'
import { renderMoment } from '../times.ts'
import type { CardData } from './card-data.ts'
import { doLink, type Controls } from './controls.ts'
import { renderNamed } from './people.ts'

/** The comments of a card, and a form for one more. */
export function renderComments(data: CardData, prose: (text: string) => VNode[], controls: Controls): VNode {
  const { card, comments, commentsCursor, may } = data
  const total = card.counts?.comments ?? comments.length
  return html`<section id="card-comments" aria-labelledby="comments-title" data-merge>
    <h2 id="comments-title">Comments <span class="count">${total}</span></h2>
    ${total === 0 && html`<p class="hint" id="no-comments">No comments.</p>`}
    ${controls.context.query.has('comments') && html`<p id="first-comments"><a href="?">First comments</a></p>`}
    <ol class="comments" id="comment-list" data-merge>
      ${comments.map((comment) => renderComment(comment, data, prose, controls))}
    </ol>
    ${commentsCursor !== undefined && html`<p class="more" id="later-comments"><a href="?comments=${encodeURIComponent(commentsCursor)}">Later comments</a></p>`}
    ${may.card.has('comments.create') && html`<div id="write-comment" data-draft>${renderWriting(card.id, controls)}</div>`}
  </section>`
}

function renderComment(
  { id, author_id, body, created_at, updated_at }: Comment,
  { people, may, userId }: CardData,
  prose: (text: string) => VNode[],
  controls: Controls,
): VNode {
  const allowed = may.comments[author_id === userId ? 'own' : 'others']
  const about = `the comment of ${people.nameOf(author_id)}`
  return html`<li id=${id}>
    <p class="comment-head">
      ${renderNamed(author_id, people)}
      <span class="hint">${renderMoment(created_at)}${updated_at !== created_at && ', edited'}</span>
      <span class="comment-actions">
        ${allowed.has('comments.update') && doLink(controls, 'comments.update', { comment_id: id }, 'Edit', about)}
        ${allowed.has('comments.delete') && doLink(controls, 'comments.delete', { comment_id: id }, 'Delete', about)}
      </span>
    </p>
    <div class="prose">${prose(body)}</div>
  </li>`
}

function renderWriting(cardId: string, { context }: Controls): VNode {
  const content = html`<textarea name="body" aria-label="New comment" placeholder="Write a comment" rows="3" required></textarea>
    <p class="edit-actions"><button class="primary small">Comment</button><span class="hint">Markdown</span></p>`
  return operationForm(context, 'comments.create', { card_id: cardId }, content, 'stacked')
}
