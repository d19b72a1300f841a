import { newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { buryUnusedFile } from '../resources/cascades.ts'
import { indexes, lastWord, type Index } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import type { Transaction } from '../store/transaction.ts'
import type { AdminDeps } from './deps.ts'

/** How much is reclaimed in one commit: small, so that nobody waits for it. */
const BATCH = 50

/**
 * Reclaims what is left of deleted things in one workspace: records, and bytes that nothing needs. Each step
 * is one small commit that leaves the rest findable, so it can end anywhere and be done again, by several at
 * once too.
 * @param stopped asked before each step, whether to leave the rest for another time
 * @returns how many steps were done; 0 where nothing was left that is due
 */
export async function collectGarbage(tools: AdminDeps, workspaceId: string, stopped: () => boolean = () => false): Promise<number> {
  for (let steps = 0; ; steps++) {
    if (stopped()) return steps
    const due = await transact(tools.store, workspaceId, tools.random, async (tx) => {
      const { values } = await tx.range(indexes.tombstones(), { before: `${timestamp(tools.clock)}~`, limit: 1, weak: true })
      return values[0]
    })
    if (due === undefined) return steps
    await step(tools, workspaceId, due)
  }
}

async function step(tools: AdminDeps, workspaceId: string, { id, kind }: Tombstone): Promise<void> {
  const { store, random } = tools
  const work = { board: collectBoard, card: collectCard, file: collectFile, blob: claimBlob }[kind]
  const bytes = await transact(store, workspaceId, random, async (tx) => {
    const trash = await tx.get(keys.tombstone(id))
    return trash === undefined ? undefined : work(tx, trash, tools)
  })
  if (bytes === undefined) return
  await tools.blobs.remove(bytes)
  await transact(store, workspaceId, random, async (tx) => {
    if ((await tx.get(keys.tombstone(id))) !== undefined) tx.remove(keys.tombstone(id))
  })
}

type Step = (tx: Transaction, trash: Tombstone, tools: AdminDeps) => Promise<string | undefined>

/** Removes the next records of an index whose owner is gone. */
async function removeNext<T>(tx: Transaction, index: Index<T>, also?: (value: T) => Promise<void>): Promise<number> {
  const { entries, values } = await tx.range(index, { limit: BATCH })
  for (const [i, entry] of entries.entries()) {
    const value = values[i]
    if (value === undefined) throw new Error(`the index ${index.name} leads to a record that is not there`)
    tx.remove(index.fetch + lastWord(entry))
    await also?.(value)
  }
  return entries.length
}

async function removeOrder(tx: Transaction, list: string): Promise<void> {
  if ((await tx.get(keys.order(list))) !== undefined) tx.remove(keys.order(list))
}

const collectBoard: Step = async (tx, { id, target }, tools) => {
  const cards = await removeNext(tx, indexes.boardCards(target), (card) => buryCard(tx, card.id, tools))
  if (cards > 0) return
  if ((await removeNext(tx, indexes.boardMembers(target))) > 0) return
  if ((await removeNext(tx, indexes.labels(target))) > 0) return
  if ((await removeNext(tx, indexes.columns(target), (column) => removeOrder(tx, column.id))) > 0) return
  await removeOrder(tx, target)
  tx.remove(keys.tombstone(id))
}

async function buryCard(tx: Transaction, cardId: string, { clock, random }: AdminDeps): Promise<void> {
  const tombstone: Tombstone = { id: newId('tombstone', random), kind: 'card', target: cardId, not_before: timestamp(clock) }
  await tx.create(keys.tombstone(tombstone.id), tombstone)
}

const collectCard: Step = async (tx, { id, target }, tools) => {
  if ((await removeNext(tx, indexes.subtasks(target))) > 0) return
  if ((await removeNext(tx, indexes.comments(target))) > 0) return
  const request = { tx, clock: tools.clock, random: tools.random }
  const attachments = await removeNext(tx, indexes.attachments(target), (gone) => buryUnusedFile(request, gone.file_id, gone.id, 0))
  if (attachments > 0) return
  await removeOrder(tx, target)
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
    await tx.create(keys.tombstone(bytes.id), bytes)
  }
  tx.remove(keys.tombstone(id))
}

/** First it is written down that the bytes are going: an upload that ends only now finds that out at its commit. */
const claimBlob: Step = async (tx, trash) => {
  tx.put(keys.tombstone(trash.id), { ...trash, claimed: true })
  return trash.target
}
