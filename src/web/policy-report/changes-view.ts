import type { VNode } from 'preact'
import type { Conjunction } from '../../policy/conjunctions.ts'
import type { ChangeKind, PolicyChange, PolicyDiff } from '../../policy/decision-diff.ts'
import { html } from '../html.ts'
import { stackedTable, tags } from './tables.ts'

const kinds: Readonly<Record<ChangeKind, readonly [sign: string, title: string]>> = {
  widening: ['+', 'allows more'],
  narrowing: ['−', 'allows less'],
  response: ['~', 'other response'],
}
const answers = {
  allowed: 'allowed',
  insufficient_scope: '403 insufficient_scope',
  forbidden: '403 forbidden',
  not_found: '404 not_found',
  absent: 'unknown to the policy',
} as const

/** What has changed since another policy. */
export function changesView({ from, changes, definitions, edits }: PolicyDiff): VNode {
  const since = html`<p>Since the policy <code>${from.slice(0, 12)}</code>.</p>`
  if (changes.length === 0 && edits.length === 0)
    return html`${since}
      <p>Nothing has changed.</p>`
  return html`${since}
  ${
    changes.length === 0
      ? html`<p><span class="answer ok">✓</span> No answer has changed.</p>`
      : html`<div class="sheet">
          ${stackedTable(['Change', 'Permissions', 'When', 'Before', 'Now', 'Example', 'Declared'], groupsOf(changes).map(changeRow))}
        </div>`
  }
  ${
    definitions.length > 0 &&
    html`<h3>Definitions</h3>
      <ul>
        ${definitions.map(({ name, now, when }) => html`<li><code>${name}</code> is ${now ? 'true now' : 'no longer true'} when ${whenOf(when)}</li>`)}
      </ul>`
  }
  ${
    edits.length > 0 &&
    html`<h3>Edited</h3>
      <ul>
        ${edits.map(({ kind, what, members }) => html`<li>${what} ${kind}${members.length > 0 && ` (${members.join(', ')})`}</li>`)}
      </ul>`
  }`
}

/** Changes of several permissions that are the same otherwise are shown together. */
function groupsOf(changes: readonly PolicyChange[]): (readonly PolicyChange[])[] {
  const groups = new Map<string, PolicyChange[]>()
  for (const change of changes) {
    const key = JSON.stringify([change.kind, change.before, change.after, change.declared, [...change.when]])
    groups.set(key, [...(groups.get(key) ?? []), change])
  }
  return [...groups.values()]
}

function changeRow(group: readonly PolicyChange[]): VNode {
  const { kind, before, after, when, example, declared } = group[0]!
  const [sign, title] = kinds[kind]
  const undeclared = kind === 'widening' ? html`<b class="widening">not declared</b>` : '–'
  return html`<tr role="row">
    <th scope="row" role="rowheader" class=${kind}><span class="sign" aria-hidden="true">${sign}</span> ${title}</th>
    <td role="cell">${tags(group.map(({ permission }) => permission))}</td>
    <td role="cell">${whenOf(when)}</td>
    <td role="cell">${answers[before]}</td>
    <td role="cell">${answers[after]}</td>
    <td role="cell"><code>${example.operation.method} ${example.operation.path}</code></td>
    <td role="cell">${declared ?? undeclared}</td>
  </tr>`
}

function whenOf(when: Conjunction): string {
  const terms = [...when].map(([name, values]) => {
    if (values.length === 1 && (values[0] === 'true' || values[0] === 'false')) return values[0] === 'true' ? name : `not ${name}`
    return `${name} is ${values.join(' or ')}`
  })
  return terms.length === 0 ? 'always' : terms.join(' and ')
}
