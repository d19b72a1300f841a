import type { Command } from 'commander'
import type { BackupSummary } from '../admin/backup.ts'
import type { LostFile, TransferSummary } from '../admin/transfer-summary.ts'
import { addAdminCommand, runOnStorage, type CommonOptions } from './command.ts'
import { DataLost } from './exit.ts'
import { addImportCommand } from './import.ts'
import { runWithInput, runWithOutput } from './streams.ts'
import { describe } from './text.ts'

type OutputOptions = CommonOptions & { readonly out?: string }

/** Adds `lanekeeper export`, `import`, `backup` and `restore`. */
export function addTransferCommands(program: Command): void {
  const addOut = (command: Command) => command.option('-o, --out <file>', 'the file to write, which must not exist; default: stdout')

  addOut(addAdminCommand(program, 'export <workspace>', 'write a workspace as JSON lines, including the bytes of files')).action(
    (workspace: string, options: OutputOptions) => write(options, 'export', { workspace }),
  )
  addImportCommand(program, (file, options) => read(options, 'import', file))

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
 * @throws {DataLost} if something was left out because it could not be read
 */
function printResult(options: CommonOptions, result: unknown): void {
  const { lost_files, lost_workspaces = [], ...counts } = result as TransferSummary & Partial<BackupSummary>
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  for (const id of lost_workspaces) console.error(`${id} cannot be read and was left out`)
  for (const file of lost_files) console.error(describeLost(file))
  console.error(options.json === true ? JSON.stringify(result) : describe(counts))
  if (counts.lost + lost_workspaces.length > 0) throw new DataLost(counts.lost, lost_workspaces.length)
}

function describeLost({ workspace_id, file_id, name, size, reason }: LostFile): string {
  const state = reason === 'damaged' ? 'are damaged' : 'are missing or cannot be read'
  return `the bytes of ${file_id} (${JSON.stringify(name)}, ${size} bytes) in ${workspace_id} ${state}; it was left out, with its attachments`
}
