import type { Send } from '../stress/linearizability/history.ts'
import { startProcess, type RunningProcess } from './process.ts'

/** Several processes of the service on the same storage. */
export interface Processes {
  readonly urls: readonly string[]
  readonly running: readonly RunningProcess[]
  stop(): Promise<void>
}

export async function startProcesses(count: number, storage: string): Promise<Processes> {
  const running = Array.from({ length: count }, () =>
    startProcess(['serve', '--json'], { LANEKEEPER_STORAGE: storage, LANEKEEPER_LOG: 'error' }, { underLoad: true }),
  )
  const urls = await Promise.all(running.map(async (process) => JSON.parse(await process.until('\n')).url as string))
  return { urls, running, stop: async () => void (await Promise.all(running.map((process) => process.stop()))) }
}

/**
 * Sends each request to a random one of several processes.
 * @param abortRate the share of requests, except POST, that are aborted shortly after they were sent
 */
export function sendTo(urls: readonly string[], { abortRate = 0 } = {}): Send {
  return async ({ token, method, path, body, match }) => {
    const url = urls[Math.floor(Math.random() * urls.length)]!
    const controller = new AbortController()
    const aborted = method !== 'POST' && Math.random() < abortRate
    if (aborted) setTimeout(() => controller.abort(), Math.random() * 10)
    try {
      const response = await fetch(`${url}/v1${path}`, {
        method,
        signal: controller.signal,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(match === undefined ? {} : { 'if-match': match }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return interpret(response, await response.json())
    } catch {
      return 'unanswered'
    }
  }
}

/** The result of a request. A 503 with an unknown outcome is treated like a missing response. */
export function interpret({ status, headers }: Response, body: any): Awaited<ReturnType<Send>> {
  return status === 503 && /not known/.test(body.error.message) ? 'unanswered' : { status, tag: headers.get('etag'), body }
}
