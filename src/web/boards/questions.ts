import { OWN_ID } from '../../model/fields.ts'
import type { Comment } from '../../model/comment.ts'
import type { NameOf } from '../../resources/notices/mentions.ts'
import type { ListedCard } from '../listed-card.ts'
import { plainWords } from '../markdown.ts'
import type { Reader } from '../reader.ts'

/** Questions that are counted; of more of them, a page says that there are more. */
const COUNTED = '100'

/** The cards with a question that waits for an answer of the person: those that are assigned to them. */
export interface Waiting {
  readonly cards: readonly ListedCard[]
  readonly hasMore: boolean
}

/** Whether a card waits for an answer of a person. */
export function isAsking({ work, assignee_ids }: ListedCard, userId: string): boolean {
  return work?.state === 'waiting' && assignee_ids.includes(userId)
}

/** What a question says, in words alone, for a line of text. */
export function questionText(question: Comment | undefined, nameOf: NameOf): string | undefined {
  return question && plainWords(question.body, nameOf)
}

/** Reads the cards of all boards of a workspace that wait for an answer of the person. */
export async function readWaiting(reader: Reader): Promise<Waiting> {
  const query = { assignee_id: OWN_ID, completed: 'false', work_state: 'waiting', include: 'work', limit: COUNTED }
  const { data, nextCursor } = await reader.read('cards.search', {}, query)
  return { cards: data as ListedCard[], hasMore: nextCursor != null }
}

/** Reads the questions of those cards that wait for an answer: card → the question. Other cards cost nothing. */
export async function readQuestions(reader: Reader, cards: readonly ListedCard[]): Promise<ReadonlyMap<string, Comment>> {
  const ids = new Map(cards.flatMap(({ id, work }) => (work?.state === 'waiting' ? [[id, work.question_id!] as const] : [])))
  const found = await Promise.all(
    Array.from(ids, async ([id, comment_id]) => [id, await reader.find<Comment>('comments.read', { comment_id })] as const),
  )
  // A question that was deleted since no longer counts.
  return new Map(found.flatMap(([id, question]) => (question === undefined ? [] : [[id, question] as const])))
}
