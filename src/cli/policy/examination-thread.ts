import { parentPort, workerData } from 'node:worker_threads'
import { questionOf, type ThreadTask } from '../../model/thread.ts'
import { examinations, type Examinations } from './examination.ts'
import type { Question } from './examiner.ts'

/** Answers one question of the thread that has started this one. */
function answer({ question, given }: Question): ReturnType<Examinations[keyof Examinations]> {
  return (examinations[question] as (...questions: readonly unknown[]) => ReturnType<typeof answer>)(...given)
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort!.postMessage(answer(questionOf(workerData as ThreadTask) as Question))
