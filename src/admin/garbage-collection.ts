import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { durations } from '../model/durations.ts'
import { newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { createTombstone, markFileIfUnattached } from '../resources/cascades.ts'
import { removeDeliveries } from '../resources/webhooks/deliveries.ts'
import { continueRemoval } from '../resources/removals.ts'
import { SERVICE } from '../store/derivation.ts'
import { indexes, lastWord, type Index } from '../store/indexes.ts'
import { keys, GLOBAL } from '../store/keys.ts'
import { transact, listAll } from '../store/transact.ts'
import type { Transaction } from '../store/transaction.ts'
import type { AdminDeps } from './deps.ts'
import { BATCH, collectAudit, collectChanges, collectNotices, type Step } from './retention.ts'
import { andThen } from '../model/awaitable.ts'
import { decorateStore, type Change, type Store } from '../store/port.ts'

/**
 * Removes what deleted resources left in one workspace: records that belong to them, and bytes that no file needs. Each
 * step is one small commit. What remains after a step can still be found. So the collection can stop after any step,
 * start again, and run in several processes at once.
 * @param stopped called before each step
 * @returns the number of steps; 0 if nothing was due
 */
export async function collectGarbage(deps: AdminDeps, workspaceId: string, stopped: () => boolean = () => false): Promise<number> {
  for (let steps = 0; ; steps++) {
    if (stopped()) return steps
    const due = await transact(deps.store, workspaceId, deps.random, async (tx) => {
      const { values } = await tx.range(indexes.tombstones(), { before: endOfDue(deps), limit: 1, weak: true })
      return values[0]
    })
    if (due === undefined) return steps
    await collectNext(deps, workspaceId, due)
  }
}

/** The end of the tombstones that are due now, in their index. */
function endOfDue({ clock }: Pick<AdminDeps, 'clock'>): string {
  return `${timestamp(clock)}~`
}

async function collectNext(deps: AdminDeps, workspaceId: string, { id, kind }: Tombstone): Promise<void> {
  const { store, random, blobs } = deps
  const collect = {
    board: collectBoard,
    card: collectCard,
    file: collectFile,
    blob: claimBlob,
    references: collectReferences,
    responses: collectResponses,
    changes: collectChanges,
    notices: collectNotices,
    audit: collectAudit,
  }[kind]
  const blobId = await transact(store, workspaceId, random, async (tx) => {
    const tombstone = await tx.get(keys.tombstone(id))
    return tombstone === undefined ? undefined : collect(tx, tombstone, deps)
  })
  if (blobId === undefined) return
  await blobs.remove(blobId)
  await transact(store, workspaceId, random, async (tx) => {
    if ((await tx.get(keys.tombstone(id))) !== undefined) tx.remove(keys.tombstone(id))
  })
}

/**
 * Removes the next records of an index whose owner was deleted.
 * @returns how many
 */
async function removeNext<T>(tx: Transaction, index: Index<T>, cascade?: (value: T) => Promise<void>): Promise<number> {
  const { entries, values } = await tx.range(index, { limit: BATCH })
  for (const [i, entry] of entries.entries()) {
    const value = values[i]
    if (value === undefined) throw new Error(`an entry of the index ${index.name} has no record`)
    tx.remove(index.fetch + lastWord(entry))
    await cascade?.(value)
  }
  return entries.length
}

async function removeOrder(tx: Transaction, list: string): Promise<void> {
  if ((await tx.get(keys.order(list))) !== undefined) tx.remove(keys.order(list))
}

const collectBoard: Step = async (tx, { id, target }, { clock, random }) => {
  if ((await removeNext(tx, indexes.boardCards(target), (card) => createTombstone({ tx, clock, random }, 'card', card.id))) > 0) return
  if ((await removeNext(tx, indexes.boardMembers(target))) > 0) return
  if ((await removeNext(tx, indexes.labels(target))) > 0) return
  if ((await removeNext(tx, indexes.columns(target), (column) => removeOrder(tx, column.id))) > 0) return
  if ((await removeNext(tx, indexes.webhooks(target), ({ id: webhookId }) => removeDeliveries(tx, webhookId))) > 0) return
  if ((await removeNext(tx, indexes.changes(target))) > 0) return
  await removeOrder(tx, target)
  tx.remove(keys.tombstone(id))
}

const collectCard: Step = async (tx, { id, target }, { clock }) => {
  if ((await removeNext(tx, indexes.subtasks(target))) > 0) return
  if ((await removeNext(tx, indexes.comments(target))) > 0) return
  const detach = (attachment: { file_id: string; id: string }) => markFileIfUnattached({ tx, clock }, attachment.file_id, attachment.id)
  if ((await removeNext(tx, indexes.attachments(target), detach)) > 0) return
  await removeOrder(tx, target)
  if ((await tx.get(keys.claim(target))) !== undefined) tx.remove(keys.claim(target))
  tx.remove(keys.tombstone(id))
}

const collectFile: Step = async (tx, { id, target }, { clock, random }) => {
  const file = await tx.get(keys.file(target))
  if (file !== undefined && (await tx.count(indexes.fileAttachments(target), 0)) === 0) {
    tx.remove(keys.file(target))
    const bytes: Tombstone = {
      id: newId('tombstone', random),
      kind: 'blob',
      target: file.blob_id,
      not_before: timestamp(clock),
      claimed: true,
    }
    tx.create(keys.tombstone(bytes.id), bytes)
  }
  tx.remove(keys.tombstone(id))
}

const collectReferences: Step = async (tx, { id }, { clock, random, batch = BATCH }) => {
  tx.logChanges(SERVICE, clock)
  await continueRemoval({ tx, clock, random, batch }, id)
  return undefined
}

const collectResponses: Step = async (tx, { id, target }) => {
  if ((await removeNext(tx, indexes.firstResponses(target))) > 0) return
  // After the responses that need them.
  if ((await removeNext(tx, indexes.responseTexts(target))) > 0) return
  tx.remove(keys.tombstone(id))
}

/** Marks the bytes as being removed. If their upload has not finished yet, its commit finds the mark and fails. */
const claimBlob: Step = async (tx, tombstone) => {
  tx.put(keys.tombstone(tombstone.id), { ...tombstone, claimed: true })
  return tombstone.target
}

/**
 * Collects garbage in the background: in a workspace when a commit leaves some there, and in all workspaces at start and
 * every hour. The hourly collection finds what became due since then and what other processes left. Workspaces in which a folder
 * knows that nothing is due are not loaded. The others are visited one by one, and take half of the time of one processor at most.
 */
export class GarbageCollector {
  readonly #deps: AdminDeps
  readonly #log: Logger
  readonly #queue = new Set<string>()
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #stopping = new AbortController()

  constructor(deps: AdminDeps, log: Logger) {
    this.#deps = deps
    this.#log = log
  }

  /** Resolves when the collection of the start has ended. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#scheduleAll(), durations.garbageCollection)
    this.#timer.unref()
    await this.#scheduleAll()
    await this.#running
  }

  /** Returns a store that schedules a collection after each commit that writes a tombstone which is due. */
  watch(store: Store): Store {
    return decorateStore(store, {
      commit: (partition, change) =>
        andThen(store.commit(partition, change), (outcome) => {
          if (outcome === 'done' && hasDueTombstone(change, timestamp(this.#deps.clock))) this.schedule(partition)
          return outcome
        }),
    })
  }

  /** Schedules a collection in a workspace. */
  schedule(workspaceId: string): void {
    if (this.#stopping.signal.aborted) return
    this.#queue.add(workspaceId)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  /** Stops after the step that is running. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearInterval(this.#timer)
    this.#queue.clear()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    for (const workspaceId of this.#queue) {
      this.#queue.delete(workspaceId)
      const begin = performance.now()
      try {
        await this.#deps.store.hold(workspaceId, () => collectGarbage(this.#deps, workspaceId, () => signal.aborted))
      } catch (error) {
        // The next interval tries again.
        this.#log.warn({ workspace_id: workspaceId, err: error }, 'garbage collection failed')
      }
      // Many workspaces must not delay requests.
      if (this.#queue.size > 0) await delay(performance.now() - begin, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #scheduleAll(): Promise<void> {
    try {
      const { store } = this.#deps
      const now = endOfDue(this.#deps)
      const workspaces = await listAll(this.#deps, GLOBAL, indexes.workspaces())
      // Old entries about acts outside of workspaces are removed too.
      for (const { id } of [...workspaces, { id: GLOBAL }]) if (store.mayHaveTombstoneBefore(id, now)) this.schedule(id)
    } catch (error) {
      this.#log.warn({ err: error }, 'garbage collection could not list the workspaces')
    }
  }
}

function hasDueTombstone({ put }: Change, now: string): boolean {
  for (const [key, value] of put) if (key.startsWith('tombstone:') && (value as unknown as Tombstone).not_before <= now) return true
  return false
}
