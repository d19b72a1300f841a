import { groupBy } from './input.ts'
import type { TrelloBoard, TrelloCard, TrelloEvent } from './trello-shape.ts'

/** Actions that have created a card. */
const CREATIONS: ReadonlySet<string> = new Set(['createCard', 'copyCard', 'emailCard', 'convertToCardFromCheckItem'])

/** When something happened to a card, and who created it; null: unknown. */
export interface TrelloTimes {
  readonly createdAt: string | null
  readonly createdBy: string | null
  readonly completedAt: string | null
  readonly archivedAt: string | null
}

/**
 * Returns a function that finds out when something happened to a card: the card says it in newer exports, and else its actions. An export
 * has the last 1,000 actions of a board.
 */
export function timesOf({ actions }: TrelloBoard): (card: TrelloCard) => TrelloTimes {
  const events = groupBy(actions.events, ({ data }) => data.card.id)
  return (card) => {
    const own = events.get(card.id) ?? []
    const creation = own.find(({ type }) => CREATIONS.has(type))
    return {
      createdAt: createdAt(card.id) ?? creation?.date ?? null,
      createdBy: card.idMemberCreator ?? creation?.memberCreator?.id ?? creation?.idMemberCreator ?? null,
      completedAt: card.dateCompleted ?? lastTime(own, 'dueComplete') ?? null,
      archivedAt: card.dateClosed ?? lastTime(own, 'closed') ?? null,
    }
  }
}

/** When a member last became true. */
function lastTime(events: readonly TrelloEvent[], member: 'dueComplete' | 'closed'): string | undefined {
  const times = events.flatMap(({ data, date }) => (data.card[member] === true && data.old?.[member] === false && date ? date : []))
  return times.toSorted().at(-1)
}

/** The first eight digits of an id are the time of its creation, in seconds. */
function createdAt(id: string): string | undefined {
  return /^[0-9a-f]{24}$/.test(id) ? new Date(Number.parseInt(id.slice(0, 8), 16) * 1000).toISOString() : undefined
}
