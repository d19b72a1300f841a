import { STATUS_CODES } from 'node:http'
import type { H3 } from 'h3'
import { FastResponse } from 'srvx'
import type { Blobs } from '../store/blobs.ts'
import type { Store } from '../store/port.ts'

/** What the probes report. */
export interface HealthSource {
  readonly store: Store
  readonly blobs: Blobs
  readonly isDraining: () => boolean
  /** the hash of the policy in use */
  readonly policy: () => string
}

/**
 * Probes for process supervisors, outside /v1 and without a token. `/healthz`: the process is alive. `/readyz`: storage
 * can be read and written, and the process is not shutting down. It names the workspaces that are damaged; they do not
 * make it fail, because the process serves the others. `policy` is the hash of the policy in use, which was proved.
 */
export function serveHealth(h3: H3, { store, blobs, isDraining, policy }: HealthSource): void {
  h3.get('/healthz', () => probeResponse(200, { status: 'alive' }))
  h3.get('/readyz', async () => {
    if (isDraining()) return probeResponse(503, { status: 'shutting down', storage: store.driver })
    try {
      await Promise.all([store.ready(), blobs.ready()])
      const damaged = store.damaged?.() ?? []
      return probeResponse(200, { status: 'ready', storage: store.driver, policy: policy(), ...(damaged.length > 0 && { damaged }) })
    } catch {
      return probeResponse(503, { status: 'not ready', storage: store.driver })
    }
  })
}

function probeResponse(status: number, body: object): Response {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...(status === 503 ? { 'retry-after': '1' } : {}),
  }
  return new FastResponse(JSON.stringify(body), { status, statusText: STATUS_CODES[status] ?? '', headers })
}
