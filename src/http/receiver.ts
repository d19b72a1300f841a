import type { ServerRequest } from 'srvx'
import { newId } from '../model/ids.ts'
import { HOUR, timestamp } from '../model/time.ts'
import type { Upload } from '../resources/operation.ts'
import { keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import type { Services } from './services.ts'
import { receiveUpload } from './upload.ts'

/** How long an upload may take, in milliseconds, before its bytes count as left behind. */
const PATIENCE = HOUR

/**
 * Receives the file of a request. First it is written down that bytes may be left behind; whoever makes them a
 * file removes that note in the same commit. So a process that dies in the middle leaves nothing for good.
 */
export async function receiveFile(
  { store, blobs, clock, random, uploadBytes }: Services,
  request: ServerRequest,
  workspaceId: string,
): Promise<Upload> {
  const blobId = newId('blob', random)
  const tombstoneId = newId('tombstone', random)
  await transact(store, workspaceId, random, async (tx) => {
    await tx.get(keys.tombstone(tombstoneId))
    tx.put(keys.tombstone(tombstoneId), { id: tombstoneId, kind: 'blob', target: blobId, not_before: timestamp(() => clock() + PATIENCE) })
  })
  return { ...(await receiveUpload(request, blobs, blobId, uploadBytes)), tombstoneId }
}
