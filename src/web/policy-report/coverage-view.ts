import type { VNode } from 'preact'
import { Coverage, coverageKinds, type CoverageKind } from '../../policy/coverage.ts'
import type { Engine } from '../../policy/engine.ts'
import { html } from '../html.ts'
import type { ReportData } from './report-data.ts'
import { rowHead, stackedTable, tableCell, tableRow } from './tables.ts'

/** What the hand-written decisions cover, and whether the tables agree with them. */
export function coverageView(engine: Engine, data: ReportData): VNode {
  const coverage = new Coverage(engine)
  coverage.addAllCells()
  const shares = coverage.shares()
  const rows = Object.entries(coverageKinds).map(([kind, name]) => {
    const { covered, total, missing } = shares[kind as CoverageKind]
    const share = html`<meter aria-label=${name} min="0" max=${total} low=${total} optimum=${total} value=${covered}></meter>`
    return tableRow([
      rowHead(name[0]!.toUpperCase() + name.slice(1), ''),
      tableCell(`${covered} of ${total}`, { class: 'num' }),
      tableCell(share),
      tableCell(missing.length === 0 ? 'nothing' : missing.join('; ')),
    ])
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
