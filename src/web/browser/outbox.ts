/** Changes that wait while there is no connection. They are sent in their order when there is one again. */
import { say, warn } from './toast.ts'

/** How long to wait until the next try, in milliseconds: browsers do not know whether the service can be reached. */
const RETRY = 5000

let waiting = 0
/** Each one follows the one before. */
let turn: Promise<unknown> = Promise.resolve()
/** Those who wait for the next try. */
let wake: (() => void)[] = []

/** Tries to send again what waits. */
function tryAgain(): void {
  const woken = wake
  wake = []
  for (const go of woken) go()
}

/** An answer, and whether its request had to wait for a connection. */
type Sent = readonly [response: Response, hasWaited: boolean]

/**
 * Sends a request, when there is a connection, after those that wait.
 * @param request can be made again: what the service may have received and not answered is done once
 */
export function sendInTurn(request: () => Promise<Response>): Promise<Sent> {
  if (waiting === 0)
    return request().then(
      (response) => [response, false] as const,
      () => queue(request),
    )
  return queue(request)
}

function queue(request: () => Promise<Response>): Promise<Sent> {
  waiting++
  show()
  const sent = turn.then(() => sendWhenPossible(request))
  turn = sent
  return sent.then((response) => [response, true])
}

async function sendWhenPossible(request: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = navigator.onLine ? await request().catch(() => undefined) : undefined
    if (response !== undefined) {
      waiting--
      if (waiting === 0) say('')
      else show()
      return response
    }
    await new Promise<void>((resolve) => {
      wake.push(resolve)
      setTimeout(resolve, RETRY)
    })
  }
}

function show(): void {
  const why = navigator.onLine ? 'The service cannot be reached.' : 'You are offline.'
  const what = waiting === 1 ? '1 change waits' : `${waiting} changes wait`
  warn(`${why} ${what}.`, { name: 'Try again', act: () => (show(), tryAgain()) })
}

/** Tries again when the connection is back, and warns before what waits is lost. */
export function keepWaitingChanges(): void {
  addEventListener('online', tryAgain)
  addEventListener('beforeunload', (event) => waiting > 0 && event.preventDefault())
}
