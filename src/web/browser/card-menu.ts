/** The menu of a card: one for the whole board, filled when it opens. */
import { archive, complete, may } from './card-actions.ts'
import { createElement } from './create-element.ts'
import { focusOn } from './focus.ts'
import { placeBeside } from './place-beside.ts'
import { questions } from './tile-questions.ts'

export function showTileMenus(board: HTMLElement): void {
  const menu = createElement('div', { className: 'tile-actions', popover: 'auto', role: 'menu', ariaLabel: 'Actions' })
  document.querySelector('main')!.append(menu)
  let cardId: string | undefined
  const buttonOf = (id: string | undefined) => document.getElementById(id ?? '')?.querySelector<HTMLElement>('.tile-menu')

  const items = (tile: HTMLElement): HTMLElement[] => {
    const item = (name: string, act: () => void) => {
      const onclick = () => {
        menu.hidePopover()
        act()
      }
      return createElement('button', { type: 'button', role: 'menuitem', tabIndex: -1, onclick }, name)
    }
    const completion = tile.classList.contains('completed') ? 'Open again' : 'Complete'
    const offered: readonly (readonly [operation: string, name: string, act: () => void])[] = [
      ['cards.complete', completion, () => void complete(tile)],
      ...questions.map(({ operation, name, ask }) => [operation, name, () => ask(tile)] as const),
      ['cards.archive', 'Archive', () => void archive(tile)],
    ]
    return offered.filter(([operation]) => may(operation)).map(([, name, act]) => item(name, act))
  }

  // A click on the button of an open menu closes it: the browser has closed it already when the click arrives.
  let closedBy: string | undefined
  board.addEventListener('pointerdown', () => (closedBy = menu.matches(':popover-open') ? cardId : undefined))
  board.addEventListener('click', ({ target }) => {
    const button = (target as Element).closest<HTMLElement>('.tile-menu')
    const tile = button?.closest<HTMLElement>('.tile')
    if (!button || !tile || tile.id === closedBy) return
    cardId = tile.id
    menu.replaceChildren(...items(tile))
    menu.showPopover()
    placeBeside(menu, button)
    button.ariaExpanded = 'true'
    ;(menu.firstElementChild as HTMLElement | null)?.focus()
  })
  menu.addEventListener('toggle', ({ newState }) => {
    if (newState !== 'closed') return
    const button = buttonOf(cardId)
    button?.removeAttribute('aria-expanded')
    if (document.activeElement === document.body) button?.focus()
  })
  menu.addEventListener('keydown', (event) => {
    const all = Array.from(menu.children) as HTMLElement[]
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: (at + 1) % all.length, ArrowUp: (at + all.length - 1) % all.length, Home: 0, End: all.length - 1 }[event.key]
    event.stopPropagation()
    if (event.key === 'Tab' || event.key === 'Escape') {
      event.preventDefault()
      menu.hidePopover()
      // The page may have been shown anew since it opened.
      const button = buttonOf(cardId)
      if (button) button.focus()
      else focusOn(board)
    } else if (to !== undefined) {
      event.preventDefault()
      all[to]!.focus()
    }
  })
  document.addEventListener('scroll', ({ target }) => target !== menu && menu.hidePopover(), true)
}
