import { parentPort, workerData } from 'node:worker_threads'
import { examinations, type Examinations } from './examination.ts'
import { programVersion } from '../../model/package-files.ts'
import type { Task } from './examiner.ts'

/** Answers one question of the thread that has started this one. */
function answer({ version, question, given }: Task): ReturnType<Examinations[keyof Examinations]> {
  // Another version may read and prove policies in another way than the one that uses them.
  if (version !== programVersion) throw new Error(`the program on disk is version ${programVersion}, and ${version} is running: restart it`)
  return (examinations[question] as (...questions: readonly unknown[]) => ReturnType<typeof answer>)(...given)
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort!.postMessage(answer(workerData as Task))
