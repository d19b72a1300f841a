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
  choose(): void
}

interface Question {
  readonly label: string
  /** the text that is there first */
  readonly value?: string
  readonly choices: readonly Choice[] | Promise<readonly Choice[]>
  /** what a text means that no choice has */
  other?(text: string): Choice | undefined
  /** gets the focus afterwards */
  back(): void
}

const input = createElement('input', { type: 'text', autocomplete: 'off', spellcheck: false, role: 'combobox', ariaExpanded: 'true' })
const list = createElement('ul', { id: 'chooser-list', role: 'listbox' })
const popover = createElement('div', { className: 'chooser', popover: 'auto' }, input, list)
input.setAttribute('aria-controls', list.id)
input.setAttribute('aria-autocomplete', 'list')

let question: Question | undefined
let choices: readonly Choice[] = []
let offered: readonly Choice[] = []
let active = 0
/** Whether Enter came before the choices. */
let isHasty = false

/** Asks a question beside an element. */
export async function ask(near: Element, asked: Question): Promise<void> {
  question = asked
  choices = []
  isHasty = false
  input.value = asked.value ?? ''
  for (const element of [input, list]) element.ariaLabel = asked.label
  input.placeholder = asked.label
  if (!popover.isConnected) document.querySelector('main')!.append(popover)
  show()
  popover.showPopover()
  placeBeside(popover, near)
  input.focus()
  input.select()
  choices = await Promise.resolve(asked.choices).catch(() => [])
  // It was closed, or asks something else by now.
  if (question !== asked) return
  show()
  placeBeside(popover, near)
  if (isHasty) choose(offered[0])
}

function show(): void {
  const words = folded(input.value).split(/\s+/).filter(Boolean)
  const text = input.value.trim()
  const isAsBefore = input.value === (question?.value ?? '')
  const matching = choices.filter((choice) => isAsBefore || words.every((word) => folded(choice.text).includes(word)))
  const isKnown = choices.some((choice) => folded(choice.text) === folded(text))
  const other = text === '' || isKnown ? undefined : question?.other?.(text)
  offered = other === undefined ? matching : [...matching, other]
  list.replaceChildren(...offered.map(item))
  if (offered.length === 0) list.append(createElement('li', { className: 'hint' }, 'Nothing matches.'))
  activate(0)
}

function item({ text, color, isChosen }: Choice, i: number): HTMLElement {
  const element = createElement('li', { id: `choice-${i}`, role: 'option' }, text)
  if (color !== undefined) {
    const dot = createElement('span', { className: 'dot' })
    dot.style.background = color
    element.prepend(dot)
  }
  element.ariaChecked = isChosen === undefined ? null : String(isChosen)
  element.addEventListener('pointermove', () => activate(i))
  element.addEventListener('click', () => choose(offered[i]))
  return element
}

function activate(index: number): void {
  active = activateOption(input, list, index)
}

function choose(choice: Choice | undefined): void {
  if (choice === undefined) return
  close()
  choice.choose()
}

function close(): void {
  const back = question?.back
  question = undefined
  popover.hidePopover()
  back?.()
}

input.addEventListener('input', show)
popover.addEventListener('toggle', ({ newState }) => {
  if (newState === 'closed' && question !== undefined) close()
})
popover.addEventListener('keydown', (event) => {
  const { key } = event
  event.stopPropagation()
  if (key === 'ArrowDown' || key === 'ArrowUp') activate(active + (key === 'ArrowDown' ? 1 : -1))
  else if (key === 'Enter' && !event.isComposing) {
    isHasty = offered.length === 0
    choose(offered[active])
  } else if (key === 'Escape' || key === 'Tab') close()
  else return
  event.preventDefault()
})
