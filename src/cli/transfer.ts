import { once } from 'node:events'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { linesOf } from '../operator/lines.ts'
import { OperatorError } from '../operator/tools.ts'
import { operatorCommand, type Common } from './command.ts'
import { operate } from './operate.ts'
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
    return report(options, await operate(options, 'export', { workspace }, { progress: showProgress(), write, lines: none() }))
  }
  if (existsSync(out)) throw new OperatorError('conflict', `${out} is there already`)
  const partial = `${out}.partial`
  // It holds all that people wrote: nobody else needs to read it.
  const file = await open(partial, 'w', 0o600)
  try {
    const result = await exportInto(file, options, workspace)
    await rename(partial, out)
    report(options, result)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function exportInto(file: FileHandle, options: Common, workspace: string): Promise<unknown> {
  try {
    const write = async (line: string): Promise<void> => void (await file.appendFile(`${line}\n`))
    const result = await operate(options, 'export', { workspace }, { progress: showProgress(), write, lines: none() })
    await file.sync()
    return result
  } finally {
    await file.close()
  }
}

async function importFrom(path: string | undefined, options: Common): Promise<void> {
  const file = path === undefined ? undefined : await open(path, 'r')
  const lines = linesOf(file?.createReadStream() ?? process.stdin)
  try {
    report(options, await operate(options, 'import', {}, { progress: showProgress(), write: async () => undefined, lines }))
  } finally {
    await file?.close()
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
