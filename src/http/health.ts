import { STATUS_CODES } from 'node:http'
import type { H3 } from 'h3'
import { FastResponse } from 'srvx'
import type { Blobs } from '../store/blobs.ts'
import type { Store } from '../store/port.ts'

/**
 * For whoever watches over processes, outside /v1 and without a token: `/healthz` says that this one lives,
 * `/readyz` that it can do its work (the policy is proved, or there were no process; storage answers).
 */
export function serveHealth(h3: H3, store: Store, blobs: Blobs): void {
  h3.get('/healthz', () => answer(200, { status: 'alive' }))
  h3.get('/readyz', async () => {
    try {
      await Promise.all([store.ready(), blobs.ready()])
      return answer(200, { status: 'ready', storage: store.driver })
    } catch {
      return answer(503, { status: 'not ready', storage: store.driver })
    }
  })
}

function answer(status: number, body: object): Response {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...(status === 503 ? { 'retry-after': '1' } : {}),
  }
  return new FastResponse(JSON.stringify(body), { status, statusText: STATUS_CODES[status] ?? '', headers })
}
