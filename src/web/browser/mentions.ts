/**
 * Offers names where a text can mention people: `@` and the beginning of a name open a list, and what is chosen becomes an id. The list
 * stands outside of what live updates change.
 */
import { activateOption } from './active-option.ts'
import { createElement } from './create-element.ts'
import { folded } from './folded.ts'

interface Person {
  readonly id: string
  readonly name: string
}

/** Names of a list: more letters find the others. */
const OFFERED = 8
/** How long after a failure the people are requested again, in milliseconds. */
const RETRY = 10_000
/** With an id in the place of the name, the service would read it as a mention: it is no part of a word or an e-mail address. */
const WRITTEN = /(?<![\w@.])@([\p{L}\p{M}\p{N}.'’-]{0,40})$/u
/** What decides where a character of a text area stands. */
const MEASURES = ['font-family', 'font-size', 'font-weight', 'font-style', 'letter-spacing', 'line-height', 'padding', 'tab-size']

const list = createElement('ul', { id: 'mention-list', className: 'mention-list', role: 'listbox', ariaLabel: 'Members', hidden: true })
const status = createElement('p', { className: 'unseen', role: 'status' })
/** A text area may have no other role than its own, a text box, which may have a list and an active option. */
const OPEN = { 'aria-controls': list.id, 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox' }
/** The text area with the list, the place of the @ in its text, and who is offered. */
let open: { readonly area: HTMLTextAreaElement; readonly at: number; readonly people: readonly Person[] } | undefined
let active = 0
/** The place of an @ whose list the person has closed. */
let dismissed: number | undefined
const known = new Map<string, Promise<readonly Person[]>>()

async function request(address: string): Promise<readonly Person[]> {
  const response = await fetch(address, { headers: { accept: 'application/json' } }).catch(() => undefined)
  if (response?.ok === true && !response.redirected) return ((await response.json()) as { people: readonly Person[] }).people
  setTimeout(() => known.delete(address), RETRY)
  return []
}

/** What is written of a name before the caret. */
function writtenIn({ value, selectionStart, selectionEnd }: HTMLTextAreaElement): { at: number; name: string } | undefined {
  const found = selectionStart === selectionEnd ? WRITTEN.exec(value.slice(0, selectionStart)) : null
  return found === null ? undefined : { at: found.index, name: found[1]! }
}

/** The words of a name or its beginning, each with a space before it. */
function wordsOf(text: string): string {
  return ` ${folded(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()}`
}

/** Those with a name that begins so. Those with such a first name come first. */
function matching(people: readonly Person[], name: string): readonly Person[] {
  const placeOf = (one: Person) => Math.sign(wordsOf(one.name).indexOf(wordsOf(name)))
  return people
    .filter((one) => placeOf(one) >= 0)
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .slice(0, OFFERED)
}

async function offer(area: HTMLTextAreaElement): Promise<void> {
  const address = area.dataset['people']!
  if (writtenIn(area) === undefined) dismissed = undefined
  else if (!known.has(address)) known.set(address, request(address))
  const people = (await known.get(address)) ?? []
  // More may have been written in the meantime, or elsewhere.
  const written = document.activeElement === area ? writtenIn(area) : undefined
  const found = written === undefined || written.at === dismissed ? [] : matching(people, written.name)
  if (open?.area !== area || found.length === 0) close()
  if (found.length === 0) return
  open = { area, at: written!.at, people: found }
  list.replaceChildren(...found.map(({ name }, i) => createElement('li', { id: `mention-${i}`, role: 'option', dir: 'auto' }, name)))
  // What is outside of an open dialog cannot be used.
  ;(area.closest('dialog') ?? document.querySelector('main')!).append(list, status)
  list.hidden = false
  for (const [name, value] of Object.entries(OPEN)) area.setAttribute(name, value)
  status.textContent = `${found.length} ${found.length === 1 ? 'member' : 'members'} to mention`
  place()
  active = activateOption(area, list, 0)
}

function close(): void {
  for (const name of [...Object.keys(OPEN), 'aria-activedescendant']) open?.area.removeAttribute(name)
  list.hidden = true
  status.textContent = ''
  open = undefined
}

function choose(index: number): void {
  const { area, at, people } = open!
  const text = `@${people[index]!.id} `
  close()
  area.setSelectionRange(at, area.selectionEnd)
  // As if it was typed: it can be undone.
  if (!document.execCommand('insertText', false, text)) area.setRangeText(text, at, area.selectionEnd, 'end')
}

/** Puts the list below the @, or above it if there is no space. A copy of the text area tells where that is. */
function place(): void {
  if (open === undefined) return
  const { area, at } = open
  const mark = createElement('span', {}, '@')
  const copy = createElement('div', { className: 'mention-measure' }, area.value.slice(0, at), mark)
  for (const name of MEASURES) copy.style.setProperty(name, getComputedStyle(area).getPropertyValue(name))
  copy.style.width = `${area.clientWidth}px`
  document.body.append(copy)
  const { left, top } = area.getBoundingClientRect()
  const above = top + area.clientTop + mark.offsetTop - area.scrollTop - 4 - list.offsetHeight
  const below = above + list.offsetHeight + mark.offsetHeight + 8
  const x = Math.min(left + mark.offsetLeft, innerWidth - list.offsetWidth - 8)
  copy.remove()
  // On a phone, the keyboard covers a part of the window.
  const bottom = (visualViewport?.offsetTop ?? 0) + (visualViewport?.height ?? innerHeight)
  const y = below + list.offsetHeight > bottom && above > 0 ? above : below
  Object.assign(list.style, { left: `${Math.max(8, x)}px`, top: `${y}px` })
}

function press(event: KeyboardEvent): void {
  const { key, target, isComposing, ctrlKey, metaKey, altKey, shiftKey } = event
  if (target !== open?.area || open === undefined || isComposing || ctrlKey || metaKey || altKey || shiftKey) return
  if (key === 'ArrowDown' || key === 'ArrowUp') active = activateOption(open.area, list, active + (key === 'ArrowDown' ? 1 : -1))
  else if (key === 'Enter' || key === 'Tab') choose(active)
  else if (key === 'Escape') {
    dismissed = open.at
    close()
  } else return
  // Neither the page nor what the text area stands in gets it.
  event.preventDefault()
  event.stopPropagation()
}

/** Offers names in all text areas of the page that say where the names are. */
export function offerNames(): void {
  document.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLTextAreaElement && target.dataset['people'] !== undefined) void offer(target)
  })
  document.addEventListener('keydown', press)
  document.addEventListener('focusout', ({ target }) => target === open?.area && close())
  document.addEventListener('selectionchange', () => open && writtenIn(open.area)?.at !== open.at && close())
  document.addEventListener('submit', close, true)
  addEventListener('scroll', place, true)
  addEventListener('resize', place)
  // The text area keeps the focus, and a phone its keyboard.
  list.addEventListener('mousedown', (event) => event.preventDefault())
  list.addEventListener('click', ({ target }) => {
    const index = [...list.children].indexOf((target as Element).closest('li')!)
    if (index >= 0) choose(index)
  })
}
