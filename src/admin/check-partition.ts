import { setImmediate as nextTurn } from 'node:timers/promises'
import { createHash } from 'node:crypto'
import type { FileRecord } from '../model/file.ts'
import type { PendingRemovals } from '../model/pending-removal.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { sizeOfFile } from '../store/file-bytes.ts'
import { checkIndexes, rebuildIndexes, type IndexDamage } from '../store/index-check.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { NO_EXPECTATION, type Stored, type Store, type Value, StorageUnavailable } from '../store/port.ts'
import { listAll, transact } from '../store/transact.ts'
import { checkFileBytes, countedBytes } from './check-file-bytes.ts'
import type { AdminDeps } from './deps.ts'
import type { PartitionCheck, PartitionFinding } from './findings.ts'
import { isMet, readRecord, referencesOf } from './records.ts'
import type { RecordReference } from './record-kinds.ts'
import { unreadableSecret } from './secret-keys.ts'
import type { Blobs } from '../store/blobs.ts'

type ScannedRecord = readonly [key: string, stored: Stored]

/**
 * Checks the records of a partition, what they refer to, its indexes and the bytes of its files. Requests may write meanwhile:
 * its findings are compared with the present records before they are reported.
 * @returns the number of records that it has
 * @throws {StorageUnavailable}
 */
export async function checkPartition(deps: AdminDeps, partition: string, check: PartitionCheck): Promise<number> {
  const { store, random } = deps
  const isImporting = partition !== GLOBAL && (await transact(store, partition, random, (tx) => tx.get(keys.importing()))) !== undefined
  if (isImporting)
    await check.report({
      kind: 'import_unfinished',
      subject: keys.importing(),
      message: 'an import of this workspace has begun and not finished; the next one removes its records',
    })
  const before = await countedBytes(deps, partition)
  let [count, sum] = [0, 0]
  for await (const batch of store.scan(partition)) {
    const records = batch.filter((record): record is ScannedRecord => record[1] !== null)
    if (records.length < batch.length) await reportLost(deps, partition, batch, check)
    count += records.length
    for (const [key, { value }] of records) sum += sizeOfFile(key, value)
    for (const [key, { value }] of records) nameBlobs(key, value, check.referenced)
    if (isImporting) continue
    const valid = await reportInvalid(partition, records, check)
    await reportSecrets(deps, valid, check)
    await reportBroken(deps, partition, valid, check)
    check.counted(await checkFiles(deps, partition, valid, check))
  }
  if (!isImporting) await checkFileBytes(deps, partition, { before, sum }, check)
  const reportIndexes = async (found: readonly IndexDamage[], repaired: boolean): Promise<void> => {
    for (const damage of found) await check.report(describeIndexDamage(damage, repaired))
  }
  const isValid = (key: string, value: Value) => invalidityOf(partition, key, value) === undefined
  if (check.reindex) await rebuildIndexes(store, partition, random, isValid, (found) => reportIndexes(found, true))
  else for await (const found of checkIndexes(store, partition, isValid)) await reportIndexes(found, false)
  return count
}

function describeIndexDamage({ kind, index, entry }: IndexDamage, repaired: boolean): PartitionFinding {
  const message = kind === 'missing' ? 'the index lacks the entry of a record' : 'the index has an entry that no record has'
  return { kind: `index_entry_${kind}`, subject: `${index} ${entry}`, message, ...(repaired && { repaired }) }
}

async function reportLost(
  { store, random }: AdminDeps,
  partition: string,
  batch: readonly (readonly [string, Stored | null])[],
  { report, reindex }: PartitionCheck,
): Promise<void> {
  for (const [key] of batch.filter(([, stored]) => stored === null)) {
    await report({ kind: 'record_lost', subject: key, message: `the record is lost${reindex ? '; it is not listed any more' : ''}` })
    // Without its key, the other records can be exported again.
    if (reindex)
      await transact(store, partition, random, async (tx) => {
        if ((await tx.get(key)) === undefined) tx.remove(key)
      })
  }
}

const placeOf = (partition: string) => (partition === GLOBAL ? 'storedGlobal' : 'storedOfWorkspace')

/** What is wrong with a record, or undefined. */
function invalidityOf(partition: string, key: string, value: Value): string | undefined {
  try {
    readRecord(placeOf(partition), key, value)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** @returns the valid records */
async function reportInvalid(partition: string, records: readonly ScannedRecord[], { report }: PartitionCheck): Promise<ScannedRecord[]> {
  const valid: ScannedRecord[] = []
  for (const [i, record] of records.entries()) {
    if (i % BATCH === 0) await nextTurn()
    const message = invalidityOf(partition, record[0], record[1].value)
    if (message === undefined) valid.push(record)
    else await report({ kind: 'record_invalid', subject: record[0], message })
  }
  return valid
}

/** Reports the secrets that cannot be opened with the present keys. */
async function reportSecrets({ secretKeys }: AdminDeps, records: readonly ScannedRecord[], { report }: PartitionCheck): Promise<void> {
  for (const [key, { value }] of records) {
    const message = unreadableSecret(secretKeys, key, value)
    if (message !== undefined) await report({ kind: 'secret_unreadable', subject: key, message })
  }
}

/** Reports the references of records to other records that are missing, or other than they must be. */
async function reportBroken(
  deps: AdminDeps,
  partition: string,
  records: readonly ScannedRecord[],
  { report }: PartitionCheck,
): Promise<void> {
  const values = records.map(([key, { value }]) => [key, value] as const)
  const found = await brokenReferences(deps.store, partition, values)
  if (found.length === 0) return
  // A tombstone exists as long as a record that it explains: it is read after that record, which is read again afterwards.
  const explained = await explanations(deps, partition)
  const unexplained = found.filter(({ reference }) => reference.explainedBy?.some((name) => explained.has(name)) !== true)
  const again = await brokenReferences(
    deps.store,
    partition,
    values.filter(([key]) => unexplained.some((other) => other.key === key)),
  )
  for (const { key, reference } of unexplained)
    if (again.some((other) => other.key === key && other.reference.key === reference.key))
      await report({
        kind: 'reference_broken',
        subject: key,
        message:
          reference.absent === true ? `${reference.key} must not exist` : `it needs ${reference.key}, which is missing or does not match`,
      })
}

/** Records per snapshot. */
const BATCH = 50

/** The references of records that are not met, as of one moment for each batch. */
async function brokenReferences(
  store: Store,
  partition: string,
  records: readonly (readonly [key: string, value: Value])[],
): Promise<{ key: string; reference: RecordReference }[]> {
  const found: { key: string; reference: RecordReference }[] = []
  for (let start = 0; start < records.length; start += BATCH) {
    const wanted = records
      .slice(start, start + BATCH)
      .flatMap(([key, value]) => referencesOf(placeOf(partition), key, value).map((reference) => ({ key, reference })))
    // Both sides in one snapshot. A record that has other references since is left to the next check.
    const present = await readAll(store, partition, [...new Set(wanted.flatMap(({ key, reference }) => [key, reference.key]))])
    found.push(
      ...wanted.filter(
        ({ key, reference }) => !isMet(reference, present.get(reference.key)) && stillRefers(partition, key, present.get(key), reference),
      ),
    )
    await nextTurn()
  }
  return found
}

/** Whether a record refers to another one. It was valid before. */
function stillRefers(partition: string, key: string, value: Value | undefined, reference: RecordReference): boolean {
  return value !== undefined && referencesOf(placeOf(partition), key, value).some((other) => other.key === reference.key)
}

async function readAll(store: Store, partition: string, recordKeys: readonly string[]): Promise<Map<string, Value>> {
  if (recordKeys.length === 0) return new Map()
  const { records } = (await store.read(partition, { records: recordKeys, ranges: [], counts: [], expect: NO_EXPECTATION }))!
  return new Map(records.flatMap(({ key, stored }) => (stored === null ? [] : [[key!, stored.value]])))
}

/** What explains references to deleted boards, cards and labels (see {@link RecordReference.explainedBy}). */
async function explanations(deps: AdminDeps, partition: string): Promise<Set<string>> {
  const tombstones: Tombstone[] = await listAll(deps, partition, indexes.tombstones())
  const removals: PendingRemovals | undefined = await transact(deps.store, partition, deps.random, (tx) => tx.get(keys.removals()))
  const labels = (removals?.pending ?? []).flatMap((removal) => (removal.kind === 'label' ? [`label ${removal.label_id}`] : []))
  return new Set([...tombstones.map(({ kind, target }) => `${kind} ${target}`), ...labels])
}

/** Calls `referenced` with the id of each blob that a record of a partition names. */
export async function nameBlobsOf(store: Store, partition: string, referenced: (blobId: string) => void): Promise<void> {
  for await (const batch of store.scan(partition))
    for (const [key, stored] of batch) if (stored !== null) nameBlobs(key, stored.value, referenced)
}

function nameBlobs(key: string, value: Value, referenced: (blobId: string) => void): void {
  if (key.startsWith('tombstone:') && value['kind'] === 'blob') referenced(String(value['target']))
  if (/^(file|imported_bytes):/.test(key)) referenced(String(value['blob_id']))
}

/**
 * Checks the bytes of the files among some records.
 * @returns how many there are
 */
async function checkFiles(
  { store, blobs }: AdminDeps,
  partition: string,
  records: readonly ScannedRecord[],
  { quick, report }: PartitionCheck,
): Promise<{ records: number; files: number; bytes: number }> {
  const counts = { records: records.length, files: 0, bytes: 0 }
  for (const [key, { value }] of records) {
    if (!key.startsWith('file:')) continue
    const file = value as unknown as FileRecord
    const damage = await damageOfBytes(blobs, file, quick)
    counts.files++
    counts.bytes += file.size
    // Garbage collection may have removed the file since it was read.
    if (damage !== undefined && (await readAll(store, partition, [key])).has(key))
      await report({ kind: 'bytes_damaged', subject: key, message: `the bytes ${file.blob_id} of "${file.name}" ${damage}` })
  }
  return counts
}

/**
 * Checks the bytes of a file.
 * @param quick only whether they are there with their size; otherwise all of them are read and hashed
 * @returns what is wrong with them, or undefined
 * @throws {StorageUnavailable} when they cannot be read at present
 */
async function damageOfBytes(blobs: Blobs, { blob_id, size, sha256 }: FileRecord, quick: boolean): Promise<string | undefined> {
  if (size === 0) return undefined
  if (!(await blobs.exists(blob_id))) return 'are missing'
  const hash = createHash('sha256')
  try {
    for await (const part of blobs.read(blob_id, quick ? size - 1 : 0, size)) hash.update(part)
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error
    return 'are incomplete'
  }
  return quick || hash.digest('hex') === sha256 ? undefined : 'do not have the SHA-256 that the file states'
}
