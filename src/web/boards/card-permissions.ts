import type { Comment } from '../../model/comment.ts'
import type { Attachment } from '../../model/file.ts'
import type { Subtask } from '../../model/subtask.ts'
import type { Reader } from './reader.ts'

/** A card and what is on it. */
interface Asked {
  readonly card: { readonly id: string }
  readonly subtasks: readonly Subtask[]
  readonly comments: readonly Comment[]
  readonly attachments: readonly Attachment[]
}

/** What the person may do on a card, as the policy decides: nothing else is offered. */
export interface CardPermissions {
  /** on the card */
  readonly card: ReadonlySet<string>
  /** on each of its subtasks, about which the policy knows the same */
  readonly subtask: ReadonlySet<string>
  /** on the person's own comments, and on those of others */
  readonly comments: Readonly<Record<'own' | 'others', ReadonlySet<string>>>
  /** by the ids of attachments */
  readonly attachments: ReadonlyMap<string, ReadonlySet<string>>
}

/** Asks what the person may do on a card. */
export async function readPermissions(reader: Reader, { card, subtasks, comments, attachments }: Asked): Promise<CardPermissions> {
  const { userId } = reader.caller()
  const ofOne = async (type: string, one: { readonly id: string } | undefined) =>
    one === undefined ? new Set<string>() : reader.allowed(type, one.id)
  const [ofCard, subtask, own, others, ofAttachments] = await Promise.all([
    reader.allowed('card', card.id),
    ofOne('subtask', subtasks[0]),
    // The policy knows of a comment only whether the person is its author.
    ofOne(
      'comment',
      comments.find(({ author_id }) => author_id === userId),
    ),
    ofOne(
      'comment',
      comments.find(({ author_id }) => author_id !== userId),
    ),
    readOfAttachments(reader, card.id, attachments),
  ])
  return { card: ofCard, subtask, comments: { own, others }, attachments: ofAttachments }
}

async function readOfAttachments(
  reader: Reader,
  cardId: string,
  attachments: readonly Attachment[],
): Promise<Map<string, ReadonlySet<string>>> {
  const questions = attachments.flatMap(({ id, file_id }) => [
    { operation: 'attachments.detach', type: 'attachment', id },
    { operation: 'cards.set_cover', type: 'card', id: cardId, properties: { attachment_id: id } },
    { operation: 'files.update', type: 'file', id: file_id },
  ])
  const decisions = await reader.allowedOf(questions)
  const each = questions.length / attachments.length
  return new Map(
    attachments.map(({ id }, i) => {
      const allowed = questions.slice(i * each, (i + 1) * each).filter((_question, k) => decisions[i * each + k])
      return [id, new Set(allowed.map(({ operation }) => operation))]
    }),
  )
}
