import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { isProgramReplaced, programVersion } from '../../model/package-files.ts'
import type { Examinations } from './examination.ts'

/** The functions of {@link Examinations}, answered elsewhere. They reject if there is no answer. */
export type Examiner = {
  readonly [Question in keyof Examinations]: (...given: Parameters<Examinations[Question]>) => Promise<ReturnType<Examinations[Question]>>
}

/** What a thread is asked. */
export interface Task {
  /** the version of the program that asks */
  readonly version: string
  readonly question: keyof Examinations
  readonly given: readonly unknown[]
}

/** The module that a thread runs: compiled if this one is. Node.js 20 cannot run TypeScript in a thread. */
const MODULE = new URL(`./examination-thread${extname(import.meta.url)}`, import.meta.url)
/** Milliseconds within which a thread must answer. It needs about one second. */
const TIME_LIMIT = 120_000
/** The heap of a thread, in MiB. It needs about 60. */
const MEMORY_LIMIT = 512

const REPLACED = 'the files of the program were replaced or removed after its start: restart it'

/** A thread has not answered. */
class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed'

  constructor(why: string) {
    super(`the thread that examines policies has not answered: ${why}`)
  }
}

/**
 * Answers each question in a new thread, so that requests are answered meanwhile. A thread that fails answers nothing: the promise is
 * rejected.
 * @param module what the thread runs
 * @param limits the time for an answer in milliseconds, and the heap of the thread in MiB
 */
export function threadExaminer(module: URL = MODULE, limits = { time: TIME_LIMIT, memory: MEMORY_LIMIT }): Examiner {
  return {
    examine: (...given) => ask(module, limits, 'examine', given),
    departuresOf: (...given) => ask(module, limits, 'departuresOf', given),
  }
}

function ask<Question extends keyof Examinations>(
  module: URL,
  { time, memory }: { readonly time: number; readonly memory: number },
  question: Question,
  given: Parameters<Examinations[Question]>,
): Promise<ReturnType<Examinations[Question]>> {
  return new Promise((resolve, reject) => {
    const task: Task = { version: programVersion, question, given }
    const thread = new Worker(module, { workerData: task, resourceLimits: { maxOldGenerationSizeMb: memory } })
    const fail = (why: string): void => {
      clearTimeout(timer)
      void thread.terminate()
      reject(new ThreadFailed(isProgramReplaced() ? `${REPLACED} (${why})` : why))
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
