/** What a person does with the tile of a card: it is shown at once, and sent. What was refused is put back. */
import { focusOn } from './focus.ts'
import { pauseUpdates } from './pauses.ts'
import { send } from './send.ts'

/** A place on the board: a list of tiles, and the tile that it is before. */
export interface Spot {
  readonly list: Element
  readonly next: Element | null
}

/** A card that is on its way. */
export interface Lifted {
  readonly tile: HTMLElement
  readonly from: Spot
  /** lets the page show again what has changed meanwhile */
  readonly resume: () => void
}

/** The operations that the person may perform on the cards of this board. */
export const may = (operation: string): boolean =>
  (document.querySelector<HTMLElement>('[data-may]')?.dataset['may'] ?? '').split(' ').includes(operation)
export const titleOf = (tile: Element): string => tile.querySelector('.tile-title')?.textContent ?? ''
export const laneName = (lane: Element | null): string => lane?.querySelector('[data-name]')?.textContent ?? ''
/** Whether a tile is of a card: not of one that is only being made, or that has just been archived. */
export const isCard = (tile: Element): boolean => !tile.matches('.pending, [hidden]')
export const cardsOf = (list: Element) => (Array.from(list.children) as HTMLElement[]).filter(isCard)

function spotOf(tile: Element): Spot {
  return { list: tile.parentElement!, next: tile.nextElementSibling }
}

/** Begins to move a card. Until it is dropped, the page does not change below it. */
export function lift(tile: HTMLElement): Lifted {
  tile.classList.add('lifted')
  return { tile, from: spotOf(tile), resume: pauseUpdates() }
}

export function putBack({ tile, from: { list, next }, resume }: Lifted): void {
  tile.classList.remove('lifted')
  list.insertBefore(tile, next?.parentElement === list ? next : null)
  resume()
}

/** Leaves a card where its tile is now. */
export async function drop(lifted: Lifted): Promise<void> {
  const { tile, from, resume } = lifted
  tile.classList.remove('lifted')
  const to = spotOf(tile)
  if (to.list === from.list && to.next === from.next) return resume()
  const fields = { card_id: tile.id, column_id: tile.closest('.lane')!.id, ...placeOf(tile) }
  const isDone = await send({ operation: 'cards.move', fields }, resume)
  // The page has been fetched again, unless there is no connection: then it is still where it was dropped.
  if (!isDone && tile.isConnected && tile.parentElement === to.list && tile.nextElementSibling === to.next) putBack(lifted)
}

function placeOf(tile: HTMLElement): Record<string, string> {
  const tiles = cardsOf(tile.parentElement!)
  const at = tiles.indexOf(tile)
  const [previous, next] = [tiles[at - 1], tiles[at + 1]]
  return next !== undefined ? { before: next.id } : previous !== undefined ? { after: previous.id } : { to: 'last' }
}

/** Completes a card, or opens it again. */
export async function complete(tile: HTMLElement): Promise<void> {
  const completed = !tile.classList.contains('completed')
  tile.classList.toggle('completed', completed)
  const isDone = await send({ operation: 'cards.complete', fields: { card_id: tile.id, completed: String(completed) } })
  if (!isDone) tile.classList.toggle('completed', !completed)
}

export async function archive(tile: HTMLElement): Promise<void> {
  focusOn(tile.nextElementSibling ?? tile.previousElementSibling)
  tile.hidden = true
  if (!(await send({ operation: 'cards.archive', fields: { card_id: tile.id } }))) tile.hidden = false
}
