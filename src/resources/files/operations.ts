import { z } from 'zod'
import { file, type FileRecord, fileVisibilities } from '../../model/file.ts'
import { keys } from '../../store/keys.ts'
import type { AuthorizationContext } from '../../authz/context.ts'
import { operation, type OperationRequest } from '../operation.ts'
import { beginRemoval } from '../removals.ts'
import { fileTarget } from '../targets.ts'
import { saveResource } from '../writes.ts'
import { documented } from '../../model/fields.ts'

const fileUpdate = z.strictObject({
  visibility: documented(z.enum(fileVisibilities), {
    description:
      'Who has access to the file in addition to you. `workspace`: every member of the workspace. `board`: everyone with access to the board that it was uploaded to; only you, if that is deleted. `private`: only you.',
  }),
})

/** Files of the workspace (our extension: row X2). */
export const fileOperations = [
  operation({
    id: 'files.read',
    method: 'GET',
    path: '/files/{file_id}',
    summary: 'Returns a file that you have access to: who owns it, and who else has access.',
    needs: ['read', 'File'],
    row: 'X2',
    data: file,
    target: fileTarget,
    run: (request, loaded) => ({ data: publicFile(loaded.file, request, loaded) }),
  }),

  operation({
    id: 'files.update',
    method: 'PATCH',
    path: '/files/{file_id}',
    summary: 'Changes who has access to a file. Its attachments stay readable for everyone with access to their boards.',
    needs: ['update', 'File'],
    row: 'X2',
    body: fileUpdate,
    data: file,
    example: { body: { visibility: 'private' } },
    target: fileTarget,
    async run(request, loaded) {
      const { file: current } = loaded
      const { data } = saveResource(request, keys.file, current, request.body)
      // Its attachments show the visibility.
      if (data !== current) await beginRemoval(request, { kind: 'file', file_id: current.id })
      return { data: publicFile(data, request, loaded) }
    },
  }),
]

/** The members of a file that the API returns. That a board exists is not told to others who have no access to it. */
function publicFile(
  { blob_id: _blob, sha256: _hash, board_id, picture = null, ...rest }: FileRecord,
  { caller, holds }: OperationRequest,
  loaded: AuthorizationContext,
) {
  const isKnown = rest.owner_id === caller.userId || holds('home.access', loaded)
  return { ...rest, picture, board_id: isKnown ? board_id : null }
}
