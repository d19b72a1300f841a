import type { BoardUpdate, ShownChange } from '../boards/board-update.ts'
import { isOnPage } from './announced-changes.ts'

const FILTERS = ['q', 'label', 'assignee', 'due', 'state', 'work']

/** Whether a page shows some of the cards of its board. */
export function isFiltered({ card }: DOMStringMap, address: string): boolean {
  const query = new URL(address).searchParams
  return card === undefined && FILTERS.some((name) => (query.get(name) ?? '') !== '')
}

interface Received {
  readonly updates: readonly BoardUpdate[]
  /** of these, what the page does not show yet */
  readonly changes: readonly ShownChange[]
}

/**
 * Whether updates are not enough, so that the page is fetched again.
 * @param page the data of its root
 */
export function needsPage(page: DOMStringMap, address: string, { updates, changes }: Received): boolean {
  const { card, as, whole, unsampled } = page
  if (updates.some((update) => update.as !== as)) return true
  if (card !== undefined) return changes.some((change) => isOnPage(change, page))
  const isOfColumn = new URL(address).searchParams.has('column')
  return (
    (whole !== undefined && changes.length > 0) ||
    updates.some(
      ({ isWhole, lanes, tiles }) =>
        isWhole ||
        (isOfColumn && Object.keys(lanes).length > 0) ||
        // The actions on cards are known when there is one.
        (unsampled !== undefined && Object.values(tiles).some((tile) => tile !== null)),
    )
  )
}
