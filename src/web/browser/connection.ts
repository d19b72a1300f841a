/** How a page gets the updates of its board: from a stream that all tabs share, from one of its own, or by asking now and then. */
import { BoardStream, type Listener } from './board-stream.ts'
import type { Ask } from './stream-worker.ts'

/** Tabs with a stream of their own, where there are no shared workers: a browser has six connections to one host. */
const OWN_STREAMS = 3
/** How often other tabs ask, in milliseconds. */
const POLL = 5000

/**
 * @param poll asks what has changed
 * @returns ends it
 */
export type Watch = (after: string, listener: Listener, poll: () => void) => () => void

/**
 * @param worker the address of the script of the shared worker
 * @param name other workers have other names
 */
export function connectionOf({ base, board }: Omit<Ask, 'after'>, worker: string, name: string): Watch {
  const port = portOf(worker, name)
  if (port === undefined) return ownConnection(base, board)
  return (after, listener, poll) => {
    let stop = () => {}
    const receive = ({ data }: MessageEvent) => {
      if (data.isFull === true) stop = polling(listener, poll)
      else listener(data)
    }
    port.addEventListener('message', receive)
    port.start()
    port.postMessage({ base, board, after } satisfies Ask)
    return () => {
      stop()
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
  const stream = new BoardStream(new URL(base, location.href).href)
  const slot = takeSlot()
  return (after, listener, poll) => {
    let leave = () => {}
    let isOver = false
    const begin = async () => {
      const hasSlot = await slot
      if (!isOver) leave = hasSlot ? stream.watch(board, after, listener) : polling(listener, poll)
    }
    void begin()
    return () => {
      isOver = true
      leave()
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

function polling(listener: Listener, poll: () => void): () => void {
  listener({ state: 'live' })
  const timer = setInterval(poll, POLL)
  return () => clearInterval(timer)
}
