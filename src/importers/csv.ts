import { parse } from 'csv-parse/sync'
import { AdminError } from '../admin/deps.ts'
import { GRAY } from './colors.ts'
import { type CsvColumn, type CsvLayout, layoutOf } from './csv-columns.ts'
import { readCellTime } from './csv-times.ts'
import type { ForeignBoard, ForeignCard, ForeignComment, ReaderOptions } from './foreign-board.ts'
import type { ImportReport } from './report.ts'

/** Excel writes this line before the header, to name the separator. */
const SEPARATOR_LINE = /^\ufeff?sep=(.)\r?\n/
const SEPARATORS = [',', ';', '\t']
const YES = /^(?:yes|true|x|1|done|completed)$/i
const NO = /^(?:|no|false|0|-)$/i
/** A comment of Jira: its time, the id of its author, and its text. */
const JIRA_COMMENT = /^(\d{1,2}\/[A-Z][a-z]{2}\/\d{2,4} \d{1,2}:\d{2}(?: [AP]M)?);([^;]{0,200});([^]*)$/
const UNPLACED = 'No status'

interface Row {
  readonly record: readonly string[]
  /** the number of its last line in the file */
  readonly line: number
}

/**
 * Reads a CSV file (RFC 4180) with a header: each row is a card. A row that is not CSV, or has no title, is left out and reported.
 * @throws {AdminError} `invalid` if it has no column of titles, no row after the header, or a quote that is never closed
 */
export function readCsv(text: string, report: ImportReport, { map = [], fileName }: ReaderOptions): ForeignBoard {
  const [header, ...rows] = rowsOf(text, report)
  if (header === undefined) throw new AdminError('invalid', 'the file has no row')
  const layout = layoutOf(header.record, map)
  if (rows.length === 0) throw new AdminError('invalid', 'the file has a header and no row')
  const cards = rows.flatMap((row) => new CsvRow(row, header, layout, report).card ?? [])
  const names = (namesOf: (card: ForeignCard) => readonly (string | null)[]) =>
    [...new Set(cards.flatMap(namesOf))].filter((name) => name !== null)
  return {
    name: fileName ?? 'Imported board',
    description: '',
    // The file does not say who has access.
    isPrivate: true,
    people: names(({ assignees, createdBy, comments }) => [...assignees, createdBy, ...comments.map(({ author }) => author)]).map(
      (name) => ({
        id: name,
        name,
        username: null,
        onBoard: false,
      }),
    ),
    labels: names(({ labels }) => labels).map((name) => ({ id: name, name, color: GRAY })),
    columns: names(({ column }) => [column]).map((name) => ({ id: name, name, archived: false, completes: false, wipLimit: null })),
    cards,
  }
}

/**
 * The rows of a file, the header first. A row that is not CSV is reported.
 * @throws {AdminError} `invalid` if a quote is never closed: what comes after it is not known
 */
function rowsOf(text: string, report: ImportReport): Row[] {
  const stated = SEPARATOR_LINE.exec(text)
  // The command reads lines: of a line break at the end of the file, it leaves the first half.
  const content = text.slice(stated?.[0].length ?? 0).replace(/\r$/, '')
  const linesBefore = stated === null ? 0 : 1
  let isUnclosed = false
  const found = parse(content, {
    bom: true,
    delimiter: stated?.[1] ?? separatorOf(content),
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error?.code === 'CSV_QUOTE_NOT_CLOSED') isUnclosed = true
      else if (error !== undefined) report.add('rows_malformed', error.message)
    },
  }) as unknown as { record: string[]; info: { lines: number } }[]
  if (isUnclosed) {
    const line = (found.at(-1)?.info.lines ?? 0) + linesBefore
    throw new AdminError('invalid', `a quote that opens after line ${line} is never closed, so the rest of the file would be one cell`)
  }
  return found.map(({ record, info }) => ({ record, line: info.lines + linesBefore }))
}

/** The separator that the header has most of, outside of quotes. */
function separatorOf(text: string): string {
  const header = text
    .slice(0, 100_000)
    .replace(/"(?:[^"]|"")*"/g, '')
    .replace(/^[\ufeff \r\n]+/, '')
    .split(/[\r\n]/)[0]!
  const counts = SEPARATORS.map((separator) => header.split(separator).length)
  return SEPARATORS[counts.indexOf(Math.max(...counts))]!
}

/** A row, as a card. */
class CsvRow {
  readonly #row: Row
  readonly #layout: CsvLayout
  readonly #report: ImportReport
  readonly #width: number

  constructor(row: Row, header: Row, layout: CsvLayout, report: ImportReport) {
    this.#row = row
    this.#width = header.record.length
    this.#layout = layout
    this.#report = report
  }

  /** Undefined: it has no title, which is reported. */
  get card(): ForeignCard | undefined {
    const title = this.#cell('title')
    const { record, line } = this.#row
    if (title === '') {
      this.#report.add('rows_malformed', `line ${line}: it has no title`)
      return undefined
    }
    const unnamed = this.#layout.unnamed.map((at) => record[at] ?? '')
    const excess = [...unnamed, ...record.slice(this.#width)].filter((cell) => cell.trim() !== '')
    if (excess.length > 0) this.#report.add('cells_left_out', `line ${line}: ${excess.join(', ')}`, excess.length)
    const completion = this.#stateOf('completed')
    const cancellation = this.#stateOf('canceled')
    const archival = this.#stateOf('archived')
    return {
      id: `line ${line}`,
      column: this.#cell('column') || UNPLACED,
      title,
      description: this.#has('description') ? this.#text('description') : undefined,
      fields: this.#layout.others.flatMap(({ name, at }) => {
        const value = (record[at] ?? '').trim()
        return value === '' ? [] : { name, value }
      }),
      ref: this.#cell('ref') || null,
      linkKey: null,
      dueAt: this.#has('due') ? this.#timeOf('due') : undefined,
      completed: this.#has('completed') || this.#has('canceled') ? completion.is || cancellation.is : undefined,
      failed: cancellation.is,
      completedAt: completion.at ?? cancellation.at,
      archived: archival.is,
      archivedAt: archival.at,
      createdAt: this.#timeOf('created'),
      createdBy: this.#cell('creator') || null,
      updatedAt: this.#timeOf('updated'),
      labels: this.#cells('labels').flatMap((cell) => listIn(cell, /[,;\n]/)),
      // A name may have a comma.
      assignees: this.#cells('assignees').flatMap((cell) => listIn(cell, cell.includes(';') ? /;/ : /[,\n]/)),
      subtasks: [],
      attachments: [],
      comments: this.#cells('comments').map((cell) => commentOf(cell)),
    }
  }

  #has(column: CsvColumn): boolean {
    return this.#layout.places.has(column)
  }

  #cells(column: CsvColumn): string[] {
    const cells = (this.#layout.places.get(column) ?? []).map((at) => this.#row.record[at] ?? '')
    return cells.filter((cell) => cell.trim() !== '')
  }

  #cell(column: CsvColumn): string {
    return this.#text(column).trim()
  }

  /** A cell with the spaces around it: they can mean something in Markdown. */
  #text(column: CsvColumn): string {
    return this.#cells(column)[0] ?? ''
  }

  #timeOf(column: CsvColumn): string | null {
    const text = this.#cell(column)
    const time = text === '' ? null : readCellTime(text)
    if (time === undefined) this.#report.add('cells_malformed', `line ${this.#row.line}: ${column}: ${text}`)
    return time ?? null
  }

  /** Whether something has happened, and when. Both a time and a word such as "yes" say so. */
  #stateOf(column: CsvColumn): { readonly is: boolean; readonly at: string | null } {
    const text = this.#cell(column)
    if (NO.test(text)) return { is: false, at: null }
    if (YES.test(text)) return { is: true, at: null }
    const time = this.#timeOf(column)
    return { is: time !== null, at: time }
  }
}

function listIn(cell: string, separator: RegExp): string[] {
  return cell
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function commentOf(cell: string): ForeignComment {
  const [, time, author, text] = JIRA_COMMENT.exec(cell) ?? []
  if (text === undefined) return { author: null, text: cell, writtenAt: null }
  return { author: author || null, text, writtenAt: readCellTime(time!) ?? null }
}
