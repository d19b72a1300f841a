import type { ImportTarget } from '../admin/import-target.ts'
import { AdminError, type CommandIo } from '../admin/deps.ts'
import { stat } from 'node:fs/promises'
import type { BoardLine } from '../admin/board-lines.ts'
import type { Board } from '../model/board.ts'
import { limits } from '../model/limits.ts'
import { AttachmentFolder, piecesOf } from './attachment-folder.ts'
import type { ForeignAttachment, ForeignBoard } from './foreign-board.ts'
import { MemberMatcher, type Member } from './members.ts'
import { ImportPlan, type PlannedLine } from './plan.ts'
import { readCsv } from './csv.ts'
import { readGitHub } from './github.ts'
import { readPlanka } from './planka.ts'
import { ImportReport, type ReportLine } from './report.ts'
import { readTrello } from './trello.ts'

const readers = { trello: readTrello, planka: readPlanka, csv: readCsv, github: readGitHub } as const
/** Where boards can be imported from. */
const programs = Object.keys(readers) as readonly (keyof typeof readers)[]

/** How a board of another program is imported. */
export interface ImportOptions {
  readonly from: string
  readonly workspace: string
  /** the id of the user who imports it */
  readonly user: string
  /** pairs of a person of the file and a user of the workspace */
  readonly members: readonly string[]
  readonly visibility?: Board['visibility'] | undefined
  /** the id of a board that gets the cards; undefined: a new one */
  readonly into?: string | undefined
  readonly dryRun: boolean
  /** the names of columns that complete their cards, as well */
  readonly done?: readonly string[] | undefined
  /** pairs of a column of a CSV file and what it is */
  readonly map?: readonly string[] | undefined
  /** the name of the file, without its extension */
  readonly fileName?: string | undefined
  /** the folder that has the files of the attachments */
  readonly attachments?: string | undefined
}

/** What an import has created, or would create, and what it does not carry. */
export interface ImportResult {
  readonly dry_run: boolean
  /** null in a dry run */
  readonly board_id: string | null
  readonly name: string
  readonly visibility: Board['visibility']
  readonly columns: number
  readonly cards: number
  /** how many cards of an earlier import were brought up to date */
  readonly updated: number
  readonly labels: number
  readonly subtasks: number
  readonly comments: number
  readonly attachments: number
  readonly board_members: number
  readonly not_carried: readonly ReportLine[]
}

/** Runs an administration command on the storage. */
export type RunCommand = (name: string, input: object, io: Pick<CommandIo, 'lines'>) => Promise<unknown>

/**
 * Imports a board of another program.
 * @param text the file
 * @param now the present time
 * @throws {AdminError} `invalid`, with the path of the mistake in the file; else as the command `import.board` does
 */
export async function importForeignBoard(text: string, options: ImportOptions, run: RunCommand, now: string): Promise<ImportResult> {
  const { from, workspace, user, visibility, dryRun } = options
  if (!isProgram(from)) throw new AdminError('invalid', `--from: must be one of ${programs.join(', ')}`)
  const report = new ImportReport()
  if (from !== 'csv' && (options.map ?? []).length > 0) throw new AdminError('invalid', '--map needs --from csv')
  const read = readers[from](text, report, { now, map: options.map, fileName: options.fileName })
  const board = { ...read, columns: withCompleting(read.columns, options.done ?? []) }
  const members = (await run('member.list', { workspace }, { lines: none() })) as readonly Member[]
  if (!members.some(({ user_id }) => user_id === user)) throw new AdminError('not_found', `${user} is not a member of ${workspace}`)
  const matcher = new MemberMatcher(board.people, members, options.members, report)
  const files = options.attachments === undefined ? new Map() : await findFiles(board, options.attachments, report)
  const target =
    options.into === undefined
      ? undefined
      : ((await run('import.target', { workspace, user, board: options.into }, { lines: none() })) as ImportTarget)
  const plan = new ImportPlan(board, { userId: user, visibility, members: matcher, files, target }, report)
  const counter = new LineCounter()
  const lines = counter.count(plan.lines())
  // A dry run makes the lines too: the report follows from them.
  const created = dryRun
    ? void Array.from(lines)
    : ((await run('import.board', { workspace, user }, { lines: toText(lines) })) as { board_id: string })
  return {
    dry_run: dryRun,
    board_id: created === undefined ? null : created.board_id,
    ...counter.result,
    ...(target !== undefined && { name: target.name, visibility: target.visibility }),
    updated: plan.updated,
    not_carried: report.lines,
  }
}

function isProgram(name: string): name is keyof typeof readers {
  return Object.hasOwn(readers, name)
}

/**
 * Makes columns complete their cards.
 * @throws {AdminError} `invalid` if there is no column of a name
 */
function withCompleting(columns: ForeignBoard['columns'], names: readonly string[]): ForeignBoard['columns'] {
  const fold = (name: string) => name.normalize('NFC').trim().toLowerCase()
  const done = new Set(names.map(fold))
  const missing = names.find((name) => !columns.some((column) => fold(column.name) === fold(name)))
  if (missing !== undefined) {
    const known = columns.map(({ name }) => JSON.stringify(name)).join(', ')
    throw new AdminError('invalid', `--done: there is no column "${missing}"; there are ${known}`)
  }
  return columns.map((column) => (done.has(fold(column.name)) ? { ...column, completes: true } : column))
}

/** Counts what the lines of a board create. */
class LineCounter {
  #board = { name: '', visibility: 'private' as Board['visibility'], board_members: 0 }
  readonly #counts = new Map<string, number>()
  #files = 0

  get result() {
    const made = (kind: string) => this.#counts.get(`${kind}.create`) ?? 0
    const { board_members, ...board } = this.#board
    return {
      ...board,
      columns: made('columns'),
      cards: made('cards'),
      labels: made('labels'),
      subtasks: made('subtasks'),
      comments: made('comments'),
      attachments: this.#files,
      board_members,
    }
  }

  *count(lines: Iterable<PlannedLine>): Generator<PlannedLine> {
    for (const line of lines) {
      if ('board' in line) {
        const { name, visibility, members } = line.board
        this.#board = { name, visibility, board_members: members.length }
      } else if ('path' in line) this.#files++
      else if ('operation' in line) this.#counts.set(line.operation, (this.#counts.get(line.operation) ?? 0) + 1)
      yield line
    }
  }
}

async function* toText(lines: Iterable<PlannedLine>): AsyncGenerator<string> {
  for (const line of lines) {
    if (!('path' in line)) yield JSON.stringify(line)
    else for await (const piece of piecesOf(line.path)) yield JSON.stringify({ file: line.file, ...piece } satisfies BoardLine)
  }
}

/** Finds the files of attachments, and reports what is missing. */
async function findFiles(board: ForeignBoard, folder: string, report: ImportReport): Promise<ReadonlyMap<ForeignAttachment, string>> {
  const files = (await AttachmentFolder.open(folder, report)).match(board)
  for (const { title, attachments } of board.cards)
    for (const attachment of attachments) {
      const path = files.get(attachment)
      const isTooLarge = path !== undefined && (await stat(path)).size > limits.uploadBytes
      if (isTooLarge) files.delete(attachment)
      if (isTooLarge) report.add('attachments_too_large', `${title}: ${attachment.name}`)
      else if (path === undefined && attachment.isUpload) report.add('attachments_missing', `${title}: ${attachment.name}`)
    }
  return files
}

async function* none(): AsyncGenerator<string> {}
