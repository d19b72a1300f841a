import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { link, open, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AdminError, type CommandIo } from '../admin/deps.ts'
import { readLines } from '../admin/rpc-server.ts'
import { ConfigError } from '../config.ts'
import { noLines } from './command.ts'

/** How many characters are collected before they are written to a file. */
const BUFFERED = 256 * 1024

/**
 * Runs a command that writes lines to a file or to stdout.
 * @param out the file, which must not exist; undefined: stdout
 * @throws {AdminError} {@link ConfigError} if the file exists or cannot be written
 */
export async function runWithOutput<T>(out: string | undefined, run: (io: CommandIo) => Promise<T>): Promise<T> {
  if (out === undefined) return run(outputIo(writeToStdout))
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
    const result = await runToFile(partial, run)
    // Unlike a rename, a link fails if another process has created the file since.
    await link(partial, out).catch(rethrowAs(out))
    await syncFolder(dirname(out))
    return result
  } finally {
    await rm(partial, { force: true })
    process.off('SIGINT', abort)
  }
}

/**
 * Runs a command that reads lines from a file or from stdin.
 * @param path the file; undefined: stdin
 * @throws {AdminError} if it cannot be read
 */
export async function runWithInput<T>(path: string | undefined, run: (io: CommandIo) => Promise<T>): Promise<T> {
  const file = path === undefined ? undefined : await open(path, 'r').catch(rethrowAs(path))
  try {
    const lines = readInput(path ?? 'stdin', file?.createReadStream({ autoClose: false }) ?? process.stdin)
    return await run({ progress: createProgress(), write: async () => undefined, lines })
  } finally {
    await file?.close()
  }
}

async function runToFile<T>(path: string, run: (io: CommandIo) => Promise<T>): Promise<T> {
  // The file contains everything that users wrote, so only its owner can read it.
  const file = await open(path, 'wx', 0o600).catch(rethrowAs(path))
  try {
    const writer = new FileWriter(file)
    const result = await run(outputIo((line) => writer.write(line)))
    await writer.flush()
    await file.sync()
    return result
  } finally {
    await file.close()
  }
}

/** Writes lines to a file, several at once. */
class FileWriter {
  readonly #file: FileHandle
  #lines: string[] = []
  #size = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  async write(line: string): Promise<void> {
    this.#lines.push(line, '\n')
    this.#size += line.length
    if (this.#size >= BUFFERED) await this.flush()
  }

  async flush(): Promise<void> {
    const text = this.#lines.join('')
    this.#lines = []
    this.#size = 0
    await this.#file.appendFile(text)
  }
}

async function writeToStdout(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
}

function outputIo(write: CommandIo['write']): CommandIo {
  return { progress: createProgress(), write, lines: noLines() }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
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
