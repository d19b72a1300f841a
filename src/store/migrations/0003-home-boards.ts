import type { AttachmentRecord, FileRecord } from '../../model/file.ts'
import type { Membership } from '../../model/workspace.ts'
import { indexes } from '../indexes.ts'
import { keys, type Key } from '../keys.ts'
import type { Value } from '../port.ts'
import type { Transaction } from '../transaction.ts'
import type { Migration } from './migration.ts'

const FILE = 'file:'

/**
 * A file gets the board of its oldest attachment that is on a board. One without any has no home board: the visibility `board` then
 * gives access to its owner only. Visibilities stay as they are, except that a private file of a former member, which no member has
 * access to, gets the visibility that it would have got when they left.
 */
export const homeBoards: Migration = {
  number: 3,
  summary: 'adds to each file the board that it was uploaded to, and indexes of private files and of active columns and cards',
  reason: 'everyone with access to that board can have access to the file, and limits count what is active',
  migrate: (key, value) => [[key, key.startsWith(FILE) && value['board_id'] === undefined ? { ...value, board_id: null } : value]],
  completion: {
    prefix: FILE,
    async complete(tx, batch, unwritten) {
      let changed = 0
      for (const key of batch) {
        const file = await tx.get<FileRecord>(key)
        if (file === undefined) continue
        const board_id = file.board_id ?? (await homeOf(tx, file))
        const visibility = (await isOrphan(tx, file, unwritten)) ? 'board' : file.visibility
        if (board_id === file.board_id && visibility === file.visibility) continue
        tx.put<FileRecord>(key, { ...file, board_id, visibility })
        changed++
      }
      return changed
    },
  },
}

/** The board of the oldest attachment of a file whose card and board exist. */
async function homeOf(tx: Transaction, { id }: FileRecord): Promise<string | null> {
  const { values } = await tx.all(indexes.fileAttachments(id))
  const attachments = values.filter((attachment) => attachment !== undefined)
  for (const { card_id } of attachments.toSorted((a, b) => (age(a) < age(b) ? -1 : 1))) {
    const [card, board] = await tx.read([keys.card(card_id), keys.board('{0.board_id}')])
    if (card !== undefined && board !== undefined) return board.id
  }
  return null
}

function age({ created_at, id }: AttachmentRecord): string {
  return `${created_at} ${id}`
}

/** Whether a file is private, and its owner has left the workspace. */
async function isOrphan(tx: Transaction, { owner_id, visibility }: FileRecord, unwritten: ReadonlyMap<string, Value>): Promise<boolean> {
  if (visibility !== 'private') return false
  const key: Key<Membership> = keys.membership(owner_id)
  const membership = (unwritten.get(key) as Membership | undefined) ?? (await tx.get(key))
  return membership !== undefined && membership.ended_at !== null
}
