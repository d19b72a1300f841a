import { HttpResponse } from './compression.ts'
import type { Services } from './services.ts'

/** The probe `/healthz` of process supervisors, outside /v1 and without a token: the process is alive. */
export function answerAlive(): Response {
  return probeResponse(200, { status: 'alive' })
}

/**
 * The probe `/readyz`: storage can be read and written, and the process is not shutting down. It names the workspaces that are damaged;
 * they do not make it fail, because the process serves the others. Neither does a disk of the decision log that has little space left.
 * `policy` is the hash of the policy in use, which was proved.
 */
export async function answerReady({ store, blobs, engine, decisionLog }: Services, isDraining: boolean): Promise<Response> {
  if (isDraining) return probeResponse(503, { status: 'shutting down', storage: store.driver })
  try {
    await Promise.all([store.ready(), blobs.ready()])
    const damaged = store.damaged()
    const space = await decisionLog?.spaceWarning()
    const warnings = space === undefined ? [] : [`decision_log_disk_${space}`]
    return probeResponse(200, {
      status: 'ready',
      storage: store.driver,
      policy: engine.hash,
      ...(damaged.length > 0 && { damaged }),
      ...(warnings.length > 0 && { warnings }),
    })
  } catch {
    return probeResponse(503, { status: 'not ready', storage: store.driver })
  }
}

function probeResponse(status: number, body: object): Response {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...(status === 503 ? { 'retry-after': '1' } : {}),
  }
  return new HttpResponse(JSON.stringify(body), { status, headers })
}
