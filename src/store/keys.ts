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
import type { OrderRecord } from '../model/order.ts'
import type { PendingRemovals } from '../model/pending-removal.ts'
import type { Readiness } from '../model/readiness.ts'
import type { SchemaRecord, SecretKeyRecord } from '../model/schema.ts'
import type { Challenge, Notices, SecondFactor } from '../model/second-factor.ts'
import type { Subtask } from '../model/subtask.ts'
import type { TokenRecord, TokenRules, TokenUse } from '../model/token.ts'
import type { Tombstone } from '../model/tombstone.ts'
import type { DeliveryLease, WebhookDeliveries, WebhookProgress, WebhookRecord } from '../model/webhook.ts'
import type { Membership, User, Workspace } from '../model/workspace.ts'

/** The key of a record, or a template of a key (see `Reference` in port.ts), with the type of the record. */
export type Key<T> = string & { readonly '~record'?: T }

/** The partition of data that belongs to no workspace. The partition of a workspace is named by the workspace's id. */
export const GLOBAL = 'global'

/**
 * All keys. A part is an id, a hash or a template (`{0.board_id}`). It consists of letters, digits and "_" only, so
 * that ":" is an unambiguous separator on every driver, and no key is a path prefix of another key.
 */
export const keys = {
  user: (userId: string): Key<User> => `user:${userId}`,
  /** records that the demo data was created in this storage */
  demo: (): Key<{ begun_at: string; finished_at: string | null }> => 'demo:self',
  /** the version of the records of a partition (see `migrations/`) */
  schema: (): Key<SchemaRecord> => 'schema:self',
  /** which key secrets are sealed with */
  secretKey: (): Key<SecretKeyRecord> => 'secret_key:self',
  /** the id of the mount that holds the bytes of files */
  blobMount: (): Key<{ id: string }> => 'bytes_mount:self',
  /** a workspace that has had webhooks */
  webhookWorkspace: (workspaceId: string): Key<{ id: string }> => `webhook_workspace:${workspaceId}`,
  deliveryLease: (): Key<DeliveryLease> => 'delivery_lease:self',
  workspaceEntry: (workspaceId: string): Key<{ id: string }> => `workspace_entry:${workspaceId}`,

  account: (userId: string): Key<Account> => `account:${userId}`,
  /** the user of an e-mail address, by the address's SHA-256 */
  accountEmail: (hash: string): Key<{ user_id: string }> => `account_email:${hash}`,
  /** by SHA-256 of issuer and subject */
  identity: (hash: string): Key<Identity> => `identity:${hash}`,
  signUp: (userId: string): Key<SignUp> => `sign_up:${userId}`,
  session: (hash: string): Key<Session> => `session:${hash}`,
  secondFactor: (userId: string): Key<SecondFactor> => `second_factor:${userId}`,
  notices: (userId: string): Key<Notices> => `notices:${userId}`,
  challenge: (hash: string): Key<Challenge> => `challenge:${hash}`,
  workspaceLink: (userId: string, workspaceId: string): Key<WorkspaceLink> => `workspace_link:${userId}:${workspaceId}`,

  workspace: (): Key<Workspace> => 'workspace:self',
  membership: (userId: string): Key<Membership> => `membership:${userId}`,
  token: (hash: string): Key<TokenRecord> => `token:${hash}`,
  tokenHash: (tokenId: string): Key<{ hash: string }> => `token_hash:${tokenId}`,
  tokenRules: (): Key<TokenRules> => 'token_rules:self',
  tokenUse: (hash: string): Key<TokenUse> => `token_use:${hash}`,

  board: (boardId: string): Key<Board> => `board:${boardId}`,
  boardMember: (boardId: string, userId: string): Key<BoardMember> => `board_member:${boardId}:${userId}`,
  column: (columnId: string): Key<Column> => `column:${columnId}`,
  card: (cardId: string): Key<Card> => `card:${cardId}`,
  readiness: (cardId: string): Key<Readiness> => `readiness:${cardId}`,
  /** the last claim of a card */
  claim: (cardId: string): Key<ClaimRecord> => `claim:${cardId}`,
  label: (labelId: string): Key<Label> => `label:${labelId}`,
  subtask: (subtaskId: string): Key<Subtask> => `subtask:${subtaskId}`,
  comment: (commentId: string): Key<Comment> => `comment:${commentId}`,
  attachment: (attachmentId: string): Key<AttachmentRecord> => `attachment:${attachmentId}`,
  file: (fileId: string): Key<FileRecord> => `file:${fileId}`,
  /** the bytes of all files of the workspace */
  fileBytes: (): Key<FileBytes> => 'file_bytes:self',
  webhook: (webhookId: string): Key<WebhookRecord> => `webhook:${webhookId}`,
  webhookProgress: (webhookId: string): Key<WebhookProgress> => `webhook_progress:${webhookId}`,
  webhookDeliveries: (webhookId: string): Key<WebhookDeliveries> => `webhook_deliveries:${webhookId}`,

  /** exists while the workspace is being imported; names the import run */
  importing: (): Key<{ id: string; begun_at: string }> => 'importing:self',
  /** a blob that an import has written or is about to write */
  importedBytes: (blobId: string): Key<{ blob_id: string }> => `imported_bytes:${blobId}`,

  /** exists while the whole installation is being restored; names the run (global) */
  restoring: (): Key<{ id: string; begun_at: string }> => 'restoring:self',
  /** a workspace that the restore has begun to write (global) */
  restoredWorkspace: (workspaceId: string): Key<{ workspace_id: string }> => `restored_workspace:${workspaceId}`,

  /** how an ordered list was rebalanced; `list` is the id of the parent of the list */
  order: (list: string): Key<OrderRecord> => `order:${list}`,
  /** the first response to a write with an Idempotency-Key, by the hashes of the token and of the key */
  firstResponse: (tokenHash: string, keyHash: string): Key<FirstResponse> => `first_response:${tokenHash}:${keyHash}`,
  /** a long text of the first responses of an hour */
  responseText: (hour: string, sha256: string): Key<ResponseText> => `response_text:${hour}:${sha256}`,
  /** a change of a board, by its number (see `appended.ts`) */
  change: (boardId: string, entry: string): Key<ChangeRecord> => `change:${boardId}:${entry}`,
  /** entries of the audit trail, in a workspace or global */
  audit: (batchId: string): Key<AuditBatch> => `audit:${batchId}`,
  tombstone: (id: string): Key<Tombstone> => `tombstone:${id}`,
  removals: (): Key<PendingRemovals> => 'removals:self',
}
