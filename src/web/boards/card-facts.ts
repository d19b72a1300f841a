import type { VNode } from 'preact'
import { html } from '../html.ts'
import { linkOrText } from '../markdown.ts'
import type { PartialForm } from '../operations/form.ts'
import type { Choices } from '../operations/place.ts'
import { renderMoment, renderTime } from '../times.ts'
import type { ListedCard } from '../listed-card.ts'
import { ofVersion, type CardData } from './card-data.ts'
import { doButton, doForm, doLink, editor, removeButton, type Controls } from './controls.ts'
import { doneSign, swatch } from './icons.ts'
import { renderNamed, renderWriter } from './people.ts'
import { renderDue } from './tile.ts'
import { badgeOf, isWorkChoice, renderBadge, workWords } from './work.ts'

/** A fact about a card, with the controls that the person has for it. */
type Fact = readonly [id: string, name: string, content: unknown, control?: VNode | undefined]

/** The text for a part that the card lacks. Without a control, it is left out. */
const NONE = 'None'

/** The panel of a card: where it is, its state, its people, labels and blockers, each with the controls that the person may use. */
export function renderFacts(data: CardData, controls: Controls, base: string, prose: (text: string) => VNode[]): VNode {
  const { card, people, board } = data
  const { id, external_ref, due_at, completed_at, completed_by_id, outcome, archived_at, assignee_ids, label_ids, blocker_ids, claim } =
    card
  const of = { card_id: id }
  const facts: readonly Fact[] = [
    [
      'column',
      'Column',
      html`<bdi>${board.columns?.find((column) => column.id === card.column_id)?.name ?? 'archived'}</bdi>`,
      renderMove(data, controls),
    ],
    [
      'state',
      'State',
      html`${completed_at === null ? 'Open' : html`${doneSign(outcome)} ${renderMoment(completed_at)}${completed_by_id !== null && html` by <bdi>${people.nameOf(completed_by_id)}</bdi>`}`}${archived_at !== null && ', archived'}`,
    ],
    ['work', 'Work', renderWork(data, controls, prose), renderRetry(card, controls)],
    [
      'due',
      'Due',
      due_at === null ? NONE : renderDue({ due_at, completed_at }, renderTime(due_at), controls.context.web.clock()),
      renderDueEditor(data, controls),
    ],
    [
      'claim',
      'Claimed by',
      claim != null &&
        html`${renderWriter({ author_id: claim.holder_id, token_name: claim.token_name }, people)}
          <p>since ${renderTime(claim.claimed_at)}, until${' '} ${renderTime(claim.expires_at)}</p>`,
    ],
    [
      'assignees',
      'Assignees',
      renderList(assignee_ids, (user_id) => [
        renderNamed(user_id, people),
        removeButton(controls, 'cards.unassign', { ...of, user_id }, 'Unassign', people.nameOf(user_id)),
      ]),
      doForm(
        controls,
        'cards.assign',
        of,
        choice(
          'user_id',
          'Assignee',
          'Assign',
          data.assignable.filter(({ user_id }) => !assignee_ids.includes(user_id)).map((one) => [one.user_id, one.display_name]),
        ),
      ),
    ],
    [
      'labels',
      'Labels',
      renderList(
        label_ids.flatMap((labelId) => board.labels?.find((label) => label.id === labelId) ?? []),
        ({ id: label_id, name, color }) => [
          html`${swatch(color, 'dot')}<bdi>${name}</bdi>`,
          removeButton(controls, 'cards.remove_label', { ...of, label_id }, 'Remove the label', name),
        ],
        'label',
      ),
      doForm(
        controls,
        'cards.apply_label',
        of,
        choice(
          'label_id',
          'Label',
          'Add',
          (board.labels ?? []).filter((one) => !label_ids.includes(one.id)).map((one) => [one.id, one.name]),
        ),
      ),
    ],
    [
      'blockers',
      'Blocked by',
      data.blockers.length > 0
        ? html`${renderList(data.blockers, (card) => [
            renderLink(card, base),
            removeButton(controls, 'blockers.remove', { ...of, blocker_id: card.id }, 'Remove the blocker', card.title),
          ])}
          ${blocker_ids.length > data.blockers.length && html`<span class="hint">and ${blocker_ids.length - data.blockers.length} more</span>`}`
        : NONE,
      doLink(controls, 'blockers.add', of, 'Add', { about: 'a blocker', asks: 'blockers' }),
    ],
    ['blocked', 'Blocks', data.blocked.length > 0 && renderList(data.blocked, (card) => [renderLink(card, base)])],
    ['created', 'Created', html`${renderMoment(card.created_at)} by <bdi>${people.nameOf(card.creator_id)}</bdi>`],
    ['changed', 'Changed', renderMoment(card.updated_at)],
    ['external-ref', 'ID in another system', external_ref !== null && linkOrText(external_ref)],
    ['id', 'ID', html`<code>${id}</code>`],
  ]
  return html`<aside class="card facts-list" id="card-facts" aria-label="About this card" data-merge>
    ${renderActions(card, controls)}
    <dl id="facts" data-merge>
      ${facts
        .filter(([, , content, control]) => control !== undefined || (content !== NONE && content !== false))
        .map(
          ([name, title, content, control]) =>
            html`<dt id="fact-${name}-name">${title}</dt>
              <dd id="fact-${name}" data-merge>
                <div id="fact-${name}-shown">${content}</div>
                ${control && html`<div id="fact-${name}-control" data-merge data-draft>${control}</div>`}
              </dd>`,
        )}
    </dl>
  </aside>`
}

/** The controls that end the work on a card, with success or without, or begin it again. */
function renderActions({ id, completed_at, archived_at, title: about }: ListedCard, controls: Controls): VNode {
  const of = { card_id: id }
  const isOpen = completed_at === null
  return html`<div class="card-actions" id="card-actions">
    ${doButton(controls, 'cards.complete', { ...of, completed: String(isOpen) }, isOpen ? 'Complete' : 'Reopen', {
      id: 'card-complete',
      className: isOpen ? 'primary small' : 'small',
      about,
    })}
    ${isOpen && doButton(controls, 'cards.complete', { ...of, completed: 'true', outcome: 'failed' }, 'Failed', { id: 'card-failed', about })}
    ${doButton(controls, archived_at === null ? 'cards.archive' : 'cards.restore', of, archived_at === null ? 'Archive' : 'Restore', { id: 'card-archive', about })}
    ${doLink(controls, 'cards.delete', of, 'Delete', { about })}
  </div>`
}

/** What the work on the card has come to: its state, and why the last attempt failed. */
function renderWork({ card, question }: CardData, { context }: Controls, prose: (text: string) => VNode[]): VNode | false {
  const { work } = card
  if (work === undefined || !isWorkChoice(work.state)) return false
  const { state, reason, failed_at, not_before } = work
  const now = context.web.clock()
  const badge = badgeOf(card, question?.body, now)
  // If the card waits, its question stands beside this.
  const shown = state === 'waiting' || badge === undefined ? workWords[state] : renderBadge(badge, now)
  return html`${badge?.look === 'failed' && html`<p>${workWords[state]}</p>`}${shown}
  ${failed_at !== null && html`<div class="reason prose">${reason === null ? html`<p>The claim ran out.</p>` : prose(reason)}</div>`}
  ${failed_at !== null && html`<p class="hint">The last attempt failed ${renderMoment(failed_at)}${state === 'retrying' && not_before !== null && html`. It is tried again at ${renderTime(not_before)}`}.</p>`}` as VNode
}

/** Forgets the attempts that have failed. */
function renderRetry({ id, title: about, work }: ListedCard, controls: Controls): VNode | undefined {
  if (work?.state !== 'stuck' && work?.state !== 'retrying') return undefined
  return doButton(controls, 'cards.retry', { card_id: id }, 'Retry', { id: 'card-retry', about })
}

function renderMove({ card: { id, column_id }, board }: CardData, controls: Controls): VNode | undefined {
  const choices = board.columns?.map((column) => [column.id, column.name] as const)
  const button = html`<button class="small">Move</button>`
  const part = { fields: ['column_id', 'to'], record: { column_id, to: 'last' }, choices, button, isLine: true }
  return editor('move-card', 'Move', 'to another place', doForm(controls, 'cards.move', { card_id: id }, part))
}

function renderDueEditor(data: CardData, controls: Controls): VNode | undefined {
  const { due_at } = data.card
  const form = doForm(controls, 'cards.update', ofVersion(data), { fields: ['due_at'], record: data.card, button: 'Save' })
  const given = { ...ofVersion(data), 'was.due_at': due_at ?? '', due_at: '' }
  const remove = due_at === null ? undefined : doButton(controls, 'cards.update', given, 'Remove', { about: 'due time' })
  return editor('edit-due', due_at === null ? 'Set' : 'Change', 'due time', form, remove)
}

/** A select with its button. */
function choice(field: string, label: string, word: string, choices: Choices): PartialForm {
  const button = html`<button class="small">${word}<span class="unseen"> ${label.toLowerCase()}</span></button>`
  return { fields: [field], choices, button, attributes: { 'aria-label': label, placeholder: label }, isLine: true }
}

/** A list of things that can each be removed. */
function renderList<Item>(
  items: readonly Item[],
  render: (item: Item) => readonly (VNode | undefined)[],
  kind?: 'label',
): VNode | typeof NONE {
  if (items.length === 0) return NONE
  return html`<ul class=${kind === undefined ? 'persons' : 'labels'}>
    ${items.map((item) => html`<li class=${kind}>${render(item)}</li>`)}
  </ul>`
}

/** A card that blocks this one, or that it blocks. One that is done or archived blocks no more; one that has failed does. */
function renderLink({ id, title, completed_at, outcome, archived_at }: ListedCard, base: string): VNode {
  return html`<span
    ><a href="${base}/cards/${id}" dir="auto">${title}</a
    >${completed_at !== null && html` <span class="hint">${outcome === 'failed' ? 'failed' : 'done'}</span>`}${archived_at !== null && html` <span class="hint">archived</span>`}</span
  >`
}
