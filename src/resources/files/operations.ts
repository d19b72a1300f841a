import { file, type FileRecord } from '../../model/file.ts'
import { keys } from '../../store/keys.ts'
import { operation } from '../operation.ts'
import { fileTarget } from '../targets.ts'
import { saveResource } from '../writes.ts'
import { fileUpdate } from './schema.ts'

/** Files of the workspace (our extension: row X2). */
export const fileOperations = [
  operation({
    id: 'files.update',
    method: 'PATCH',
    path: '/files/{file_id}',
    summary: 'Changes who has access to a file. Its attachments stay readable for everyone with access to their boards.',
    needs: ['update', 'File'],
    row: 'X2',
    body: fileUpdate,
    data: file,
    entity: (params) => keys.file(params['file_id']!),
    example: { body: { visibility: 'private' } },
    target: fileTarget,
    async run(request, { file: current }) {
      return { data: publicFile(saveResource(request, keys.file, current, request.body).data) }
    },
  }),
]

/** The members of a file that the API returns. */
function publicFile({ blob_id: _blob, sha256: _hash, ...rest }: FileRecord) {
  return rest
}
