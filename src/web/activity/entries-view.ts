import type { VNode } from 'preact'
import type { TrailEntry } from '../../audit/trail.ts'
import { html } from '../html.ts'
import { renderPhrase } from '../phrases.ts'
import { renderTime } from '../times.ts'
import type { NameOf } from './names.ts'
import { tellEntry } from './words.ts'

/** What a list of entries shows around the entries. */
export interface EntriesNames {
  /** the name of a user; undefined: it is not known */
  readonly user?: ((id: string) => string | undefined) | undefined
  /** the name of a workspace, if the entries are of several */
  readonly workspace?: ((id: string) => string | undefined) | undefined
  /** the name of something else; undefined: the reader may not read it now, or it is gone */
  readonly nameOf: NameOf
  /** the path of the page, which can show the entries of one token */
  readonly path: string
  /** the reader, who does not see the network addresses of others who acted on the reader's things */
  readonly reader?: string | undefined
}

/** A table of the audit trail, newest first. */
export function renderEntries(entries: readonly TrailEntry[], names: EntriesNames): VNode {
  if (entries.length === 0) return html`<p class="card">Nothing was found.</p>`
  return html`<div class="trail" role="region" aria-label="Entries" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Time</th>
          ${names.user !== undefined && html`<th scope="col">Who</th>`}
          <th scope="col">What</th>
          <th scope="col">With</th>
          <th scope="col">From</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>
        ${entries.map((entry) => renderEntry(entry, names))}
      </tbody>
    </table>
  </div>`
}

function renderEntry(entry: TrailEntry, { user, workspace, nameOf: nameOfThing, path, reader }: EntriesNames): VNode {
  const { user_id, operation, ids, rows, token_id, outcome, code, count = 1, subject_id } = entry
  const isOfOther = reader !== undefined && user_id !== reader
  const isOperator = operation.startsWith('operator.')
  const nameOf = (id: string | null) => (id === null ? (isOperator ? 'operator' : 'not known') : (user?.(id) ?? id))
  const told = tellEntry(entry, nameOfThing)
  return html`<tr class=${outcome}>
    <td>${renderTime(entry.at)}</td>
    ${user !== undefined && html`<td><bdi>${nameOf(user_id)}</bdi>${subject_id !== undefined && html`<span class="hint"> about <bdi>${nameOf(subject_id)}</bdi></span>`}</td>`}
    <td>
      ${told === undefined ? html`<code>${operation}</code>` : renderPhrase(told)}${count > 1 && html` <strong>${count} times</strong>`}
      ${workspace?.(entry.partition) !== undefined && html` <span class="hint">in <bdi>${workspace(entry.partition)}</bdi></span>`}
      ${
        (told !== undefined || ids.length > 0) &&
        html`<details class="ids">
          <summary>IDs</summary>
          ${told !== undefined && html`<code>${operation}</code> `}${ids.slice(0, 4).map((id) => html`<code>${id}</code> `)}
          ${ids.length > 4 && `and ${ids.length - 4} more`}
        </details>`
      }
      ${isOfOther && html` <span class="hint">${isOperator ? 'by the operator' : 'by an owner or admin, or the finder of a token'}</span>`}
    </td>
    <td>
      ${token_id === null ? (operation.startsWith('web.') || entry.surface === 'web_app' ? 'web app' : '-') : html`<a href="${path}?token=${token_id}" dir="auto">${entry.token_name}</a> <code class="hint">${token_id}</code>`}
    </td>
    <td>
      ${isOfOther ? '-' : html`${entry.address ?? '-'} ${entry.agent !== null && html`<span class="agent hint" title=${entry.agent}>${entry.agent}</span>`}`}
    </td>
    <td>
      <span class="outcome ${outcome}">${outcome}</span>${' '}
      <span class="hint">${entry.status}${code !== null && ` ${code}`}${rows.length > 0 && `, by ${rows.join(', ')}`}</span>
    </td>
  </tr>`
}
