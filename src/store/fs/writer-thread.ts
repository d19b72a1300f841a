import { parentPort, workerData } from 'node:worker_threads'
import { RecordWriter, type WriterOptions } from './record-writer.ts'
import { findDamageIn } from './rows.ts'

/** What the thread begins with. Without `options`, it looks for damage in place of writing. */
export interface ThreadTask {
  readonly path: string
  readonly options?: WriterOptions
}

// A thread of its own, because a commit waits for the disk. It answers in the order of the questions. What it throws ends it.
const port = parentPort!
const { path, options } = workerData as ThreadTask
if (options === undefined) port.postMessage(findDamageIn(path))
else write(options)

function write(options: WriterOptions): void {
  try {
    open(options)
  } catch (error) {
    const { name, message, code, errcode } = error as Error & { readonly code?: string; readonly errcode?: number }
    port.postMessage({ refused: { name, message, code, errcode } })
  }
}

function open(options: WriterOptions): void {
  const writer = new RecordWriter(path, options)
  port.postMessage({ names: writer.names, counts: writer.counts })
  port.on('message', ({ call, given }: { readonly call: 'write' | 'hasSpace' | 'close'; readonly given: never }) => {
    const answer = (writer[call] as (...args: never) => unknown)(...(given as never[] as never))
    port.postMessage({ answer, counts: writer.counts })
    if (call === 'close') port.close()
    else writer.checkpointIfDue()
  })
}
