import { createHash } from 'node:crypto'
import { blockersOf, isOpen, type Card } from '../model/card.ts'
import { isStuck } from '../model/claim.ts'
import { isFollowing } from '../model/webhook.ts'
import { isActive } from '../model/workspace.ts'
import type { Readiness } from '../model/readiness.ts'
import { claimEntry, commentEntry, indexes, positionEntry, releaseEntry, retryEntry, sortedEntry, timedSorts } from './indexes.ts'
import { keys } from './keys.ts'
import type { Change, Stored, Value } from './port.ts'
import type { ValueOf } from './reads.ts'

/** An entry of an index. One that `hides` keeps out of the index what another record has there. */
export type IndexEntry = readonly [index: string, entry: string, hides?: 'hides']
type Keys = typeof keys
type Indexing = {
  readonly [Name in keyof Keys]?: (value: NonNullable<ValueOf<ReturnType<Keys[Name]>>>, key: string) => readonly IndexEntry[]
}

/**
 * The index entries of a record, by the name of its key. They depend on the record and its key alone, so a writer cannot
 * forget one.
 */
const indexing: Indexing = {
  webhookWorkspace: ({ id }) => [[indexes.webhookWorkspaces().name, id]],
  user: (user) => [[indexes.users().name, `${user.created_at} ${user.id}`]],
  workspaceEntry: ({ id }) => [[indexes.workspaces().name, id]],
  session: (session) => [[indexes.sessionsOf(session.user_id).name, `${session.begun_at} ${session.hash}`]],
  identity: (identity) => [[indexes.identitiesOf(identity.user_id).name, identity.hash]],
  signUp: ({ user_id, email }) =>
    email === undefined ? [] : [[indexes.signUpsFor(createHash('sha256').update(email).digest('hex')).name, user_id]],
  challenge: (challenge) => [[indexes.challenges().name, `${challenge.expires_at} ${challenge.hash}`]],
  workspaceLink: ({ user_id, workspace_id }) => [[indexes.workspacesOf(user_id).name, workspace_id]],
  membership: (member) => (isActive(member) ? [[indexes.members().name, `${member.joined_at} ${member.user_id}`]] : []),
  token: ({ user_id, hash, issued_at, expires_at, revoked_at, replaced_by }) => {
    const entry: IndexEntry = [indexes.tokensOf(user_id).name, `${issued_at} ${hash}`]
    if (revoked_at !== null || replaced_by !== null) return [entry]
    const end = `${expires_at} ${hash}`
    return [entry, [indexes.activeTokensOf(user_id).name, end], [indexes.endingTokens().name, end]]
  },
  board: (board) => {
    const entry = `${board.created_at} ${board.id}`
    const creatorEntry: IndexEntry = [indexes.boardsOf(board.creator_id).name, entry]
    return board.visibility === 'workspace' ? [creatorEntry, [indexes.workspaceBoards().name, entry]] : [creatorEntry]
  },
  boardMember: (member) => [
    [indexes.boardMembers(member.board_id).name, `${member.added_at} ${member.user_id}`],
    [indexes.boardsOf(member.user_id).name, `${member.board_created_at} ${member.board_id}`],
  ],
  column: (column) => [
    [indexes.columns(column.board_id).name, positionEntry(column)],
    ...(column.archived_at === null ? [[indexes.activeColumns(column.board_id).name, column.id] as const] : []),
  ],
  label: (label) => [[indexes.labels(label.board_id).name, `${label.created_at} ${label.id}`]],
  card: cardEntries,
  readiness: readinessEntries,
  claim: (claim) => {
    const { card_id, board_id, expires_at, releases = [] } = claim
    const released = releases.map((one): IndexEntry => [indexes.releasedCards(board_id, one.family).name, releaseEntry(card_id, one)])
    if (expires_at === null) return released
    const entries: IndexEntry[] = [[indexes.claims(board_id).name, claimEntry(claim)], ...released]
    return isStuck(claim, claim.attempts + 1) ? [...entries, [indexes.lastAttempts().name, `${expires_at} ${card_id}`]] : entries
  },
  subtask: (subtask) => [[indexes.subtasks(subtask.card_id).name, positionEntry(subtask)]],
  comment: (comment) => [[indexes.comments(comment.card_id).name, commentEntry(comment)]],
  attachment: (attachment) => [
    [indexes.attachments(attachment.card_id).name, `${attachment.created_at} ${attachment.id}`],
    [indexes.fileAttachments(attachment.file_id).name, `${attachment.card_id} ${attachment.id}`],
  ],
  file: (file) => (file.visibility === 'private' ? [[indexes.privateFilesOf(file.owner_id).name, `${file.created_at} ${file.id}`]] : []),
  webhook: ({ id, board_id, creator_id, created_at }) => [
    [indexes.webhooks(board_id).name, `${created_at} ${id}`],
    [indexes.webhooksOf(creator_id).name, id],
    [indexes.workspaceWebhooks().name, id],
  ],
  webhookProgress: (progress) => {
    if (isFollowing(progress)) return [[indexes.followingWebhooks().name, `${progress.enablings ?? 0} ${progress.webhook_id}`]]
    return progress.restored === true ? [[indexes.restoredWebhooks().name, progress.webhook_id]] : []
  },
  change: (_change, key) => {
    const [, boardId, entry] = key.split(':') as [kind: string, boardId: string, entry: string]
    return [[indexes.changes(boardId).name, entry]]
  },
  notice: ({ read_at }, key) => {
    const [, userId, entry] = key.split(':') as [kind: string, userId: string, entry: string]
    const all: IndexEntry = [indexes.notices(userId).name, entry]
    return read_at === null ? [all] : [all, [indexes.readNotices(userId).name, entry]]
  },
  noticeMail: ({ id, due_at }) => [[indexes.noticeMails().name, `${due_at} ${id}`]],
  audit: ({ id, at, users }) => {
    const entry = `${at} ${id}`
    return [[indexes.audit().name, entry], ...users.map((userId): IndexEntry => [indexes.auditOf(userId).name, entry])]
  },
  firstResponse: ({ hour, token_hash, key_hash }) => [[indexes.firstResponses(hour).name, `${token_hash}:${key_hash}`]],
  responseText: ({ hour, sha256 }) => [[indexes.responseTexts(hour).name, sha256]],
  tombstone: ({ id, not_before }) => [[indexes.tombstones().name, `${not_before} ${id}`]],
}

/** The same by the first word of the key. */
const byKind = new Map(
  Object.entries<((value: never, key: string) => readonly IndexEntry[]) | undefined>(indexing).map(([name, entries]) => [
    kindOf(keys[name as 'boardMember']('', '')),
    entries!,
  ]),
)

function kindOf(key: string): string {
  return key.slice(0, key.indexOf(':'))
}

/** The index entries of a record. */
export function entriesOf(key: string, value: unknown): readonly IndexEntry[] {
  return byKind.get(kindOf(key))?.(value as never, key) ?? []
}

/** The index changes that follow from writing and removing records. `before` holds the records as they were read. */
export function indexChanges(
  before: ReadonlyMap<string, Stored | null>,
  put: ReadonlyMap<string, Value>,
  remove: ReadonlySet<string>,
): Change['indexes'] {
  const changes = new Map<string, { add: string[]; remove: string[] }>()
  const hiding: (readonly [entry: IndexEntry, from: 'add' | 'remove', to: 'add' | 'remove'])[] = []
  const note = (index: string, entry: string, to: 'add' | 'remove') => {
    const change = changes.get(index)
    if (change !== undefined) change[to].push(entry)
    // A list that grows from nothing has room for 17 entries. Most of these stay as they are made.
    else changes.set(index, to === 'add' ? { add: [entry], remove: [] } : { add: [], remove: [entry] })
  }
  for (const key of [...put.keys(), ...remove]) {
    const old = entriesIn(key, before.get(key)?.value)
    const written = entriesIn(key, put.get(key))
    for (const one of others(old, written)) {
      if (one[2] === 'hides') hiding.push([one, 'remove', 'add'])
      else note(one[0], one[1], 'remove')
    }
    for (const one of others(written, old)) {
      if (one[2] === 'hides') hiding.push([one, 'add', 'remove'])
      else note(one[0], one[1], 'add')
    }
  }
  // Last: what the other record adds or removes in the same commit was hidden, or will be, so it is not.
  for (const [[index, entry], from, to] of hiding) {
    const list = changes.get(index)?.[from] ?? []
    const at = list.indexOf(entry)
    if (at === -1) note(index, entry, to)
    else list.splice(at, 1)
  }
  return changes
}

function entriesIn(key: string, value: unknown): readonly IndexEntry[] {
  return value === undefined ? [] : entriesOf(key, value)
}

/** The entries that are not among others. Most changes leave most entries, and their places, as they are. */
function others(entries: readonly IndexEntry[], known: readonly IndexEntry[]): readonly IndexEntry[] {
  // Stryker disable next-line ConditionalExpression: what is new is not among nothing, and to look takes longer
  if (known.length === 0) return entries
  const found: IndexEntry[] = []
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]!
    if (!isSame(entry, known[i]) && !known.some((one) => isSame(entry, one))) found.push(entry)
  }
  return found
}

function isSame([index, entry]: IndexEntry, other: IndexEntry | undefined): boolean {
  return other !== undefined && other[1] === entry && other[0] === index
}

function readinessEntries(readiness: Readiness): IndexEntry[] {
  const { card_id, board_id, column_id, position, is_open, blocker_ids, open_blocker_ids, held, not_before } = readiness
  if (!is_open) return []
  const entries: IndexEntry[] = []
  const ready = [indexes.readyCards(column_id).name, positionEntry({ position, id: card_id })] as const
  const isOffered = held === null && not_before === null
  // A card without blockers has the entry itself.
  if (blocker_ids.length === 0 && !isOffered) entries.push([...ready, 'hides'])
  if (blocker_ids.length > 0 && open_blocker_ids.length === 0 && isOffered) entries.push(ready)
  if (held !== null) entries.push([indexes.heldCards(board_id).name, `${held} ${card_id}`])
  else if (not_before !== null && open_blocker_ids.length === 0) entries.push([indexes.retriedCards(board_id).name, retryEntry(readiness)])
  return entries
}

// Without lists that are concatenated: each change of a card asks for its entries twice.
function cardEntries(card: Card): IndexEntry[] {
  const { id, board_id, column_id, assignee_ids, label_ids } = card
  const state = card.archived_at === null ? 'active' : 'archived'
  const entry = positionEntry(card)
  const entries: IndexEntry[] = [
    [indexes.cards(state, column_id).name, entry],
    [indexes.cardsDone(state, column_id, card.completed_at !== null).name, entry],
    [indexes.boardCards(board_id).name, id],
  ]
  if (state === 'active') entries.push([indexes.boardActiveCards(board_id).name, id])
  const blockers = blockersOf(card)
  if (blockers.length === 0 && isOpen(card)) entries.push([indexes.readyCards(column_id).name, entry])
  for (const blockerId of blockers) entries.push([indexes.blockedCards(blockerId).name, id])
  if (card.external_ref !== null) entries.push([indexes.cardsWithRef(card.external_ref).name, `${board_id} ${id}`])
  if (card.due_at !== null && isOpen(card)) entries.push([indexes.dueCards().name, `${card.due_at} ${id}`])
  let sorted = ''
  for (const sort of timedSorts) {
    if (sort === 'completed_at' && card.completed_at === null) continue
    // A card that was not changed yet has the same entry in both indexes, and needs the memory for one.
    if (sort !== 'created_at' || card.created_at !== card.updated_at) sorted = sortedEntry(sort, card)
    entries.push([indexes.sortedCards(sort, board_id).name, sorted])
    for (const userId of assignee_ids) entries.push([indexes.sortedCards(sort, userId).name, sorted])
  }
  // A card that an earlier version imported as completed names nobody.
  if (card.completed_at !== null && card.completed_by_id !== null)
    entries.push([indexes.cardsCompletedBy(board_id, card.completed_by_id).name, sortedEntry('completed_at', card)])
  for (const userId of assignee_ids)
    entries.push(
      [indexes.cardsOf(state, column_id, userId).name, entry],
      [indexes.boardAssignments(board_id).name, `${userId} ${id}`],
      [indexes.assignmentsOf(userId).name, `${board_id} ${id}`],
    )
  for (const labelId of label_ids)
    entries.push([indexes.cardsWith(state, column_id, labelId).name, entry], [indexes.labelCards(labelId).name, id])
  return entries
}
