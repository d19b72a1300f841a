import { parse } from 'node:path'
import type { Command } from 'commander'
import type { BackupSummary } from '../admin/backup.ts'
import type { LostFile, TransferSummary } from '../admin/transfer-summary.ts'
import { addAdminCommand, runOnStorage, type CommonOptions } from './command.ts'
import { Failure } from './exit.ts'
import { runWithInput, runWithOutput } from './streams.ts'
import { describe, cell, table } from './text.ts'
import { AdminError, type CommandIo } from '../admin/deps.ts'
import { ConfigError } from '../config.ts'
import type { ImportResult } from '../importers/planned-import.ts'
import { visibilities } from '../model/board.ts'

/** The longest file of another program, in characters: it is parsed as a whole. */
const MAX_CHARACTERS = 256 * 1024 * 1024

interface ForeignOptions {
  readonly from?: string
  readonly workspace?: string
  readonly as?: string
  readonly member: readonly string[]
  readonly visibility?: string
  readonly dryRun?: true
  readonly into?: string
  readonly attachments?: string
  readonly map: readonly string[]
  readonly done: readonly string[]
}

/**
 * Adds `lanekeeper import`.
 * @param importExport imports a workspace that Lanekeeper has exported
 */
function addImportCommand(program: Command, importExport: (file: string | undefined, options: CommonOptions) => Promise<void>): void {
  const collect = (pair: string, pairs: readonly string[]) => [...pairs, pair]
  addAdminCommand(program, 'import [file]', 'read an exported workspace, or a board of another program, from a file or from stdin')
    .option(
      '--from <program>',
      'trello or planka: the file is a board of that program, as JSON; csv: each row is a card; github: issues, as gh issue list --json writes them',
    )
    .option('--workspace <workspace>', 'with --from: the id of the workspace that gets the board')
    .option('--as <user>', 'with --from: the id of the user who imports the board, and becomes its creator')
    .option('--member <theirs=ours>', 'with --from: a member of the board and their user in the workspace; can be repeated', collect, [])
    .option(
      '--visibility <visibility>',
      'with --from: workspace or private; default: as in the other program, or private if the file does not say it',
    )
    .option('--attachments <folder>', 'with --from: a folder with the files of the attachments, which are uploaded')
    .option(
      '--map <theirs=ours>',
      'with --from csv: a column of the file and what it is, such as Kind=labels; can be repeated',
      collect,
      [],
    )
    .option('--done <column>', 'with --from: a column that completes its cards; can be repeated', collect, [])
    .option('--into <board>', 'with --from: the id of a board that gets the cards; its cards from an earlier import are updated')
    .option('--dry-run', 'with --from: only report what would be imported, and what would not')
    .action(async (file: string | undefined, options: CommonOptions & ForeignOptions) => {
      if (options.from !== undefined) return importFrom(options.from, file, options)
      const foreign = (['workspace', 'as', 'visibility', 'attachments', 'into', 'dryRun'] as const).some(
        (name) => options[name] !== undefined,
      )
      const lists = [options.member, options.map, options.done]
      if (foreign || lists.some(({ length }) => length > 0))
        throw new ConfigError('--workspace, --as, --member, --visibility, --attachments, --into, --map, --done and --dry-run need --from')
      return importExport(file, options)
    })
}

async function importFrom(from: string, file: string | undefined, options: CommonOptions & ForeignOptions): Promise<void> {
  const { workspace, as: user, visibility, attachments, into, map, done, dryRun = false } = options
  const fileName = file === undefined ? undefined : parse(file).name
  if (workspace === undefined || user === undefined) throw new ConfigError('--from needs --workspace and --as')
  const known = visibilities.find((name) => name === visibility)
  if (visibility !== undefined && known === undefined) throw new ConfigError(`--visibility: must be one of ${visibilities.join(', ')}`)
  if (into !== undefined && visibility !== undefined)
    throw new ConfigError('--visibility is for a new board, and --into names one that exists')
  const { importForeignBoard } = await import('../importers/import.ts')
  const result = await runWithInput(file, async (io) => {
    const run = (name: string, input: object, { lines }: Pick<CommandIo, 'lines'>) => runOnStorage(options, name, input, { ...io, lines })
    const text = await readText(io.lines)
    const settings = { from, workspace, user, members: options.member, visibility: known, attachments, into, map, done, fileName, dryRun }
    return importForeignBoard(text, settings, run)
  })
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  console.log(options.json === true ? JSON.stringify(result) : describeImport(result))
}

/** Tells who imports something that is no export how a board of another program is imported. */
function adviseFrom(error: Error): never {
  if (!(error instanceof AdminError) || !error.message.startsWith('line 1 ')) throw error
  throw new AdminError(error.code, `${error.message}; a board of another program needs --from, see "lanekeeper import --help"`)
}

/**
 * Reads everything.
 * @throws {AdminError} `invalid` if it is too long
 */
async function readText(lines: AsyncIterable<string>): Promise<string> {
  const parts: string[] = []
  let size = 0
  for await (const line of lines) {
    size += line.length + 1
    if (size > MAX_CHARACTERS) throw new AdminError('invalid', `the file has more than ${MAX_CHARACTERS / 1024 / 1024} MiB`)
    parts.push(line)
  }
  return parts.join('\n')
}

function describeImport({ not_carried, ...result }: ImportResult): string {
  const rows = Object.entries(result).map(([name, value]) => [name, cell(value)])
  const losses = not_carried.flatMap(({ count, description, examples }) => [
    `${count} ${description}`,
    ...examples.map((example) => `    ${cell(example)}`),
    ...(count > examples.length ? ['    …'] : []),
  ])
  return [...table(rows), '', ...(losses.length === 0 ? ['Everything was carried.'] : ['Not carried as it is:', ...losses])].join('\n')
}

type OutputOptions = CommonOptions & { readonly out?: string }

/** Adds `lanekeeper export`, `import`, `backup` and `restore`. */
export function addTransferCommands(program: Command): void {
  const addOut = (command: Command) => command.option('-o, --out <file>', 'the file to write, which must not exist; default: stdout')

  addOut(addAdminCommand(program, 'export <workspace>', 'write a workspace as JSON lines, including the bytes of files')).action(
    (workspace: string, options: OutputOptions) => write(options, 'export', { workspace }),
  )
  addImportCommand(program, (file, options) => read(options, 'import', file).catch(adviseFrom))

  addOut(
    addAdminCommand(
      program,
      'backup',
      'write the whole installation as JSON lines: all workspaces, users, e-mail addresses and password hashes',
    ),
  ).action((options: OutputOptions) => write(options, 'backup', {}))
  addAdminCommand(program, 'restore [file]', 'read a backup from a file or from stdin into an empty storage').action(
    (file: string | undefined, options: CommonOptions) => read(options, 'restore', file),
  )
}

async function write({ out, ...options }: OutputOptions, command: string, input: object): Promise<void> {
  printResult(options, await runWithOutput(out, (io) => runOnStorage(options, command, input, io)))
}

async function read(options: CommonOptions, command: string, file: string | undefined): Promise<void> {
  printResult(options, await runWithInput(file, (io) => runOnStorage(options, command, {}, io)))
}

/**
 * Prints to stderr, because stdout may be the export itself.
 * @throws {Failure} `incomplete` if something was left out because it could not be read
 */
function printResult(options: CommonOptions, result: unknown): void {
  const { lost_files, lost_workspaces = [], ...counts } = result as TransferSummary & Partial<BackupSummary>
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  for (const id of lost_workspaces) console.error(`${id} cannot be read and was left out`)
  for (const file of lost_files) console.error(describeLost(file))
  console.error(options.json === true ? JSON.stringify(result) : describe(counts))
  if (counts.lost + lost_workspaces.length > 0)
    throw new Failure('incomplete', `done, without what is lost: ${counts.lost} files and ${lost_workspaces.length} workspaces`)
}

function describeLost({ workspace_id, file_id, name, size, reason }: LostFile): string {
  const state = reason === 'damaged' ? 'are damaged' : 'are missing or cannot be read'
  return `the bytes of ${file_id} (${JSON.stringify(name)}, ${size === 1 ? '1 byte' : `${size} bytes`}) in ${workspace_id} ${state}; it was left out, with its attachments`
}
