import type { VNode } from 'preact'
import { isTrailCursor, readTrail } from '../../audit/trail.ts'
import { isId } from '../../model/ids.ts'
import { html } from '../html.ts'
import type { SignedInContext } from '../page-context.ts'
import { renderEntries, type EntriesNames } from './entries-view.ts'
import { readTrailNames } from './names.ts'

/** Something that can be chosen. */
interface Choice {
  readonly value: string
  readonly label: string
}

/** The trail that a page shows. */
interface Trail extends Omit<EntriesNames, 'path' | 'user' | 'nameOf'> {
  /** the workspaces, or `global` */
  readonly partitions: readonly string[]
  /** the tokens whose entries can be chosen */
  readonly tokens: readonly Choice[]
  /** the names of the people whose entries can be chosen, by id; undefined: it is the trail of the reader */
  readonly people?: ReadonlyMap<string, string>
}

/** The entries of a page. */
const ENTRIES = 50
const outcomes = ['done', 'denied']

/** A page of the audit trail as the query asks for it, with its filters. What is malformed is left out. It works without a script. */
export async function renderTrail(context: SignedInContext, { partitions, tokens, people, reader, ...names }: Trail): Promise<VNode> {
  const { web, path, query } = context
  const valid = (name: string, isValid: (value: string) => boolean) => {
    const value = query.get(name) ?? ''
    return isValid(value) ? value : undefined
  }
  const token = valid('token', (value) => isId('token', value))
  const user = people && valid('user', (value) => isId('user', value))
  const outcome = valid('outcome', (value) => outcomes.includes(value))
  const { entries, next } = await readTrail(web, {
    sources: partitions.map((partition) => ({ partition, userId: reader ?? user })),
    matches: (entry) =>
      (token === undefined || entry.token_id === token || entry.ids.includes(token)) &&
      (outcome === undefined || (outcome === 'denied') === (entry.outcome === 'denied')),
    limit: ENTRIES,
    before: valid('before', isTrailCursor),
  })
  const nameOf = await readTrailNames(context, entries, new Map(tokens.map(({ value, label }) => [value, label])))
  const chosen = Object.entries({ user, token, outcome, before: next }).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return html`<form method="get" action=${path} class="trail-filters">
      ${people && select('user', 'Member', 'all members', user, choicesOf(people))}
      ${select('token', 'Token', 'all tokens and the web app', token, tokens)}
      ${select('outcome', 'Outcome', 'all', outcome, choicesOf(outcomes.map((value) => [value, value])))}
      <button>Show</button>
    </form>
    ${renderEntries(entries, { ...names, path, reader, nameOf, user: people && ((id) => people.get(id)) })}
    ${
      next !== undefined &&
      html`<p class="actions"><a class="button" href="${path}?${String(new URLSearchParams(chosen))}">Older entries</a></p>`
    }`
}

function choicesOf(texts: Iterable<readonly [value: string, label: string]>): Choice[] {
  return Array.from(texts, ([value, label]) => ({ value, label }))
}

function select(name: string, label: string, all: string, chosen: string | undefined, options: readonly Choice[]): VNode {
  return html`<label for=${name}
    >${label}<select id=${name} name=${name}>
      <option value="">${all}</option>
      ${options.map(({ value, label: text }) => html`<option value=${value} selected=${chosen === value}>${text}</option>`)}
    </select></label
  >`
}
