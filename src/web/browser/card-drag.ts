/** Moves cards with a pointer: a mouse at once, a finger after it has rested on the card, because otherwise it scrolls. */
import { cardsOf, drop, isCard, lift, may, putBack, type Lifted } from './card-actions.ts'
import { putBefore } from './merge.ts'

interface Press {
  readonly tile: HTMLElement
  readonly pointer: number
  readonly isMouse: boolean
  x: number
  y: number
  timer?: number
}
interface Drag extends Lifted {
  readonly ghost: HTMLElement
  readonly offset: { readonly x: number; readonly y: number }
}

/** How far a mouse moves before it drags, in pixels, and how long a finger rests, in milliseconds. */
const SLACK = 6
const REST = 350
/** Near an edge, the board, a list or the page scrolls by so many pixels in each frame. */
const EDGE = 48
const SPEED = 12

export function dragTiles(board: HTMLElement): void {
  let press: Press | undefined
  let drag: Drag | undefined
  let frame = 0

  const forget = () => {
    clearTimeout(press?.timer)
    press = undefined
  }
  const begin = () => {
    // The page may have changed since the pointer went down.
    if (press === undefined || !press.tile.isConnected) return forget()
    const { tile, pointer, x, y } = press
    const { left, top, width, height } = tile.getBoundingClientRect()
    const ghost = tile.cloneNode(true) as HTMLElement
    ghost.removeAttribute('id')
    ghost.inert = true
    ghost.classList.add('ghost')
    Object.assign(ghost.style, { width: `${width}px`, height: `${height}px` })
    drag = { ...lift(tile), ghost, offset: { x: x - left, y: y - top } }
    document.body.append(ghost)
    board.setPointerCapture(pointer)
    board.classList.add('dragging')
    draw()
  }
  const draw = () => {
    frame = 0
    if (drag === undefined || press === undefined) return
    const { x, y } = press
    drag.ghost.style.translate = `${x - drag.offset.x}px ${y - drag.offset.y}px`
    if (follow(board, drag.tile, x, y)) schedule()
  }
  const schedule = () => (frame ||= requestAnimationFrame(draw))
  const end = (isDropped: boolean) => {
    forget()
    if (drag === undefined) return
    const { ghost, ...lifted } = drag
    drag = undefined
    ghost.remove()
    board.classList.remove('dragging')
    // The click that ends a drag opens no card.
    addEventListener('click', swallow, { capture: true, once: true })
    setTimeout(() => removeEventListener('click', swallow, true))
    if (isDropped) void drop(lifted)
    else putBack(lifted)
  }

  board.addEventListener('pointerdown', (event) => {
    const { target, button, isPrimary, pointerId, clientX, clientY, pointerType } = event
    const tile = (target as Element).closest<HTMLElement>('.tile')
    if (tile === null || !isCard(tile) || button !== 0 || !isPrimary || (target as Element).closest('button') !== null) return
    if (event.ctrlKey || event.metaKey || event.shiftKey || drag !== undefined || !may('cards.move')) return
    const isMouse = pointerType === 'mouse'
    press = { tile, pointer: pointerId, isMouse, x: clientX, y: clientY }
    if (!isMouse) press.timer = setTimeout(begin, REST)
  })
  addEventListener('pointermove', ({ clientX, clientY, pointerId }) => {
    if (press === undefined || pointerId !== press.pointer) return
    if (drag === undefined) {
      if (Math.hypot(clientX - press.x, clientY - press.y) < SLACK) return
      if (!press.isMouse) return forget()
      begin()
    }
    Object.assign(press, { x: clientX, y: clientY })
    schedule()
  })
  addEventListener('pointerup', () => end(true))
  addEventListener('pointercancel', () => end(false))
  addEventListener(
    'keydown',
    (event) => {
      if (drag === undefined || event.key !== 'Escape') return
      event.stopPropagation()
      end(false)
    },
    true,
  )
  // A link would be dragged by the browser, and a finger would scroll.
  board.addEventListener('dragstart', (event) => (event.target as Element).closest('.tile') !== null && event.preventDefault())
  board.addEventListener('touchmove', (event) => drag !== undefined && event.cancelable && event.preventDefault(), { passive: false })
  board.addEventListener('contextmenu', (event) => press !== undefined && !press.isMouse && event.preventDefault())
}

function swallow(event: Event): void {
  event.preventDefault()
  event.stopPropagation()
}

/** Scrolls an element by a step if the pointer is near its edge. @returns by how many pixels it has scrolled */
function scrollNear(element: Element, axis: 'left' | 'top', at: number, from: number, to: number): number {
  const step = at < from + EDGE ? -SPEED : at > to - EDGE ? SPEED : 0
  const name = axis === 'left' ? 'scrollLeft' : 'scrollTop'
  const before = element[name]
  element[name] += step
  return element[name] - before
}

/**
 * Puts a tile where the pointer is.
 * @returns whether something scrolls, so that it has to be done again
 */
function follow(board: HTMLElement, tile: HTMLElement, x: number, y: number): boolean {
  const lanes = board.querySelector<HTMLElement>('.lanes')!
  const outer = lanes.getBoundingClientRect()
  const across = scrollNear(lanes, 'left', x, Math.max(0, outer.left), Math.min(innerWidth, outer.right))
  const lane = Array.from(lanes.querySelectorAll('.lane')).find((one) => {
    const { left, right } = one.getBoundingClientRect()
    return x >= left && x <= right
  })
  const list = lane?.querySelector('.tiles')
  if (!list) return across !== 0
  const { top, bottom } = list.getBoundingClientRect()
  // On a phone the page scrolls, and not the column.
  const down =
    list.scrollHeight > list.clientHeight + 1
      ? scrollNear(list, 'top', y, top, bottom)
      : scrollNear(document.scrollingElement!, 'top', y, 0, innerHeight)
  const next = cardsOf(list).find((one) => {
    const { top: above, height } = one.getBoundingClientRect()
    return one !== tile && y < above + height / 2
  })
  putBefore(list, tile, next ?? null)
  return across !== 0 || down !== 0
}
