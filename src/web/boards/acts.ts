import { ApiError } from '../../model/errors.ts'
import type { Reader } from '../reader.ts'

/** What a list offers for a card that needs a person. */
const ACTS = ['cards.answer', 'cards.retry'] as const

/** Which of the acts the person may do with each of several cards, in their order. */
export async function mayActOn(reader: Reader, ids: readonly string[]): Promise<readonly ReadonlySet<string>[]> {
  try {
    const asked = ids.flatMap((id) => ACTS.map((operation) => ({ operation, type: 'card', id })))
    const answers = await reader.allowedOf(asked)
    return ids.map((_id, i) => new Set(ACTS.filter((_operation, at) => answers[i * ACTS.length + at])))
  } catch (error) {
    // The page shows the cards without them.
    if (error instanceof ApiError && error.code === 'forbidden') return ids.map(() => new Set<string>())
    throw error
  }
}
