import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { NO_EXPECTATION, type Store } from '../store/port.ts'
import { newRevision } from '../store/transaction.ts'
import { listAll, transact } from '../store/transact.ts'
import { checkPartition, nameBlobsOf } from './check-partition.ts'
import type { FindingKind, PartitionCheck, PartitionFinding } from './findings.ts'
import type { AdminDeps, CommandIo } from './deps.ts'
import { registerWorkspace } from './workspaces.ts'

export interface CheckOptions {
  /** repairs indexes, and the driver's lists of records and indexes */
  readonly reindex: boolean
  /** does not hash the bytes of files */
  readonly quick: boolean
}

/** What {@link checkStorage} finds: one line of its output. */
export interface Finding extends PartitionFinding {
  readonly partition: string
}

export interface CheckSummary {
  readonly partitions: number
  readonly records: number
  readonly files: number
  /** bytes of all files */
  readonly bytes: number
  /** findings that are damage and were not repaired */
  readonly damage: number
  readonly repaired: number
  /** findings that are no damage */
  readonly remarks: number
}

/** Findings that are no damage. */
const REMARKS: ReadonlySet<FindingKind> = new Set(['bytes_unreferenced', 'import_unfinished'])

/**
 * Checks all records, indexes and bytes of a storage, and writes each finding as a line of JSON. Without `reindex` it changes
 * nothing. Requests may use the storage meanwhile.
 * @throws {StorageUnavailable}
 */
export async function checkStorage(deps: AdminDeps, options: CheckOptions, io: CommandIo): Promise<CheckSummary> {
  const { store, blobs } = deps
  const summary = { partitions: 0, records: 0, files: 0, bytes: 0, damage: 0, repaired: 0, remarks: 0 }
  const report = async (finding: Finding): Promise<void> => {
    if (REMARKS.has(finding.kind)) summary.remarks++
    else if (finding.repaired) summary.repaired++
    else summary.damage++
    await io.write(JSON.stringify(finding))
  }
  // First: bytes that are written later have a record by the time the records are read.
  const unreferenced = new Set(await blobs.list())
  const damagedFiles = await reportDriverDamage(deps, options, report)
  const [readable, unreadable] = [new Set<string>(), new Set<string>()]
  const partitions = await allPartitions(deps)
  for (const partition of partitions) {
    try {
      const check: PartitionCheck = {
        ...options,
        report: (finding) => report({ partition, ...finding }),
        referenced: (blobId) => unreferenced.delete(blobId),
        counted(counts) {
          for (const name of ['records', 'files', 'bytes'] as const) summary[name] += counts[name]
          io.progress(`${summary.partitions} of ${partitions.length} partitions, ${summary.records} records, ${summary.damage} damaged`)
        },
      }
      const count = await store.hold(partition, () => checkPartition(deps, partition, check))
      if (count > 0 && partition !== GLOBAL) readable.add(partition)
    } catch (error) {
      if (store.damaged().includes(partition) !== true) throw error
      unreadable.add(partition)
      const { cause, message } = error as Error
      if (!damagedFiles.has(partition))
        await report({
          partition,
          kind: 'partition_damaged',
          subject: partition,
          message: cause instanceof Error ? cause.message : message,
        })
    }
    summary.partitions++
  }
  if (!unreadable.has(GLOBAL)) await checkWorkspaces(deps, options, readable, report)
  // The files of a partition that cannot be read may need them.
  if (unreadable.size === 0) {
    await nameBlobsAgain(deps, unreferenced)
    for (const id of unreferenced)
      if (await blobs.exists(id))
        await report({
          partition: GLOBAL,
          kind: 'bytes_unreferenced',
          subject: id,
          message: 'no record names these bytes; they are not removed',
        })
  }
  return summary
}

/**
 * Removes the blobs that a record names from a set. A scan has several steps, so it misses bytes whose record is replaced
 * between two of them. That happens at most twice: the tombstone of an upload is replaced by a file, and the file by the
 * tombstone of its removal. So one of three scans has seen the record; the first scan is done.
 */
async function nameBlobsAgain(deps: AdminDeps, unreferenced: Set<string>): Promise<void> {
  for (let scans = 1; scans < 3; scans++) {
    if (unreferenced.size === 0) return
    for (const partition of await allPartitions(deps))
      await deps.store.hold(partition, () => nameBlobsOf(deps.store, partition, (id) => unreferenced.delete(id)))
  }
}

/** The partitions of all workspaces, also of unlisted ones, and the one of the installation. */
async function allPartitions(deps: AdminDeps): Promise<string[]> {
  const listed = await listAll(deps, GLOBAL, indexes.workspaces()).catch((error: unknown) => {
    if (deps.store.damaged().includes(GLOBAL) === true) return []
    throw error
  })
  return [...new Set([GLOBAL, ...(await deps.store.partitions()).toSorted(), ...listed.map(({ id }) => id)])]
}

type Report = (finding: Finding) => Promise<void>

/** @returns the partitions with a damaged file */
async function reportDriverDamage({ store, random }: AdminDeps, { reindex }: CheckOptions, report: Report): Promise<ReadonlySet<string>> {
  const damagedFiles = new Set<string>()
  for await (const batch of store.findDamage())
    for (const { partition, record, index, file } of batch) {
      if (file !== undefined) {
        damagedFiles.add(partition)
        await report({ partition, kind: 'partition_damaged', subject: partition, message: file })
      }
      const reportUnlisted = async (kind: 'record' | 'index', name: string): Promise<void> => {
        if (reindex) await (kind === 'record' ? listRecord : listIndex)(store, partition, name, newRevision(random))
        const message = kind === 'record' ? 'the record is not in the list of all records' : 'the index is not in the list of all indexes'
        await report({ partition, kind: `${kind}_unlisted`, subject: name, message, ...(reindex && { repaired: true }) })
      }
      if (record !== undefined) await reportUnlisted('record', record)
      if (index !== undefined) await reportUnlisted('index', index)
    }
  return damagedFiles
}

/** Writes a record again, which lists it. */
async function listRecord(store: Store, partition: string, key: string, revision: string): Promise<void> {
  const read = await store.read(partition, { records: [key], ranges: [], counts: [], expect: NO_EXPECTATION })
  const stored = read!.records[0]!.stored
  if (stored === null) return
  const expect = { ...NO_EXPECTATION, records: new Map([[key, stored.revision]]) }
  const put = new Map([[key, stored.value]])
  await store.commit(partition, { revision, expect, listsAgain: true, put, remove: new Set(), indexes: new Map() })
}

/** Adds an entry to an index that it has, which lists the index. */
async function listIndex(store: Store, partition: string, index: string, revision: string): Promise<void> {
  const read = await store.read(partition, { records: [], ranges: [{ index, limit: 1 }], counts: [], expect: NO_EXPECTATION })
  const { entries } = read!.ranges[0]!
  const indexChanges = new Map([[index, { add: entries, remove: [] }]])
  await store.commit(partition, { revision, expect: NO_EXPECTATION, put: new Map(), remove: new Set(), indexes: indexChanges })
}

/** Reports the partitions without a record of their workspace, and those that are not in the list of all workspaces. */
async function checkWorkspaces(deps: AdminDeps, { reindex }: CheckOptions, partitions: ReadonlySet<string>, report: Report): Promise<void> {
  const { store, random } = deps
  const listed = new Set((await listAll(deps, GLOBAL, indexes.workspaces())).map(({ id }) => id))
  const reportMissing = (id: string) =>
    report({ partition: id, kind: 'workspace_incomplete', subject: keys.workspace(), message: 'the workspace has no record of its name' })
  for (const id of listed) if (!partitions.has(id) && store.damaged().includes(id) !== true) await reportMissing(id)
  for (const id of partitions) {
    const readBoth = () => transact(store, id, random, (tx) => tx.read([keys.workspace(), keys.importing()]))
    const [workspace, importing] = await store.hold(id, readBoth)
    if (importing !== undefined) continue
    if (workspace === undefined || workspace.id !== id) await reportMissing(id)
    else if (!listed.has(id) && (await transact(store, GLOBAL, random, (tx) => tx.get(keys.workspaceEntry(id)))) === undefined) {
      if (reindex) await registerWorkspace(deps, id)
      const message = 'the workspace is not in the list of all workspaces'
      await report({
        partition: id,
        kind: 'workspace_incomplete',
        subject: keys.workspaceEntry(id),
        message,
        ...(reindex && { repaired: true }),
      })
    }
  }
}
