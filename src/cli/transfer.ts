import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { AdminError, type CommandIo } from '../admin/deps.ts'
import { readLines } from '../admin/rpc-framing.ts'
import { ConfigError } from '../config.ts'
import { addAdminCommand, noLines, type CommonOptions } from './command.ts'
import { runOnStorage } from './run-on-storage.ts'
import { describe } from './text.ts'

/** Adds `lanekeeper export` and `lanekeeper import`. */
export function addTransferCommands(program: Command): void {
  addAdminCommand(program, 'export <workspace>', 'write a workspace as JSON lines, including the bytes of files')
    .option('-o, --out <file>', 'the file to write, which must not exist; default: stdout')
    .action(exportWorkspace)

  addAdminCommand(program, 'import [file]', 'read an exported workspace from a file or from stdin').action(importWorkspace)
}

async function exportWorkspace(workspace: string, { out, ...options }: CommonOptions & { out?: string }): Promise<void> {
  if (out === undefined) {
    const write = async (line: string): Promise<void> => {
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
    }
    return printResult(options, await runOnStorage(options, 'export', { workspace }, exportIo(write)))
  }
  if (out === '') throw new ConfigError('out: the file name is empty')
  if (existsSync(out)) throw new AdminError('conflict', `${out} already exists`)
  // The file gets its final name when it is complete, so an incomplete export is never taken for a backup.
  const partial = `${out}.${randomUUID()}.partial`
  const abort = (): void => {
    rmSync(partial, { force: true })
    process.exit(130)
  }
  process.once('SIGINT', abort)
  try {
    const result = await exportToFile(partial, options, workspace)
    // Unlike a rename, a link fails if another process has created the file since.
    await link(partial, out).catch(rethrowAs(out))
    await syncFolder(dirname(out))
    printResult(options, result)
  } finally {
    await rm(partial, { force: true })
    process.off('SIGINT', abort)
  }
}

async function exportToFile(path: string, options: CommonOptions, workspace: string): Promise<unknown> {
  // The export contains everything that users wrote, so only its owner can read it.
  const file = await open(path, 'wx', 0o600).catch(rethrowAs(path))
  try {
    const write = async (line: string): Promise<void> => void (await file.appendFile(`${line}\n`))
    const result = await runOnStorage(options, 'export', { workspace }, exportIo(write))
    await file.sync()
    return result
  } finally {
    await file.close()
  }
}

function exportIo(write: CommandIo['write']): CommandIo {
  return { progress: createProgress(), write, lines: noLines() }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

async function importWorkspace(path: string | undefined, options: CommonOptions): Promise<void> {
  const file = path === undefined ? undefined : await open(path, 'r').catch(rethrowAs(path))
  try {
    const lines = readInput(path ?? 'stdin', file?.createReadStream({ autoClose: false }) ?? process.stdin)
    printResult(options, await runOnStorage(options, 'import', {}, { progress: createProgress(), write: async () => undefined, lines }))
  } finally {
    await file?.close()
  }
}

async function* readInput(name: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  try {
    yield* readLines(stream)
  } catch (error) {
    rethrowAs(name)(error as Error)
  }
}

/** Reports an error of the operator's file as an error of the command, not of the storage. */
function rethrowAs(name: string): (error: Error) => never {
  return (error) => {
    throw new AdminError((error as NodeJS.ErrnoException).code === 'EEXIST' ? 'conflict' : 'invalid', `${name}: ${error.message}`)
  }
}

/** Prints to stderr, because stdout may be the export itself. */
function printResult(options: CommonOptions, result: unknown): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  console.error(options.json === true ? JSON.stringify(result) : describe(result))
}

/** Prints progress to stderr: on a terminal as one line that is rewritten, otherwise as one line per second. */
function createProgress(): (text: string) => void {
  let printedAt = 0
  return (text) => {
    if (process.stderr.isTTY) return void process.stderr.write(`\r\u001b[K${text}`)
    if (Date.now() - printedAt < 1000) return
    printedAt = Date.now()
    process.stderr.write(`${text}\n`)
  }
}
