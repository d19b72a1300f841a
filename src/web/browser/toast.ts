/** What a page says at the edge of the window, also to screen readers: one element, until it says something else. */
import { createElement } from './create-element.ts'

/** An action that the person can take in response. */
interface Offer {
  readonly name: string
  act(): void
}

const toast = document.querySelector<HTMLElement>('[data-announcement]')
const text = toast?.querySelector<HTMLElement>('[role=status]')
/** How long an answer to the person is shown, in milliseconds. */
const LIFETIME = 12_000
let timer: number | undefined
let isAnswer = false
let offered: Offer | undefined

/**
 * Answers what the person has done. It goes by itself, but not while they are at it.
 * @param said empty: what was said before goes
 */
export function say(said: string, offer?: Offer): void {
  if (!toast || !text) return
  clearTimeout(timer)
  isAnswer = said !== ''
  text.textContent = said
  toast.querySelector('[data-act]')?.remove()
  if (isAnswer) timer = setTimeout(end, LIFETIME)
  if (offer === undefined) return
  offered = offer
  const button = createElement('button', { type: 'button', onclick: takeBack }, offer.name)
  button.dataset['act'] = ''
  text.after(button)
}

function end(): void {
  if (toast!.matches(':hover, :focus-within')) timer = setTimeout(end, LIFETIME / 4)
  else say('')
}

/** Says what others have done. An answer to the person stays. */
export function announce(said: string): void {
  if (!isAnswer && text) text.textContent = said
}

/**
 * Takes back what the person has done last, if that was offered: once.
 * @returns whether it was
 */
export function takeBack(): boolean {
  const offer = offered
  if (offer === undefined) return false
  offered = undefined
  say('')
  offer.act()
  return true
}

toast?.querySelector('[aria-label=Dismiss]')?.addEventListener('click', () => say(''))
