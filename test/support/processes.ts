import type { Send } from '../stress/linearizability/history.ts'
import { startProcess, type Running } from './process.ts'

/** Several processes of the service on one storage. */
export interface Processes {
  readonly urls: readonly string[]
  readonly running: readonly Running[]
  stop(): Promise<void>
}

export async function startProcesses(count: number, storage: string): Promise<Processes> {
  const running = Array.from({ length: count }, () =>
    startProcess(['serve', '--json'], { LANEKEEPER_STORAGE: storage, LANEKEEPER_LOG: 'error' }),
  )
  const urls = await Promise.all(running.map(async (process) => JSON.parse(await process.until('\n')).url as string))
  return { urls, running, stop: async () => void (await Promise.all(running.map((process) => process.stop()))) }
}

/** Sends each request to any of several processes; some are broken off when they have just been sent. */
export function sendTo(urls: readonly string[], { lose = 0 } = {}): Send {
  return async ({ token, method, path, body, match }) => {
    const url = urls[Math.floor(Math.random() * urls.length)]!
    const connection = new AbortController()
    const lost = method !== 'POST' && Math.random() < lose
    if (lost) setTimeout(() => connection.abort(), Math.random() * 10)
    try {
      const response = await fetch(`${url}/v1${path}`, {
        method,
        signal: connection.signal,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(match === undefined ? {} : { 'if-match': match }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const answer = (await response.json()) as any
      return heard(response, answer)
    } catch {
      return 'lost'
    }
  }
}

/** What an answer says; one that does not know itself what was done says as much as none. */
export function heard({ status, headers }: Response, body: any): Awaited<ReturnType<Send>> {
  return status === 503 && /not known/.test(body.error.message) ? 'lost' : { status, tag: headers.get('etag'), body }
}
