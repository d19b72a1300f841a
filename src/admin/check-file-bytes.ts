import { keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import type { AdminDeps } from './deps.ts'
import type { PartitionCheck } from './findings.ts'

/** The record that counts the bytes of the files of a workspace, as it was at one moment. */
interface Counted {
  readonly bytes: number
  /** null: there is no record */
  readonly revision: string | null
}

/** Reads the record that counts the bytes of the files of a workspace. */
export async function countedBytes({ store, random }: AdminDeps, partition: string): Promise<Counted> {
  return transact(store, partition, random, async (tx) => {
    const present = await tx.get(keys.fileBytes())
    return { bytes: present?.bytes ?? 0, revision: tx.revisionOf(keys.fileBytes()) ?? null }
  })
}

/**
 * Compares the record that counts the bytes of the files of a workspace with the files. If a file came or went meanwhile, nothing is known.
 * @param before that record before the files were read
 * @param sum the bytes of all files that were read
 */
export async function checkFileBytes(
  deps: AdminDeps,
  partition: string,
  { before, sum }: { readonly before: Counted; readonly sum: number },
  { reindex, report }: PartitionCheck,
): Promise<void> {
  const after = await countedBytes(deps, partition)
  if (after.revision !== before.revision || after.bytes === sum) return
  if (reindex)
    await transact(deps.store, partition, deps.random, async (tx) => {
      const present = await tx.get(keys.fileBytes())
      // A file that came since has been counted from the wrong number.
      tx.put(keys.fileBytes(), { bytes: Math.max(0, (present?.bytes ?? 0) + sum - after.bytes) })
    })
  const message = `it counts ${after.bytes} bytes; the files have ${sum}`
  await report({ kind: 'file_bytes_wrong', subject: keys.fileBytes(), message, ...(reindex && { repaired: true }) })
}
