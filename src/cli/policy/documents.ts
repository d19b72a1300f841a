import { Option, type Command } from 'commander'
import { POLICY_NAMES } from '../command.ts'
import { cell, table } from '../text.ts'
import { ConfigError } from '../../config.ts'
import { writeResult } from './files.ts'

const formats = ['table', 'markdown', 'csv', 'html', 'json'] as const
interface MatrixFlags {
  readonly format: (typeof formats)[number]
  readonly cells?: boolean
  readonly json?: boolean
}

/** A table with its columns. */
interface Listed {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Adds `lanekeeper policy matrix`. */
export function addMatrixCommand(policy: Command): void {
  policy
    .command('matrix [policy]')
    .description(`print who may do what: every operation with the conditions under which it is allowed; ${POLICY_NAMES}`)
    .option('--cells', 'every cell of the decision space with its answer')
    .addOption(new Option('--format <format>', 'the format of the result').choices(formats).default('table'))
    .option('--json', 'the same as --format json')
    .action(printMatrix)
}

async function printMatrix(name: string | undefined, { json = false, cells = false, ...flags }: MatrixFlags): Promise<void> {
  const format = json ? 'json' : flags.format
  const [{ listOperations, readPolicy, SHIPPED }, { listCells, matrixHead, matrixRows, markdownTable, renderMatrix }] = await Promise.all([
    import('./read-policy.ts'),
    import('../../policy/matrix.ts'),
  ])
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

interface ReportFlags {
  readonly out?: string
  readonly since?: string
}

/** Adds `lanekeeper policy report`. */
export function addReportCommand(policy: Command): void {
  policy
    .command('report [policy]')
    .description(
      `write a policy as one HTML page: both tables, every answer with its reasons, and what the decisions cover; ${POLICY_NAMES}`,
    )
    .option('-o, --out <file>', 'the file to write; default: stdout')
    .option('--since <old>', 'an earlier policy: the page also has what has changed since')
    .action(writeReport)
}

async function writeReport(name: string | undefined, { out, since }: ReportFlags): Promise<void> {
  if (out === undefined && process.stdout.isTTY) throw new ConfigError('out: name a file for the page, or redirect stdout')
  const [{ diffPolicies }, { renderReport }, { listOperations, readPolicy, SHIPPED }] = await Promise.all([
    import('../../policy/decision-diff.ts'),
    import('../../web/policy-report/page.ts'),
    import('./read-policy.ts'),
  ])
  const { engine, widenings } = readPolicy(name ?? SHIPPED)
  const changes = since && diffPolicies(readPolicy(since).engine, engine, widenings)
  const page = renderReport(engine, await listOperations(engine), changes || undefined)
  if (out === undefined) process.stdout.write(page)
  else writeResult('out', out, page)
}
