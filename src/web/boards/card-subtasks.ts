import type { VNode } from 'preact'
import type { Subtask } from '../../model/subtask.ts'
import { html } from '../html.ts'
import { operationForm } from '../operations/form.ts'
import type { CardData } from './card-data.ts'
import { oneMore, renderPart } from './card-part.ts'
import { adder, doButton, doForm, doLink, menu, type Controls } from './controls.ts'
import { icon } from './icons.ts'

/** The subtasks of a card, which can be ticked, and the form for one more. */
export function renderSubtasks({ card, subtasks, may }: CardData, controls: Controls): VNode | undefined {
  const adding = adder('add-subtask', oneMore('Subtask'), doForm(controls, 'subtasks.create', { card_id: card.id }, ADDING))
  const isEmpty = subtasks.length === 0
  if (isEmpty && adding === undefined) return undefined
  const done = subtasks.filter(({ completed_at }) => completed_at !== null).length
  const ofSubtask = { context: controls.context, may: may.subtask }
  const list =
    !isEmpty &&
    html`<progress id="subtasks-progress" max=${subtasks.length} value=${done} aria-labelledby="subtasks-title"></progress>
      <ul class="subtasks" id="subtask-list" data-merge>
        ${subtasks.map((_subtask, i) => renderSubtask(subtasks, i, ofSubtask))}
      </ul>`
  const heading = html`Subtasks${!isEmpty && html` <span class="count">${done} of ${subtasks.length}</span>`}`
  return renderPart({ name: 'subtasks', heading, isEmpty, content: html`${list} ${adding}` })
}

const ADDING = {
  fields: ['title'],
  button: html`<button class="small">Add<span class="unseen"> subtask</span></button>`,
  attributes: { id: 'subtask-text', 'aria-label': 'New subtask', placeholder: 'Add a subtask' },
  isLine: true,
}

function renderSubtask(subtasks: readonly Subtask[], i: number, controls: Controls): VNode {
  const { id, title, completed_at } = subtasks[i]!
  const isDone = completed_at !== null
  const box = isDone ? icon('subtasks') : html`<span class="box" aria-hidden="true"></span>`
  const tick = html`<button class="tick" id="${id}-tick" role="checkbox" aria-checked=${String(isDone)} aria-labelledby="${id}-title">
    ${box}
  </button>`
  const [before, after] = [subtasks[i - 1]?.id, subtasks[i + 1]?.id]
  return html`<li id=${id} class=${isDone ? 'done' : ''}>
    ${
      controls.may.has('subtasks.update')
        ? operationForm(controls.context, 'subtasks.update', { subtask_id: id, completed: String(!isDone) }, tick)
        : html`<span class="unseen">${isDone ? 'done: ' : 'to do: '}</span>${box}`
    }<span class="subtask-title" dir="auto" id="${id}-title">${title}</span>
    ${menu(`${id}-more`, `“${title}”`, [
      doLink(controls, 'subtasks.update', { subtask_id: id }, 'Edit'),
      before && doButton(controls, 'subtasks.update', { subtask_id: id, before }, 'Move up'),
      after && doButton(controls, 'subtasks.update', { subtask_id: id, after }, 'Move down'),
      doLink(controls, 'subtasks.delete', { subtask_id: id }, 'Delete'),
    ])}
  </li>`
}
