import type { VNode } from 'preact'
import { acceptedValues } from '../../policy/conditions.ts'
import type { Engine } from '../../policy/engine.ts'
import type { Rule } from '../../policy/rules.ts'
import { html } from '../html.ts'
import type { ReportData } from './report-data.ts'

/** A table whose rows are stacked on a phone. There the roles would be lost with the display of a table. */
export function stackedTable(head: readonly string[], rows: readonly VNode[]): VNode {
  return html`<table class="stack" role="table">
    <thead role="rowgroup">
      <tr role="row">
        ${head.map((title) => html`<th scope="col" role="columnheader">${title}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows}
    </tbody>
  </table>`
}

/** A row of such a table. */
export function tableRow(cells: readonly unknown[], id?: string): VNode {
  return html`<tr id=${id} role="row">
    ${cells}
  </tr>`
}

/** The cell that names its row. */
export function rowHead(content: unknown, className = 'id'): VNode {
  return html`<th scope="row" class=${className} role="rowheader">${content}</th>`
}

/** Any other cell. */
export function tableCell(content: unknown, attributes: Readonly<Record<string, unknown>> = {}): VNode {
  return html`<td role="cell" ...${attributes}>${content}</td>`
}

/** One of the two tables of rules: each row of the specification with its words, and beside it the rules that enforce it. */
export function rulesTable(engine: Engine, rules: readonly Rule[], allowed: 'Allowed if' | 'Sufficient'): VNode {
  const rows = [...engine.vocabulary.rows].flatMap(([row, { words }]) => {
    const ofRow = rules.filter((rule) => rule.row === row)
    return ofRow.map(({ id, action, subject, fields = [], conditions, reason }, i) => {
      const ofSpecification = html`<b><a href="#row-${row}">${row}</a></b> ${words}`
      const cells = [
        i === 0 && tableCell(ofSpecification, { class: 'words', rowspan: ofRow.length }),
        rowHead(id),
        tableCell(tags(action), { 'data-label': 'Action' }),
        tableCell(tags([...subject, ...fields.map((field) => `.${field}`)]), { 'data-label': 'Subject' }),
        tableCell(conditionTags(conditions), { class: 'if', 'data-label': allowed }),
        tableCell(reason, { class: 'reason' }),
      ]
      return tableRow(cells, `rule-${id}`)
    })
  })
  return stackedTable(['Row of the specification', 'Rule', 'Action', 'Subject', allowed, 'Reason'], rows)
}

/** The rows of the specification with the rules that enforce them. */
export function rowsTable({ vocabulary, scopeRules, permissionRules }: Engine, { permissions }: ReportData): VNode {
  const rows = [...vocabulary.rows].map(([row, { words, scopes }]) => {
    const ids = [...scopeRules, ...permissionRules].filter((rule) => rule.row === row).map(({ id }) => id)
    const decided = Object.entries(permissions).filter(
      ([, permission]) => permission.row === row || permission.scopeRules.some((id) => ids.includes(id)),
    )
    const shown = decided.length > 12 ? `${decided.length} permissions` : decided.length === 0 ? '–' : tags(decided.map(([id]) => id))
    const cells = [rowHead(row), tableCell(words), tableCell(scopes.join(', ') || '–'), ruleLinks(ids), tableCell(shown, { class: 'if' })]
    return tableRow(cells, `row-${row}`)
  })
  return stackedTable(['Row', 'Words of the specification', 'Minimum scope', 'Rules', 'Permissions'], rows)
}

/** What the words of the tables mean. */
export function termsTables({ vocabulary }: Engine, { definitions }: ReportData): VNode {
  const termRow = (name: string, ...cells: VNode[]) => tableRow([rowHead(name), ...cells], `fact-${name}`)
  const facts = [...vocabulary.facts.values()].map(({ name, values, means }) => termRow(name, tableCell(tags(values)), tableCell(means)))
  const derived = [...vocabulary.definitions.values()].map(({ name, means }) =>
    termRow(name, tableCell(means), ruleLinks(definitions[name]!)),
  )
  return html`<h3>Facts that code states</h3>
    <div class="sheet">${stackedTable(['Fact', 'Values', 'Meaning'], facts)}</div>
    <h3>Definitions, which are derived from facts</h3>
    <div class="sheet">${stackedTable(['Definition', 'True if', 'Rules'], derived)}</div>`
}

function ruleLinks(ids: readonly string[]): VNode {
  const links = ids.map((id, i) => [i > 0 && ' ', html`<a href="#rule-${id}">${id}</a>`])
  return tableCell(links, { class: 'id links' })
}

function conditionTags(conditions: Rule['conditions']): VNode {
  const shown = Object.entries(conditions).map(([name, condition]) =>
    condition === true
      ? html`<span class="tag"><a href="#fact-${name}">${name}</a></span>`
      : html`<span class="tag"><i>${name} is</i> ${acceptedValues(condition).join(' or ')}</span>`,
  )
  return html`<div class="tags">${shown.map((tag, i) => [i > 0 && html`<span class="unseen">and</span>`, tag])}</div>`
}

/** Words that belong to the policy, such as names of actions. */
export function tags(words: readonly string[]): VNode {
  return html`<div class="tags">${words.map((word, i) => [i > 0 && ' ', html`<span class="tag">${word}</span>`])}</div>`
}
