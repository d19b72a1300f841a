/** What a page says at the edge of the window, also to screen readers: one element, until it says something else. */
import { createElement } from './create-element.ts'

/** An action that the person can take in response. */
interface Offer {
  readonly name: string
  act(): void
}

/** What takes an action back. */
interface Undo {
  /** the action in words, such as “Notes” is moved. */
  readonly what: string
  act(): void
}

/** Where the page on top says it. */
const toast = () =>
  document.querySelector<HTMLElement>('dialog[open] [data-announcement]') ?? document.querySelector<HTMLElement>('[data-announcement]')
const textOf = (shown: HTMLElement | null) => shown?.querySelector<HTMLElement>('[role=status]')
/** How long an answer to the person is shown, in milliseconds. */
const LIFETIME = 12_000
let timer: number | undefined
let isAnswer = false
/** What stays until the person does something about it, and where it is said. */
let warning: { readonly shown: HTMLElement | null; readonly said: string; readonly offer: Offer | undefined } | undefined
/** How many actions can be taken back, one after another. */
const UNDONE = 10
const undos: Undo[] = []

/**
 * Answers what the person has done. It goes by itself, but not while they are at it.
 * @param said empty: what was said before goes
 */
export function say(said: string, offer?: Offer): void {
  const shown = toast()
  const text = textOf(shown)
  if (!shown || !text) return
  clearTimeout(timer)
  warning = undefined
  isAnswer = said !== ''
  text.textContent = said
  shown.querySelector('[data-act]')?.remove()
  if (isAnswer) timer = setTimeout(end, LIFETIME)
  if (offer === undefined) return
  const onclick = () => {
    say('')
    offer.act()
  }
  const button = createElement('button', { type: 'button', onclick }, offer.name)
  button.dataset['act'] = ''
  text.after(button)
}

function end(): void {
  if (toast()?.matches(':hover, :focus-within')) timer = setTimeout(end, LIFETIME / 4)
  else say('')
}

/** Says what stays true until the person does something about it: it does not go by itself, and what others do does not replace it. */
export function warn(said: string, offer?: Offer): void {
  say(said, offer)
  clearTimeout(timer)
  warning = { shown: toast(), said, offer }
}

/** A card that is closed, or opened, takes no warning away with it: the page that is on top then has it. */
export function carryWarning(): void {
  if (warning === undefined || warning.shown === toast()) return
  const { shown, said, offer } = warning
  textOf(shown)?.replaceChildren()
  shown?.querySelector('[data-act]')?.remove()
  warn(said, offer)
}

/** Says what others have done. An answer to the person stays. */
export function announce(said: string): void {
  const text = textOf(toast())
  if (!isAnswer && text) text.textContent = said
}

/** Answers what the person has done, and offers to take it back. */
export function sayDone(said: string, undo: Undo | undefined): void {
  if (undo !== undefined) undos.push(undo)
  undos.splice(0, undos.length - UNDONE)
  say(said, undo && { name: 'Undo', act: takeBack })
}

/**
 * Takes back what the person has done last, if it can be.
 * @returns whether it can
 */
export function takeBack(): boolean {
  const undo = undos.pop()
  if (undo === undefined) return false
  say('')
  undo.act()
  return true
}

/** Answers that something was taken back, and offers the same for what was done before it. */
export function sayUndone(what: string): void {
  const previous = undos.at(-1)
  say(`Undone: ${what}`, previous && { name: `Undo: ${previous.what}`, act: takeBack })
}

document.addEventListener('click', ({ target }) => {
  if ((target as Element).closest('[data-announcement] > [aria-label=Dismiss]') !== null) say('')
})
