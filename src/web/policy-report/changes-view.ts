import type { VNode } from 'preact'
import type { ChangeKind, PolicyDiff } from '../../policy/decision-diff.ts'
import { describeChanges, describeDefinition, describeEdit, type DescribedChanges } from '../../policy/result-formats.ts'
import { html } from '../html.ts'
import { rowHead, stackedTable, tableCell, tableRow, tags } from './tables.ts'

const kinds: Readonly<Record<ChangeKind, readonly [sign: string, title: string]>> = {
  widening: ['+', 'allows more'],
  narrowing: ['−', 'allows less'],
  response: ['~', 'other response'],
}

/** What has changed since another policy. */
export function changesView({ from, changes, definitions, edits }: PolicyDiff): VNode {
  const head = ['Change', 'Permissions', 'When', 'Before', 'Now', 'Example', 'Declared']
  const since = html`<p>Since the policy <code>${from.slice(0, 12)}</code>.</p>`
  if (changes.length === 0 && edits.length === 0)
    return html`${since}
      <p>Nothing has changed.</p>`
  return html`${since}
  ${
    changes.length === 0
      ? html`<p><span class="answer ok">✓</span> No answer has changed.</p>`
      : html`<div class="sheet">${stackedTable(head, describeChanges(changes).map(changeRow))}</div>`
  }
  ${list('Definitions', definitions.map(describeDefinition))} ${list('Edited', edits.map(describeEdit))}`
}

function list(title: string, items: readonly string[]): VNode | false {
  return (
    items.length > 0 &&
    html`<h3>${title}</h3>
      <ul>
        ${items.map((item) => html`<li>${item}</li>`)}
      </ul>`
  )
}

function changeRow({ kind, permissions, when, before, after, declared }: DescribedChanges): VNode {
  const [sign, title] = kinds[kind]
  const { method, path } = permissions[0]!.example.operation
  const undeclared = kind === 'widening' ? html`<b class="widening">not declared</b>` : '–'
  return tableRow([
    rowHead(html`<span class="sign" aria-hidden="true">${sign}</span> ${title}`, kind),
    tableCell(tags(permissions.map(({ permission }) => permission))),
    ...[when, before, after, html`<code>${method} ${path}</code>`, declared ?? undeclared].map((content) => tableCell(content)),
  ])
}
