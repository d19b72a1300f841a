import type { Account, WorkspaceLink, Session, SignUp } from '../model/account.ts'
import type { AuditBatch } from '../model/audit.ts'
import type { Board, BoardMember } from '../model/board.ts'
import type { Card } from '../model/card.ts'
import type { ChangeRecord } from '../model/change.ts'
import type { ClaimRecord } from '../model/claim.ts'
import type { Column } from '../model/column.ts'
import type { Comment } from '../model/comment.ts'
import type { AttachmentRecord, FileBytes, FileRecord } from '../model/file.ts'
import type { Identity } from '../model/identity.ts'
import type { FirstResponse, ResponseText } from '../model/idempotency.ts'
import type { Label } from '../model/label.ts'
import type { NoticeMail } from '../model/notice-mail.ts'
import type { NoticeRecord, ToldByTime } from '../model/notice.ts'
import type { OrderRecord } from '../model/order.ts'
import type { PendingRemovals } from '../model/pending-removal.ts'
import type { Readiness } from '../model/readiness.ts'
import type { SchemaRecord, SecretKeyRecord } from '../model/schema.ts'
import type { Challenge, Alerts, SecondFactor } from '../model/second-factor.ts'
import type { Subtask } from '../model/subtask.ts'
import type { TokenRecord, TokenRules, TokenUse } from '../model/token.ts'
import type { Tombstone } from '../model/tombstone.ts'
import type { DeliveryLease, WebhookDeliveries, WebhookProgress, WebhookRecord } from '../model/webhook.ts'
import type { Membership, User, Workspace } from '../model/workspace.ts'
import { Member, Reference } from './references.ts'

/** The key of a record, with the type of the record. */
export type Key<T> = string & { readonly '~record'?: T }

/** A part of a key: an id, a hash, or a member of another record that has it (see `memberOf` in reads.ts). */
export type Text = string | Member

/** A key, or a reference if a part of it is a member. */
type KeyBy<Part extends Text, T> = [Part] extends [string] ? Key<T> : Key<T> | Reference<T>

/** The partition of data that belongs to no workspace. The partition of a workspace is named by the workspace's id. */
export const GLOBAL = 'global'

/** Makes the keys of records that one id names. */
function byId<T>(kind: string) {
  return <Id extends Text>(id: Id) => (id instanceof Member ? new Reference([`${kind}:`, id]) : `${kind}:${id}`) as KeyBy<Id, T>
}

/**
 * All keys. A part consists of letters, digits and "_" only, so that ":" is an unambiguous separator on every driver, and no key is a path
 * prefix of another key.
 */
export const keys = {
  user: byId<User>('user'),
  /** records that the demo data was created in this storage */
  demo: (): Key<{ begun_at: string; finished_at: string | null }> => 'demo:self',
  /** the version of the records of a partition (see `migrations/`) */
  schema: (): Key<SchemaRecord> => 'schema:self',
  /** which key secrets are sealed with */
  secretKey: (): Key<SecretKeyRecord> => 'secret_key:self',
  /** the id of the mount that holds the bytes of files */
  blobMount: (): Key<{ id: string }> => 'bytes_mount:self',
  /** a workspace that has had webhooks */
  webhookWorkspace: byId<{ id: string }>('webhook_workspace'),
  deliveryLease: (): Key<DeliveryLease> => 'delivery_lease:self',
  workspaceEntry: byId<{ id: string }>('workspace_entry'),

  account: byId<Account>('account'),
  /** the user of an e-mail address, by the address's SHA-256 */
  accountEmail: byId<{ user_id: string }>('account_email'),
  /** by SHA-256 of issuer and subject */
  identity: byId<Identity>('identity'),
  signUp: byId<SignUp>('sign_up'),
  session: byId<Session>('session'),
  secondFactor: byId<SecondFactor>('second_factor'),
  alerts: byId<Alerts>('alerts'),
  challenge: byId<Challenge>('challenge'),
  workspaceLink: (userId: string, workspaceId: string): Key<WorkspaceLink> => `workspace_link:${userId}:${workspaceId}`,

  workspace: (): Key<Workspace> => 'workspace:self',
  membership: byId<Membership>('membership'),
  token: byId<TokenRecord>('token'),
  tokenHash: byId<{ hash: string }>('token_hash'),
  tokenRules: (): Key<TokenRules> => 'token_rules:self',
  tokenUse: byId<TokenUse>('token_use'),

  board: byId<Board>('board'),
  boardMember: <BoardId extends Text, UserId extends Text>(boardId: BoardId, userId: UserId) =>
    (boardId instanceof Member || userId instanceof Member
      ? new Reference(['board_member:', boardId, ':', userId])
      : `board_member:${boardId}:${userId}`) as KeyBy<BoardId | UserId, BoardMember>,
  column: byId<Column>('column'),
  card: byId<Card>('card'),
  readiness: byId<Readiness>('readiness'),
  /** the last claim of a card */
  claim: byId<ClaimRecord>('claim'),
  label: byId<Label>('label'),
  subtask: byId<Subtask>('subtask'),
  comment: byId<Comment>('comment'),
  attachment: byId<AttachmentRecord>('attachment'),
  file: byId<FileRecord>('file'),
  /** the bytes of all files of the workspace */
  fileBytes: (): Key<FileBytes> => 'file_bytes:self',
  webhook: byId<WebhookRecord>('webhook'),
  webhookProgress: byId<WebhookProgress>('webhook_progress'),
  webhookDeliveries: byId<WebhookDeliveries>('webhook_deliveries'),

  /** exists while the workspace is being imported; names the import run */
  importing: (): Key<{ id: string; begun_at: string }> => 'importing:self',
  /** a blob that an import has written or is about to write */
  importedBytes: byId<{ blob_id: string }>('imported_bytes'),

  /** exists while the whole installation is being restored; names the run (global) */
  restoring: (): Key<{ id: string; begun_at: string }> => 'restoring:self',
  /** a workspace that the restore has begun to write (global) */
  restoredWorkspace: byId<{ workspace_id: string }>('restored_workspace'),

  /** how an ordered list was rebalanced; `list` is the id of the parent of the list */
  order: byId<OrderRecord>('order'),
  /** the first response to a write with an Idempotency-Key, by the hashes of the token and of the key */
  firstResponse: (tokenHash: string, keyHash: string): Key<FirstResponse> => `first_response:${tokenHash}:${keyHash}`,
  /** a long text of the first responses of an hour */
  responseText: (hour: string, sha256: string): Key<ResponseText> => `response_text:${hour}:${sha256}`,
  /** a change of a board, by its number (see `appended.ts`) */
  change: (boardId: string, entry: string): Key<ChangeRecord> => `change:${boardId}:${entry}`,
  /** a notice of a person, by its number (see `appended.ts`) */
  notice: (userId: string, entry: string): Key<NoticeRecord> => `notice:${userId}:${entry}`,
  toldByTime: (): Key<ToldByTime> => 'told_by_time:self',
  /** a mail that may be due, by its person and its minute or day */
  noticeMail: byId<NoticeMail>('notice_mail'),
  /** entries of the audit trail, in a workspace or global */
  audit: byId<AuditBatch>('audit'),
  tombstone: byId<Tombstone>('tombstone'),
  removals: (): Key<PendingRemovals> => 'removals:self',
}
