import type { Key } from '../../src/store/keys.ts'
import type { Service } from './service.ts'

/** What a workspace stores for Idempotency-Keys: how many responses, and the bytes of all records. */
export async function storedFor(service: Service, workspaceId: string): Promise<{ readonly responses: number; readonly bytes: number }> {
  const keys = (await service.recordKeys(workspaceId)).filter((key) => /^(first_response|response_text):/.test(key)) as Key<unknown>[]
  const records = await service.write(workspaceId, (tx) => tx.read(keys))
  return {
    responses: keys.filter((key) => key.startsWith('first_response:')).length,
    bytes: Buffer.byteLength(JSON.stringify(records)),
  }
}
