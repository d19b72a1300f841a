import type { VNode } from 'preact'
import { acceptedValues } from '../../policy/conditions.ts'
import type { Engine } from '../../policy/engine.ts'
import type { Rule } from '../../policy/rules.ts'
import { html } from '../html.ts'
import type { ReportData } from './report-data.ts'

/** A table whose rows are stacked on a phone. There the roles would be lost with the display of a table. */
export function stackedTable(head: readonly string[], rows: readonly unknown[]): VNode {
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

/** One of the two tables of rules: each row of the specification with its words, and beside it the rules that enforce it. */
export function rulesTable(engine: Engine, rules: readonly Rule[], allowed: 'allowed' | 'sufficient'): VNode {
  const rows = [...engine.vocabulary.rows].filter(([row]) => rules.some((rule) => rule.row === row))
  const head = ['Row of the specification', 'Rule', 'Action', 'Subject', allowed === 'allowed' ? 'Allowed if' : 'Sufficient', 'Reason']
  return stackedTable(
    head,
    rows.flatMap(([row, { words }]) => {
      const ofRow = rules.filter((rule) => rule.row === row)
      return ofRow.map(
        (rule, i) =>
          html`<tr id="rule-${rule.id}" role="row">
            ${
              i === 0 &&
              html`<td class="words" role="cell" rowspan=${ofRow.length}>
                <b><a href="#row-${row}">${row}</a></b> ${words}
              </td>`
            }
            <th scope="row" class="id" role="rowheader">${rule.id}</th>
            <td role="cell" data-label=${head[2]}>${tags(rule.action)}</td>
            <td role="cell" data-label=${head[3]}>${tags([...rule.subject, ...(rule.fields ?? []).map((field) => `.${field}`)])}</td>
            <td class="if" role="cell" data-label=${head[4]}>${conditionTags(rule)}</td>
            <td class="reason" role="cell">${rule.reason}</td>
          </tr>`,
      )
    }),
  )
}

/** The rows of the specification with the rules that enforce them. */
export function rowsTable({ vocabulary, scopeRules, permissionRules }: Engine, { permissions }: ReportData): VNode {
  return stackedTable(
    ['Row', 'Words of the specification', 'Minimum scope', 'Rules', 'Permissions'],
    [...vocabulary.rows].map(([row, { words, scopes }]) => {
      const ids = [...scopeRules, ...permissionRules].filter((rule) => rule.row === row).map(({ id }) => id)
      const decided = Object.entries(permissions).filter(
        ([, permission]) => permission.row === row || permission.scopeRules.some((id) => ids.includes(id)),
      )
      return html`<tr id="row-${row}" role="row">
        <th scope="row" class="id" role="rowheader">${row}</th>
        <td role="cell">${words}</td>
        <td role="cell">${scopes.join(', ') || '–'}</td>
        <td role="cell" class="id links">${ids.map((id, i) => [i > 0 && ' ', html`<a href="#rule-${id}">${id}</a>`])}</td>
        <td role="cell" class="if">
          ${decided.length > 12 ? `${decided.length} permissions` : decided.length === 0 ? '–' : tags(decided.map(([id]) => id))}
        </td>
      </tr>`
    }),
  )
}

/** What the words of the tables mean. */
export function termsTables({ vocabulary }: Engine, { definitions }: ReportData): VNode {
  const facts = [...vocabulary.facts.values()].map(
    ({ name, values, means }) =>
      html`<tr id="fact-${name}" role="row">
        <th scope="row" class="id" role="rowheader">${name}</th>
        <td role="cell">${tags(values)}</td>
        <td role="cell">${means}</td>
      </tr>`,
  )
  const derived = [...vocabulary.definitions.values()].map(
    ({ name, means }) =>
      html`<tr id="fact-${name}" role="row">
        <th scope="row" class="id" role="rowheader">${name}</th>
        <td role="cell">${means}</td>
        <td role="cell" class="id links">${definitions[name]!.map((id, i) => [i > 0 && ' ', html`<a href="#rule-${id}">${id}</a>`])}</td>
      </tr>`,
  )
  return html`<h3>Facts that code states</h3>
    <div class="sheet">${stackedTable(['Fact', 'Values', 'Meaning'], facts)}</div>
    <h3>Definitions, which are derived from facts</h3>
    <div class="sheet">${stackedTable(['Definition', 'True if', 'Rules'], derived)}</div>`
}

function conditionTags({ conditions }: Rule): VNode {
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
