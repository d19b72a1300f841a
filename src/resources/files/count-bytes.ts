import { andThen, type Awaitable } from '../../model/awaitable.ts'
import type { CommittingTransaction } from '../../store/derivation.ts'
import { sizeOfFile } from '../../store/file-bytes.ts'
import { keys } from '../../store/keys.ts'

/** Counts the bytes of the files of a workspace. A transaction that writes the count itself knows it. */
export function countFileBytes(tx: CommittingTransaction, written: readonly string[]): Awaitable<void> {
  let gained = 0
  for (const key of written) if (key.startsWith(FILE)) gained += sizeOfFile(key, tx.known(key)) - sizeOfFile(key, tx.before(key))
  if (gained === 0 || tx.isWritten(keys.fileBytes())) return undefined
  return andThen(tx.get(keys.fileBytes()), (present) => {
    tx.put(keys.fileBytes(), { bytes: Math.max(0, (present?.bytes ?? 0) + gained) })
  })
}

const FILE = keys.file('')
