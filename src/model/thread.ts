import { Worker } from 'node:worker_threads'
import { isProgramReplaced, programVersion } from './package-files.ts'

/** What a thread is asked. */
export interface ThreadTask {
  /** the version of the program that asks */
  readonly version: string
  readonly question: unknown
}

/** How a thread is bounded. */
export interface ThreadLimits {
  /** milliseconds within which it must answer */
  readonly time: number
  /** its heap, in MiB */
  readonly memory: number
}

const REPLACED = 'the files of the program were replaced or removed after its start: restart it'

/** A thread has not answered. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed'
}

/**
 * Asks a new thread, so that requests are answered meanwhile.
 * @param what the thread is, for the message of an error
 * @param module what the thread runs; it calls {@link questionOf}, and posts its answer
 * @throws {ThreadFailed} if there is no answer within the limits
 */
export function askThread<Answer>(what: string, module: URL, question: unknown, { time, memory }: ThreadLimits): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const task: ThreadTask = { version: programVersion, question }
    const thread = new Worker(module, { workerData: task, resourceLimits: { maxOldGenerationSizeMb: memory } })
    const fail = (why: string): void => {
      clearTimeout(timer)
      void thread.terminate()
      reject(new ThreadFailed(`${what} has not answered: ${isProgramReplaced() ? `${REPLACED} (${why})` : why}`))
    }
    const timer = setTimeout(() => fail(`it took longer than ${time / 1000} seconds`), time)
    thread.once('message', (answer) => (clearTimeout(timer), resolve(answer)))
    thread.once('messageerror', (error) => fail(error.message))
    // What it throws may be anything.
    thread.once('error', (error: unknown) => fail(error instanceof Error ? error.message : String(error)))
    // After an answer it has no effect.
    thread.once('exit', (code) => fail(`it ended with ${code}`))
    // Neither keeps a process that has nothing else to do.
    thread.unref()
    timer.unref()
  })
}

/**
 * The question of the thread that has started this one.
 * @throws {Error} if another version asks: the functions of this one may answer something else
 */
export function questionOf({ version, question }: ThreadTask): unknown {
  if (version !== programVersion) throw new Error(`the program on disk is version ${programVersion}, and ${version} is running: restart it`)
  return question
}
