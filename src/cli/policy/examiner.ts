import { extname } from 'node:path'
import { askThread, type ThreadLimits } from '../../model/thread.ts'
import type { Examinations } from './examination.ts'

/** The functions of {@link Examinations}, answered elsewhere. They reject if there is no answer. */
export type Examiner = {
  readonly [Question in keyof Examinations]: (...given: Parameters<Examinations[Question]>) => Promise<ReturnType<Examinations[Question]>>
}

/** What a thread is asked. */
export interface Question {
  readonly question: keyof Examinations
  readonly given: readonly unknown[]
}

/** The module that a thread runs: compiled if this one is. Node.js 20 cannot run TypeScript in a thread. */
const MODULE = new URL(`./examination-thread${extname(import.meta.url)}`, import.meta.url)
/** A thread needs about one second and 60 MiB. */
const LIMITS: ThreadLimits = { time: 120_000, memory: 512 }

/**
 * Answers each question in a new thread, so that requests are answered meanwhile. A thread that fails answers nothing: the promise is
 * rejected.
 * @param module what the thread runs
 */
export function threadExaminer(module: URL = MODULE, limits = LIMITS): Examiner {
  const ask = <Answer>(asked: Question) => askThread<Answer>('the thread that examines policies', module, asked, limits)
  return {
    examine: (...given) => ask({ question: 'examine', given }),
    departuresOf: (...given) => ask({ question: 'departuresOf', given }),
  }
}
