/** The keys of a card that has the focus: it is picked up, moved by arrows and dropped, completed, or asked about. */
import { cardsOf, complete, drop, laneName, lift, may, putBack, titleOf, type Lifted } from './card-actions.ts'
import { focusOn } from './focus.ts'
import { commandOf, isTyping } from './keys.ts'
import { questions } from './tile-questions.ts'
import { say, takeBack } from './toast.ts'

export function useTileKeys(board: HTMLElement): void {
  let lifted: Lifted | undefined
  let isMoving = false
  /** Moving an element takes its focus away. */
  const keepFocus = (tile: HTMLElement, change: () => void) => {
    isMoving = true
    change()
    focusOn(tile)
    isMoving = false
  }
  const cancel = () => {
    const was = lifted
    lifted = undefined
    if (was === undefined) return
    keepFocus(was.tile, () => putBack(was))
    say('The card is back in its place.')
  }
  const finish = () => {
    const was = lifted!
    lifted = undefined
    say('')
    void drop(was)
  }

  board.addEventListener('keydown', (event) => {
    const { target } = event
    const key = commandOf(event)
    if (key === undefined) return
    const tile = (target as Element).closest<HTMLElement>('.tile')
    const isTitle = (target as Element).matches('.tile-title')
    const handle = () => {
      event.preventDefault()
      event.stopPropagation()
    }
    if (lifted !== undefined) {
      handle()
      if (key === 'Escape') cancel()
      else if (key === ' ' || key === 'Enter') finish()
      else if (key.startsWith('Arrow')) keepFocus(lifted.tile, () => moveBy(key, lifted!.tile))
    } else if (tile === null || !isTitle || event.repeat) return
    else if (key === ' ' && may('cards.move')) {
      handle()
      lifted = lift(tile)
      say(`“${titleOf(tile)}” is picked up. Arrows move it, Space drops it, Escape puts it back.`)
    } else if (key === 'x' && may('cards.complete')) void complete(tile)
    else {
      const question = questions.find((one) => one.key === key && may(one.operation))
      if (question === undefined) return
      handle()
      question.ask(tile)
    }
  })
  board.addEventListener('focusout', () => !isMoving && cancel())
  addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey, shiftKey } = event
    const isUndo = ctrlKey || metaKey ? key === 'z' && !altKey && !shiftKey : commandOf(event, 'dialog[open]:not(.card-panel)') === 'u'
    if (isUndo && !isTyping(target) && takeBack()) event.preventDefault()
  })
}

/** Moves a tile by one place, or to the next column. */
function moveBy(key: string, tile: HTMLElement): void {
  const list = tile.parentElement!
  const tiles = cardsOf(list)
  const at = tiles.indexOf(tile)
  if (key === 'ArrowUp') tiles[at - 1]?.before(tile)
  else if (key === 'ArrowDown') tiles[at + 1]?.after(tile)
  else {
    const lists = Array.from(document.querySelectorAll('.lane .tiles'))
    const other = lists[lists.indexOf(list) + (key === 'ArrowRight' ? 1 : -1)]
    if (other === undefined) return
    other.insertBefore(tile, cardsOf(other)[at] ?? null)
  }
  const now = cardsOf(tile.parentElement!)
  say(`${laneName(tile.closest('.lane'))}, place ${now.indexOf(tile) + 1} of ${now.length}.`)
}
