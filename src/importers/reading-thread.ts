import { parentPort, workerData } from 'node:worker_threads'
import { questionOf, type ThreadTask } from '../model/thread.ts'
import { readBoardFile, type BoardFile } from './board-reading.ts'

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort!.postMessage(readBoardFile(questionOf(workerData as ThreadTask) as BoardFile))
