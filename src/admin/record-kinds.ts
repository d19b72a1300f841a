import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { identityHash } from '../auth/provider/identities.ts'
import { sha256Hex } from '../auth/secrets.ts'
import { account, session, signUp, workspaceLink } from '../model/account.ts'
import { auditBatch } from '../model/audit.ts'
import { board, boardMember } from '../model/board.ts'
import { blockersOf, card, isBlocking, isOpen, type Card } from '../model/card.ts'
import { changeRecord } from '../model/change.ts'
import { claimRecord, holdOf, type ClaimRecord } from '../model/claim.ts'
import { column } from '../model/column.ts'
import { comment } from '../model/comment.ts'
import { timestamp, hash, idOf } from '../model/fields.ts'
import { attachmentRecord, fileBytes, fileRecord } from '../model/file.ts'
import { firstResponse, responseText } from '../model/idempotency.ts'
import { isId, type IdKind } from '../model/ids.ts'
import { identity } from '../model/identity.ts'
import { label } from '../model/label.ts'
import { noticeMail } from '../model/notice-mail.ts'
import { noticeRecord, toldByTime } from '../model/notice.ts'
import { order } from '../model/order.ts'
import { pendingRemovals } from '../model/pending-removal.ts'
import { readiness, type Readiness } from '../model/readiness.ts'
import { schema, secretKey } from '../model/schema.ts'
import { challenge, alerts, secondFactor } from '../model/second-factor.ts'
import { subtask } from '../model/subtask.ts'
import { token, tokenRules, tokenUse } from '../model/token.ts'
import { auditTombstone, tombstone } from '../model/tombstone.ts'
import { deliveryLease, webhookDeliveries, webhookProgress, webhookRecord } from '../model/webhook.ts'
import { membership, user, workspace } from '../model/workspace.ts'
import { keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'

/** A record that another record of the same partition refers to. */
export interface RecordReference {
  /** the key of the record that must exist, or must not */
  readonly key: string
  /** it must not exist */
  readonly absent?: boolean
  /** the members that it must have */
  readonly members?: Readonly<Record<string, unknown>>
  /** whether it is as it must be */
  readonly matches?: (value: Value) => boolean
  /** the tombstones and pending removals that explain that it is missing */
  readonly explainedBy?: readonly string[]
}

type References<Record> = (value: Record, rest: string) => readonly (RecordReference | undefined)[]

/** A kind of records. */
interface Kind {
  readonly schema: z.ZodType
  /** whether this is the key of a valid record. `rest` is what follows the first word and its colon. */
  readonly isKey: (key: string, value: any, rest: string) => boolean
  /** the records that a valid record refers to */
  readonly references: References<any>
}
/** Kinds by the first word of their keys. */
type Kinds = Readonly<Record<string, Kind>>

const none = (): readonly RecordReference[] => []

/** The records of a kind whose key follows from the record. */
function keyed<Schema extends z.ZodType>(
  schema: Schema,
  keyOf: (value: z.infer<Schema>) => string,
  references: References<z.infer<Schema>> = none,
): Kind {
  return { schema, isKey: (key, value) => key === keyOf(value), references }
}

/** The records of a kind whose key has something that is not in the record. */
function named<Schema extends z.ZodType>(
  schema: Schema,
  isName: (rest: string) => boolean,
  references: References<z.infer<Schema>> = none,
): Kind {
  return { schema, isKey: (_key, _value, rest) => isName(rest), references }
}

/** The records of a kind whose key has their id. */
function withId<Schema extends z.ZodType<{ readonly id: string }>>(
  schema: Schema,
  keyOf: (id: string) => string,
  references?: References<z.infer<Schema>>,
): Kind {
  return keyed(schema, (value) => keyOf(value.id), references)
}

/** A key that follows from one member of a record. */
const by =
  <Member extends string>(member: Member, keyOf: (id: string) => string) =>
  (value: Readonly<Record<Member, string>>): string =>
    keyOf(value[member])

const isHash = (text: string): boolean => hash.safeParse(text).success
/** The ids of the lists that have an order. */
const LISTS: readonly IdKind[] = ['board', 'column', 'card']
const run = z.strictObject({ id: z.string(), begun_at: timestamp })
const audit = withId(auditBatch, keys.audit)
const version = keyed(schema, keys.schema)

const toMember = (userId: string): RecordReference => ({ key: keys.membership(userId) })
const toUser = (userId: string): RecordReference => ({ key: keys.user(userId) })
const ofBoard = (boardId: string): string => `board ${boardId}`
const toBoard = (boardId: string): RecordReference => ({ key: keys.board(boardId), explainedBy: [ofBoard(boardId)] })
const toCard = (cardId: string): RecordReference => ({ key: keys.card(cardId), explainedBy: [`card ${cardId}`] })

/** The records of a workspace in an export. What a reference to a deleted board or card needs is its tombstone. */
const workspaceKinds: Kinds = {
  workspace: keyed(workspace, keys.workspace),
  membership: keyed(membership, by('user_id', keys.membership)),
  token: keyed(token, by('hash', keys.token), ({ id: tokenId, hash: ofToken, user_id, replaced_by, family, last }) => [
    toMember(user_id),
    { key: keys.tokenHash(tokenId), members: { hash: ofToken } },
    replaced_by === null ? undefined : { key: keys.tokenHash(replaced_by) },
    family === undefined ? undefined : { key: keys.token(family) },
    last === undefined ? undefined : { key: keys.tokenHash(last) },
  ]),
  token_hash: named(
    z.strictObject({ hash }),
    (rest) => isId('token', rest),
    (value, tokenId) => [{ key: keys.token(value.hash), members: { id: tokenId } }],
  ),
  token_rules: keyed(tokenRules, keys.tokenRules),
  token_use: named(tokenUse, isHash, (_value, ofToken) => [{ key: keys.token(ofToken) }]),
  board: withId(board, keys.board, ({ creator_id }) => [toMember(creator_id)]),
  board_member: keyed(
    boardMember,
    (value) => keys.boardMember(value.board_id, value.user_id),
    ({ board_id, user_id }) => [toBoard(board_id), toMember(user_id)],
  ),
  column: withId(column, keys.column, ({ board_id }) => [toBoard(board_id)]),
  card: withId(card, keys.card, referencesOfCard),
  readiness: keyed(readiness, by('card_id', keys.readiness), (readiness) => {
    const { card_id, board_id, blocker_ids, open_blocker_ids, held, not_before } = readiness
    return [
      { key: keys.card(card_id), matches: (value) => isOf(value as Card, readiness) },
      // It exists for the blockers of its card, or for the outcome of the card's claim.
      held === null && not_before === null
        ? undefined
        : { key: keys.claim(card_id), members: { not_before }, matches: (value) => holdOf(value as ClaimRecord) === held },
      ...blocker_ids.map((blockerId) => ({
        key: keys.card(blockerId),
        members: { board_id },
        matches: (value: Value) => isBlocking(value as Card) === open_blocker_ids.includes(blockerId),
        explainedBy: [ofBoard(board_id)],
      })),
    ]
  }),
  claim: keyed(claimRecord, by('card_id', keys.claim), (value) => {
    const { card_id, board_id, holder_id, token_hash, question_id, not_before } = value
    const [held, card] = [holdOf(value), toCard(card_id)]
    return [
      { ...card, members: { board_id } },
      held === null && not_before === null ? undefined : { ...card, key: keys.readiness(card_id), members: { held, not_before } },
      question_id === null ? undefined : { ...card, key: keys.comment(question_id), members: { card_id, kind: 'question' } },
      toMember(holder_id),
      { key: keys.token(token_hash) },
    ]
  }),
  label: withId(label, keys.label, ({ board_id }) => [toBoard(board_id)]),
  subtask: withId(subtask, keys.subtask, ({ card_id }) => [toCard(card_id)]),
  comment: withId(comment, keys.comment, ({ card_id, author_id }) => [toCard(card_id), toMember(author_id)]),
  attachment: withId(attachmentRecord, keys.attachment, ({ card_id, file_id, attached_by_id }) => [
    toCard(card_id),
    { key: keys.file(file_id) },
    toMember(attached_by_id),
  ]),
  // Its home board may have been deleted: then `board` gives access to the owner only.
  file: withId(fileRecord, keys.file, ({ owner_id, visibility }) => [
    toMember(owner_id),
    // The private files of a former member are accessible on their boards.
    visibility === 'private'
      ? { key: keys.membership(owner_id), members: { ended_at: null }, explainedBy: [`references ${owner_id}`] }
      : undefined,
  ]),
  order: named(
    order,
    (rest) => LISTS.some((kind) => isId(kind, rest)),
    (_value, list) => {
      if (list.startsWith('brd_')) return [toBoard(list)]
      return [list.startsWith('crd_') ? toCard(list) : { key: keys.column(list) }]
    },
  ),
  // Garbage collection would remove what belongs to it.
  tombstone: withId(tombstone, keys.tombstone, ({ kind, target }) =>
    kind === 'board' || kind === 'card' ? [{ key: `${kind}:${target}`, absent: true }] : [],
  ),
  first_response: keyed(firstResponse, (value) => keys.firstResponse(value.token_hash, value.key_hash)),
  response_text: keyed(responseText, (value) => keys.responseText(value.hour, value.sha256)),
  change: named(changeRecord, (rest) => isIdAndNumber('board', rest)),
  notice: named(
    noticeRecord,
    (rest) => isIdAndNumber('user', rest),
    (_value, rest) => [toMember(rest.slice(0, rest.indexOf(':')))],
  ),
  audit,
  removals: keyed(pendingRemovals, keys.removals),
}

/** Whether readiness matches its card. A card with blockers states what its readiness must be. */
function isOf(one: Card, { column_id, position, is_open, blocker_ids }: Readiness): boolean {
  if (blockersOf(one).length > 0 || blocker_ids.length > 0) return blockersOf(one).length > 0
  return one.column_id === column_id && one.position === position && isOpen(one) === is_open
}

/** Whether this is what follows in the key of something that is appended to a list: the id of whose list it is, and its number. */
function isIdAndNumber(kind: IdKind, rest: string): boolean {
  const [id = '', entry = '', ...others] = rest.split(':')
  return isId(kind, id) && /^\d{16}$/.test(entry) && others.length === 0
}

function referencesOfCard(record: Card): readonly (RecordReference | undefined)[] {
  const { board_id, column_id, assignee_ids, label_ids, cover_attachment_id, creator_id, completed_by_id } = record
  return [
    toBoard(board_id),
    { key: keys.column(column_id), members: { board_id }, explainedBy: [ofBoard(board_id)] },
    toMember(creator_id),
    completed_by_id === null ? undefined : toMember(completed_by_id),
    ...assignee_ids.map(toMember),
    ...label_ids.map((labelId) => ({
      key: keys.label(labelId),
      members: { board_id },
      explainedBy: [ofBoard(board_id), `label ${labelId}`],
    })),
    cover_attachment_id === null ? undefined : { key: keys.attachment(cover_attachment_id), members: { card_id: record.id } },
    ...readinessOf(record),
  ]
}

/** What a card with blockers needs beside it. */
function readinessOf(card: Card): RecordReference[] {
  const { id, column_id, position } = card
  const blockers = blockersOf(card)
  if (blockers.length === 0) return []
  const matches = ({ blocker_ids }: Value) => isDeepStrictEqual(blocker_ids, blockers)
  return [{ key: keys.readiness(id), members: { column_id, position, is_open: isOpen(card) }, matches }]
}

/** A kind of records that belong to a user, one or several each. */
function ofUser<Schema extends z.ZodType<{ readonly user_id: string }>>(
  recordSchema: Schema,
  keyOf: (value: z.infer<Schema>) => string,
  others: References<z.infer<Schema>> = none,
): Kind {
  return keyed(recordSchema, keyOf, (value, rest) => [toUser(value.user_id), ...others(value, rest)])
}

/** The records of a backup that belong to no workspace. It has no sessions, challenges, sign-up links and e-mail index. */
const globalKinds: Kinds = {
  user: withId(user, keys.user),
  account: ofUser(account, by('user_id', keys.account), ({ user_id, email }) => [
    { key: keys.accountEmail(sha256Hex(email)), members: { user_id } },
  ]),
  identity: ofUser(
    identity,
    (value) => keys.identity(identityHash(value)),
    ({ user_id }) => [{ key: keys.account(user_id) }],
  ),
  second_factor: ofUser(secondFactor, by('user_id', keys.secondFactor), ({ user_id }) => [{ key: keys.account(user_id) }]),
  alerts: ofUser(alerts, by('user_id', keys.alerts)),
  workspace_link: ofUser(workspaceLink, (value) => keys.workspaceLink(value.user_id, value.workspace_id)),
  audit,
  tombstone: withId(auditTombstone, keys.tombstone),
  // Without the key that it names, a restored storage cannot be used.
  secret_key: keyed(secretKey, keys.secretKey),
  webhook_workspace: withId(z.strictObject({ id: idOf('workspace') }), keys.webhookWorkspace),
  demo: keyed(z.strictObject({ begun_at: timestamp, finished_at: timestamp.nullable() }), keys.demo),
}

/** The records of a workspace in a backup. An export has no webhooks: what is imported elsewhere must not begin to send. */
const backedUpKinds: Kinds = {
  ...workspaceKinds,
  webhook: withId(webhookRecord, keys.webhook, ({ id: webhookId, board_id, creator_id }) => [
    toBoard(board_id),
    toMember(creator_id),
    { key: keys.webhookProgress(webhookId), members: { board_id } },
  ]),
  webhook_progress: keyed(webhookProgress, by('webhook_id', keys.webhookProgress), ({ webhook_id, board_id }) => [
    { key: keys.webhook(webhook_id), members: { board_id } },
  ]),
  webhook_deliveries: keyed(webhookDeliveries, by('webhook_id', keys.webhookDeliveries), ({ webhook_id }) => [
    { key: keys.webhook(webhook_id) },
  ]),
  secret_key: keyed(secretKey, keys.secretKey),
}

/** All records of a workspace. */
const storedOfWorkspace: Kinds = {
  ...backedUpKinds,
  // The writer of files counts them, so no export has it.
  file_bytes: keyed(fileBytes, keys.fileBytes),
  schema: version,
  told_by_time: keyed(toldByTime, keys.toldByTime),
  notice_mail: withId(noticeMail, keys.noticeMail, ({ user_id }) => [toMember(user_id)]),
  importing: keyed(run, keys.importing),
  imported_bytes: keyed(z.strictObject({ blob_id: idOf('blob') }), by('blob_id', keys.importedBytes)),
}

/** All records that belong to no workspace. */
const storedGlobal: Kinds = {
  ...globalKinds,
  schema: version,
  account_email: named(z.strictObject({ user_id: idOf('user') }), isHash, ({ user_id }) => [{ key: keys.account(user_id) }]),
  sign_up: ofUser(signUp, by('user_id', keys.signUp)),
  session: ofUser(session, by('hash', keys.session)),
  challenge: keyed(challenge, by('hash', keys.challenge), ({ user_id }) => [user_id === null ? undefined : toUser(user_id)]),
  workspace_entry: withId(z.strictObject({ id: idOf('workspace') }), keys.workspaceEntry),
  bytes_mount: keyed(z.strictObject({ id: z.string() }), keys.blobMount),
  delivery_lease: keyed(deliveryLease, keys.deliveryLease),
  restoring: keyed(run, keys.restoring),
  restored_workspace: keyed(z.strictObject({ workspace_id: idOf('workspace') }), by('workspace_id', keys.restoredWorkspace)),
}

/** The kinds of records by where they are: in an export of a workspace, in the parts of a backup, or stored. */
export const kinds = { workspace: workspaceKinds, backedUp: backedUpKinds, global: globalKinds, storedOfWorkspace, storedGlobal } as const
