import { stat } from 'node:fs/promises'
import type { BoardLine } from '../admin/board-lines.ts'
import { AdminError, type CommandIo } from '../admin/deps.ts'
import type { ImportLimits, ImportTarget } from '../admin/import-target.ts'
import { AttachmentFolder, piecesOf } from './attachment-folder.ts'
import type { ForeignAttachment, ForeignBoard } from './foreign-board.ts'
import { MemberMatcher, type Member } from './members.ts'
import type { PlannedLine } from './plan.ts'
import { PlannedImport, type ImportResult } from './planned-import.ts'
import { readBoard, type ImportChoices } from './read-board.ts'
import { ImportReport } from './report.ts'

/** How an operator imports a board of another program. */
export interface ImportOptions extends ImportChoices {
  readonly workspace: string
  /** the id of the user who imports it */
  readonly user: string
  /** the id of a board that gets the cards; undefined: a new one */
  readonly into?: string | undefined
  readonly dryRun: boolean
  /** the folder that has the files of the attachments */
  readonly attachments?: string | undefined
}

/** Runs an administration command on the storage. */
export type RunCommand = (name: string, input: object, io: Pick<CommandIo, 'lines'>) => Promise<unknown>

/**
 * Imports a board of another program.
 * @param text the file
 * @throws {AdminError} `invalid`, with the path of the mistake in the file; else as the command `import.board` does
 */
export async function importForeignBoard(text: string, options: ImportOptions, run: RunCommand): Promise<ImportResult> {
  const { workspace, user, visibility, dryRun } = options
  const report = new ImportReport()
  const board = readBoard(text, options, report)
  const members = (await run('member.list', { workspace }, { lines: none() })) as readonly Member[]
  if (!members.some(({ user_id }) => user_id === user)) throw new AdminError('not_found', `${user} is not a member of ${workspace}`)
  const matcher = new MemberMatcher(board.people, members, options.members, report)
  const files = options.attachments === undefined ? new Map() : await findFiles(board, options.attachments, run, report)
  const target =
    options.into === undefined
      ? undefined
      : ((await run('import.target', { workspace, user, board: options.into }, { lines: none() })) as ImportTarget)
  const planned = new PlannedImport(board, { userId: user, visibility, members: matcher, files, target }, report)
  if (dryRun) {
    // The lines are made too: the report follows from them.
    void Array.from(planned.lines())
    return planned.resultOf()
  }
  const { board_id } = (await run('import.board', { workspace, user }, { lines: toText(planned.lines()) })) as { board_id: string }
  return planned.resultOf(board_id)
}

async function* toText(lines: Iterable<PlannedLine>): AsyncGenerator<string> {
  for (const line of lines) {
    if (!('path' in line)) yield JSON.stringify(line)
    else for await (const piece of piecesOf(line.path)) yield JSON.stringify({ file: line.file, ...piece } satisfies BoardLine)
  }
}

/** Finds the files of attachments, and reports what is missing. A file that the service would refuse stays a link. */
async function findFiles(
  board: ForeignBoard,
  folder: string,
  run: RunCommand,
  report: ImportReport,
): Promise<ReadonlyMap<ForeignAttachment, string>> {
  const { upload_bytes } = (await run('import.limits', {}, { lines: none() })) as ImportLimits
  const files = (await AttachmentFolder.open(folder, report)).match(board)
  for (const { title, attachments } of board.cards)
    for (const attachment of attachments) {
      const path = files.get(attachment)
      const isTooLarge = path !== undefined && (await stat(path)).size > upload_bytes
      if (isTooLarge) files.delete(attachment)
      if (isTooLarge) report.add('attachments_too_large', `${title}: ${attachment.name}`)
      else if (path === undefined && attachment.isUpload) report.add('attachments_missing', `${title}: ${attachment.name}`)
    }
  return files
}

async function* none(): AsyncGenerator<string> {}
