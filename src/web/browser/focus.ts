const FOCUSABLE = 'a, button, input:not([type=hidden]), select, textarea, summary'

/**
 * Moves the focus to an element, or to its link or control, and shows it.
 * @returns whether there is one
 */
export function focusOn(element: Element | null | undefined): boolean {
  const target =
    element?.matches(FOCUSABLE) === true
      ? element
      : (element?.querySelector('.tile-title, summary, a') ?? element?.querySelector(FOCUSABLE))
  if (!(target instanceof HTMLElement)) return false
  target.focus()
  target.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  return true
}

/**
 * Moves the focus from card to card.
 * @param key of an arrow
 * @returns whether there is a card to move to
 */
export function step(key: string): boolean {
  const tile = document.activeElement?.closest('.tile')
  if (!tile) return focusOn(document.querySelector('.tile'))
  if (key === 'ArrowDown') return focusOn(tile.nextElementSibling)
  if (key === 'ArrowUp') return focusOn(tile.previousElementSibling)
  const lanes = [...document.querySelectorAll('.lane')]
  const direction = key === 'ArrowRight' ? 1 : -1
  const row = [...tile.parentElement!.children].indexOf(tile)
  for (let i = lanes.indexOf(tile.closest('.lane')!) + direction; i >= 0 && i < lanes.length; i += direction) {
    const tiles = lanes[i]!.querySelectorAll('.tile')
    if (tiles.length > 0) return focusOn(tiles[Math.min(row, tiles.length - 1)])
  }
  return false
}

/** Changes the page. Keeps the focus on its element or the nearest ancestor. */
export function keepFocus(change: () => void): void {
  const ids: string[] = []
  for (let at = document.activeElement; at !== null && ids.length < 3; at = at.parentElement) if (at.id !== '') ids.push(at.id)
  change()
  if (document.activeElement === document.body) ids.some((id) => focusOn(document.getElementById(id)))
}
