import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { account, session, signUp, workspaceLink } from '../model/account.ts'
import { auditBatch } from '../model/audit.ts'
import { board, boardMember } from '../model/board.ts'
import { card } from '../model/card.ts'
import { changeRecord } from '../model/change.ts'
import { claimRecord } from '../model/claim.ts'
import { column } from '../model/column.ts'
import { comment } from '../model/comment.ts'
import { at, hash, id } from '../model/fields.ts'
import { attachmentRecord, fileRecord } from '../model/file.ts'
import { firstResponse, responseText } from '../model/idempotency.ts'
import { isId, type IdKind } from '../model/ids.ts'
import { label } from '../model/label.ts'
import { order } from '../model/order.ts'
import { pendingRemovals } from '../model/pending-removal.ts'
import { readiness } from '../model/readiness.ts'
import { schema } from '../model/schema.ts'
import { challenge, notices, secondFactor } from '../model/second-factor.ts'
import { subtask } from '../model/subtask.ts'
import { token, tokenRules, tokenUse } from '../model/token.ts'
import { auditTombstone, tombstone } from '../model/tombstone.ts'
import { membership, user, workspace } from '../model/workspace.ts'
import { keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { AdminError } from './deps.ts'

/** A kind of records. */
interface Kind {
  readonly schema: z.ZodType
  /** whether this is the key of a valid record. `rest` is what follows the first word and its colon. */
  readonly isKey: (key: string, value: any, rest: string) => boolean
}
type Kinds = Readonly<Record<string, Kind>>

/** The records of a kind whose key follows from the record. */
function keyed<Schema extends z.ZodType>(schema: Schema, keyOf: (value: z.infer<Schema>) => string): Kind {
  return { schema, isKey: (key, value) => key === keyOf(value) }
}

/** The records of a kind whose key has something that is not in the record. */
function named(schema: z.ZodType, isName: (rest: string) => boolean): Kind {
  return { schema, isKey: (_key, _value, rest) => isName(rest) }
}

const isHash = (text: string): boolean => hash.safeParse(text).success
/** The ids of the lists that have an order. */
const LISTS: readonly IdKind[] = ['board', 'column', 'card']
const run = z.strictObject({ id: z.string(), begun_at: at })
const audit = keyed(auditBatch, (value) => keys.audit(value.id))
const version = keyed(schema, keys.schema)

/** The records of a workspace in an export, by the first word of their key. */
export const workspaceKinds: Kinds = {
  workspace: keyed(workspace, keys.workspace),
  membership: keyed(membership, (value) => keys.membership(value.user_id)),
  token: keyed(token, (value) => keys.token(value.hash)),
  token_hash: named(z.strictObject({ hash }), (rest) => isId('token', rest)),
  token_rules: keyed(tokenRules, keys.tokenRules),
  token_use: named(tokenUse, isHash),
  board: keyed(board, (value) => keys.board(value.id)),
  board_member: keyed(boardMember, (value) => keys.boardMember(value.board_id, value.user_id)),
  column: keyed(column, (value) => keys.column(value.id)),
  card: keyed(card, (value) => keys.card(value.id)),
  readiness: keyed(readiness, (value) => keys.readiness(value.card_id)),
  claim: keyed(claimRecord, (value) => keys.claim(value.card_id)),
  label: keyed(label, (value) => keys.label(value.id)),
  subtask: keyed(subtask, (value) => keys.subtask(value.id)),
  comment: keyed(comment, (value) => keys.comment(value.id)),
  attachment: keyed(attachmentRecord, (value) => keys.attachment(value.id)),
  file: keyed(fileRecord, (value) => keys.file(value.id)),
  order: named(order, (rest) => LISTS.some((kind) => isId(kind, rest))),
  tombstone: keyed(tombstone, (value) => keys.tombstone(value.id)),
  first_response: keyed(firstResponse, (value) => keys.firstResponse(value.token_hash, value.key_hash)),
  response_text: keyed(responseText, (value) => keys.responseText(value.hour, value.sha256)),
  change: named(changeRecord, isBoardAndNumber),
  audit,
  removals: keyed(pendingRemovals, keys.removals),
}

/** Whether this is what follows in the key of a change: its board and its number. */
function isBoardAndNumber(rest: string): boolean {
  const [boardId = '', entry = '', ...others] = rest.split(':')
  return isId('board', boardId) && /^\d{16}$/.test(entry) && others.length === 0
}

/** The records of a backup that belong to no workspace. */
export const globalKinds: Kinds = {
  user: keyed(user, (value) => keys.user(value.id)),
  account: keyed(account, (value) => keys.account(value.user_id)),
  second_factor: keyed(secondFactor, (value) => keys.secondFactor(value.user_id)),
  notices: keyed(notices, (value) => keys.notices(value.user_id)),
  workspace_link: keyed(workspaceLink, (value) => keys.workspaceLink(value.user_id, value.workspace_id)),
  audit,
  tombstone: keyed(auditTombstone, (value) => keys.tombstone(value.id)),
  demo: keyed(z.strictObject({ begun_at: at, finished_at: at.nullable() }), keys.demo),
}

/** All records of a workspace. */
const storedOfWorkspace: Kinds = {
  ...workspaceKinds,
  schema: version,
  importing: keyed(run, keys.importing),
  imported_bytes: keyed(z.strictObject({ blob_id: id('blob') }), (value) => keys.importedBytes(value.blob_id)),
}

/** All records that belong to no workspace. */
const storedGlobal: Kinds = {
  ...globalKinds,
  schema: version,
  account_email: named(z.strictObject({ user_id: id('user') }), isHash),
  sign_up: keyed(signUp, (value) => keys.signUp(value.user_id)),
  session: keyed(session, (value) => keys.session(value.hash)),
  challenge: keyed(challenge, (value) => keys.challenge(value.hash)),
  workspace_entry: keyed(z.strictObject({ id: id('workspace') }), (value) => keys.workspaceEntry(value.id)),
  bytes_mount: keyed(z.strictObject({ id: z.string() }), keys.blobMount),
  restoring: keyed(run, keys.restoring),
  restored_workspace: keyed(z.strictObject({ workspace_id: id('workspace') }), (value) => keys.restoredWorkspace(value.workspace_id)),
}

/** The kinds of records by where they are: in an export of a workspace, in the part of a backup that is of no workspace, or stored. */
const kinds = { workspace: workspaceKinds, global: globalKinds, storedOfWorkspace, storedGlobal } as const

/**
 * Validates a record.
 * @returns the same record
 * @throws {AdminError} `invalid`
 */
export function readRecord(place: keyof typeof kinds, key: string, value: Value): Value {
  const colon = key.indexOf(':')
  const kind = key.slice(0, colon)
  const known = kinds[place]
  if (!Object.hasOwn(known, kind)) throw new AdminError('invalid', `unknown kind of record "${kind}"`)
  const result = parse(key, known[kind]!.schema, value)
  if (!result.success) throw new AdminError('invalid', `${key}: ${describe(result.error)}`)
  if (!known[kind]!.isKey(key, result.data, key.slice(colon + 1))) throw new AdminError('invalid', `${key} is not the key of its record`)
  // Text that the schemas would trim, for example.
  if (!isDeepStrictEqual(result.data, value)) throw new AdminError('invalid', `${key}: it has a value that is never stored in this form`)
  return value
}

/** @throws {AdminError} `invalid` if the value is nested so deep that validating it overflows the stack: none that is stored is */
function parse(key: string, recordSchema: z.ZodType, value: Value): z.ZodSafeParseResult<unknown> {
  try {
    return recordSchema.safeParse(value)
  } catch (error) {
    if (error instanceof RangeError) throw new AdminError('invalid', `${key}: it is nested too deeply`)
    throw error
  }
}

function describe({ issues: [issue] }: z.ZodError): string {
  return [issue!.path.join('.'), issue!.message].filter((part) => part !== '').join(': ')
}
