import { listCells, markdownTable, matrixHead, matrixRows, renderMatrix } from '../../policy/matrix.ts'
import { cell, table } from '../text.ts'
import { listOperations, readPolicy, SHIPPED } from './read-policy.ts'

interface MatrixFlags {
  readonly format: 'table' | 'markdown' | 'csv' | 'html' | 'json'
  readonly cells?: boolean
  readonly json?: boolean
}

/** A table with its columns. */
interface Listed {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Prints who may do what, or every cell. */
export async function printMatrix(name: string | undefined, { json = false, cells = false, ...flags }: MatrixFlags): Promise<void> {
  const format = json ? 'json' : flags.format
  const { engine } = readPolicy(name ?? SHIPPED)
  const operations = await listOperations(engine)
  if (format === 'markdown' && !cells) return void process.stdout.write(renderMatrix(engine, operations))
  const listed = cells ? listCells(engine) : { head: matrixHead, rows: matrixRows(engine, operations).map((row) => row.map(withoutMarkup)) }
  if (format === 'markdown') console.log(markdownTable(listed.head, listed.rows).join('\n'))
  else if (format === 'csv') process.stdout.write(renderCsv(listed))
  else if (format === 'json') console.log(renderJson(listed, engine.hash))
  else if (format === 'html') process.stdout.write(await renderHtml(listed, cells, engine.hash))
  else console.log(table([listed.head, ...listed.rows].map((row) => row.map(cell))).join('\n'))
}

/** The cells of the matrix have the markup of Markdown, which means nothing elsewhere. */
function withoutMarkup(text: string): string {
  return text.replaceAll('**', '').replaceAll('`', '')
}

/** RFC 4180: lines end with CRLF, and what has a comma, a quote or a line break is in quotes. */
export function renderCsv({ head, rows }: Listed): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return [head, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('')
}

/** An object for each row. An empty cell is null. */
function renderJson({ head, rows }: Listed, hash: string): string {
  const entries = rows.map((row) => Object.fromEntries(head.map((name, i) => [name.replaceAll(' ', '_').toLowerCase(), row[i] || null])))
  return JSON.stringify({ policy: hash, rows: entries }, undefined, 2)
}

async function renderHtml(listed: Listed, cells: boolean, hash: string): Promise<string> {
  const { renderTablePage } = await import('../../web/policy-report/document.ts')
  return renderTablePage({ title: cells ? 'Every cell of the decision space' : 'Who may do what', ...listed, hash })
}
