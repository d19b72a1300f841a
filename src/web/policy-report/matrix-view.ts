import type { VNode } from 'preact'
import { html } from '../html.ts'
import type { OperationRow, ReportData } from './data.ts'
import { columnsOf, mainGroup, responsesByColumn, type Chosen, type Response } from './summary.ts'

/** What a response means, for the key of the matrix. */
const meanings: readonly (readonly [Response, string])[] = [
  ['ok', 'allowed'],
  ['403', 'forbidden'],
  ['404', 'as if it did not exist'],
  ['401', 'not authenticated'],
  ['scope', '403 insufficient_scope'],
]

/** The matrix without filters. The script replaces its table by one that is filtered and has buttons. */
export function matrixView(data: ReportData): VNode {
  const group = mainGroup(data)
  const columns = columnsOf(data, group)
  return html`${filters(data, group)}
    <ul class="key">
      ${meanings.map(([response, meaning]) => html`<li>${answer(response)} ${meaning}</li>`)}
      <li>several: it depends on more than the columns<span class="js">; open the cell to see on what</span></li>
    </ul>
    <p class="status" role="status" id="matrix-status"></p>
    <div class="matrix sheet scroll" tabindex="0" role="region" aria-label="Answers of all operations">
      <table id="matrix">
        <thead>
          ${matrixHead(data, group, columns)}
        </thead>
        <tbody>
          ${data.operations.map((row, i) => [
            groupOf(row) !== groupOf(data.operations[i - 1]) && groupHead(row, columns.length),
            matrixRow(data, row, group, columns.length),
          ])}
        </tbody>
      </table>
    </div>` as VNode
}

/** `cards.read` belongs to `cards`. */
function groupOf(row: OperationRow | undefined): string | undefined {
  return row?.id.split('.')[0]
}

function groupHead(row: OperationRow, columns: number): VNode {
  return html`<tr class="group">
    <th colspan=${columns + 3} scope="colgroup">${groupOf(row)!.replaceAll('_', ' ')}</th>
  </tr>` as VNode
}

/** Two lines, if the group has several facts: the values of its first fact, and below them those of the others. */
function matrixHead({ facts, groups }: ReportData, group: string, columns: readonly Chosen[]): VNode {
  const [first = '', ...rest] = groups[group]!
  const short = (name: string) => name.slice(group.length + 1)
  const lines = rest.length > 0 ? 2 : 1
  const width = columns.length / facts[first]!.values.length
  const below = (column: Chosen) => rest.map((name) => `${short(name)} ${column[name]}`).join(', ')
  return html`<tr>
      <th scope="col" rowspan=${lines}>Operation</th>
      <th scope="col" class="of-id" rowspan=${lines}>Scope</th>
      <th scope="col" class="of-id" rowspan=${lines}>Row</th>
      ${facts[first]!.values.map((value) => html`<th scope="colgroup" class="first" colspan=${width}>${short(first)} ${value}</th>`)}
    </tr>
    ${
      lines === 2 &&
      html`<tr>
        ${columns.map((column, i) => html`<th scope="col" class="value ${i % width === 0 ? 'first' : ''}">${below(column)}</th>`)}
      </tr>`
    }` as VNode
}

function matrixRow(data: ReportData, row: OperationRow, group: string, columns: number): VNode {
  const { scope, row: id } = data.permissions[row.permission]!
  const values = data.facts[data.groups[group]![0]!]!.values.length
  const ofColumns = responsesByColumn(data, row.permission, row.field, group)
  const cells = ofColumns.map(
    (found, i) =>
      html`<td class="value ${i % (columns / values) === 0 ? 'first' : ''}" colspan=${columns / ofColumns.length}>
        ${found.map((response) => [answer(response, row.isFilteredList), ' '])}
      </td>`,
  )
  return html`<tr>
    <th scope="row">
      <span class="mono"
        >${row.id}${row.field !== null && html` <b>.${row.field}</b>`}${row.member !== null && html` <b>${row.member}</b>`}</span
      >
      <span class="request">${row.member === null ? row.request : `each of ${row.member}: ${row.permission}`}</span>
    </th>
    <td class="id">${scope}</td>
    <td class="id"><a href="#row-${id}">${id}</a></td>
    ${cells}
  </tr>` as VNode
}

/** A response as it is shown everywhere. */
function answer(response: Response, isFilteredList = false): VNode {
  const texts: Readonly<Record<Response, string>> = {
    ok: '✓',
    scope: 'scope',
    401: '401',
    403: '403',
    404: isFilteredList ? 'left out' : '404',
  }
  const kind = response === 'ok' || response === 'scope' ? response : `r${response}`
  return html`<span class="answer ${kind}"
    >${response === 'ok' ? html`<span aria-hidden="true">✓</span><span class="unseen">allowed</span>` : texts[response]}</span
  >` as VNode
}

/** Hidden without the script. */
function filters(data: ReportData, group: string): VNode {
  const { facts, groups, permissions, scope } = data
  const all = Object.values(permissions)
  const isUsual = (name: string) => name === scope || all.filter((one) => one.facts.includes(name)).length * 2 > all.length
  const names = Object.keys(facts)
  const select = (name: string) =>
    html`<div>
      <label for="filter-${name}">${name}</label>
      <select id="filter-${name}" data-fact=${name} title=${facts[name]!.means}>
        <option value="">any</option>
        ${facts[name]!.values.map((value) => html`<option>${value}</option>`)}
      </select>
    </div>`
  const rare = names.filter((name) => !isUsual(name))
  return html`<form class="filters sheet js" id="filters">
    <div class="wide">
      <label for="search">Find</label>
      <input id="search" type="search" placeholder="operation, path, permission, row or rule" autocomplete="off" />
    </div>
    <div>
      <label for="columns">Columns</label>
      <select id="columns">
        ${Object.keys(groups).map((name) => html`<option selected=${name === group}>${name}</option>`)}
      </select>
    </div>
    <div>
      <label for="only">Show</label>
      <select id="only">
        <option value="">all operations</option>
        <option value="ok">allowed somewhere</option>
        <option value="no">refused everywhere</option>
      </select>
    </div>
    ${names.filter(isUsual).map(select)}
    <div><button type="reset">Reset</button></div>
    ${
      rare.length > 0 &&
      html`<details>
        <summary>More facts</summary>
        <div>${rare.map(select)}</div>
      </details>`
    }
  </form>` as VNode
}
