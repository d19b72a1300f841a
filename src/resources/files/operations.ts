import { fileUpdate } from './schema.ts'
import { file, type FileRecord } from '../../model/file.ts'
import { timestamp } from '../../model/time.ts'
import { keys } from '../../store/keys.ts'
import { loadFile } from '../targets.ts'
import { operation } from '../operation.ts'

/** A file without what is only for the service to know. */
function publicFile({ blob_id: _blob, sha256: _hash, ...rest }: FileRecord) {
  return rest
}

/** Files of the workspace (ours: row X2). */
export const fileOperations = [
  operation({
    id: 'files.update',
    method: 'PATCH',
    path: '/files/{file_id}',
    summary: 'Says who may use a file. What is attached stays readable for whoever may read the board.',
    needs: ['update', 'File'],
    row: 'X2',
    body: fileUpdate,
    data: file,
    entity: (params) => keys.file(params['file_id']!),
    load: ({ tx, params }) => loadFile(tx, params['file_id']!),
    async run({ tx, body, clock }, { file: present }) {
      if (present.visibility === body.visibility) return { data: publicFile(present) }
      const changed: FileRecord = { ...present, visibility: body.visibility, updated_at: timestamp(clock) }
      tx.put(keys.file(changed.id), changed)
      return { data: publicFile(changed) }
    },
  }),
]
