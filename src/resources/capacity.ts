import { conflict, type ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import type { Index } from '../store/indexes.ts'
import type { Transaction } from '../store/transaction.ts'

/** What each limit on stored resources bounds. */
const capacities = {
  membersPerBoard: 'A board has at most # explicit members.',
  columnsPerBoard: 'A board has at most # active columns.',
  cardsPerBoard: 'A board has at most # active cards.',
  webhooksPerBoard: 'A board has at most # webhooks.',
  webhooksPerPerson: 'A person has at most # webhooks in a workspace.',
  webhooksPerWorkspace: 'A workspace has at most # webhooks.',
  labelsPerBoard: 'A board has at most # labels.',
  assigneesPerCard: 'A card has at most # assignees.',
  labelsPerCard: 'A card has at most # labels.',
  blockersPerCard: 'A card has at most # blockers.',
  blockedCards: 'A card is a blocker of at most # cards.',
  waitingCards: 'A card that more than # cards wait for, directly or through others, gets no further blocker.',
  subtasksPerCard: 'A card has at most # subtasks.',
  commentsPerCard: 'A card has at most # comments.',
  claimsPerBoard: 'At most # cards of a board are claimed at once.',
  attachmentsPerCard: 'A card has at most # attachments.',
} as const satisfies Partial<Record<keyof typeof limits, string>>
export type Capacity = keyof typeof capacities

/** The message of the 409 at a limit. */
export function capacityMessage(capacity: Capacity): string {
  return capacities[capacity].replace('#', String(limits[capacity]))
}

/**
 * Checks that an index has capacity for one more entry. The commit checks it again.
 * @throws {ApiError} `conflict`, with `limit`
 */
export async function requireCapacity(tx: Transaction, index: Index<unknown>, capacity: Capacity): Promise<void> {
  if (!(await tx.hasAtMost(index, limits[capacity] - 1))) throw full(capacity)
}

/**
 * The same for a number that was read before.
 * @throws {ApiError} `conflict`, with `limit`
 */
export function requireCapacityOf(count: number, capacity: Capacity): void {
  if (count >= limits[capacity]) throw full(capacity)
}

function full(capacity: Capacity): ApiError {
  return conflict(capacityMessage(capacity), { limit: limits[capacity] })
}
