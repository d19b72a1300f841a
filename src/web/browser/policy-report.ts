/** The script of the report of a policy: filters the matrix and explains its cells. Every answer comes from the data of the page. */
import { render } from 'preact'
import { describe, matrixTable } from '../policy-report/matrix.ts'
import { matrixRows, type Chosen, type MatrixFilters, type ReportData } from '../policy-report/report-data.ts'
import { createExplanation } from './explanation.ts'

const find = <T extends HTMLElement>(id: string) => document.getElementById(id) as T
const data = JSON.parse(find('data').textContent) as ReportData
const table = find<HTMLTableElement>('matrix')
const explanation = createExplanation(find<HTMLDialogElement>('why'), data)

function chosenFacts(): Chosen {
  const chosen: Record<string, string> = {}
  for (const select of document.querySelectorAll<HTMLSelectElement>('[data-fact]')) {
    select.classList.toggle('chosen', select.value !== '')
    if (select.value !== '') chosen[select.dataset['fact']!] = select.value
  }
  return chosen
}

function renderMatrix(): void {
  const filters: MatrixFilters = {
    group: find<HTMLSelectElement>('columns').value,
    chosen: chosenFacts(),
    words: find<HTMLInputElement>('search').value.toLowerCase().split(/\s+/).filter(Boolean),
    only: find<HTMLSelectElement>('only').value as MatrixFilters['only'],
  }
  const rows = matrixRows(data, filters)
  render(matrixTable(data, filters, rows, explanation.open), table)
  for (const [i, button] of buttons().flat().entries()) button.tabIndex = i === 0 ? 0 : -1
  const facts = describe(filters.chosen)
  find('matrix-status').textContent = `${rows.length} of ${data.operations.length} rows${facts === '' ? '' : `, with ${facts}`}`
}

/** The buttons of the matrix, line by line. */
function buttons(): HTMLButtonElement[][] {
  return Array.from(table.tBodies[0]!.rows, (line) => [...line.querySelectorAll('button')]).filter((line) => line.length > 0)
}

const STEPS: Readonly<Record<string, readonly [lines: number, columns: number]>> = {
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
}
// One button of the matrix can be reached with Tab, the others with the arrows.
table.addEventListener('keydown', (event) => {
  const button = (event.target as Element).closest<HTMLButtonElement>('td button')
  const step = STEPS[event.key]
  if (button === null || step === undefined) return
  event.preventDefault()
  const lines = buttons()
  const at = lines.findIndex((line) => line.includes(button))
  const clamp = (index: number, length: number) => Math.max(0, Math.min(length - 1, index))
  const line = lines[clamp(at + step[0], lines.length)]!
  const next = line[clamp(lines[at]!.indexOf(button) + step[1], line.length)]!
  button.tabIndex = -1
  next.tabIndex = 0
  next.focus()
})

const form = find<HTMLFormElement>('filters')
form.addEventListener('input', renderMatrix)
form.addEventListener('reset', () => setTimeout(renderMatrix))
form.addEventListener('submit', (event) => event.preventDefault())

renderMatrix()
explanation.openLink()
