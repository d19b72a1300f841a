/** How a page gets the updates of its board: from a stream that all tabs share, from one of its own, or by asking now and then. */
import { NOTICES } from '../boards/board-update.ts'
import { BoardStream, type Listener, type Message } from './board-stream.ts'
import type { Ask } from './stream-worker.ts'

/** Tabs with a stream of their own, where there are no shared workers: a browser has six connections to one host. */
const OWN_STREAMS = 3
/** How often other tabs ask, in milliseconds. */
const POLL = 5000

/** @returns ends it */
export type Watch = (after: string, listener: Listener) => () => void

/**
 * @param worker the address of the script of the shared worker
 * @param name other workers have other names
 */
export function connectionOf({ base, board }: Omit<Ask, 'after'>, worker: string, name: string): Watch {
  const port = portOf(worker, name)
  // Without the worker, a board may have the stream of this tab.
  if (port === undefined) return board === NOTICES ? (_after, listener) => poll(listener) : ownConnection(base, board)
  return (after, listener) => {
    let stopPolling = () => {}
    const receive = ({ data }: MessageEvent<Message>) => {
      if ('isFull' in data) stopPolling = poll(listener)
      else listener(data)
    }
    port.addEventListener('message', receive)
    port.start()
    port.postMessage({ base, board, after } satisfies Ask)
    return () => {
      stopPolling()
      port.removeEventListener('message', receive)
      port.postMessage(null)
    }
  }
}

/** @returns undefined if there are no shared workers, or none may be used */
function portOf(worker: string, name: string): MessagePort | undefined {
  try {
    return new SharedWorker(worker, name).port
  } catch {
    return undefined
  }
}

/** A stream for this tab alone, if it is one of the first. */
function ownConnection(base: string, board: string): Watch {
  const stream = new BoardStream(base)
  const slot = takeSlot()
  return (after, listener) => {
    let isOver = false
    const started = slot.then((hasSlot) => {
      if (isOver) return undefined
      return hasSlot ? stream.watch(board, after, listener) : poll(listener)
    })
    return () => {
      isOver = true
      void started.then((leave) => leave?.())
    }
  }
}

/** Whether this tab is one of the first. It remains one until it is closed. */
async function takeSlot(): Promise<boolean> {
  // Only on secure origins.
  if (!('locks' in navigator)) return false
  for (let slot = 1; slot <= OWN_STREAMS; slot++) {
    const isTaken = await new Promise<boolean>((resolve) => {
      void navigator.locks.request(`lanekeeper-stream-${slot}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null)
        return lock === null ? undefined : new Promise(() => {})
      })
    })
    if (isTaken) return true
  }
  return false
}

function poll(listener: Listener): () => void {
  listener({ state: 'live' })
  const timer = setInterval(() => listener({ isBehind: true }), POLL)
  return () => clearInterval(timer)
}
