import type { VNode } from 'preact'
import { Coverage, coverageKinds, type CoverageKind } from '../../policy/coverage.ts'
import type { Engine } from '../../policy/engine.ts'
import { html } from '../html.ts'
import type { ReportData } from './report-data.ts'
import { stackedTable } from './tables.ts'

const titles: Readonly<Record<CoverageKind, string>> = {
  rules: 'Rules that decide',
  conditions: 'Values of conditions that decide',
  cases: 'Cases of the hand-written decisions',
  cells: 'Cells of the permission table',
  scopes: 'Cells of the scope table',
}

/** What the hand-written decisions cover, and whether the tables agree with them. */
export function coverageView(engine: Engine, data: ReportData): VNode {
  const coverage = new Coverage(engine)
  coverage.addAllCells()
  const shares = coverage.shares()
  const rows = coverageKinds.map((kind) => {
    const { covered, total, missing } = shares[kind]
    return html`<tr role="row">
      <th scope="row" role="rowheader">${titles[kind]}</th>
      <td role="cell" class="num">${covered} of ${total}</td>
      <td role="cell"><meter aria-label=${titles[kind]} min="0" max=${total} low=${total} optimum=${total} value=${covered}></meter></td>
      <td role="cell">${missing.length === 0 ? 'nothing' : missing.join('; ')}</td>
    </tr>`
  })
  const { cells, differing } = compareDecisions(data)
  return html`<p>
      ${differing === 0 ? html`<span class="answer ok">✓</span>` : html`<span class="answer r403">✗</span>`} The tables answer what the
      hand-written decisions say in <b class="num">${cells - differing} of ${cells}</b> cells.
    </p>
    <div class="sheet">${stackedTable(['Decided by the hand-written decisions', 'Covered', 'Share', 'Not covered'], rows)}</div>`
}

/** How many cells there are, and in how many of them tables and hand-written decisions differ. */
export function compareDecisions({ permissions, answers }: ReportData): { readonly cells: number; readonly differing: number } {
  const all = Object.values(permissions).flatMap((permission) => permission.cells.map((index) => answers[index]!))
  return { cells: all.length, differing: all.filter(({ agrees }) => !agrees).length }
}
