/** A list to choose from, beside what it is about. It is searched by typing, and chosen from with the arrows and Enter, or by a click. */
import { activateOption } from './active-option.ts'
import { createElement } from './create-element.ts'
import { folded } from './folded.ts'
import { placeBeside } from './place-beside.ts'

/** What can be chosen. */
export interface Choice {
  readonly text: string
  readonly color?: string | undefined
  readonly isChosen?: boolean | undefined
  /** what tells it from others of the same text */
  readonly detail?: string | undefined
  /** @param isApart whether the person wants to see it in another tab: if it is a place */
  choose(isApart: boolean): void
}

interface Question {
  readonly label: string
  /** the text that is there first */
  readonly value?: string
  readonly choices: readonly Choice[] | Promise<readonly Choice[]>
  /** finds choices by a text; without it, those that are there are searched */
  search?(text: string): Promise<readonly Choice[]>
  /** what a text means that no choice has */
  other?(text: string): Choice | undefined
  /** gets the focus afterwards */
  back(): void
}

const input = createElement('input', {
  type: 'text',
  dir: 'auto',
  autocomplete: 'off',
  spellcheck: false,
  role: 'combobox',
  ariaExpanded: 'true',
})
const list = createElement('ul', { id: 'chooser-list', role: 'listbox' })
const popover = createElement('div', { className: 'chooser', popover: 'auto' }, input, list)
input.setAttribute('aria-controls', list.id)
input.setAttribute('aria-autocomplete', 'list')

/** How long to wait for more letters before choices are found, in milliseconds. */
const PAUSE = 150

let question: Question | undefined
let choices: readonly Choice[] = []
let offered: readonly Choice[] = []
let active = 0
/** What the list says while it has no choice. */
let hint = ''
/** Whether the choices for what was typed are on their way. */
let isLoading = false
/** Enter has come before them, and whether with Ctrl. */
let hasty: { readonly apart: boolean } | undefined
let typing: number | undefined

/**
 * Asks a question.
 * @param near the element that it is asked beside; undefined: it is about no place, and is asked in the middle
 */
export async function ask(near: Element | undefined, asked: Question): Promise<void> {
  question = asked
  popover.classList.toggle('everywhere', near === undefined)
  popover.removeAttribute('style')
  input.value = asked.value ?? ''
  for (const element of [input, list]) element.ariaLabel = asked.label
  input.placeholder = asked.label
  // What is behind a dialog cannot be used.
  const place = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.querySelector('main')!
  if (popover.parentElement !== place) place.append(popover)
  choices = []
  hasty = undefined
  const loaded = load(asked.choices)
  popover.showPopover()
  if (near !== undefined) placeBeside(popover, near)
  input.focus()
  input.select()
  await loaded
  if (question === asked && near !== undefined) placeBeside(popover, near)
}

/** Offers choices when they are there, unless something else was asked or typed meanwhile. */
async function load(coming: Question['choices']): Promise<void> {
  const [asked, text] = [question, input.value]
  isLoading = !Array.isArray(coming)
  hint = isLoading ? 'One moment …' : 'Nothing matches.'
  show()
  const found = await Promise.resolve(coming).catch(() => undefined)
  if (question !== asked || (asked?.search !== undefined && input.value !== text)) return
  isLoading = false
  hint = found === undefined ? 'This could not be loaded. Check the connection, and try again.' : 'Nothing matches.'
  choices = found ?? []
  show()
  if (hasty !== undefined) choose(offered[active], hasty.apart)
}

function type(): void {
  const search = question?.search
  if (search === undefined) return show()
  clearTimeout(typing)
  isLoading = true
  hasty = undefined
  typing = setTimeout(() => void load(search(input.value.trim())), PAUSE)
}

function show(): void {
  const words = folded(input.value).split(/\s+/).filter(Boolean)
  const text = input.value.trim()
  const isAsBefore = input.value === (question?.value ?? '')
  const isFound = isAsBefore || question?.search !== undefined
  const matching = choices.filter((choice) => isFound || words.every((word) => folded(choice.text).includes(word)))
  const isKnown = choices.some((choice) => folded(choice.text) === folded(text))
  const other = text === '' || isKnown ? undefined : question?.other?.(text)
  offered = other === undefined ? matching : [...matching, other]
  list.replaceChildren(...offered.map(item))
  if (offered.length === 0) list.append(createElement('li', { className: 'hint' }, hint))
  activate(0)
}

function item({ text, color, isChosen, detail }: Choice, i: number): HTMLElement {
  const element = createElement('li', { id: `choice-${i}`, role: 'option' }, createElement('bdi', {}, text))
  if (detail !== undefined) element.append(' ', createElement('span', { className: 'hint', dir: 'auto' }, detail))
  if (color !== undefined) {
    const dot = createElement('span', { className: 'dot' })
    dot.style.background = color
    element.prepend(dot)
  }
  element.ariaChecked = isChosen === undefined ? null : String(isChosen)
  element.addEventListener('pointermove', () => activate(i))
  element.addEventListener('click', (event) => choose(offered[i], isApart(event)))
  return element
}

function activate(index: number): void {
  active = activateOption(input, list, index)
}

const isApart = ({ ctrlKey, metaKey }: MouseEvent | KeyboardEvent) => ctrlKey || metaKey

function choose(choice: Choice | undefined, apart = false): void {
  if (choice === undefined) return
  close()
  choice.choose(apart)
}

function close(): void {
  const back = question?.back
  question = undefined
  clearTimeout(typing)
  popover.hidePopover()
  back?.()
}

input.addEventListener('input', type)
popover.addEventListener('toggle', ({ newState }) => {
  if (newState === 'closed' && question !== undefined) close()
})
popover.addEventListener('keydown', (event) => {
  const { key } = event
  event.stopPropagation()
  if (key === 'ArrowDown' || key === 'ArrowUp') activate(active + (key === 'ArrowDown' ? 1 : -1))
  else if (key === 'Enter' && !event.isComposing) {
    // What is offered yet may be for another text.
    hasty = isLoading ? { apart: isApart(event) } : undefined
    if (!isLoading || question?.search === undefined) choose(offered[active], isApart(event))
  } else if (key === 'Escape' || key === 'Tab') close()
  else return
  event.preventDefault()
})
