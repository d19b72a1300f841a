import type { VNode } from 'preact'
import type { ImportResult } from '../../importers/planned-import.ts'
import { card, html, renderMessage } from '../html.ts'
import type { PageView } from '../page-context.ts'
import type { Reader } from '../reader.ts'

/** What a report counts, and how it is called. */
const COUNTED = [
  ['columns', 'column', 'columns'],
  ['cards', 'card', 'cards'],
  ['labels', 'label', 'labels'],
  ['subtasks', 'subtask', 'subtasks'],
  ['comments', 'comment', 'comments'],
] as const

/** What an import makes of a file, and what it does not carry. */
export function renderReport(result: ImportResult): VNode {
  const { name, visibility, board_members: members, not_carried: losses } = result
  const counts = COUNTED.flatMap(([kind, one, many]) => (result[kind] === 0 ? [] : [`${result[kind]} ${result[kind] === 1 ? one : many}`]))
  const access = visibility === 'workspace' ? 'everybody in the workspace' : members === 0 ? 'only you' : `you and ${members} more`
  return card(
    'report',
    result.dry_run ? 'What would be imported' : 'What was imported',
    html`
      <p><strong dir="auto">${name}</strong></p>
      <p>${counts.length === 0 ? 'Nothing is on it.' : `${counts.join(', ')}.`} Access: ${access}.</p>
      ${
        losses.length === 0
          ? html`<p>Everything ${result.dry_run ? 'would be' : 'was'} carried.</p>`
          : html`<p>Not carried as it is:</p>
              <ul class="losses">
                ${losses.map(
                  ({ count, description, examples }) =>
                    html`<li>
                      ${count} ${description}
                      <ul class="hint">
                        ${examples.map((example) => html`<li dir="auto">${example}</li>`)}${count > examples.length && html`<li>…</li>`}
                      </ul>
                    </li>`,
                )}
              </ul>`
      }
    `,
  )
}

/** The page of a board that was imported. */
export function renderImported({ base }: Reader, planned: ImportResult, boardId: string): PageView {
  const result = { ...planned, dry_run: false, board_id: boardId }
  const body = html`
    <h1>The board is imported</h1>
    ${renderMessage('done', 'Everything on it was created by you, just now. Nobody got a notice.')} ${renderReport(result)}
    <p class="actions">
      <a class="button primary" href="${base}/boards/${boardId}">Open the board</a>
      <a class="button" href="${base}/import">Import another one</a>
    </p>
  `
  return { title: 'The board is imported', body }
}
