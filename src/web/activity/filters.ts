import type { VNode } from 'preact'
import { isTrailCursor } from '../../audit/trail.ts'
import type { AuditEntry } from '../../model/audit.ts'
import { isId } from '../../model/ids.ts'
import { html } from '../html.ts'

/** What the query of a page of the audit trail asks for. What is malformed is left out. */
export interface TrailFilters {
  readonly token: string | undefined
  readonly user: string | undefined
  readonly outcome: 'done' | 'denied' | undefined
  readonly before: string | undefined
}

/** The entries of a page. */
export const ENTRIES = 50

/** Reads the query of a page of the audit trail. */
export function readFilters(query: URLSearchParams): TrailFilters {
  const [token, user, outcome, before] = ['token', 'user', 'outcome', 'before'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
    string,
  ]
  return {
    token: isId('token', token) ? token : undefined,
    user: isId('user', user) ? user : undefined,
    outcome: outcome === 'done' || outcome === 'denied' ? outcome : undefined,
    before: isTrailCursor(before) ? before : undefined,
  }
}

/** Whether an entry is what the filters ask for. */
export function matchesFilters({ token, user, outcome }: TrailFilters): (entry: AuditEntry) => boolean {
  return (entry) =>
    (token === undefined || entry.token_id === token || entry.ids.includes(token)) &&
    (user === undefined || entry.user_id === user || entry.subject_id === user) &&
    (outcome === undefined || (outcome === 'denied') === (entry.outcome === 'denied'))
}

/** Something that can be chosen. */
export interface Choice {
  readonly value: string
  readonly label: string
}

/** The form of the filters, and the links to the pages. It is sent with GET, and works without a script. */
export function renderFilters(
  path: string,
  filters: TrailFilters,
  choices: { readonly token: readonly Choice[]; readonly user?: readonly Choice[] },
): VNode {
  const select = (name: 'token' | 'user' | 'outcome', label: string, all: string, options: readonly Choice[]) =>
    html`<label for=${name}
      >${label}<select id=${name} name=${name}>
        <option value="">${all}</option>
        ${options.map(({ value, label: text }) => html`<option value=${value} selected=${filters[name] === value}>${text}</option>`)}
      </select></label
    >`
  const outcomes = [
    { value: 'done', label: 'done' },
    { value: 'denied', label: 'denied' },
  ]
  return html`<form method="get" action=${path} class="trail-filters">
    ${choices.user !== undefined && select('user', 'Person', 'everyone', choices.user)}
    ${select('token', 'Token', 'all tokens and the web app', choices.token)} ${select('outcome', 'Outcome', 'all', outcomes)}
    <button>Show</button>
  </form>`
}

/** A link to the older entries. */
export function renderOlder(path: string, { token, user, outcome }: TrailFilters, next: string | undefined): VNode | undefined {
  if (next === undefined) return undefined
  const query = new URLSearchParams(
    Object.entries({ user, token, outcome, before: next }).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  return html`<p class="actions"><a class="button" href="${path}?${query.toString()}">Older entries</a></p>`
}
