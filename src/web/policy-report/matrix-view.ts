import type { VNode } from 'preact'
import { html } from '../html.ts'
import { answer, matrixTable } from './matrix.ts'
import type { ReportData, Response } from './report-data.ts'

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
  return html`${filters(data, group)}
    <ul class="key">
      ${meanings.map(([response, meaning]) => html`<li>${answer(response)} ${meaning}</li>`)}
      <li>several: it depends on more than the columns<span class="js">; open the cell to see on what</span></li>
    </ul>
    <p class="status" role="status" id="matrix-status"></p>
    <div class="matrix sheet scroll" tabindex="0" role="region" aria-label="Answers of all operations">
      <table id="matrix">
        ${matrixTable(data, { group, chosen: {}, words: [], only: '' })}
      </table>
    </div>`
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
  </form>`
}

/** The group that most permissions are decided on, but not all: its facts tell most about them. */
function mainGroup({ groups, permissions, scope }: ReportData): string {
  const all = Object.values(permissions)
  const counts = Object.entries(groups)
    .filter(([, names]) => !names.includes(scope))
    .map(([group, names]) => ({ group, count: all.filter(({ facts }) => facts.includes(names[0]!)).length }))
  const some = counts.filter(({ count }) => count < all.length)
  return (some.length === 0 ? counts : some).toSorted((a, b) => b.count - a.count)[0]!.group
}
