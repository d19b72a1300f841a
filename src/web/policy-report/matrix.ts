import type { VNode } from 'preact'
import { html } from '../html.ts'
import {
  columnsOf,
  matrixRows,
  nameOf,
  type Chosen,
  type MatrixFilters,
  type MatrixRow,
  type OperationRow,
  type ReportData,
  type Response,
} from './report-data.ts'

/** A response as it is shown everywhere. */
export function answer(response: Response, isFilteredList = false): VNode {
  const kind = response === 'ok' || response === 'scope' ? response : `r${response}`
  const text = response === '404' && isFilteredList ? 'left out' : response
  return html`<span class="answer ${kind}"
    >${response === 'ok' ? html`<span aria-hidden="true">✓</span><span class="unseen">allowed</span>` : text}</span
  >`
}

/**
 * The matrix, as the page has it and as its script filters it.
 * @param explain opens the explanation of a cell. Without it, cells are no buttons.
 */
export function matrixTable(
  data: ReportData,
  filters: MatrixFilters,
  rows: readonly MatrixRow[] = matrixRows(data, filters),
  explain?: (row: OperationRow, chosen: Chosen) => void,
): VNode {
  const columns = columnsOf(data, filters)
  const [main = '', ...others] = data.groups[filters.group]!
  const width = columns.length / new Set(columns.map((column) => column[main])).size
  const kindOf = (i: number) => `value${i % width === 0 ? ' first' : ''}`
  const groupOf = (at: number) => rows[at]?.row.id.split('.')[0]!.replaceAll('_', ' ')
  return html`
    <thead>
      ${matrixHead(filters.group, columns, [main, ...others], kindOf)}
    </thead>
    <tbody>
      ${rows.map(
        ({ row, cells }, at) => html`
          ${
            groupOf(at) !== groupOf(at - 1) &&
            html`<tr class="group">
              <th colspan=${columns.length + 3} scope="colgroup">${groupOf(at)}</th>
            </tr>`
          }
          <tr>
            ${rowHead(data, row)}
            ${cells.map(({ column, found }, i) => {
              const shown = found.map((response) => [answer(response, row.isFilteredList), ' '])
              const chosen = { ...filters.chosen, ...column }
              return html`<td class=${kindOf(i)} colspan=${columns.length / cells.length}>
                ${explain === undefined ? shown : html`<button type="button" aria-label=${labelOf(row, column, found)} onClick=${() => explain(row, chosen)}>${shown}</button>`}
              </td>`
            })}
          </tr>
        `,
      )}
    </tbody>
  `
}

/** Two lines, if the group has several facts: the values of its first fact, and below them the values of the others. */
function matrixHead(
  group: string,
  columns: readonly Chosen[],
  [main = '', ...others]: readonly string[],
  kindOf: (i: number) => string,
): VNode {
  const short = (name: string) => name.slice(group.length + 1)
  const lines = others.length > 0 ? 2 : 1
  const values = [...new Set(columns.map((column) => column[main]))]
  return html`
    <tr>
      <th scope="col" rowspan=${lines}>Operation</th>
      <th scope="col" class="of-id" rowspan=${lines}>Scope</th>
      <th scope="col" class="of-id" rowspan=${lines}>Row</th>
      ${values.map((value) => html`<th scope="colgroup" class="first" colspan=${columns.length / values.length}>${short(main)} ${value}</th>`)}
    </tr>
    ${
      lines === 2 &&
      html`<tr>
        ${columns.map((column, i) => html`<th scope="col" class=${kindOf(i)}>${others.map((name) => `${short(name)} ${column[name]}`).join(', ')}</th>`)}
      </tr>`
    }
  `
}

function rowHead({ permissions }: ReportData, { id, field, member, request, permission }: OperationRow): VNode {
  const { scope, row } = permissions[permission]!
  return html`
    <th scope="row">
      <span class="mono">${id}${field !== null && html` <b>.${field}</b>`}${member !== null && html` <b>${member}</b>`}</span>
      <span class="request">${member === null ? request : `each of ${member}: ${permission}`}</span>
    </th>
    <td class="id">${scope}</td>
    <td class="id"><a href="#row-${row}">${row}</a></td>
  `
}

/** Values of facts, for people. */
export function describe(values: Chosen): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

function labelOf(row: OperationRow, column: Chosen, found: readonly Response[]): string {
  const texts = { ok: 'allowed', scope: 'insufficient scope', 401: '401', 403: '403', 404: row.isFilteredList ? 'left out' : '404' }
  return `${[nameOf(row), describe(column)].filter(Boolean).join(', ')}: ${found.map((response) => texts[response]).join(' ')}. Why?`
}
