/** A column that shows its first cards only gets the next ones when a person has scrolled near its end. Its link leads to them, too. */
import { showCounts } from './fragments.ts'
import { isPaused } from './pauses.ts'
import { showTimes } from './times.ts'
import { say } from './toast.ts'

/** How near the end of what is there, in pixels. */
const NEAR = 600

/** Whether a person sees, or will see soon, what comes after the cards of a column. On a phone the page scrolls, and not the column. */
function isNear(more: Element): boolean {
  const { scrollHeight, clientHeight, scrollTop } = more.closest('.lane')!.querySelector('.tiles')!
  if (scrollHeight > clientHeight + 1) return scrollTop + clientHeight > scrollHeight - NEAR
  return more.getBoundingClientRect().top < innerHeight + NEAR
}

/** Adds the cards that a link leads to, and the link to those after them. */
async function load(more: HTMLElement): Promise<void> {
  const response = await fetch(more.querySelector('a')!.href, { headers: { accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const lane = more.closest('.lane')!
  const next = page.getElementById(lane.id)
  // The page was updated meanwhile, or leads elsewhere: its link is still there.
  if (next === null || !more.isConnected) return
  showTimes(next, Date.now())
  const tiles = Array.from(next.querySelectorAll('.tile')).filter(({ id }) => document.getElementById(id) === null)
  lane.querySelector('.tiles')!.append(...tiles)
  const further = next.querySelector('.more')
  if (further === null) more.remove()
  else more.replaceWith(further)
  showCounts()
}

export function loadMoreCards(board: HTMLElement): void {
  const loading = new WeakSet<Element>()
  const look = () => {
    if (isPaused()) return
    for (const more of board.querySelectorAll<HTMLElement>('.more')) {
      if (loading.has(more) || !isNear(more)) continue
      loading.add(more)
      load(more).then(look, () => say('More cards could not be loaded. The link at the end of the column leads to them.'))
    }
  }
  addEventListener('scroll', look, { capture: true, passive: true })
}
