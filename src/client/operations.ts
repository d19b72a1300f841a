// Written by "npm run matrix" from the operations table and its schemas. Do not edit it.
import type { BatchAnswer, BatchWrite, BytesMethod, ListMethod, OperationRow, PageMethod, ReadMethod, WriteMethod } from './methods.ts'

/** The times of a resource. */
export interface Times {
  /** When it was created. */
  created_at: string
  /** When it was last changed. */
  updated_at: string
}

/** Who works on a card, and until when. Its holder is a token. */
export interface Claim {
  /** The claimed card. */
  card_id: string
  /** The user whose token holds the claim. */
  holder_id: string
  /** The token that holds the claim. When it is rotated, its successor does. */
  token_id: string
  /** The name of that token, which its person gave it. */
  token_name: string
  /** The number of the claim: each new claim of the card has the next one. Send it as `If-Claim`. */
  epoch: number
  /** When the claim runs out, by the clock of the service, unless it is renewed. */
  expires_at: string
  /** When its holder took the card: a renewal leaves it as it is. */
  claimed_at: string
  /** When it was taken or last renewed. */
  renewed_at: string
}

/** A card, with its claim and its work if the request asks for them. */
export type CardWithClaim = Card & {
  /** The claim of the card; null if nobody holds it. Only with `include=claim`. */
  claim?: Claim | null
  /** Only with `include=work`. */
  work?: Work
}

/** A card that is claimed. */
export type ClaimedCard = Card & {
  claim: Claim
  /** Only with `include=work`. */
  work?: Work
  /** Its last question that was answered; null if there is none. Only with `include=work`. */
  answered?: AnsweredQuestion | null
}

/** The last question about a card that was answered. */
export interface AnsweredQuestion {
  question: Comment
  answer: Comment
}

/** The user, the workspace and the scopes of a token. */
export interface Account {
  /** The user that the token represents. */
  user_id: string
  /** The name of the user in the workspace. */
  display_name: string
  /** The role of the user in the workspace. */
  role: 'owner' | 'admin' | 'member'
  /** The one workspace that the token is for. */
  workspace: {
    /** The id of the workspace. */
    id: string
    /** The name of the workspace. */
    name: string
  }
  /** The scopes of the token with those that they include, in the order read, write, admin. */
  scopes: ('kanban:read' | 'kanban:write' | 'kanban:admin')[]
  /** The token itself. */
  token: {
    /** The id of the token. It is no secret. */
    id: string
    /** The name that the token was given. */
    name: string
    /** When the token expires. */
    expires_at: string
    /** When the token was last used, to about ten minutes; null if that is not recorded yet. */
    last_used_at: string | null
  }
}

/** A decision. A resource that the user has no access to is answered like one that does not exist. */
export interface EvaluationResult {
  /** Whether the token and its user may do it. A conflict (409) or an invalid body (422) is still possible: see `dry_run`. */
  decision: boolean
  /** Why. */
  context: {
    /** The error that the operation would answer. Absent if the decision is true. */
    code?: 'bad_request' | 'unauthorized' | 'insufficient_scope' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'request_timeout' | 'conflict' | 'idempotency_key_in_use' | 'cursor_expired' | 'precondition_failed' | 'precondition_required' | 'payload_too_large' | 'unsupported_media_type' | 'range_not_satisfiable' | 'validation_failed' | 'idempotency_key_reused' | 'rate_limited' | 'headers_too_large' | 'internal_error' | 'not_implemented' | 'contention' | 'unavailable' | 'insufficient_storage'
    /** The reason of the rule that decides, or the message of the error. */
    reason: string
    /** The least scope that the operation requires. */
    required_scope: 'kanban:read' | 'kanban:write' | 'kanban:admin'
    /** With `insufficient_scope`: the scopes of the token, with those that they include. */
    granted_scopes?: ('kanban:read' | 'kanban:write' | 'kanban:admin')[]
    /** The row of the specification that decides it. Absent with `not_found`. */
    row?: string
    /** With `not_found`: the name of the parameter or member that names the resource. Absent if `resource.id` names it. */
    parameter?: string
  }
}

/** Decisions. */
export interface EvaluationResults {
  /** The decisions, in the order of the questions, up to the one after which it stopped. */
  evaluations: EvaluationResult[]
}

/** Operations. A resource that the user has no access to is answered like one that does not exist: with no operations. */
export interface FoundActions {
  /** Where the results continue. */
  page: FoundActionsPage
  /** The operations, in the order of the documentation. */
  results: {
    /** The id of an operation. */
    name: string
    /** Absent if everything is named that decides. */
    properties?: {
      /** What the operation must also name, and the search did not. The decision depends on it: ask again with it. */
      requires: string[]
    }
  }[]
}

/** Where the results continue. */
export interface FoundActionsPage {
  /** The `page.token` of the next page; empty on the last one. */
  next_token: string
  /** The number of results of this page. */
  count: number
}

/** Resources. The ones that the user has no access to are left out. */
export interface FoundResources {
  /** Where the results continue. */
  page: FoundActionsPage
  /** The boards, oldest first. */
  results: {
    /** Its type. */
    type: 'board'
    /** Its id. */
    id: string
  }[]
}

/** Members. About a resource that you have no access to, there are none. */
export interface FoundSubjects {
  /** Where the results continue. */
  page: FoundActionsPage
  /** The members, in the order in which they joined. */
  results: {
    /** Its type. */
    type: 'user'
    /** The id of a member. */
    id: string
  }[]
}

/** A member of the workspace. */
export interface Member {
  /** The id of the user. */
  user_id: string
  /** The role of the user in the workspace. */
  role: 'owner' | 'admin' | 'member'
  /** The name of the user in the workspace. */
  display_name: string
  /** The address of a picture of the user, an https URL; null if they have none. */
  avatar_url: string | null
}

/** Something that you have to know. */
export interface Notice {
  /** The id of the notice: notices of a person have increasing ids, in the order of their commits. */
  id: string
  /** What has happened: see "Kinds of notices". */
  kind: 'assigned' | 'mentioned' | 'card_stuck' | 'question' | 'answered' | 'commented' | 'due' | 'token_ending' | 'webhook_disabled'
  /** When it happened. */
  at: string
  /** When you marked it as read; null: you have not. */
  read_at: string | null
  /** The board that it is about; null: it is about a token of yours. */
  board_id: string | null
  /** The card that it is about; null: it is about no card. */
  card_id: string | null
  /** The comment that it is about: also a question or an answer; null: it is about no comment. */
  comment_id: string | null
  /** The user who has caused it; null: time or the service has. */
  actor_id: string | null
  /** The name of the token that has caused it, or that ends; null without one. */
  token_name: string | null
  /** The notice in one sentence, with the names and titles of now. */
  text: string
}

/** Notices were marked as read. */
export interface NoticesRead {
  /** The time that they are marked with. */
  read_at: string
}

/** As an item of a list. A board: the columns and cards of one project. */
export type ListedBoard = Board & WithEtag

export interface WithEtag {
  /** The ETag of the item: only with `include=etag`. */
  etag?: string
}

/** A board: the columns and cards of one project. */
export interface Board extends Times {
  /** The id of the board. */
  id: string
  /** The name of the board. */
  name: string
  /** What the board is for. It may be empty. */
  description: string
  /** The color of the board; null if it has none. */
  cover_color: string | null
  /** `workspace`: every member of the workspace has access to the board. `private`: only its creator and its explicit members have. */
  visibility: 'workspace' | 'private'
  /** The user who created the board. They always have access to it. */
  creator_id: string
}

/** A board, with what the request includes. */
export type BoardSnapshot = Board & {
  /** The active columns in their order. Only if it is included. */
  columns?: Column[]
  /** The first active cards, column by column in their order. Only if it is included. */
  cards?: CardWithClaim[]
  /** The `cursor` to continue GET /boards/{board_id}/cards with after `cards`; null if these are all. Only if `cards` is included. */
  cards_cursor?: string | null
  /** The labels, oldest first. Only if it is included. */
  labels?: Label[]
  /** The creator and the explicit members, in the order in which they were added. Only if it is included. */
  members?: BoardMember[]
  /** How much belongs to it: only with `include=counts`. */
  counts?: {
    /** The number of columns. */
    columns: number
    /** The number of cards. */
    cards: number
    /** The number of labels. */
    labels: number
  }
  /** The `after` that makes GET /boards/{board_id}/changes return every change that is not in this response. Only if something is included. */
  changes_cursor?: string
}

/** Something that was deleted or removed. */
export interface Deleted {
  /** The id of the deleted or removed resource. */
  id: string
  /** Always true. */
  deleted: true
}

/** The creator of a board, or an explicit member of it. */
export interface BoardMember {
  /** The id of the user. */
  user_id: string
  /** The name of the user in the workspace. */
  display_name: string
  /** The address of a picture of the user, an https URL; null if they have none. */
  avatar_url: string | null
  /** Whether the user created the board. The creator needs no explicit membership. */
  creator: boolean
  /** When the user was added; of the creator, when the board was created. */
  added_at: string
}

/** A change of a board, or of an object on it. */
export interface Change {
  /** The number of the change: changes of a board have increasing numbers, in the order of their commits. */
  seq: number
  /** When the change was made, by the clock of the process that made it. */
  at: string
  /** The kind of the object. */
  kind: 'board' | 'board_member' | 'column' | 'card' | 'claim' | 'work' | 'label' | 'subtask' | 'comment' | 'attachment'
  /** The id of the object; of a board member, the id of the user; of a claim and of work, the id of the card. */
  id: string
  /** What was done. What belongs to a deleted object is deleted with it, without changes of its own. Only a claim is `claimed` and `released`: a renewal is no change, and a claim that runs out has none. Only the `work` on a card has the others: an attempt that ended because its claim ran out is `failed` with the next write to the card or its claim. */
  action: 'created' | 'updated' | 'deleted' | 'claimed' | 'released' | 'failed' | 'stuck' | 'asked' | 'answered' | 'retried'
  /** Of a claim: its `epoch`. */
  epoch?: number
  /** If work has failed: the attempts in a row that ended without success. */
  attempts?: number
  /** If work has failed: why; null if its claim expired. */
  reason?: string | null
  /** Of an updated object: the names of the members that changed, without `updated_at`. null: the change was made before they were kept. */
  changed?: string[] | null
  /** Of an updated object: what those members were before that are ids, lists of ids, times or booleans. */
  from?: Record<string, string | boolean | null | string[]> | null
  /** The operation that made the change, by its id, such as `cards.move`; of a batch, the one in the batch that wrote the object, or `boards.batch` if several did. null: no request made it, or it was made before operations were kept. */
  operation: string | null
  /** The user who made the change; null: the service or its operator made it. */
  actor_id: string | null
  /** The access token that made it; null: the service, its operator or a person in the web app made it. */
  token_id: string | null
  /** The name of that token; null without one, and of changes that were made before names were kept. */
  token_name: string | null
  /** The request that made the change; null if none did. */
  request_id: string | null
  /** The object as it is when you read the change, so it can be newer than the change; null if it no longer exists. Of a deletion: the object as it was last, without a `description` or `body` of more than 500 characters; null if the deletion was made before it was kept. The same members as in the responses about this kind of object. */
  data: Record<string, unknown> | null
}

/** As an item of a list. A column of a board: one state of its cards. */
export type ListedColumn = Column & WithEtag

/** A column of a board: one state of its cards. */
export interface Column extends Times {
  /** The id of the column. */
  id: string
  /** The board of the column. */
  board_id: string
  /** The name of the column. */
  name: string
  /** The place among the columns of its board, archived ones included. To sort them, compare their positions as text, by code unit. */
  position: string
  /** How many active cards the column may have, completed ones included; null: any number. More may be left from before it was set. */
  wip_limit: number | null
  /** After how many attempts in a row that end without success a card of the column is stuck; null: never. */
  max_attempts: number | null
  /** Whether a card that comes into the column is completed, and one that leaves it for a column that does not is open again. */
  completes: boolean
  /** When the column was archived; null if it is active. */
  archived_at: string | null
}

/** As an item of a list. A card, with counts, its claim and its work if the request asks for them. */
export type ListedCardWithCounts = CardWithCounts & WithEtag

/** As an item of a list. A card, with its claim and its work if the request asks for them. */
export type ListedCardWithClaim = CardWithClaim & WithEtag

/** A card, with counts, its claim and its work if the request asks for them. */
export type CardWithCounts = CardWithClaim & {
  /** How much belongs to it: only with `include=counts`. */
  counts?: {
    /** The number of subtasks. */
    subtasks: number
    /** The number of comments. */
    comments: number
    /** The number of attachments. */
    attachments: number
  }
}

/** A card: one piece of work. It is in one column of one board. */
export interface Card extends Times {
  /** The id of the card. */
  id: string
  /** The board of the card. A card never moves to another board. */
  board_id: string
  /** The column of the card. */
  column_id: string
  /** The title of the card. */
  title: string
  /** The text of the card. It may be empty. */
  description: string
  /** The id of the card in another system, such as `JIRA-4711`. No two cards of a board have the same one, archived ones included. Case matters. */
  external_ref: string | null
  /** The place among the cards of its column, archived ones included. To sort them, compare their positions as text, by code unit. */
  position: string
  /** When the card is due; null if it has no due time. */
  due_at: string | null
  /** When the card was completed; null if it is not completed. */
  completed_at: string | null
  /** The user who completed the card; null if it is not completed, or if an earlier version imported it from another program. */
  completed_by_id: string | null
  /** How the card was completed; null if it is not completed. One that has `failed` is done, and still blocks the cards whose blocker it is. */
  outcome: 'succeeded' | 'failed' | null
  /** When the card was archived; null if it is active. */
  archived_at: string | null
  /** The users who are assigned to the card, in the order in which they were assigned. */
  assignee_ids: string[]
  /** The labels of the card, in the order in which they were applied. */
  label_ids: string[]
  /** The cards of the board that block this one, in the order in which they were added. One that has succeeded or is archived stays among them and blocks no more; one that is deleted disappears. */
  blocker_ids: string[]
  /** The attachment that is the cover of the card; null if it has none. */
  cover_attachment_id: string | null
  /** The user who created the card. */
  creator_id: string
}

/** The card that was taken, with its claim; null if none is ready. */
export type NextCard = ClaimedCard | null

/** The claim of a card; null if nobody holds it. */
export type CardClaim = Claim | null

/** The state of the work on a card. It is not part of the card: no ETag covers it. */
export interface Work {
  /** The first that holds of `done` (completed), `archived`, `claimed`, `waiting` (a question has no answer), `stuck` (as many attempts in a row as the column allows), `blocked` (a blocker is open), `retrying` (`not_before` is in the future), `ready`. */
  state: 'done' | 'archived' | 'claimed' | 'waiting' | 'stuck' | 'blocked' | 'retrying' | 'ready'
  /** How many attempts in a row ended without success: failures, and claims that ran out. */
  attempts: number
  /** Why the last attempt failed; null if its claim expired, or if no attempt failed. */
  reason: string | null
  /** When the last attempt failed; null if none has. */
  failed_at: string | null
  /** When the card may be tried again; null if it waits for no time. */
  not_before: string | null
  /** The question that waits for an answer, a comment on the card; null if no question waits. */
  question_id: string | null
}

/** A comment on a card. */
export interface Comment extends Times {
  /** The id of the comment. */
  id: string
  /** The card of the comment. */
  card_id: string
  /** The user who wrote the comment. */
  author_id: string
  /** The access token that wrote it; null: its author wrote it in the web app. */
  token_id: string | null
  /** The name of that token; null without one. */
  token_name: string | null
  /** The text of the comment. */
  body: string
  /** A `question` was asked by the holder of the claim of the card, and an `answer` was given to one; all others are a `comment`. */
  kind: 'comment' | 'question' | 'answer'
  /** The question that an answer answers; null for all others. */
  answers: string | null
  /** Who has changed its text last: its author in the web app (`person`), or a `token` of theirs. Absent: nobody has. */
  edited_by?: 'person' | 'token'
}

/** As an item of a list. A label that the cards of a board can have. */
export type ListedLabel = Label & WithEtag

/** A label that the cards of a board can have. */
export interface Label extends Times {
  /** The id of the label. */
  id: string
  /** The board of the label. */
  board_id: string
  /** The name of the label. */
  name: string
  /** The color of the label. */
  color: string
}

/** As an item of a list. A step of the work on a card. */
export type ListedSubtask = Subtask & WithEtag

/** A step of the work on a card. */
export interface Subtask extends Times {
  /** The id of the subtask. */
  id: string
  /** The card of the subtask. */
  card_id: string
  /** The title of the subtask. */
  title: string
  /** When the subtask was completed; null if it is not completed. */
  completed_at: string | null
  /** The place among the subtasks of its card. To sort them, compare their positions as text, by code unit. */
  position: string
}

/** As an item of a list. A comment on a card. */
export type ListedComment = Comment & WithEtag

/** As an item of a list. A file on a card. Everyone with access to the board can read its bytes. */
export type ListedAttachment = Attachment & WithEtag

/** A file on a card. Everyone with access to the board can read its bytes. */
export interface Attachment extends Times {
  /** The id of the attachment. */
  id: string
  /** The card of the attachment. */
  card_id: string
  /** The file that is attached. Another request can attach it to another card. */
  file_id: string
  /** The user who uploaded the file. */
  owner_id: string
  /** Who has access to the file in addition to its owner. `workspace`: every member of the workspace. `board`: everyone with access to the board that the file was uploaded to. `private`: only its owner. */
  visibility: 'workspace' | 'board' | 'private'
  /** The name of the file. */
  name: string
  /** The media type that was stated when the file was uploaded. If that said nothing, it follows from the bytes, or from the extension. */
  content_type: string
  /** The size of the file in bytes. */
  size: number
  /** What the bytes of the file say, if they are a picture in PNG, JPEG, GIF or WebP: pages show it, up to 40 megapixels. null: the file is no such picture, or was uploaded before this was read. */
  picture: AttachmentPicture | null
  /** The user who attached the file. */
  attached_by_id: string
}

/** What the bytes of the file say, if they are a picture in PNG, JPEG, GIF or WebP: pages show it, up to 40 megapixels. null: the file is no such picture, or was uploaded before this was read. */
export interface AttachmentPicture {
  /** Its media type, by its bytes. */
  type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  /** Its width in pixels. */
  width: number
  /** Its height in pixels. */
  height: number
}

/** A file of the workspace. Attachments put it on cards. */
export interface StoredFile extends Times {
  /** The id of the file. */
  id: string
  /** The user who uploaded the file. */
  owner_id: string
  /** Who has access to the file in addition to its owner. `workspace`: every member of the workspace. `board`: everyone with access to the board that the file was uploaded to. `private`: only its owner. */
  visibility: 'workspace' | 'board' | 'private'
  /** The board that the file was uploaded to. It may be deleted by now. null: the file is not yours, and you have no access to that board. */
  board_id: string | null
  /** The name of the file. */
  name: string
  /** The media type that was stated when the file was uploaded. If that said nothing, it follows from the bytes, or from the extension. */
  content_type: string
  /** The size of the file in bytes. */
  size: number
  /** What the bytes of the file say, if they are a picture in PNG, JPEG, GIF or WebP: pages show it, up to 40 megapixels. null: the file is no such picture, or was uploaded before this was read. */
  picture: AttachmentPicture | null
}

/** A URL that the changes of a board are sent to. */
export interface Webhook extends Times {
  /** The id of the webhook. */
  id: string
  /** The board whose changes it follows. */
  board_id: string
  /** The user who created it. Each delivery has what they may read then. */
  creator_id: string
  /** Where deliveries are sent. */
  url: string
  /** The kinds of the feed that are delivered; null: all of them. */
  kinds: ('board' | 'board_member' | 'column' | 'card' | 'claim' | 'work' | 'label' | 'subtask' | 'comment' | 'attachment')[] | null
  /** Whether deliveries have an `Authorization` header of its creator. */
  has_authorization: boolean
  /** `active`; `failing`: the last delivery has failed and is tried again; `suspended`: its creator may not read the board; `disabled`: by a person, after it has failed for three days, or because it was restored from a backup. */
  state: 'active' | 'failing' | 'suspended' | 'disabled'
  /** Why it is `failing`, `suspended` or `disabled`; null otherwise. */
  reason: string | null
  /** The place in the feed; everything up to it was delivered: `after` of GET /boards/{board_id}/changes. */
  cursor: string
  /** Since when it fails; null: it does not. */
  failing_since: string | null
}

/** A webhook with its secret, which is shown once. */
export type WebhookWithSecret = Webhook & {
  /** The secret that signs deliveries. It is shown once: the answer to a repetition with the same Idempotency-Key has null. */
  secret: string | null
}

/** An attempt to send changes to a webhook. */
export interface Delivery {
  /** The `webhook-id` of the delivery: the same for each attempt at it. */
  id: string
  /** When it was sent. */
  at: string
  /** The number of changes that it had; 0: it was a test. */
  entries: number
  /** The status of the answer; null without an answer. */
  status: number | null
  /** How long it took. */
  duration_ms: number
  /** Why there was no answer; null with one. */
  error: string | null
}

/** The answers of the operations of a batch. */
export interface BatchResults {
  /** The board. */
  board_id: string
  /** The answers, in the order of the operations. */
  results: BatchResult[]
}

/** May the calling token do this? */
export interface Evaluation {
  /** Who wants to act: the calling token. */
  subject: EvaluationSubject
  /** What is to be done. */
  action: EvaluationAction
  /** What is acted on. */
  resource: EvaluationResource
  /** Ignored: the service reads all facts itself. */
  context?: Record<string, unknown>
}

/** Who wants to act: the calling token. */
export interface EvaluationSubject {
  /** What the subject is. */
  type: 'user' | 'token'
  /** `me`, or the id of your user or of this token: what others may do is not answered. */
  id: string
  /** Ignored: the service knows them. */
  properties?: Record<string, unknown>
}

/** What is to be done. */
export interface EvaluationAction {
  /** The id of an operation, such as `cards.update`. */
  name: string
  /** Members of its body. Their names matter where the policy decides by member (`boards.update`); by default, all that the operation takes. */
  properties?: Record<string, unknown>
}

/** What is acted on. */
export interface EvaluationResource {
  /** What the first parameter of the path names, such as `card` for `{card_id}`; without one, `workspace`. */
  type: string
  /** Its id. The workspace can be called `me`. */
  id: string
  /** The further parameters of the path, and the ids that the body names, by their names: `user_id`, `label_id`, `column_id`, `before` and so on. */
  properties?: Record<string, unknown>
}

/** May the calling token do these things? All are decided on one state of the data. */
export interface Evaluations {
  /** Who wants to act: the calling token. */
  subject?: EvaluationSubject
  /** What is to be done. */
  action?: EvaluationAction
  /** What is acted on. */
  resource?: EvaluationResource
  /** Ignored: the service reads all facts itself. */
  context?: Record<string, unknown>
  /** The questions. Members that one leaves out are taken from the members beside this list. */
  evaluations: {
    /** Who wants to act: the calling token. */
    subject?: EvaluationSubject
    /** What is to be done. */
    action?: EvaluationAction
    /** What is acted on. */
    resource?: EvaluationResource
    /** Ignored: the service reads all facts itself. */
    context?: Record<string, unknown>
  }[]
  /** How the questions are answered. */
  options?: {
    /** Whether to answer all questions, or to stop after the first that is denied, or permitted. Default: "execute_all". */
    evaluations_semantic?: 'execute_all' | 'deny_on_first_deny' | 'permit_on_first_permit'
  }
}

/** What may the calling token do on this resource? */
export interface ActionSearch {
  /** Who wants to act: the calling token. */
  subject?: EvaluationSubject
  /** What is acted on. */
  resource: EvaluationResource
  /** Ignored: the service reads all facts itself. */
  context?: Record<string, unknown>
  /** Which results to return. */
  page?: ActionSearchPage
}

/** Which results to return. */
export interface ActionSearchPage {
  /** `page.next_token` of the previous page. */
  token?: string
  /** The maximum number of results. Default: 50. */
  limit?: number
}

/** Which resources may the calling token do this on? */
export interface ResourceSearch {
  /** Who wants to act: the calling token. */
  subject?: EvaluationSubject
  /** What is to be done. */
  action: EvaluationAction
  /** The type of the resources: `board`. What else the operation names is in the properties, as in a question. */
  resource: {
    /** What the first parameter of the path names, such as `card` for `{card_id}`; without one, `workspace`. */
    type: string
    /** Ignored. */
    id?: string
    /** The further parameters of the path, and the ids that the body names, by their names: `user_id`, `label_id`, `column_id`, `before` and so on. */
    properties?: Record<string, unknown>
  }
  /** Ignored: the service reads all facts itself. */
  context?: Record<string, unknown>
  /** Which results to return. */
  page?: ActionSearchPage
}

/** Which members may do this? */
export interface SubjectSearch {
  /** Who is searched for: members of the workspace. */
  subject?: {
    /** The type of the subjects. */
    type: 'user'
    /** Ignored. */
    id?: string
    /** What is assumed of them. */
    properties?: {
      /** The scope of the token that each of them is assumed to have; by default, `kanban:admin`. */
      scope?: 'kanban:read' | 'kanban:write' | 'kanban:admin'
    }
  }
  /** What is to be done. */
  action: EvaluationAction
  /** What is acted on. */
  resource: EvaluationResource
  /** Ignored: the service reads all facts itself. */
  context?: Record<string, unknown>
  /** Which results to return. */
  page?: ActionSearchPage
}

/** Several writes on a board. */
export interface Batch {
  /** The writes, in their order. Each is decided on its own. */
  operations: BatchOperation[]
}

/** The further members of errors, by code. */
export interface ErrorMembers {
  /** The request could not be read. */
  bad_request: {}
  /** A valid access token is required: Authorization: Bearer <ACCESS_TOKEN>. */
  unauthorized: {}
  /** The token lacks the scope that this operation requires. */
  insufficient_scope: {
    /** The least scope that the operation requires. */
    required_scope: 'kanban:read' | 'kanban:write' | 'kanban:admin'
    /** The scopes of the token, with those that they include. */
    granted_scopes: ('kanban:read' | 'kanban:write' | 'kanban:admin')[]
    /** The row of the specification that decides it. */
    row: string
  }
  /** You can read this resource, but you lack the permission for this operation. */
  forbidden: {
    /** The row of the specification that decides it. */
    row: string
    /** The rule that is not met. */
    reason: string
    /** In a batch: the number of the operation that failed, from 0. */
    index?: number
  }
  /** There is no such resource. */
  not_found: {
    /** What names the resource: a member of the body or the query, or the second parameter of the path; `label_id`, `user_id` or `blocker_id` if it is an item of `label_ids`, `assignee_ids` or `blocker_ids`. Absent if it is the path itself. */
    parameter?: string
    /** In a batch: the number of the operation that failed, from 0. */
    index?: number
  }
  /** This path does not support that method. */
  method_not_allowed: {}
  /** The request did not arrive in time. */
  request_timeout: {}
  /** The request conflicts with the current state of the resource. */
  conflict: {
    /** The limit that was reached, if one was. */
    limit?: number | 'wip_limit'
    /** The card that has the `external_ref` of the request. */
    card_id?: string
    /** The claim of the card, if another token holds it. */
    claim?: Claim
    /** The work on the card, if it is stuck or waits for an answer. */
    work?: Work
    /** In a batch: the number of the operation that failed, from 0. */
    index?: number
  }
  /** A request with the same Idempotency-Key is still being handled. */
  idempotency_key_in_use: {}
  /** The changes after this cursor are no longer kept. Read the board anew with GET /boards/{board_id}?include=columns,cards,labels,members, and continue with its changes_cursor. */
  cursor_expired: {}
  /** The resource has changed: its current ETag does not match. */
  precondition_failed: {
    /** The current ETag, if there is one. */
    current_etag?: string
    /** The claim of the card, if the If-Claim of the request does not hold; null if nobody holds the card. */
    current_claim?: Claim | null
    /** In a batch: the number of the operation that failed, from 0. */
    index?: number
  }
  /** Only the holder of a claim may do this: send If-Claim with the epoch of the claim. */
  precondition_required: {
    /** In a batch: the number of the operation that failed, from 0. */
    index?: number
  }
  /** The body is larger than this operation accepts. */
  payload_too_large: {
    /** The maximum size in bytes. */
    limit_bytes: number
  }
  /** The body must be JSON: Content-Type: application/json. */
  unsupported_media_type: {}
  /** The file does not have this range. */
  range_not_satisfiable: {}
  /** The request does not match what this operation accepts. */
  validation_failed: {
    /** What is not valid: the first 100 issues. */
    issues: {
      /** Where the member is. */
      in: 'query' | 'body'
      /** The name of the member, with dots between levels; empty for the whole. */
      path: string
      /** What is wrong. */
      message: string
    }[]
    /** In a batch: the number of the operation that failed, from 0. */
    index?: number
  }
  /** Another request had the same Idempotency-Key. Each change needs its own. */
  idempotency_key_reused: {}
  /** Too many requests. Try again later. */
  rate_limited: {}
  /** The head of the request is too large. */
  headers_too_large: {}
  /** Something went wrong on our side. The error is logged under the request_id. */
  internal_error: {}
  /** This service does not know that method. */
  not_implemented: {}
  /** Other requests kept changing the same data. Nothing was changed. Try again soon. */
  contention: {
    /** Nothing was changed. */
    outcome: 'not_done'
  }
  /** Storage is not reachable. Nothing was changed. Try again soon. */
  unavailable: {
    /** `not_done`: nothing was changed. `unknown`: it is not known whether the change was made. Read before you retry. */
    outcome: 'not_done' | 'unknown'
  }
  /** There is no room for this file. Nothing was stored. */
  insufficient_storage: {
    /** The bytes that the files of the workspace have. */
    used_bytes?: number
    /** The bytes that they may have. Absent: the disk is nearly full. */
    limit_bytes?: number
  }
}

/** What several operations take. */
export interface CommonInput {
  /** The maximum number of items. A page of long items ends earlier. Default: 50. */
  limit?: number
  /** `page.next_cursor` of the previous page. Omit it for the first page. */
  cursor?: string
  /** Adds members. With `fields`, name them there, too. `etag`: the ETag of each item, for If-Match. The parameter can be repeated, or its values separated by commas. */
  include?: 'etag'[]
  /** What the board is for. */
  description?: string
  /** The color of the board, as `#rrggbb`; null: none. */
  cover_color?: string | null
  /** The id of the board. A malformed one is answered like an absent one, with 404. */
  board_id: string
  /** The id of the user. `me` is the user of the token. A malformed one is answered like an absent one, with 404. */
  user_id: string
  /** The item of the same list that it is placed after. */
  after?: string
  /** The id of the column. A malformed one is answered like an absent one, with 404. */
  column_id: string
  /** How many active cards it may have, completed ones included; null: any number. */
  wip_limit?: number | null
  /** The item of the same list that it is placed before. */
  before?: string
  /** The end of the list where it is placed. */
  to?: 'first' | 'last'
  /** Only cards that one of these users is assigned to. `none`: cards without an assignee. `me` is the user of the token. The parameter can be repeated, or its values separated by commas. */
  assignee_id?: string | string[]
  /** The id of the label. A malformed one is answered like an absent one, with 404. */
  label_id: string
  /** Only cards that are completed, or only those that are not. */
  completed?: boolean
  /** Only cards that are ready, or only the others. Ready: the state of their work is `ready`, and their column is active. */
  ready?: boolean
  /** Only cards whose work has one of these states (see `Work`). The parameter can be repeated, or its values separated by commas. */
  work_state?: ('done' | 'archived' | 'claimed' | 'waiting' | 'stuck' | 'blocked' | 'retrying' | 'ready')[]
  /** Whether to list the archived cards instead of the active ones. The cards of an archived column are archived. Default: false. */
  archived?: boolean
  /** Only cards that have all of these words, in any order, in the title or the description. Case and accents do not matter, and ß is ss. A word also finds longer ones that contain it. Words in double quotes must follow each other, with any white space between them. */
  q?: string
  /** Only the card with this `external_ref`: a board has at most one. */
  external_ref?: string
  /** The id of the card. A malformed one is answered like an absent one, with 404. */
  card_id: string
  /** When the card is due; null: at no time. Any offset is accepted. The answer is in UTC. */
  due_at?: string | null
  /** The id of the blocker. A malformed one is answered like an absent one, with 404. */
  blocker_id: string
  /** The seconds until it expires, unless it is renewed. Default: 300. */
  ttl?: number
  /** The text of the comment. */
  body: string
  /** The id of the subtask. A malformed one is answered like an absent one, with 404. */
  subtask_id: string
  /** The id of the comment. A malformed one is answered like an absent one, with 404. */
  comment_id: string
  /** The id of the attachment. A malformed one is answered like an absent one, with 404. */
  attachment_id: string
  /** The id of the file. A malformed one is answered like an absent one, with 404. */
  file_id: string
  /** The id of the webhook. A malformed one is answered like an absent one, with 404. */
  webhook_id: string
  /** The kinds of the feed that are delivered; null: all of them. */
  kinds?: ('board' | 'board_member' | 'column' | 'card' | 'claim' | 'work' | 'label' | 'subtask' | 'comment' | 'attachment')[] | null
  /** The `Authorization` header of each delivery, such as `Bearer …`. It is stored encrypted, and never shown. */
  authorization?: string | null
}

/** What a read returns. */
export interface Selection<Name> {
  /** Only these top-level members of the resource, or of each item of the list; its `id` is always one of them. The others are absent, also those that the schema requires. The ETag of a resource stays the same. The parameter can be repeated, or its values separated by commas. */
  fields?: Name[]
}

// The input of each operation.
export type AccountReadInput = Selection<'user_id' | 'display_name' | 'role' | 'workspace' | 'scopes' | 'token'>
export type AccessEvaluateInput = Evaluation
export type AccessEvaluateAllInput = Evaluations
export type AccessSearchActionInput = ActionSearch
export type AccessSearchResourceInput = ResourceSearch
export type AccessSearchSubjectInput = SubjectSearch
export type MembersListInput = Pick<CommonInput, 'limit' | 'cursor'> & Selection<'user_id' | 'role' | 'display_name' | 'avatar_url'>
export type NoticesListInput = Pick<CommonInput, 'limit'> & {
  /** Returns the notices after this cursor: `page.next_cursor` of the previous response. Omit it to begin with the first one. */
  after?: string
  /** `asc`: the oldest notice first, and each response has a cursor to go on from. `desc`: the newest first. Default: "asc". */
  order?: 'asc' | 'desc'
  /** Only notices that you have not marked as read. Default: false. */
  unread?: boolean
  /** The number of seconds to wait for a notice if there is none. The response comes as soon as there is one. It must be 0 with `order=desc`. Default: 0. */
  wait?: number
} & Selection<'id' | 'kind' | 'at' | 'read_at' | 'board_id' | 'card_id' | 'comment_id' | 'actor_id' | 'token_name' | 'text'>

export type NoticesMarkInput = {
  /** These notices. Ids of notices that you do not have are ignored. */
  ids?: string[]
  /** All notices until this time. */
  before?: string
}

export type BoardsListInput = Pick<CommonInput, 'limit' | 'cursor' | 'include'> & Selection<'id' | 'name' | 'description' | 'cover_color' | 'visibility' | 'creator_id' | 'created_at' | 'updated_at' | 'etag'>
export type BoardsCreateInput = Pick<CommonInput, 'description' | 'cover_color'> & {
  /** The name of the board. */
  name: string
}

export type BoardsReadInput = Pick<CommonInput, 'board_id'> & {
  /** What is on the board: everything as it was at one moment. A response that includes something has no ETag, because that changes without the board. The parameter can be repeated, or its values separated by commas. */
  include?: ('columns' | 'cards' | 'labels' | 'members' | 'counts' | 'claim' | 'work')[]
} & Selection<'id' | 'name' | 'description' | 'cover_color' | 'visibility' | 'creator_id' | 'created_at' | 'updated_at' | 'columns' | 'cards' | 'cards_cursor' | 'labels' | 'members' | 'counts' | 'changes_cursor'>

export type BoardsUpdateInput = Pick<CommonInput, 'board_id' | 'description' | 'cover_color'> & {
  /** The name of the board. */
  name?: string
}

export type BoardsSetVisibilityInput = Pick<CommonInput, 'board_id'> & {
  /** `workspace`: every member of the workspace gets access to the board. `private`: only its creator and its explicit members have access. */
  visibility: 'workspace' | 'private'
}

export type BoardsDeleteInput = Pick<CommonInput, 'board_id'>
export type BoardMembersListInput = Pick<CommonInput, 'board_id' | 'limit' | 'cursor'> & Selection<'user_id' | 'display_name' | 'avatar_url' | 'creator' | 'added_at'>
export type BoardsAssignableInput = Pick<CommonInput, 'board_id' | 'limit' | 'cursor'> & Selection<'user_id' | 'role' | 'display_name' | 'avatar_url'>
export type BoardMembersAddInput = Pick<CommonInput, 'board_id' | 'user_id'>
export type BoardMembersRemoveInput = Pick<CommonInput, 'board_id' | 'user_id'>
export type BoardsChangesInput = Pick<CommonInput, 'board_id' | 'limit'> & {
  /** Returns the changes after this cursor: `page.next_cursor` of the previous response, or `changes_cursor` of GET /boards/{board_id}?include=…. `now` is the present end. Omit it to begin with the first change of the board. */
  after?: string
  /** The number of seconds to wait for a change if there is none. The response comes as soon as there is one. It must be 0 with `order=desc`. Default: 0. */
  wait?: number
  /** `desc`: the newest first, from the end or before `after`; `page.next_cursor` is null after the oldest one. */
  order?: 'asc' | 'desc'
} & Selection<'seq' | 'at' | 'kind' | 'id' | 'action' | 'epoch' | 'attempts' | 'reason' | 'changed' | 'from' | 'operation' | 'actor_id' | 'token_id' | 'token_name' | 'request_id' | 'data'>

export type BoardsEventsInput = Pick<CommonInput, 'board_id'> & {
  /** Returns the changes after this cursor: `page.next_cursor` of the previous response, or `changes_cursor` of GET /boards/{board_id}?include=…. `now` is the present end. Omit it to begin with the first change of the board. */
  after?: string
}

export type ColumnsListInput = Pick<CommonInput, 'board_id' | 'limit' | 'cursor' | 'include'> & {
  /** Whether to list the archived columns instead of the active ones. Default: false. */
  archived?: boolean
} & Selection<'id' | 'board_id' | 'name' | 'position' | 'wip_limit' | 'max_attempts' | 'completes' | 'archived_at' | 'created_at' | 'updated_at' | 'etag'>

export type ColumnsReadInput = Pick<CommonInput, 'column_id'> & Selection<'id' | 'board_id' | 'name' | 'position' | 'wip_limit' | 'max_attempts' | 'completes' | 'archived_at' | 'created_at' | 'updated_at'>
export type ColumnsCreateInput = Pick<CommonInput, 'board_id' | 'wip_limit' | 'before' | 'after' | 'to'> & {
  /** The name of the column. */
  name: string
  /** After how many attempts in a row that end without success a card is stuck; null: never. It counts for claims that are taken from then on. Default: 5. */
  max_attempts?: number | null
  /** Whether a card that comes into the column is completed, and one that leaves it for a column that does not is open again. The cards that are in the column stay as they are. Default: false. */
  completes?: boolean
}

export type ColumnsRenameInput = Pick<CommonInput, 'column_id' | 'wip_limit'> & {
  /** The name of the column. */
  name?: string
  /** After how many attempts in a row that end without success a card is stuck; null: never. It counts for claims that are taken from then on. */
  max_attempts?: number | null
  /** Whether a card that comes into the column is completed, and one that leaves it for a column that does not is open again. The cards that are in the column stay as they are. */
  completes?: boolean
}

export type ColumnsMoveInput = Pick<CommonInput, 'column_id' | 'before' | 'after' | 'to'>
export type ColumnsArchiveInput = Pick<CommonInput, 'column_id'>
export type ColumnsRestoreInput = Pick<CommonInput, 'column_id'>
export type CardsListInput = Pick<CommonInput, 'board_id' | 'limit' | 'cursor' | 'assignee_id' | 'completed' | 'ready' | 'work_state' | 'archived' | 'q' | 'external_ref'> & {
  /** Only cards of one of these columns. The parameter can be repeated, or its values separated by commas. */
  column_id?: string | string[]
  /** Only cards with one of these labels. `none`: cards without a label. The parameter can be repeated, or its values separated by commas. */
  label_id?: string | string[]
  /** Adds members. With `fields`, name them there, too. `counts`: how many objects belong to it; a resource then has no ETag. `claim`: who holds it, and until when; a resource then has no ETag. `work`: what the work on it has come to; a resource then has no ETag. `etag`: the ETag of each item, for If-Match. The parameter can be repeated, or its values separated by commas. */
  include?: ('counts' | 'claim' | 'work' | 'etag')[]
} & Selection<'id' | 'board_id' | 'column_id' | 'title' | 'description' | 'external_ref' | 'position' | 'due_at' | 'completed_at' | 'completed_by_id' | 'outcome' | 'archived_at' | 'assignee_ids' | 'label_ids' | 'blocker_ids' | 'cover_attachment_id' | 'creator_id' | 'created_at' | 'updated_at' | 'claim' | 'work' | 'counts' | 'etag'>

export type CardsSearchInput = Pick<CommonInput, 'limit' | 'cursor' | 'assignee_id' | 'completed' | 'ready' | 'work_state' | 'archived' | 'q' | 'external_ref'> & {
  /** Only cards of this board. */
  board_id?: string
  /** Only cards of one of these columns. The parameter can be repeated, or its values separated by commas. */
  column_id?: string | string[]
  /** Only cards with one of these labels. `none`: cards without a label. The parameter can be repeated, or its values separated by commas. */
  label_id?: string | string[]
  /** Only cards that have this card as a blocker. */
  blocker_id?: string
  /** Only cards that are due before this time. */
  due_before?: string
  /** Only cards that are due at this time or later. */
  due_after?: string
  /** Only cards that were completed before this time. */
  completed_before?: string
  /** Only cards that were completed at this time or later. */
  completed_after?: string
  /** Only cards that this user has completed. `me` is the user of the token. */
  completed_by?: string
  /** Adds members. With `fields`, name them there, too. `claim`: who holds it, and until when; a resource then has no ETag. `work`: what the work on it has come to; a resource then has no ETag. `etag`: the ETag of each item, for If-Match. The parameter can be repeated, or its values separated by commas. */
  include?: ('claim' | 'work' | 'etag')[]
  /** What the cards are sorted by. `position`: board by board, the oldest first, and each as GET /boards/{board_id}/cards lists it. `due_at`: cards without a due time follow all others. `completed_at`: only completed cards are listed. Default: "updated_at". */
  sort?: 'position' | 'due_at' | 'updated_at' | 'created_at' | 'completed_at'
  /** The direction; by default `asc` for `due_at` and `position`, and `desc` for the others. */
  order?: 'asc' | 'desc'
} & Selection<'id' | 'board_id' | 'column_id' | 'title' | 'description' | 'external_ref' | 'position' | 'due_at' | 'completed_at' | 'completed_by_id' | 'outcome' | 'archived_at' | 'assignee_ids' | 'label_ids' | 'blocker_ids' | 'cover_attachment_id' | 'creator_id' | 'created_at' | 'updated_at' | 'claim' | 'work' | 'etag'>

export type CardsReadInput = Pick<CommonInput, 'card_id'> & {
  /** Adds members. With `fields`, name them there, too. `counts`: how many objects belong to it; a resource then has no ETag. `claim`: who holds it, and until when; a resource then has no ETag. `work`: what the work on it has come to; a resource then has no ETag. The parameter can be repeated, or its values separated by commas. */
  include?: ('counts' | 'claim' | 'work')[]
} & Selection<'id' | 'board_id' | 'column_id' | 'title' | 'description' | 'external_ref' | 'position' | 'due_at' | 'completed_at' | 'completed_by_id' | 'outcome' | 'archived_at' | 'assignee_ids' | 'label_ids' | 'blocker_ids' | 'cover_attachment_id' | 'creator_id' | 'created_at' | 'updated_at' | 'claim' | 'work' | 'counts'>

export type CardsCreateInput = Pick<CommonInput, 'board_id' | 'due_at' | 'before' | 'after' | 'to'> & {
  /** The column of the new card. It must be an active column of the board. */
  column_id: string
  /** The title of the card. */
  title: string
  /** The text of the card. */
  description?: string
  /** The id of the card in another system, such as `JIRA-4711`. No two cards of a board have the same one, archived ones included. Case matters. */
  external_ref?: string | null
  /** The labels of the card. They must be labels of the board. */
  label_ids?: string[]
  /** The users who are assigned to the card. They must have access to the board. */
  assignee_ids?: string[]
  /** The blockers of the card. They must be cards of the board. */
  blocker_ids?: string[]
  /** The subtasks of the card in their order: the title of each, or an object with its title and whether it is completed. */
  subtasks?: (string | {
    /** The title of the subtask. */
    title: string
    /** Whether the subtask is completed. Default: false. */
    completed?: boolean
  })[]
}

export type CardsUpdateInput = Pick<CommonInput, 'card_id' | 'due_at'> & {
  /** The title of the card. */
  title?: string
  /** The text of the card. */
  description?: string
  /** The id of the card in another system, such as `JIRA-4711`. No two cards of a board have the same one, archived ones included. Case matters. */
  external_ref?: string | null
}

export type CardsMoveInput = Pick<CommonInput, 'card_id' | 'before' | 'after' | 'to'> & {
  /** The column to move the card to; by default the column of `before` or `after`, else its own. */
  column_id?: string
}

export type CardsCompleteInput = Pick<CommonInput, 'card_id'> & {
  /** Whether the card is completed. */
  completed: boolean
  /** How it is completed; by default, or with null, `succeeded`. One that has `failed` still blocks the cards whose blocker it is. Of a card that is completed, it replaces the outcome. */
  outcome?: 'succeeded' | 'failed' | null
}

export type CardsArchiveInput = Pick<CommonInput, 'card_id'>
export type CardsRestoreInput = Pick<CommonInput, 'card_id'>
export type CardsDeleteInput = Pick<CommonInput, 'card_id'>
export type CardsAssignInput = Pick<CommonInput, 'card_id' | 'user_id'>
export type CardsUnassignInput = Pick<CommonInput, 'card_id' | 'user_id'>
export type CardsApplyLabelInput = Pick<CommonInput, 'card_id' | 'label_id'>
export type CardsRemoveLabelInput = Pick<CommonInput, 'card_id' | 'label_id'>
export type CardsSetCoverInput = Pick<CommonInput, 'card_id'> & {
  /** An attachment of this card whose `content_type` begins with `image/`. */
  attachment_id: string
}

export type CardsClearCoverInput = Pick<CommonInput, 'card_id'>
export type BlockersAddInput = Pick<CommonInput, 'card_id' | 'blocker_id'>
export type BlockersRemoveInput = Pick<CommonInput, 'card_id' | 'blocker_id'>
export type ClaimsTakeNextInput = Pick<CommonInput, 'board_id' | 'ttl'> & {
  /** Adds members. With `fields`, name them there, too. `work`: what the work on it has come to; a resource then has no ETag. The parameter can be repeated, or its values separated by commas. */
  include?: 'work'[]
  /** Only a card of this column. */
  column_id?: string
  /** Only a card with this label. */
  label_id?: string
  /** The seconds to wait for a card if none is ready. Default: 0. */
  wait?: number
}

export type ClaimsTakeInput = Pick<CommonInput, 'card_id' | 'ttl'>
export type ClaimsReleaseInput = Pick<CommonInput, 'card_id'> & {
  /** Ends the claim of another token, too. Default: false. */
  force?: boolean
  /** For how many seconds nobody gets the card. */
  retry_after?: number
}

export type ClaimsReadInput = Pick<CommonInput, 'card_id'> & Selection<'card_id' | 'holder_id' | 'token_id' | 'token_name' | 'epoch' | 'expires_at' | 'claimed_at' | 'renewed_at'>
export type ClaimsFailInput = Pick<CommonInput, 'card_id'> & {
  /** Why the attempt has failed. Whoever takes the card next reads it, and so do people. */
  reason: string
  /** The seconds before the card is tried again. By default 30 after the first attempt, twice as many after each further one, and at most 3600. */
  retry_after?: number
}

export type ClaimsAskInput = Pick<CommonInput, 'card_id'> & {
  /** What you need to know before you can go on. */
  question: string
}

export type CardsAnswerInput = Pick<CommonInput, 'card_id' | 'body'>
export type CardsRetryInput = Pick<CommonInput, 'card_id'>
export type LabelsListInput = Pick<CommonInput, 'board_id' | 'limit' | 'cursor' | 'include'> & Selection<'id' | 'board_id' | 'name' | 'color' | 'created_at' | 'updated_at' | 'etag'>
export type LabelsReadInput = Pick<CommonInput, 'label_id'> & Selection<'id' | 'board_id' | 'name' | 'color' | 'created_at' | 'updated_at'>
export type LabelsCreateInput = Pick<CommonInput, 'board_id'> & {
  /** The name of the label. */
  name: string
  /** The color of the label, as `#rrggbb`. */
  color: string
}

export type LabelsUpdateInput = Pick<CommonInput, 'label_id'> & {
  /** The name of the label. */
  name?: string
  /** The color of the label, as `#rrggbb`. */
  color?: string
}

export type LabelsDeleteInput = Pick<CommonInput, 'label_id'>
export type SubtasksListInput = Pick<CommonInput, 'card_id' | 'limit' | 'cursor' | 'include'> & Selection<'id' | 'card_id' | 'title' | 'completed_at' | 'position' | 'created_at' | 'updated_at' | 'etag'>
export type SubtasksReadInput = Pick<CommonInput, 'subtask_id'> & Selection<'id' | 'card_id' | 'title' | 'completed_at' | 'position' | 'created_at' | 'updated_at'>
export type SubtasksCreateInput = Pick<CommonInput, 'card_id' | 'before' | 'after' | 'to'> & {
  /** The title of the subtask. */
  title: string
  /** Whether the subtask is completed. Default: false. */
  completed?: boolean
}

export type SubtasksUpdateInput = Pick<CommonInput, 'subtask_id' | 'before' | 'after' | 'to'> & {
  /** The title of the subtask. */
  title?: string
  /** Whether the subtask is completed. */
  completed?: boolean
}

export type SubtasksDeleteInput = Pick<CommonInput, 'subtask_id'>
export type CommentsListInput = Pick<CommonInput, 'card_id' | 'limit' | 'cursor' | 'include'> & Selection<'id' | 'card_id' | 'author_id' | 'token_id' | 'token_name' | 'body' | 'kind' | 'answers' | 'edited_by' | 'created_at' | 'updated_at' | 'etag'>
export type CommentsReadInput = Pick<CommonInput, 'comment_id'> & Selection<'id' | 'card_id' | 'author_id' | 'token_id' | 'token_name' | 'body' | 'kind' | 'answers' | 'edited_by' | 'created_at' | 'updated_at'>
export type CommentsCreateInput = Pick<CommonInput, 'card_id' | 'body'>
export type CommentsUpdateInput = Pick<CommonInput, 'comment_id' | 'body'>
export type CommentsDeleteInput = Pick<CommonInput, 'comment_id'>
export type AttachmentsListInput = Pick<CommonInput, 'card_id' | 'limit' | 'cursor' | 'include'> & Selection<'id' | 'card_id' | 'file_id' | 'owner_id' | 'visibility' | 'name' | 'content_type' | 'size' | 'picture' | 'attached_by_id' | 'created_at' | 'updated_at' | 'etag'>
export type AttachmentsReadInput = Pick<CommonInput, 'attachment_id'> & Selection<'id' | 'card_id' | 'file_id' | 'owner_id' | 'visibility' | 'name' | 'content_type' | 'size' | 'picture' | 'attached_by_id' | 'created_at' | 'updated_at'>
export type AttachmentsDownloadInput = Pick<CommonInput, 'attachment_id'>
export type AttachmentsAttachInput = Pick<CommonInput, 'card_id'> & {
  /** A file that you have access to. It must not be attached to this card already. */
  file_id: string
}

export type AttachmentsUploadInput = Pick<CommonInput, 'card_id'> & {
  /** The file, with its name and its media type. */
  file: Blob
  /** Who has access to the file in addition to you. `workspace`: every member of the workspace. `board`: everyone with access to this board. `private`: only you. Default: "board". */
  visibility?: 'workspace' | 'board' | 'private'
}

export type AttachmentsDetachInput = Pick<CommonInput, 'attachment_id'>
export type FilesReadInput = Pick<CommonInput, 'file_id'> & Selection<'id' | 'owner_id' | 'visibility' | 'board_id' | 'name' | 'content_type' | 'size' | 'picture' | 'created_at' | 'updated_at'>
export type FilesUpdateInput = Pick<CommonInput, 'file_id'> & {
  /** Who has access to the file in addition to you. `workspace`: every member of the workspace. `board`: everyone with access to the board that it was uploaded to; only you, if that is deleted. `private`: only you. */
  visibility: 'workspace' | 'board' | 'private'
}

export type WebhooksListInput = Pick<CommonInput, 'board_id' | 'limit' | 'cursor'> & Selection<'id' | 'board_id' | 'creator_id' | 'url' | 'kinds' | 'has_authorization' | 'state' | 'reason' | 'cursor' | 'failing_since' | 'created_at' | 'updated_at'>
export type WebhooksReadInput = Pick<CommonInput, 'webhook_id'> & Selection<'id' | 'board_id' | 'creator_id' | 'url' | 'kinds' | 'has_authorization' | 'state' | 'reason' | 'cursor' | 'failing_since' | 'created_at' | 'updated_at'>
export type WebhooksCreateInput = Pick<CommonInput, 'board_id' | 'kinds' | 'authorization'> & {
  /** Where deliveries are sent. */
  url: string
  /** Where deliveries begin: a cursor of the feed of the board, or `now`. Default: "now". */
  after?: 'now' | string
}

export type WebhooksUpdateInput = Pick<CommonInput, 'webhook_id' | 'kinds' | 'authorization'> & {
  /** Where deliveries are sent. */
  url?: string
  /** Whether changes are sent. */
  enabled?: boolean
  /** Where deliveries begin: a cursor of the feed of the board, or `now`. */
  after?: 'now' | string
}

export type WebhooksDeleteInput = Pick<CommonInput, 'webhook_id'>
export type WebhooksRotateSecretInput = Pick<CommonInput, 'webhook_id'>
export type WebhooksTestInput = Pick<CommonInput, 'webhook_id'>
export type WebhooksDeliveriesInput = Pick<CommonInput, 'webhook_id'> & Selection<'id' | 'at' | 'entries' | 'status' | 'duration_ms' | 'error'>
export type BoardsBatchInput = Pick<CommonInput, 'board_id'> & Batch
/** What each write of a batch takes, and what it answers. */
interface BatchTable {
  'boards.update': { params: { board_id?: string }; body: Omit<BoardsUpdateInput, 'board_id' | 'dry_run'>; data: Board }
  'columns.create': { params: { board_id?: string }; body: Omit<ColumnsCreateInput, 'board_id' | 'dry_run'>; data: Column }
  'columns.rename': { params: { column_id: string }; body: Omit<ColumnsRenameInput, 'column_id' | 'dry_run'>; data: Column }
  'columns.move': { params: { column_id: string }; body: Omit<ColumnsMoveInput, 'column_id' | 'dry_run'>; data: Column }
  'columns.archive': { params: { column_id: string }; body: {}; data: Column }
  'columns.restore': { params: { column_id: string }; body: {}; data: Column }
  'cards.create': { params: { board_id?: string }; body: Omit<CardsCreateInput, 'board_id' | 'dry_run'>; data: Card }
  'cards.update': { params: { card_id: string }; body: Omit<CardsUpdateInput, 'card_id' | 'dry_run'>; data: Card }
  'cards.move': { params: { card_id: string }; body: Omit<CardsMoveInput, 'card_id' | 'dry_run'>; data: Card }
  'cards.complete': { params: { card_id: string }; body: Omit<CardsCompleteInput, 'card_id' | 'dry_run'>; data: Card }
  'cards.archive': { params: { card_id: string }; body: {}; data: Card }
  'cards.restore': { params: { card_id: string }; body: {}; data: Card }
  'cards.assign': { params: { card_id: string; user_id: string }; body: {}; data: Card }
  'cards.unassign': { params: { card_id: string; user_id: string }; body: {}; data: Card }
  'cards.apply_label': { params: { card_id: string; label_id: string }; body: {}; data: Card }
  'cards.remove_label': { params: { card_id: string; label_id: string }; body: {}; data: Card }
  'cards.set_cover': { params: { card_id: string }; body: Omit<CardsSetCoverInput, 'card_id' | 'dry_run'>; data: Card }
  'cards.clear_cover': { params: { card_id: string }; body: {}; data: Card }
  'blockers.add': { params: { card_id: string; blocker_id: string }; body: {}; data: Card }
  'blockers.remove': { params: { card_id: string; blocker_id: string }; body: {}; data: Card }
  'claims.take': { params: { card_id: string }; body: Omit<ClaimsTakeInput, 'card_id' | 'dry_run'>; data: CardClaim }
  'claims.release': { params: { card_id: string }; body: Omit<ClaimsReleaseInput, 'card_id' | 'dry_run' | 'force'>; data: Deleted }
  'claims.fail': { params: { card_id: string }; body: Omit<ClaimsFailInput, 'card_id' | 'dry_run'>; data: Work }
  'claims.ask': { params: { card_id: string }; body: Omit<ClaimsAskInput, 'card_id' | 'dry_run'>; data: Comment }
  'cards.answer': { params: { card_id: string }; body: Omit<CardsAnswerInput, 'card_id' | 'dry_run'>; data: Comment }
  'cards.retry': { params: { card_id: string }; body: {}; data: Work }
  'labels.create': { params: { board_id?: string }; body: Omit<LabelsCreateInput, 'board_id' | 'dry_run'>; data: Label }
  'labels.update': { params: { label_id: string }; body: Omit<LabelsUpdateInput, 'label_id' | 'dry_run'>; data: Label }
  'labels.delete': { params: { label_id: string }; body: {}; data: Deleted }
  'subtasks.create': { params: { card_id: string }; body: Omit<SubtasksCreateInput, 'card_id' | 'dry_run'>; data: Subtask }
  'subtasks.update': { params: { subtask_id: string }; body: Omit<SubtasksUpdateInput, 'subtask_id' | 'dry_run'>; data: Subtask }
  'subtasks.delete': { params: { subtask_id: string }; body: {}; data: Deleted }
  'comments.create': { params: { card_id: string }; body: Omit<CommentsCreateInput, 'card_id' | 'dry_run'>; data: Comment }
  'comments.update': { params: { comment_id: string }; body: Omit<CommentsUpdateInput, 'comment_id' | 'dry_run'>; data: Comment }
  'comments.delete': { params: { comment_id: string }; body: {}; data: Deleted }
  'attachments.attach': { params: { card_id: string }; body: Omit<AttachmentsAttachInput, 'card_id' | 'dry_run'>; data: Attachment }
  'attachments.detach': { params: { attachment_id: string }; body: {}; data: Deleted }
}

/** A write of `boards.batch`. An id can be `$0`: the id that the first write has created, and so on. */
export type BatchOperation = { [Id in keyof BatchTable]: BatchWrite<Id, BatchTable[Id]['params'], BatchTable[Id]['body']> }[keyof BatchTable]

/** What a write of `boards.batch` answers. Its `operation` tells which. */
export type BatchResult = { [Id in keyof BatchTable]: BatchAnswer<Id, BatchTable[Id]['data']> }[keyof BatchTable]

/** A method for each operation, by its id. */
export interface Methods {
  readonly account: {
    /** Returns the user, the workspace and the scopes of the token. Scope `kanban:read`. */
    readonly read: ReadMethod<AccountReadInput, Account>
  }
  readonly access: {
    /** Tells whether the calling token may perform an operation, and if not, why. Scope `kanban:read`. */
    readonly evaluate: WriteMethod<AccessEvaluateInput, EvaluationResult>
    /** Tells which of several operations the calling token may perform. All are decided on one state of the data. Scope `kanban:read`. */
    readonly evaluate_all: WriteMethod<AccessEvaluateAllInput, EvaluationResults>
    /** Lists what the calling token may do on a resource, such as a board. Scope `kanban:read`. */
    readonly search_action: WriteMethod<AccessSearchActionInput, FoundActions>
    /** Lists the boards that the calling token may perform an operation on, oldest first. Scope `kanban:read`. */
    readonly search_resource: WriteMethod<AccessSearchResourceInput, FoundResources>
    /** Lists the members who may perform an operation on a resource, in the order in which they joined. Scope `kanban:read`. */
    readonly search_subject: WriteMethod<AccessSearchSubjectInput, FoundSubjects>
  }
  readonly members: {
    /** Lists the members of the workspace, in the order they joined. Scope `kanban:read`. */
    readonly list: ListMethod<MembersListInput, Member>
  }
  readonly notices: {
    /** Lists what you have to know: questions, mentions, assignments and more, oldest first. What you may not read is left out. Scope `kanban:read`. */
    readonly list: PageMethod<NoticesListInput, Notice>
    /** Marks notices of yours as read: some of them, or all until a time. Scope `kanban:write`. */
    readonly mark: WriteMethod<NoticesMarkInput, NoticesRead>
  }
  readonly boards: {
    /** Lists the boards that you have access to, oldest first. Scope `kanban:read`. */
    readonly list: ListMethod<BoardsListInput, ListedBoard>
    /** Creates a board that every member of the workspace has access to. Scope `kanban:write`. */
    readonly create: WriteMethod<BoardsCreateInput, Board>
    /** Returns a board. With ?include=columns,cards,labels,members,counts it includes the contents, all from the same moment. Scope `kanban:read`. */
    readonly read: ReadMethod<BoardsReadInput, BoardSnapshot>
    /** Changes the name, the description or the cover color of a board. Scope `kanban:write`. */
    readonly update: WriteMethod<BoardsUpdateInput, Board>
    /** Gives every member of the workspace access to a board, or only its creator and explicit members. Scope `kanban:admin`. */
    readonly set_visibility: WriteMethod<BoardsSetVisibilityInput, Board>
    /** Deletes a board permanently, with everything on it. Scope `kanban:admin`. */
    readonly delete: WriteMethod<BoardsDeleteInput, Deleted>
    /** Lists the people who can be assigned to the cards of a board: everyone with access to it. Scope `kanban:read`. */
    readonly assignable: ListMethod<BoardsAssignableInput, Member>
    /** Returns the changes of a board and its contents, in the order of their commits, each once. Scope `kanban:read`. */
    readonly changes: PageMethod<BoardsChangesInput, Change>
    /** Returns the changes of a board as a stream of server-sent events, which continues as they are made. Scope `kanban:read`. */
    readonly events: BytesMethod<BoardsEventsInput>
    /** Makes several changes on a board in one commit: all of them, or none. Scope `kanban:write`. */
    readonly batch: WriteMethod<BoardsBatchInput, BatchResults>
  }
  readonly board_members: {
    /** Lists the creator of a board and its explicit members, in the order they were added. Scope `kanban:read`. */
    readonly list: ListMethod<BoardMembersListInput, BoardMember>
    /** Makes a member of the workspace an explicit member of a board. Repeating it changes nothing. Scope `kanban:admin`. */
    readonly add: WriteMethod<BoardMembersAddInput, BoardMember>
    /** Removes an explicit member from a board. Scope `kanban:admin`. */
    readonly remove: WriteMethod<BoardMembersRemoveInput, Deleted>
  }
  readonly columns: {
    /** Lists the active columns of a board in their order, or the archived ones with ?archived=true. Scope `kanban:read`. */
    readonly list: ListMethod<ColumnsListInput, ListedColumn>
    /** Returns a column. Scope `kanban:read`. */
    readonly read: ReadMethod<ColumnsReadInput, Column>
    /** Creates a column before or after another one, or at the end, with a WIP limit if the body has one. Scope `kanban:write`. */
    readonly create: WriteMethod<ColumnsCreateInput, Column>
    /** Renames a column, or changes how many active cards it may have, how many attempts, and whether it completes its cards. Scope `kanban:write`. */
    readonly rename: WriteMethod<ColumnsRenameInput, Column>
    /** Moves a column to another place on its board. Scope `kanban:write`. */
    readonly move: WriteMethod<ColumnsMoveInput, Column>
    /** Archives a column. Its cards leave the active lists with it. Scope `kanban:write`. */
    readonly archive: WriteMethod<ColumnsArchiveInput, Column>
    /** Restores an archived column to its place, with its cards. Scope `kanban:write`. */
    readonly restore: WriteMethod<ColumnsRestoreInput, Column>
  }
  readonly cards: {
    /** Lists the cards of a board column by column. ?archived=true lists the archived ones; ?q= searches words in title and description. Scope `kanban:read`. */
    readonly list: ListMethod<CardsListInput, ListedCardWithCounts>
    /** Lists the cards of all boards that you have access to, such as your assigned cards. The last changed card comes first. Scope `kanban:read`. */
    readonly search: ListMethod<CardsSearchInput, ListedCardWithClaim>
    /** Returns a card. With ?include=counts,claim,work it has the numbers of its subtasks, comments and attachments, who holds it, and the state of the work on it. Scope `kanban:read`. */
    readonly read: ReadMethod<CardsReadInput, CardWithCounts>
    /** Creates a card in a column, before or after another card, or at the end: with labels, assignees, blockers and subtasks, if the body has them. Scope `kanban:write`. */
    readonly create: WriteMethod<CardsCreateInput, Card>
    /** Changes the title, the description, the due time or the external reference of a card. Scope `kanban:write`. */
    readonly update: WriteMethod<CardsUpdateInput, Card>
    /** Moves a card within its column, or to another column of its board: by default to its end. A column that completes its cards completes it. Scope `kanban:write`. */
    readonly move: WriteMethod<CardsMoveInput, Card>
    /** Marks a card as completed, with success or without, or as not completed. Scope `kanban:write`. */
    readonly complete: WriteMethod<CardsCompleteInput, Card>
    /** Archives a card. Scope `kanban:write`. */
    readonly archive: WriteMethod<CardsArchiveInput, Card>
    /** Restores an archived card to its place. Scope `kanban:write`. */
    readonly restore: WriteMethod<CardsRestoreInput, Card>
    /** Deletes a card permanently, with its subtasks, comments and attachments. It disappears from the blockers of other cards. Scope `kanban:admin`. */
    readonly delete: WriteMethod<CardsDeleteInput, Deleted>
    /** Assigns a user who has access to the board. Repeating it changes nothing. Scope `kanban:write`. */
    readonly assign: WriteMethod<CardsAssignInput, Card>
    /** Removes an assignee from a card, whether or not they still have access to the board. Scope `kanban:write`. */
    readonly unassign: WriteMethod<CardsUnassignInput, Card>
    /** Applies a label of the board to a card. Repeating it changes nothing. Scope `kanban:write`. */
    readonly apply_label: WriteMethod<CardsApplyLabelInput, Card>
    /** Removes a label from a card. Scope `kanban:write`. */
    readonly remove_label: WriteMethod<CardsRemoveLabelInput, Card>
    /** Makes an image that is attached to a card its cover. Scope `kanban:write`. */
    readonly set_cover: WriteMethod<CardsSetCoverInput, Card>
    /** Removes the cover of a card. Without a cover, nothing changes. Scope `kanban:write`. */
    readonly clear_cover: WriteMethod<CardsClearCoverInput, Card>
    /** Answers the question on a card with a comment. The card no longer waits. Scope `kanban:write`. */
    readonly answer: WriteMethod<CardsAnswerInput, Comment>
    /** Forgets failed attempts: a card that is stuck, or waits for a time, is offered again at once. Scope `kanban:write`. */
    readonly retry: WriteMethod<CardsRetryInput, Work>
  }
  readonly blockers: {
    /** Makes another card of the board a blocker: the card waits until that one is completed or archived. Repeating it changes nothing. Scope `kanban:write`. */
    readonly add: WriteMethod<BlockersAddInput, Card>
    /** Removes a blocker of a card. The other card remains. Scope `kanban:write`. */
    readonly remove: WriteMethod<BlockersRemoveInput, Card>
  }
  readonly claims: {
    /** Claims the first ready card of a board, in the order of its columns and of the cards in them. Scope `kanban:write`. */
    readonly take_next: WriteMethod<ClaimsTakeNextInput, NextCard>
    /** Claims a card, or renews the claim of the calling token. Scope `kanban:write`. */
    readonly take: WriteMethod<ClaimsTakeInput, CardClaim>
    /** Ends the calling token's claim on a card; with `force=true`, any token's claim. Scope `kanban:write`. */
    readonly release: WriteMethod<ClaimsReleaseInput, Deleted>
    /** Returns who holds a card, and until when; null if nobody does. Scope `kanban:read`. */
    readonly read: ReadMethod<ClaimsReadInput, CardClaim>
    /** Ends the claim of the calling token because the attempt has failed. The card is tried again later, until it is stuck. Scope `kanban:write`. */
    readonly fail: WriteMethod<ClaimsFailInput, Work>
    /** Ends the claim of the calling token with a question: a comment. Nobody gets the card until it is answered. Scope `kanban:write`. */
    readonly ask: WriteMethod<ClaimsAskInput, Comment>
  }
  readonly labels: {
    /** Lists the labels of a board, oldest first. Scope `kanban:read`. */
    readonly list: ListMethod<LabelsListInput, ListedLabel>
    /** Returns a label. Scope `kanban:read`. */
    readonly read: ReadMethod<LabelsReadInput, Label>
    /** Creates a label for the cards of a board. Scope `kanban:write`. */
    readonly create: WriteMethod<LabelsCreateInput, Label>
    /** Changes the name or the color of a label. Scope `kanban:write`. */
    readonly update: WriteMethod<LabelsUpdateInput, Label>
    /** Deletes a label, and removes it from all cards. Scope `kanban:write`. */
    readonly delete: WriteMethod<LabelsDeleteInput, Deleted>
  }
  readonly subtasks: {
    /** Lists the subtasks of a card in their order. Scope `kanban:read`. */
    readonly list: ListMethod<SubtasksListInput, ListedSubtask>
    /** Returns a subtask. Scope `kanban:read`. */
    readonly read: ReadMethod<SubtasksReadInput, Subtask>
    /** Adds a subtask to a card, before or after another one, or at the end. Scope `kanban:write`. */
    readonly create: WriteMethod<SubtasksCreateInput, Subtask>
    /** Changes the title of a subtask, whether it is completed, or its place. Scope `kanban:write`. */
    readonly update: WriteMethod<SubtasksUpdateInput, Subtask>
    /** Deletes a subtask. Scope `kanban:write`. */
    readonly delete: WriteMethod<SubtasksDeleteInput, Deleted>
  }
  readonly comments: {
    /** Lists the comments on a card, oldest first. Scope `kanban:read`. */
    readonly list: ListMethod<CommentsListInput, ListedComment>
    /** Returns a comment. Scope `kanban:read`. */
    readonly read: ReadMethod<CommentsReadInput, Comment>
    /** Adds a comment to a card. Its author is the user of the token. Scope `kanban:write`. */
    readonly create: WriteMethod<CommentsCreateInput, Comment>
    /** Changes your own comment. Scope `kanban:write`. */
    readonly update: WriteMethod<CommentsUpdateInput, Comment>
    /** Deletes your own comment. If it is a question without an answer, the card no longer waits. Scope `kanban:write`. */
    readonly delete: WriteMethod<CommentsDeleteInput, Deleted>
  }
  readonly attachments: {
    /** Lists the attachments of a card, oldest first. Scope `kanban:read`. */
    readonly list: ListMethod<AttachmentsListInput, ListedAttachment>
    /** Returns an attachment. Scope `kanban:read`. */
    readonly read: ReadMethod<AttachmentsReadInput, Attachment>
    /** Downloads the bytes of an attachment, or a range of them. Scope `kanban:read`. */
    readonly download: BytesMethod<AttachmentsDownloadInput>
    /** Attaches a stored file by its id. Scope `kanban:write`. */
    readonly attach: WriteMethod<AttachmentsAttachInput, Attachment>
    /** Uploads a file, and attaches it. Scope `kanban:write`. */
    readonly upload: WriteMethod<AttachmentsUploadInput, Attachment>
    /** Removes an attachment from its card. If it was the cover, the card then has no cover. Scope `kanban:write`. */
    readonly detach: WriteMethod<AttachmentsDetachInput, Deleted>
  }
  readonly files: {
    /** Returns a file that you have access to: who owns it, and who else has access. Scope `kanban:read`. */
    readonly read: ReadMethod<FilesReadInput, StoredFile>
    /** Changes who has access to a file. Its attachments stay readable for everyone with access to their boards. Scope `kanban:write`. */
    readonly update: WriteMethod<FilesUpdateInput, StoredFile>
  }
  readonly webhooks: {
    /** Lists the webhooks of a board, oldest first. Scope `kanban:admin`. */
    readonly list: ListMethod<WebhooksListInput, Webhook>
    /** Returns a webhook and the progress of its deliveries. Scope `kanban:admin`. */
    readonly read: ReadMethod<WebhooksReadInput, Webhook>
    /** Creates a webhook: the changes of the board that you may read are sent to a URL. Its secret is shown once. Scope `kanban:admin`. */
    readonly create: WriteMethod<WebhooksCreateInput, WebhookWithSecret>
    /** Changes the URL or the kinds of a webhook, or enables or disables it. Only its creator can. Scope `kanban:admin`. */
    readonly update: WriteMethod<WebhooksUpdateInput, Webhook>
    /** Deletes a webhook. Its creator can, and everyone who may delete the board. Scope `kanban:admin`. */
    readonly delete: WriteMethod<WebhooksDeleteInput, Deleted>
    /** Makes a new secret, which is shown once. The old one also signs for 24 hours. Scope `kanban:admin`. */
    readonly rotate_secret: WriteMethod<WebhooksRotateSecretInput, WebhookWithSecret>
    /** Sends a delivery without entries now, and returns the outcome. Scope `kanban:admin`. */
    readonly test: WriteMethod<WebhooksTestInput, Delivery>
    /** Lists the last attempts to deliver, the newest first. Scope `kanban:admin`. */
    readonly deliveries: PageMethod<WebhooksDeliveriesInput, Delivery>
  }
}

type OperationId = { [Resource in keyof Methods]: `${Resource}.${keyof Methods[Resource] & string}` }[keyof Methods]

/** The operations by id. */
export const operations: Readonly<Record<OperationId, OperationRow>> = {
  'account.read': { method: 'GET', path: '/account', query: ['fields'], result: 'item' },
  'access.evaluate': { method: 'POST', path: '/access/evaluation', query: [], body: ['subject', 'action', 'resource', 'context'], result: 'item' },
  'access.evaluate_all': { method: 'POST', path: '/access/evaluations', query: [], body: ['subject', 'action', 'resource', 'context', 'evaluations', 'options'], result: 'item' },
  'access.search_action': { method: 'POST', path: '/access/search/action', query: [], body: ['subject', 'resource', 'context', 'page'], result: 'item' },
  'access.search_resource': { method: 'POST', path: '/access/search/resource', query: [], body: ['subject', 'action', 'resource', 'context', 'page'], result: 'item' },
  'access.search_subject': { method: 'POST', path: '/access/search/subject', query: [], body: ['subject', 'action', 'resource', 'context', 'page'], result: 'item' },
  'members.list': { method: 'GET', path: '/members', query: ['limit', 'cursor', 'fields'], result: 'list' },
  'notices.list': { method: 'GET', path: '/notices', query: ['limit', 'after', 'order', 'unread', 'wait', 'fields'], result: 'list' },
  'notices.mark': { method: 'POST', path: '/notices/read', query: ['dry_run'], body: ['ids', 'before'], result: 'item' },
  'boards.list': { method: 'GET', path: '/boards', query: ['limit', 'cursor', 'include', 'fields'], result: 'list' },
  'boards.create': { method: 'POST', path: '/boards', query: ['dry_run'], body: ['name', 'description', 'cover_color'], result: 'item' },
  'boards.read': { method: 'GET', path: '/boards/{board_id}', query: ['include', 'fields'], result: 'item' },
  'boards.update': { method: 'PATCH', path: '/boards/{board_id}', query: ['dry_run'], body: ['name', 'description', 'cover_color'], result: 'item' },
  'boards.set_visibility': { method: 'PUT', path: '/boards/{board_id}/visibility', query: ['dry_run'], body: ['visibility'], result: 'item' },
  'boards.delete': { method: 'DELETE', path: '/boards/{board_id}', query: ['dry_run'], result: 'item' },
  'board_members.list': { method: 'GET', path: '/boards/{board_id}/members', query: ['limit', 'cursor', 'fields'], result: 'list' },
  'boards.assignable': { method: 'GET', path: '/boards/{board_id}/assignable', query: ['limit', 'cursor', 'fields'], result: 'list' },
  'board_members.add': { method: 'PUT', path: '/boards/{board_id}/members/{user_id}', query: ['dry_run'], result: 'item' },
  'board_members.remove': { method: 'DELETE', path: '/boards/{board_id}/members/{user_id}', query: ['dry_run'], result: 'item' },
  'boards.changes': { method: 'GET', path: '/boards/{board_id}/changes', query: ['limit', 'after', 'wait', 'order', 'fields'], result: 'list' },
  'boards.events': { method: 'GET', path: '/boards/{board_id}/events', query: ['after'], result: 'bytes' },
  'columns.list': { method: 'GET', path: '/boards/{board_id}/columns', query: ['limit', 'cursor', 'archived', 'include', 'fields'], result: 'list' },
  'columns.read': { method: 'GET', path: '/columns/{column_id}', query: ['fields'], result: 'item' },
  'columns.create': { method: 'POST', path: '/boards/{board_id}/columns', query: ['dry_run'], body: ['name', 'wip_limit', 'max_attempts', 'completes', 'before', 'after', 'to'], result: 'item' },
  'columns.rename': { method: 'PATCH', path: '/columns/{column_id}', query: ['dry_run'], body: ['name', 'wip_limit', 'max_attempts', 'completes'], result: 'item' },
  'columns.move': { method: 'POST', path: '/columns/{column_id}/move', query: ['dry_run'], body: ['before', 'after', 'to'], result: 'item' },
  'columns.archive': { method: 'POST', path: '/columns/{column_id}/archive', query: ['dry_run'], result: 'item' },
  'columns.restore': { method: 'POST', path: '/columns/{column_id}/restore', query: ['dry_run'], result: 'item' },
  'cards.list': { method: 'GET', path: '/boards/{board_id}/cards', query: ['limit', 'cursor', 'column_id', 'assignee_id', 'label_id', 'completed', 'ready', 'work_state', 'archived', 'q', 'include', 'external_ref', 'fields'], result: 'list' },
  'cards.search': { method: 'GET', path: '/cards', query: ['limit', 'cursor', 'board_id', 'column_id', 'assignee_id', 'label_id', 'completed', 'ready', 'work_state', 'archived', 'q', 'blocker_id', 'due_before', 'due_after', 'completed_before', 'completed_after', 'completed_by', 'include', 'sort', 'order', 'external_ref', 'fields'], result: 'list' },
  'cards.read': { method: 'GET', path: '/cards/{card_id}', query: ['include', 'fields'], result: 'item' },
  'cards.create': { method: 'POST', path: '/boards/{board_id}/cards', query: ['dry_run'], body: ['column_id', 'title', 'description', 'external_ref', 'due_at', 'label_ids', 'assignee_ids', 'blocker_ids', 'subtasks', 'before', 'after', 'to'], result: 'item' },
  'cards.update': { method: 'PATCH', path: '/cards/{card_id}', query: ['dry_run'], body: ['title', 'description', 'external_ref', 'due_at'], result: 'item' },
  'cards.move': { method: 'POST', path: '/cards/{card_id}/move', query: ['dry_run'], body: ['column_id', 'before', 'after', 'to'], result: 'item' },
  'cards.complete': { method: 'PUT', path: '/cards/{card_id}/completion', query: ['dry_run'], body: ['completed', 'outcome'], result: 'item' },
  'cards.archive': { method: 'POST', path: '/cards/{card_id}/archive', query: ['dry_run'], result: 'item' },
  'cards.restore': { method: 'POST', path: '/cards/{card_id}/restore', query: ['dry_run'], result: 'item' },
  'cards.delete': { method: 'DELETE', path: '/cards/{card_id}', query: ['dry_run'], result: 'item' },
  'cards.assign': { method: 'PUT', path: '/cards/{card_id}/assignees/{user_id}', query: ['dry_run'], result: 'item' },
  'cards.unassign': { method: 'DELETE', path: '/cards/{card_id}/assignees/{user_id}', query: ['dry_run'], result: 'item' },
  'cards.apply_label': { method: 'PUT', path: '/cards/{card_id}/labels/{label_id}', query: ['dry_run'], result: 'item' },
  'cards.remove_label': { method: 'DELETE', path: '/cards/{card_id}/labels/{label_id}', query: ['dry_run'], result: 'item' },
  'cards.set_cover': { method: 'PUT', path: '/cards/{card_id}/cover', query: ['dry_run'], body: ['attachment_id'], result: 'item' },
  'cards.clear_cover': { method: 'DELETE', path: '/cards/{card_id}/cover', query: ['dry_run'], result: 'item' },
  'blockers.add': { method: 'PUT', path: '/cards/{card_id}/blockers/{blocker_id}', query: ['dry_run'], result: 'item' },
  'blockers.remove': { method: 'DELETE', path: '/cards/{card_id}/blockers/{blocker_id}', query: ['dry_run'], result: 'item' },
  'claims.take_next': { method: 'POST', path: '/boards/{board_id}/claims', query: ['dry_run', 'include'], body: ['column_id', 'label_id', 'ttl', 'wait'], result: 'item' },
  'claims.take': { method: 'PUT', path: '/cards/{card_id}/claim', query: ['dry_run'], body: ['ttl'], result: 'item' },
  'claims.release': { method: 'DELETE', path: '/cards/{card_id}/claim', query: ['dry_run', 'force'], body: ['retry_after'], result: 'item' },
  'claims.read': { method: 'GET', path: '/cards/{card_id}/claim', query: ['fields'], result: 'item' },
  'claims.fail': { method: 'POST', path: '/cards/{card_id}/claim/failure', query: ['dry_run'], body: ['reason', 'retry_after'], result: 'item' },
  'claims.ask': { method: 'POST', path: '/cards/{card_id}/claim/question', query: ['dry_run'], body: ['question'], result: 'item' },
  'cards.answer': { method: 'POST', path: '/cards/{card_id}/answer', query: ['dry_run'], body: ['body'], result: 'item' },
  'cards.retry': { method: 'POST', path: '/cards/{card_id}/retry', query: ['dry_run'], result: 'item' },
  'labels.list': { method: 'GET', path: '/boards/{board_id}/labels', query: ['limit', 'cursor', 'include', 'fields'], result: 'list' },
  'labels.read': { method: 'GET', path: '/labels/{label_id}', query: ['fields'], result: 'item' },
  'labels.create': { method: 'POST', path: '/boards/{board_id}/labels', query: ['dry_run'], body: ['name', 'color'], result: 'item' },
  'labels.update': { method: 'PATCH', path: '/labels/{label_id}', query: ['dry_run'], body: ['name', 'color'], result: 'item' },
  'labels.delete': { method: 'DELETE', path: '/labels/{label_id}', query: ['dry_run'], result: 'item' },
  'subtasks.list': { method: 'GET', path: '/cards/{card_id}/subtasks', query: ['limit', 'cursor', 'include', 'fields'], result: 'list' },
  'subtasks.read': { method: 'GET', path: '/subtasks/{subtask_id}', query: ['fields'], result: 'item' },
  'subtasks.create': { method: 'POST', path: '/cards/{card_id}/subtasks', query: ['dry_run'], body: ['title', 'completed', 'before', 'after', 'to'], result: 'item' },
  'subtasks.update': { method: 'PATCH', path: '/subtasks/{subtask_id}', query: ['dry_run'], body: ['title', 'completed', 'before', 'after', 'to'], result: 'item' },
  'subtasks.delete': { method: 'DELETE', path: '/subtasks/{subtask_id}', query: ['dry_run'], result: 'item' },
  'comments.list': { method: 'GET', path: '/cards/{card_id}/comments', query: ['limit', 'cursor', 'include', 'fields'], result: 'list' },
  'comments.read': { method: 'GET', path: '/comments/{comment_id}', query: ['fields'], result: 'item' },
  'comments.create': { method: 'POST', path: '/cards/{card_id}/comments', query: ['dry_run'], body: ['body'], result: 'item' },
  'comments.update': { method: 'PATCH', path: '/comments/{comment_id}', query: ['dry_run'], body: ['body'], result: 'item' },
  'comments.delete': { method: 'DELETE', path: '/comments/{comment_id}', query: ['dry_run'], result: 'item' },
  'attachments.list': { method: 'GET', path: '/cards/{card_id}/attachments', query: ['limit', 'cursor', 'include', 'fields'], result: 'list' },
  'attachments.read': { method: 'GET', path: '/attachments/{attachment_id}', query: ['fields'], result: 'item' },
  'attachments.download': { method: 'GET', path: '/attachments/{attachment_id}/content', query: [], result: 'bytes' },
  'attachments.attach': { method: 'POST', path: '/cards/{card_id}/attachments', query: ['dry_run'], body: ['file_id'], result: 'item' },
  'attachments.upload': { method: 'POST', path: '/cards/{card_id}/files', query: ['dry_run'], body: ['file', 'visibility'], result: 'item' },
  'attachments.detach': { method: 'DELETE', path: '/attachments/{attachment_id}', query: ['dry_run'], result: 'item' },
  'files.read': { method: 'GET', path: '/files/{file_id}', query: ['fields'], result: 'item' },
  'files.update': { method: 'PATCH', path: '/files/{file_id}', query: ['dry_run'], body: ['visibility'], result: 'item' },
  'webhooks.list': { method: 'GET', path: '/boards/{board_id}/webhooks', query: ['limit', 'cursor', 'fields'], result: 'list' },
  'webhooks.read': { method: 'GET', path: '/webhooks/{webhook_id}', query: ['fields'], result: 'item' },
  'webhooks.create': { method: 'POST', path: '/boards/{board_id}/webhooks', query: ['dry_run'], body: ['url', 'kinds', 'authorization', 'after'], result: 'item' },
  'webhooks.update': { method: 'PATCH', path: '/webhooks/{webhook_id}', query: ['dry_run'], body: ['url', 'kinds', 'authorization', 'enabled', 'after'], result: 'item' },
  'webhooks.delete': { method: 'DELETE', path: '/webhooks/{webhook_id}', query: ['dry_run'], result: 'item' },
  'webhooks.rotate_secret': { method: 'POST', path: '/webhooks/{webhook_id}/secret', query: ['dry_run'], result: 'item' },
  'webhooks.test': { method: 'POST', path: '/webhooks/{webhook_id}/test', query: ['dry_run'], result: 'item' },
  'webhooks.deliveries': { method: 'GET', path: '/webhooks/{webhook_id}/deliveries', query: ['fields'], result: 'list' },
  'boards.batch': { method: 'POST', path: '/boards/{board_id}/batch', query: ['dry_run'], body: ['operations'], result: 'item' },
}
