import { addMember } from '../../src/admin/memberships.ts'
import { addUser } from '../../src/admin/users.ts'
import type { Board } from '../../src/model/board.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import type { ClaimRecord } from '../../src/model/claim.ts'
import type { FileRecord } from '../../src/model/file.ts'
import { newId, type IdKind } from '../../src/model/ids.ts'
import type { Role } from '../../src/model/workspace.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import type { Transaction } from '../../src/store/transaction.ts'
import { formText } from './form-text.ts'
import type { HandWrittenCell, HandWrittenOperation } from './hand-written-decisions.ts'
import { card as cardRecord, claimOf as claimRecord, progressOf, webhookOf } from './records.ts'
import type { Person, Reply, Service } from './service.ts'

export type Facts = Readonly<Record<string, string>>
/** The scopes of a person's tokens, from least to greatest. */
export const SCOPES = ['none', 'read', 'write', 'admin'] as const
export type ScopeName = (typeof SCOPES)[number]

/** A workspace where every scenario of the hand-written decisions can be created. */
export interface World {
  readonly service: Service
  readonly workspaceId: string
  /** the key is the role and the membership, such as `owner active` */
  readonly callers: ReadonlyMap<string, Person>
  /** a user who is never the caller */
  readonly other: Person
}

/** The caller of a request, and the ids that its path and body can name. */
export interface Scenario {
  readonly caller: Person
  readonly params: Readonly<Record<string, string>>
}

const ROLES: readonly Role[] = ['owner', 'admin', 'member']
export const AT = '2026-11-01T00:00:00.000Z'
const times = { created_at: AT, updated_at: AT }

export async function buildWorld(service: Service): Promise<World> {
  const workspaceId = await service.workspace()
  const [key_id] = service.deps.secretKeys.ids
  await service.write(workspaceId, async (tx) => tx.create(keys.secretKey(), { key_id: key_id!, has_secrets: true, complete: true }))
  const callers = new Map<string, Person>()
  for (const role of ROLES) {
    for (const membership of ['active', 'ended']) {
      const person = await service.person(workspaceId, role, `${role} ${membership}`)
      if (membership === 'ended') await service.leaveOnly(workspaceId, person.id)
      callers.set(`${role} ${membership}`, person)
    }
  }
  return { service, workspaceId, callers, other: await service.person(workspaceId, 'member', 'Other') }
}

interface ScenarioOptions {
  readonly related?: boolean | undefined
  readonly replaces?: boolean | undefined
  /** null: it was never claimed */
  readonly work?: keyof typeof CLAIMS | null | undefined
  /** whether the board has a webhook. A workspace has a limit of them, which suites with thousands of scenarios reach */
  readonly hasWebhook?: boolean | undefined
}

/** The last claims of cards, by what they have come to. */
const CLAIMS = {
  claimed: { expires_at: '2029-01-01T00:00:00.000Z' },
  asked: { expires_at: null },
  failed: { expires_at: null, attempts: 2, reason: 'No network.', failed_at: AT, not_before: '2029-01-01T00:00:00.000Z' },
} as const satisfies Record<string, Partial<ClaimRecord>>

/** The header of operations that only the holder of a card may perform, on the first claim of the card. */
const FIRST_CLAIM = { 'if-claim': '1' }
/** Those operations. */
export const OF_HOLDERS = ['claims.fail', 'claims.ask']

/** The headers that an operation requires on a {@link Scenario} with its {@link scenarioOptions}. */
export function headersFor(operationId: string): Record<string, string> {
  return OF_HOLDERS.includes(operationId) ? FIRST_CLAIM : {}
}

/**
 * Creates a scenario with new resources that make these facts true.
 * @param related whether the card already has the named user and label, and the board already has the named user as a member.
 *   The example of a DELETE needs this.
 * @param replaces whether the request replaces the cover by the attachment. Then the facts are about one of the two files, and the
 *   caller has access to the other one.
 * @param work what the last claim of the card has come to; undefined: it was never claimed. The caller's token `admin` held or holds it.
 * @returns undefined if the facts contradict each other: the caller and the named user are both the board's creator, with
 *   different memberships
 */
export async function createScenario(
  world: World,
  facts: Facts,
  { related = false, replaces = false, work, hasWebhook = true }: ScenarioOptions = {},
): Promise<Scenario | undefined> {
  const caller = world.callers.get(`${facts['caller.role']} ${facts['caller.membership']}`)!
  const creator = facts['board.caller'] === 'creator' ? caller.id : world.other.id
  const user = await namedUser(world, facts, caller, creator)
  if (user === undefined) return undefined
  const ids = { caller: caller.id, creator, user: user.id }
  const claim = work == null ? undefined : { ...CLAIMS[work], token_hash: sha256Hex(caller.admin) }
  const params = await world.service.write(world.workspaceId, (tx) =>
    writeRecords(tx, world, facts, ids, { related, replaces, claim, hasWebhook }),
  )
  return { caller, params }
}

/** The options that make a scenario fit an operation. */
export function scenarioOptions({ id, method }: Pick<HandWrittenOperation, 'id' | 'method'>): ScenarioOptions {
  return { related: method === 'DELETE', replaces: id === 'cards.set_cover', work: WORK[id], hasWebhook: id.startsWith('webhooks.') }
}

/** What an operation needs to change something. */
const WORK: Readonly<Record<string, keyof typeof CLAIMS>> = {
  'claims.fail': 'claimed',
  'claims.ask': 'claimed',
  'cards.answer': 'asked',
  'cards.retry': 'failed',
}

/** Facts that allow every operation. */
const ALLOWED = {
  'caller.role': 'owner',
  'caller.membership': 'active',
  'board.visibility': 'workspace',
  'board.caller': 'creator',
  'comment.author': 'caller',
  'webhook.creator': 'caller',
  'file.owner': 'caller',
  'file.visibility': 'workspace',
  'user.membership': 'active',
  'user.board': 'none',
  'label.board': 'this',
}
/** Other facts of an operation: someone who is a member can be removed, and a cover that is set can be cleared. */
const ALLOWED_BY_OPERATION: Readonly<Record<string, Facts>> = {
  'board_members.remove': { 'user.board': 'member' },
  'cards.clear_cover': { 'cover.state': 'set' },
}

/**
 * Creates a scenario where the owner may perform an operation with its example, and each write changes something. @param facts instead
 * of those
 */
export async function createAllowed(
  world: World,
  row: Pick<Operation, 'id' | 'method'>,
  { facts, ...given }: ScenarioOptions & { readonly facts?: Facts | undefined } = {},
): Promise<Scenario> {
  const options = scenarioOptions(row)
  const all = { ...ALLOWED, ...ALLOWED_BY_OPERATION[row.id], ...facts }
  const { related = options.related, replaces = options.replaces, work = options.work, hasWebhook = options.hasWebhook } = given
  return (await createScenario(world, all, { related, replaces, work, hasWebhook }))!
}

/** The path of an operation with the ids of a scenario. */
export function pathOf(path: string, { params }: Scenario): string {
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name]!)
}

/** The body of the operation's example, with the ids of a scenario in place of `{name}`. */
export function exampleBody(operationId: string, { params }: Scenario): unknown {
  const { example, takesUpload } = operations.find(({ id }) => id === operationId)!
  if (takesUpload) return formText()
  const { body } = example
  return body === undefined
    ? undefined
    : JSON.parse(JSON.stringify(body).replaceAll(/\{(\w+)\}/g, (text, name: string) => params[name] ?? text))
}

/** A body that names something of a scenario in a member whose items are decided in addition (`also` of the hand-written decisions). */
export function additionOf(member: string, { params }: Scenario): Record<string, unknown> {
  // The attachment that replaces a cover, while the facts are about the present one; a column that completes what comes into it.
  const one: Readonly<Record<string, string>> = { attachment_id: 'attachment_id', column_id: 'done_column_id' }
  if (one[member] !== undefined) return { [member]: params[one[member]] }
  const { label_id, user_id, blocker_id } = params
  const items: Record<string, unknown> = { label_ids: label_id, assignee_ids: user_id, blocker_ids: blocker_id, subtasks: 'Subtask' }
  return { [member]: [items[member]] }
}

/** The outcome that the hand-written decisions have for a token with this scope: `ok`, or a status and an error code. */
export function expectedOutcome(
  { scope: minimum, decision }: HandWrittenOperation,
  { response, field }: HandWrittenCell,
  scope: ScopeName,
): string {
  if (response === 401) return '401 unauthorized'
  if (SCOPES.indexOf(scope) < SCOPES.indexOf(minimum)) return '403 insufficient_scope'
  // A body with such a field is refused before any resource is read.
  if (typeof decision === 'object' && decision[field!] === 'untouchable') return '422 validation_failed'
  return { ok: 'ok', 403: '403 forbidden', 404: '404 not_found' }[response]
}

/** The outcome of a response, in the words of {@link expectedOutcome}. What only lacks `If-Claim` was allowed by the policy. */
export function outcomeOf({ status, body }: Reply): string {
  return status < 300 || status === 428 ? 'ok' : `${status} ${body.error?.code}`
}

async function namedUser(
  { service, workspaceId, other }: World,
  facts: Facts,
  caller: Person,
  creator: string,
): Promise<{ id: string } | undefined> {
  if (facts['user.board'] === undefined) return other
  if (facts['user.board'] === 'creator') {
    const membership = creator === caller.id ? facts['caller.membership'] : 'active'
    if (facts['user.membership'] === membership) return { id: creator }
    if (creator === caller.id) return undefined
  }
  const user = await addUser(service.deps, { display_name: 'Named' })
  await addMember(service.deps, workspaceId, user, 'member')
  if (facts['user.membership'] === 'ended') await service.leaveOnly(workspaceId, user.id)
  return user
}

/** Writes one resource of each kind: a board, and on it a card with everything that a card can have. */
async function writeRecords(
  tx: Transaction,
  { service, other }: World,
  facts: Facts,
  ids: { caller: string; creator: string; user: string },
  given: { related: boolean; replaces: boolean; claim: Partial<ClaimRecord> | undefined; hasWebhook: boolean },
): Promise<Record<string, string>> {
  const { related, replaces, claim, hasWebhook } = given
  const id = (kind: IdKind) => newId(kind, service.deps.random)
  const records: [Key<unknown>, unknown][] = []
  const create = <T>(key: Key<T>, value: T) => void records.push([key, value])
  const ownerOf = (fact: string) => (facts[fact] === 'caller' ? ids.caller : other.id)
  const boardId = id('board')
  const visibility = facts['board.visibility'] === 'private' ? 'private' : 'workspace'
  const creator_id = facts['user.board'] === 'creator' && ids.creator !== ids.caller ? ids.user : ids.creator
  create(keys.board(boardId), boardRecord(boardId, creator_id, visibility))
  const members = new Set([
    ...(facts['board.caller'] === 'member' ? [ids.caller] : []),
    ...(facts['user.board'] === 'member' || (related && facts['user.board'] === undefined) ? [ids.user] : []),
  ])
  const createMember = (board_id: string, user_id: string) =>
    create(keys.boardMember(board_id, user_id), { board_id, user_id, board_created_at: AT, added_at: AT })
  for (const user_id of members) createMember(boardId, user_id)

  const [columnId, cardId, subtaskId, commentId] = [id('column'), id('card'), id('subtask'), id('comment')]
  const [firstColumn, doneColumn, firstCard] = [id('column'), id('column'), id('card')]
  const [attachmentId, coverId, webhookId] = [id('attachment'), id('attachment'), id('webhook')]
  const label = { id: id('label'), board_id: boardId, name: 'Label', color: '#000000', ...times }
  const foreign = { ...label, id: id('label'), board_id: id('board') }
  const labelId = facts['label.board'] === 'other' ? foreign.id : label.id
  const card = cardRecord({
    id: cardId,
    board_id: boardId,
    column_id: columnId,
    title: 'Card',
    assignee_ids: related ? [ids.user] : [],
    label_ids: related ? [labelId] : [],
    blocker_ids: related ? [firstCard] : [],
    cover_attachment_id: facts['cover.state'] === 'none' ? null : coverId,
    creator_id,
    ...times,
  })
  const { stated, opposite } = fileAccess(facts, ids.caller, other.id, replaces)
  const file = (access: FileAccess): FileRecord => ({
    id: id('file'),
    board_id: boardId,
    ...access,
    name: 'a.png',
    content_type: 'image/png',
    size: 0,
    blob_id: id('blob'),
    sha256: '0',
    ...times,
  })
  // The facts describe the cover's file if they say whether there is a cover, else the named attachment's file.
  const aboutCover = facts['cover.state'] !== undefined
  const home = facts['home.board'] === undefined ? {} : { board_id: id('board') }
  const attached = file(aboutCover ? opposite : { ...stated, ...home })
  const coverFile = file(aboutCover ? { ...stated, ...home } : opposite)
  const unattached = file({ ...stated, ...home })
  if (home.board_id !== undefined) {
    const shared = facts['home.board'] === 'workspace' ? 'workspace' : 'private'
    if (facts['home.board'] !== 'deleted') create(keys.board(home.board_id), boardRecord(home.board_id, other.id, shared))
    if (facts['home.board'] === 'private_member') createMember(home.board_id, ids.caller)
  }
  const column = {
    id: columnId,
    board_id: boardId,
    name: 'Column',
    position: 'a0',
    wip_limit: null,
    max_attempts: 5,
    completes: false,
    archived_at: null,
    ...times,
  }
  create(keys.column(columnId), column)
  create(keys.card(cardId), card)
  // A move to the first place changes something.
  create(keys.column(firstColumn), { ...column, id: firstColumn, position: 'Zz' })
  create(keys.column(doneColumn), { ...column, id: doneColumn, position: 'a1', completes: true })
  const bare = { assignee_ids: [], label_ids: [], blocker_ids: [], cover_attachment_id: null }
  create(keys.card(firstCard), { ...card, ...bare, id: firstCard, position: 'Zz' })
  create(keys.label(label.id), label)
  create(keys.label(foreign.id), foreign)
  create(keys.subtask(subtaskId), { id: subtaskId, card_id: cardId, title: 'Subtask', completed_at: null, position: 'a0', ...times })
  create(keys.comment(commentId), {
    id: commentId,
    card_id: cardId,
    author_id: ownerOf('comment.author'),
    token_id: null,
    token_name: null,
    body: 'Hello',
    kind: 'comment',
    answers: null,
    ...times,
  })
  if (hasWebhook) {
    const secret = service.sealed('whsec_AAAA', keys.webhook(webhookId))
    const webhook = webhookOf({ id: webhookId, board_id: boardId, creator_id: ownerOf('webhook.creator'), secret })
    create(keys.webhook(webhookId), webhook)
    create(keys.webhookProgress(webhookId), progressOf(webhook))
  }
  const questionId = id('comment')
  if (claim !== undefined) {
    const isAsked = claim.expires_at === null && claim.attempts === undefined
    if (isAsked)
      create(keys.comment(questionId), {
        id: questionId,
        card_id: cardId,
        author_id: ownerOf('question.author'),
        token_id: null,
        token_name: null,
        body: 'Which logo?',
        kind: 'question',
        answers: null,
        ...times,
      })
    create(keys.claim(cardId), claimRecord(cardId, boardId, { holder_id: ids.caller, question_id: isAsked ? questionId : null, ...claim }))
  }
  for (const each of [attached, coverFile, unattached]) create(keys.file(each.id), each)
  for (const [attachment, { id: file_id, name, content_type, size }] of [
    [attachmentId, attached],
    [coverId, coverFile],
  ] as const)
    create(keys.attachment(attachment), {
      id: attachment,
      card_id: cardId,
      file_id,
      name,
      content_type,
      size,
      attached_by_id: creator_id,
      ...times,
    })
  // One read: the matrix creates thousands of scenarios.
  await tx.read(records.map(([key]) => key))
  for (const [key, value] of records) tx.put(key, value)
  return {
    board_id: boardId,
    user_id: ids.user,
    column_id: columnId,
    done_column_id: doneColumn,
    card_id: cardId,
    label_id: labelId,
    blocker_id: firstCard,
    subtask_id: subtaskId,
    comment_id: commentId,
    webhook_id: webhookId,
    file_id: unattached.id,
    attachment_id: attachmentId,
    cover_attachment_id: coverId,
  }
}

/** A board without anything on it. */
export function boardRecord(id: string, creator_id: string, visibility: Board['visibility']): Board {
  return { id, name: 'Scenario', description: '', cover_color: null, visibility, creator_id, ...times }
}

type FileAccess = Pick<FileRecord, 'owner_id' | 'visibility'> & { readonly board_id?: string }

/**
 * The access to the file that the facts are about, and the opposite one for the other file of the card. So an operation
 * that asks about the wrong file gets the wrong answer. If the facts do not state the visibility, both files are alike.
 * @param isAccessible whether the caller has access to the other file in any case
 */
function fileAccess(facts: Facts, caller: string, other: string, isAccessible: boolean): { stated: FileAccess; opposite: FileAccess } {
  const stated: FileAccess = {
    owner_id: facts['file.owner'] === 'caller' ? caller : other,
    visibility: (['board', 'private'] as const).find((one) => one === facts['file.visibility']) ?? 'workspace',
  }
  if (facts['file.visibility'] === undefined) return { stated, opposite: stated }
  const onBoard = stated.visibility === 'board' && ['workspace', 'private_member'].includes(facts['home.board'] ?? 'workspace')
  const accessible = stated.owner_id === caller || stated.visibility === 'workspace' || onBoard
  return {
    stated,
    opposite: accessible && !isAccessible ? { owner_id: other, visibility: 'private' } : { owner_id: caller, visibility: 'workspace' },
  }
}
