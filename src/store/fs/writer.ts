import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { StorageDamaged } from './damage.ts'
import { RecordWriter, type RowChange, type WriteResult, type WriterCounts, type WriterOptions } from './record-writer.ts'
import { findDamageIn, type FoundDamage } from './rows.ts'
import type { ThreadTask } from './writer-thread.ts'

/** What writes the records of a folder: a {@link RecordWriter}, whose methods take time. */
export interface Writer {
  /** the partitions when it was opened */
  readonly names: readonly string[]
  readonly counts: WriterCounts
  write(changes: readonly RowChange[], onlyRemoves: boolean): Promise<WriteResult>
  hasSpace(): Promise<boolean>
  findDamage(): Promise<readonly FoundDamage[]>
  close(): Promise<void>
}

/** @throws {StorageDamaged} and errors of SQLite */
export type OpenWriter = (path: string, options: WriterOptions) => Promise<Writer>

interface Answer {
  readonly answer?: unknown
  readonly names?: readonly string[]
  readonly counts: WriterCounts
  readonly refused?: Error & { readonly code?: string; readonly errcode?: number }
}

/** The module that the thread runs. */
const MODULE = new URL('./writer-thread.js', import.meta.url)

/** Finds the damage of a folder in another thread, so that the writer goes on; in this one if the files of the program were removed. */
function findDamageOf(path: string): Promise<readonly FoundDamage[]> {
  if (!existsSync(MODULE)) return Promise.resolve(findDamageIn(path))
  return new Promise((resolve, reject) => {
    const thread = new Worker(MODULE, { workerData: { path } satisfies ThreadTask })
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the thread that looks for damage has ended')))
  })
}

/** Opens the writer of a folder in this thread. */
const openWriterHere: OpenWriter = async (path, options) => {
  const writer = new RecordWriter(path, options)
  // In a later turn, as the answer of a thread.
  const later = async <T>(work: () => T): Promise<T> => {
    await nextTurn()
    return work()
  }
  return {
    names: writer.names,
    counts: writer.counts,
    async write(changes, onlyRemoves) {
      const result = await later(() => writer.write(changes, onlyRemoves))
      if ('written' in result) writer.checkpointIfDue()
      return result
    },
    hasSpace: () => later(() => writer.hasSpace()),
    findDamage: () => later(() => findDamageIn(path)),
    close: () => later(() => writer.close()),
  }
}

/** Opens the writer of a folder in a thread of its own. */
const openWriterThread: OpenWriter = async (path, options) => {
  const thread = new Worker(MODULE, { workerData: { path, options } satisfies ThreadTask })
  const waiting: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }[] = []
  let ended: Error | undefined
  const end = (error: Error): void => {
    ended ??= error
    for (const { reject } of waiting.splice(0)) reject(ended)
  }
  thread.on('message', (answer: Answer) => waiting.shift()?.resolve(answer))
  thread.on('error', end)
  thread.on('exit', () => end(new Error('the thread that writes records has ended')))
  const next = () =>
    new Promise<Answer>((resolve, reject) => {
      if (ended === undefined) waiting.push({ resolve, reject })
      else reject(ended)
    })
  const { names = [], counts, refused } = await next()
  if (refused !== undefined)
    throw refused.name === 'StorageDamaged' ? new StorageDamaged(refused.message) : Object.assign(new Error(refused.message), refused)
  const ask = async (call: keyof Writer, ...given: unknown[]): Promise<unknown> => {
    const answered = next()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    thread.postMessage({ call, given })
    const { answer, counts: present } = await answered
    Object.assign(counts, present)
    return answer
  }
  return {
    names,
    counts,
    write: async (changes, onlyRemoves) => (await ask('write', changes, onlyRemoves)) as WriteResult,
    hasSpace: async () => (await ask('hasSpace')) as boolean,
    findDamage: () => findDamageOf(path),
    // One that has ended has closed the file.
    close: async () => void (ended === undefined && (await ask('close'))),
  }
}

/** Opens the writer of a folder: in a thread, unless the modules are TypeScript, as in tests. Node.js 20 cannot run that in a thread. */
export const openWriter: OpenWriter = extname(import.meta.url) === '.ts' ? openWriterHere : openWriterThread
