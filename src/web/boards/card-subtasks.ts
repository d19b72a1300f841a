import type { VNode } from 'preact'
import { limits } from '../../model/limits.ts'
import type { Subtask } from '../../model/subtask.ts'
import { html } from '../html.ts'
import { operationForm } from '../operations/form.ts'
import type { CardData } from './card-data.ts'
import { doButton, doLink, moreMenu, type Controls } from './controls.ts'
import { icon } from './icons.ts'

/** The subtasks of a card, which can be ticked, and a line for one more. */
export function renderSubtasks({ card, subtasks, may }: CardData, controls: Controls): VNode | undefined {
  const mayAdd = may.card.has('subtasks.create')
  if (subtasks.length === 0 && !mayAdd) return undefined
  const done = subtasks.filter(({ completed_at }) => completed_at !== null).length
  return html`<section id="card-subtasks" aria-labelledby="subtasks-title" data-merge>
    <h2 id="subtasks-title">Subtasks${subtasks.length > 0 && html` <span class="count">${done} of ${subtasks.length}</span>`}</h2>
    ${subtasks.length > 0 && html`<progress id="subtasks-progress" max=${subtasks.length} value=${done} aria-labelledby="subtasks-title"></progress>`}
    <ul class="subtasks" id="subtask-list" data-merge>
      ${subtasks.map((_subtask, i) => renderSubtask(subtasks, i, may.subtask, controls))}
    </ul>
    ${
      mayAdd &&
      html`<div id="add-subtask" data-draft>
        ${operationForm(
          controls.context,
          'subtasks.create',
          { card_id: card.id },
          html`<input
              name="title"
              aria-label="New subtask"
              placeholder="Add a subtask"
              required
              maxlength=${limits.subtaskTitle}
              autocomplete="off"
            />
            <button class="small">Add<span class="unseen"> subtask</span></button>`,
          'inline add',
        )}
      </div>`
    }
  </section>` as VNode
}

function renderSubtask(subtasks: readonly Subtask[], i: number, may: ReadonlySet<string>, controls: Controls): VNode {
  const { id, title, completed_at } = subtasks[i]!
  const isDone = completed_at !== null
  const mayUpdate = may.has('subtasks.update')
  const box = isDone ? icon('subtasks') : html`<span class="box" aria-hidden="true"></span>`
  const tick = html`<button class="tick" id="${id}-tick" role="checkbox" aria-checked=${String(isDone)} aria-labelledby="${id}-title">
    ${box}
  </button>`
  const [before, after] = [subtasks[i - 1]?.id, subtasks[i + 1]?.id]
  return html`<li id=${id} class=${isDone ? 'done' : ''}>
    ${
      mayUpdate
        ? operationForm(controls.context, 'subtasks.update', { subtask_id: id, completed: String(!isDone) }, tick)
        : html`<span class="unseen">${isDone ? 'done: ' : 'to do: '}</span>${box}`
    }<span class="subtask-title" id="${id}-title">${title}</span>
    ${moreMenu(`${id}-more`, `“${title}”`, [
      mayUpdate && doLink(controls, 'subtasks.update', { subtask_id: id }, 'Edit'),
      mayUpdate && before !== undefined && doButton(controls, 'subtasks.update', { subtask_id: id, before }, 'Move up'),
      mayUpdate && after !== undefined && doButton(controls, 'subtasks.update', { subtask_id: id, after }, 'Move down'),
      may.has('subtasks.delete') && doLink(controls, 'subtasks.delete', { subtask_id: id }, 'Delete'),
    ])}
  </li>`
}
