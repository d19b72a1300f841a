import type { BoardAccess } from '../../authz/context.ts'
import { authorName } from '../../model/author.ts'
import type { BoardMember } from '../../model/board.ts'
import { noticeId, type Notice, type NoticeRecord } from '../../model/notice.ts'
import { beginningOf } from '../../model/text.ts'
import { isActive } from '../../model/workspace.ts'
import { keys, type Key } from '../../store/keys.ts'
import type { OperationRequest } from '../operation.ts'
import { kindsOfNotices } from './kinds.ts'
import { mentionsIn, withNames } from './mentions.ts'

/** A notice, and what decides whether its person may see it. */
interface Presented {
  readonly permission: string
  readonly context: { readonly board?: BoardAccess; readonly boardMember?: BoardMember | undefined }
  readonly data: Notice
}

/** Characters of a comment that a notice begins with. */
const SAID = 200
/** The code units of a comment where they are looked for: ids become names in them, and white space is folded. */
const READ = 10 * SAID

/** A notice with its number. */
export interface NumberedNotice {
  readonly entry: string
  readonly record: NoticeRecord
}

/**
 * Notices as their person sees them: with the names and titles of now.
 * @returns undefined in the place of one whose board, card, comment or webhook is deleted
 */
export async function presentNotices(
  { tx, caller: { userId }, examine }: Pick<OperationRequest, 'tx' | 'caller'> & Partial<Pick<OperationRequest, 'examine'>>,
  notices: readonly NumberedNotice[],
): Promise<readonly (Presented | undefined)[]> {
  const reads = new Set<Key<unknown>>()
  for (const { record } of notices) for (const key of keysOf(record, userId)) reads.add(key)
  const found: readonly unknown[] = await tx.read([...reads])
  await examine?.(found.reduce((sum: number, record) => sum + lengthOf((record ?? {}) as Texts), 0))
  const said = await namedIn(
    notices.map(({ record }) => saidIn(record, tx)),
    tx,
  )
  const presented: (Presented | undefined)[] = []
  for (const [i, one] of notices.entries()) {
    presented.push(present(one, userId, tx, said[i]!))
    await examine?.(0)
  }
  return presented
}

/** Texts with names in the place of the ids of those whom they mention. */
async function namedIn(texts: readonly string[], tx: OperationRequest['tx']): Promise<readonly string[]> {
  const mentioned = await Promise.all(texts.map(mentionsIn))
  await tx.read([...new Set(mentioned.flat())].map((id) => keys.membership(id)))
  return Promise.all(texts.map((text) => withNames(text, (id) => memberName(id, tx))))
}

/** The long texts of a record. */
type Texts = Readonly<Partial<Record<'description' | 'body', string>>>
const lengthOf = ({ description = '', body = '' }: Texts): number => description.length + body.length

type Reader = Pick<OperationRequest['tx'], 'known'>

function keysOf({ board_id, card_id, comment_id, webhook_id, actor_id }: NoticeRecord, userId: string): Key<unknown>[] {
  const named: Key<unknown>[] = board_id === null ? [] : [keys.board(board_id), keys.boardMember(board_id, userId)]
  if (card_id !== null) named.push(keys.card(card_id))
  if (comment_id !== null) named.push(keys.comment(comment_id))
  if (webhook_id !== undefined) named.push(keys.webhook(webhook_id))
  if (actor_id !== null) named.push(keys.membership(actor_id))
  return named
}

function present({ entry, record }: NumberedNotice, userId: string, tx: Reader, said: string): Presented | undefined {
  const { kind, at, read_at, board_id, card_id, comment_id, actor_id, token_name, webhook_id, until = at } = record
  const known = <T>(id: string | null | undefined, keyOf: (id: string) => Key<T>) => (id == null ? undefined : tx.known(keyOf(id)))
  const [board, card] = [known(board_id, keys.board), known(card_id, keys.card)]
  const [comment, webhook] = [known(comment_id, keys.comment), known(webhook_id, keys.webhook)]
  const isGone = (id: string | null | undefined, value: unknown) => id != null && value === undefined
  if (isGone(board_id, board) || isGone(card_id, card) || isGone(comment_id, comment) || isGone(webhook_id, webhook)) return undefined
  const { shownBy, sentence } = kindsOfNotices[kind]
  const text = sentence({
    actor: actor_id === null ? 'The operator' : authorName(nameOf(actor_id, tx), token_name),
    card: `"${card?.title ?? ''}"`,
    board: board?.name ?? '',
    said: saidAs(said),
    until: `${until.slice(0, 10)} at ${until.slice(11, 16)} UTC`,
    token: token_name ?? '',
    host: webhook === undefined ? '' : new URL(webhook.url).host,
  })
  const data = { id: noticeId(entry), kind, at, read_at, board_id, card_id, comment_id, actor_id, token_name, text }
  const context = board === undefined ? {} : { board, boardMember: tx.known(keys.boardMember(board.id, userId)) }
  return { permission: shownBy, context, data }
}

function nameOf(userId: string | null, tx: Reader): string | undefined {
  return userId === null ? undefined : tx.known(keys.membership(userId))?.display_name
}

/** Somebody who has left is not named in the texts of others, as on the pages. */
function memberName(userId: string, tx: Reader): string | undefined {
  const membership = tx.known(keys.membership(userId))
  return isActive(membership) ? membership.display_name : undefined
}

function saidIn({ comment_id }: NoticeRecord, tx: Reader): string {
  return comment_id === null ? '' : (tx.known(keys.comment(comment_id))?.body.trimStart().slice(0, READ) ?? '')
}

/** The beginning of a comment after a colon. */
function saidAs(text: string): string {
  const beginning = beginningOf(text, SAID)
  return beginning === '' ? '.' : `: ${beginning}`
}
