import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { ConfigError } from '../config.ts'
import { linesOf } from '../admin/lines.ts'
import { AdminError } from '../admin/deps.ts'
import { operatorCommand, type Common } from './command.ts'
import { runOnStorage } from './operate.ts'
import { describe } from './text.ts'

/** `lanekeeper export` and `lanekeeper import`: a workspace as JSON lines, from any storage to any other. */
export function addTransferCommands(program: Command): void {
  operatorCommand(program, 'export <workspace>', 'write a workspace, with bytes of files, as JSON lines')
    .option('-o, --out <file>', 'into a file, which must not be there yet; default: stdout')
    .action(exportTo)
  operatorCommand(program, 'import [file]', 'bring an exported workspace back, from a file or stdin').action(importFrom)
}

async function exportTo(workspace: string, { out, ...options }: Common & { out?: string }): Promise<void> {
  if (out === undefined) {
    const write = async (line: string): Promise<void> => {
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
    }
    return report(options, await runOnStorage(options, 'export', { workspace }, { progress: showProgress(), write, lines: none() }))
  }
  if (out === '') throw new ConfigError('out: the name of the file is empty')
  if (existsSync(out)) throw new AdminError('conflict', `${out} is there already`)
  // Under a name of its own until it is whole: nobody else writes there, and nobody takes it for a backup.
  const partial = `${out}.${randomUUID()}.partial`
  const forget = (): void => {
    rmSync(partial, { force: true })
    process.exit(130)
  }
  process.once('SIGINT', forget)
  try {
    const result = await exportInto(partial, options, workspace)
    // Unlike a rename it fails where somebody was faster.
    await link(partial, out).catch(explain(out))
    await syncFolder(dirname(out))
    report(options, result)
  } finally {
    await rm(partial, { force: true })
    process.off('SIGINT', forget)
  }
}

async function exportInto(path: string, options: Common, workspace: string): Promise<unknown> {
  // It holds all that people wrote: nobody else needs to read it.
  const file = await open(path, 'wx', 0o600).catch(explain(path))
  try {
    const write = async (line: string): Promise<void> => void (await file.appendFile(`${line}\n`))
    const result = await runOnStorage(options, 'export', { workspace }, { progress: showProgress(), write, lines: none() })
    await file.sync()
    return result
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

async function importFrom(path: string | undefined, options: Common): Promise<void> {
  const file = path === undefined ? undefined : await open(path, 'r').catch(explain(path))
  try {
    const lines = readable(path, linesOf(file?.createReadStream({ autoClose: false }) ?? process.stdin))
    report(options, await runOnStorage(options, 'import', {}, { progress: showProgress(), write: async () => undefined, lines }))
  } finally {
    await file?.close()
  }
}

async function* readable(path: string | undefined, lines: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* lines
  } catch (error) {
    explain(path ?? 'stdin')(error as Error)
  }
}

/** The operator's own file cannot be used: no matter of the storage. */
function explain(path: string): (error: Error) => never {
  return (error) => {
    throw new AdminError((error as NodeJS.ErrnoException).code === 'EEXIST' ? 'conflict' : 'invalid', `${path}: ${error.message}`)
  }
}

/** On stderr, since stdout may be the export itself. */
function report(options: Common, result: unknown): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  console.error(options.json === true ? JSON.stringify(result) : describe(result))
}

/** One line that changes, for whoever watches; for a log, a line a second. */
function showProgress(): (text: string) => void {
  let shown = 0
  return (text) => {
    if (process.stderr.isTTY) return void process.stderr.write(`\r\u001b[K${text}`)
    if (Date.now() - shown < 1000) return
    shown = Date.now()
    process.stderr.write(`${text}\n`)
  }
}

async function* none(): AsyncGenerator<string> {}
