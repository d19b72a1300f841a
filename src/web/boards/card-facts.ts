import type { VNode } from 'preact'
import { html } from '../html.ts'
import { formActions } from '../form-page.ts'
import { operationForm, zoneHint } from '../operations/form.ts'
import { renderMoment, renderTime } from '../times.ts'
import type { ListedCard } from './board-data.ts'
import { renderDue } from './board-view.ts'
import type { CardData } from './card-data.ts'
import { addForm, doButton, doLink, editor, removeButton, type Controls } from './controls.ts'
import { icon, swatch } from './icons.ts'
import { renderNamed } from './people.ts'

/** What is said of a card, with what the person can do about it. */
type Fact = readonly [id: string, name: string, content: unknown, control?: VNode | false]

/** What is said of something that a card has none of. Without a control, it is left out. */
const NONE = 'None'

/** The panel of a card: where it is, its state, its people, labels and blockers, each with what the person may change of it. */
export function renderFacts(data: CardData, controls: Controls, now: number): VNode {
  const { card, people, holders, claimedAt } = data
  const { completed_at, completed_by_id, archived_at } = card
  const facts: readonly Fact[] = [
    [
      'column',
      'Column',
      data.board.columns?.find(({ id }) => id === card.column_id)?.name ?? 'archived',
      controls.may.has('cards.move') && renderMove(data, controls),
    ],
    [
      'state',
      'State',
      html`${completed_at === null ? 'Open' : html`<span class="fact done">${icon('done')}Done</span> ${renderMoment(completed_at)}${completed_by_id !== null && ` by ${people.nameOf(completed_by_id)}`}`}${archived_at !== null && ', archived'}`,
    ],
    [
      'due',
      'Due',
      card.due_at === null ? NONE : renderDue({ due_at: card.due_at, completed_at }, renderTime(card.due_at), now),
      controls.may.has('cards.update') && renderDueEditor(data, controls),
    ],
    [
      'claim',
      'Claimed by',
      card.claim != null &&
        html`${renderNamed(card.claim.holder_id, people)}
          <p>
            ${holders.get(card.claim.token_id)}${claimedAt !== undefined && html`, since ${renderTime(claimedAt)}`},${' until '}
            ${renderTime(card.claim.expires_at)}
          </p>`,
    ],
    ['assignees', 'Assignees', renderAssignees(data, controls), controls.may.has('cards.assign') && renderAssign(data, controls)],
    ['labels', 'Labels', renderCardLabels(data, controls), controls.may.has('cards.apply_label') && renderApply(data, controls)],
    [
      'blockers',
      'Blocked by',
      renderBlockers(data, controls),
      controls.may.has('blockers.add') && doLink(controls, 'blockers.add', { card_id: card.id }, 'Add', 'a blocker'),
    ],
    ['blocked', 'Blocks', data.blocked.length > 0 && renderCards(data.blocked, controls)],
    ['created', 'Created', html`${renderMoment(card.created_at)} by ${people.nameOf(card.creator_id)}`],
    ['changed', 'Changed', renderMoment(card.updated_at)],
    ['id', 'ID', html`<code>${card.id}</code>`],
  ]
  return html`<aside class="card facts-list" id="card-facts" aria-label="About this card" data-merge>
    ${renderActions(data, controls)}
    <dl id="facts" data-merge>
      ${facts
        .filter(([, , content, control = false]) => control !== false || (content !== NONE && content !== false))
        .map(
          ([id, name, content, control = false]) =>
            html`<dt id="fact-${id}-name">${name}</dt>
              <dd id="fact-${id}" data-merge>
                <div id="fact-${id}-shown">${content}</div>
                ${control !== false && html`<div id="fact-${id}-control" data-merge=${control.type === 'details'} data-draft>${control}</div>`}
              </dd>`,
        )}
    </dl>
  </aside>`
}

/** What ends the work on a card, or begins it again. */
function renderActions({ card: { id, completed_at, archived_at, title } }: CardData, controls: Controls): VNode {
  const { may } = controls
  const look = (name: string, className = 'small') => ({ id: `card-${name}`, className })
  return html`<div class="card-actions" id="card-actions">
    ${
      may.has('cards.complete') &&
      (completed_at === null
        ? doButton(controls, 'cards.complete', { card_id: id, completed: 'true' }, 'Complete', title, look('complete', 'primary small'))
        : doButton(controls, 'cards.complete', { card_id: id, completed: 'false' }, 'Reopen', title, look('complete')))
    }
    ${archived_at === null && may.has('cards.archive') && doButton(controls, 'cards.archive', { card_id: id }, 'Archive', title, look('archive'))}
    ${archived_at !== null && may.has('cards.restore') && doButton(controls, 'cards.restore', { card_id: id }, 'Restore', title, look('archive'))}
    ${may.has('cards.delete') && doLink(controls, 'cards.delete', { card_id: id }, 'Delete', title)}
  </div>`
}

function renderMove({ card, board }: CardData, controls: Controls): VNode {
  const content = html`<select name="column_id" aria-label="Column">
      ${board.columns?.map(({ id, name }) => html`<option value=${id} selected=${id === card.column_id}>${name}</option>`)}
    </select>
    <select name="to" aria-label="Place in the column">
      <option value="last">last</option>
      <option value="first">first</option>
    </select>
    <button class="small">Move</button>`
  const form = operationForm(controls.context, 'cards.move', { card_id: card.id }, content, 'inline add')
  return editor('move-card', 'Move', 'to another place', form)
}

function renderDueEditor({ card: { id, due_at }, revision }: CardData, controls: Controls): VNode {
  const hidden = { card_id: id, revision, 'was.due_at': due_at ?? '' }
  const content = html`<label for="card-due">Due${zoneHint()}</label>
    <input id="card-due" type="datetime-local" name="due_at" value=${due_at?.slice(0, 16) ?? ''} data-time />
    ${formActions('Save')}`
  const forms = html`${operationForm(controls.context, 'cards.update', hidden, content, 'stacked')}
  ${due_at !== null && doButton(controls, 'cards.update', { ...hidden, due_at: '' }, 'Remove', 'due time')}`
  return editor('edit-due', due_at === null ? 'Set' : 'Change', 'due time', forms)
}

function renderAssignees({ card: { id, assignee_ids }, people }: CardData, controls: Controls): unknown {
  if (assignee_ids.length === 0) return NONE
  const mayRemove = controls.may.has('cards.unassign')
  return html`<ul class="persons">
    ${assignee_ids.map(
      (user_id) =>
        html`<li>
          ${renderNamed(user_id, people)}
          ${mayRemove && removeButton(controls, 'cards.unassign', { card_id: id, user_id }, `Unassign ${people.nameOf(user_id)}`)}
        </li>`,
    )}
  </ul>`
}

function renderAssign({ card: { id, assignee_ids }, assignable }: CardData, controls: Controls): VNode | false {
  const choices = assignable.filter(({ user_id }) => !assignee_ids.includes(user_id)).map((one) => [one.user_id, one.display_name] as const)
  return addForm(controls, 'cards.assign', { card_id: id }, { name: 'user_id', label: 'Person', button: 'Assign', choices })
}

function renderCardLabels({ card: { id, label_ids }, board }: CardData, controls: Controls): unknown {
  const labels = label_ids.flatMap((labelId) => board.labels?.find((label) => label.id === labelId) ?? [])
  if (labels.length === 0) return NONE
  const mayRemove = controls.may.has('cards.remove_label')
  return html`<ul class="labels">
    ${labels.map(
      ({ id: label_id, name, color }) =>
        html`<li class="label">
          ${swatch(color, 'dot')}${name}
          ${mayRemove && removeButton(controls, 'cards.remove_label', { card_id: id, label_id }, `Remove the label ${name}`)}
        </li>`,
    )}
  </ul>`
}

function renderApply({ card: { id, label_ids }, board }: CardData, controls: Controls): VNode | false {
  const choices = (board.labels ?? []).filter((label) => !label_ids.includes(label.id)).map((label) => [label.id, label.name] as const)
  return addForm(controls, 'cards.apply_label', { card_id: id }, { name: 'label_id', label: 'Label', button: 'Add', choices })
}

function renderBlockers({ card: { id, blocker_ids }, blockers }: CardData, controls: Controls): unknown {
  if (blockers.length === 0) return NONE
  const mayRemove = controls.may.has('blockers.remove')
  const remove = ({ id: blocker_id, title }: ListedCard) =>
    mayRemove && removeButton(controls, 'blockers.remove', { card_id: id, blocker_id }, `Remove the blocker ${title}`)
  return html`${renderCards(blockers, controls, remove)}
  ${blocker_ids.length > blockers.length && html`<span class="hint">and ${blocker_ids.length - blockers.length} more</span>`}`
}

/** Cards that block this one, or that it blocks. Those that are done or archived block no more. */
function renderCards(cards: readonly ListedCard[], { base }: Controls, remove?: (card: ListedCard) => unknown): VNode {
  return html`<ul class="persons">
    ${cards.map(
      (card) =>
        html`<li>
          <span
            ><a href="${base}/cards/${card.id}">${card.title}</a
            >${card.completed_at !== null && html` <span class="hint">done</span>`}${card.archived_at !== null && html` <span class="hint">archived</span>`}</span
          >
          ${remove?.(card)}
        </li>`,
    )}
  </ul>`
}
