/** The menus and the lines for new cards of a board, which open without the script too. */
import { send } from './send.ts'
import { say } from './toast.ts'

const openOnes = () => document.querySelectorAll<HTMLDetailsElement>('.pop[open]')
const textsOf = (element: Element) => Array.from(element.querySelectorAll<HTMLInputElement>('input:not([type=hidden])'))

export function usePopups(board: HTMLElement): void {
  // What is half-written stays open.
  addEventListener('pointerdown', ({ target }) => {
    for (const one of openOnes())
      if (!one.contains(target as Node) && (one.dataset['popup'] !== undefined || textsOf(one).every(({ value }) => value === '')))
        one.open = false
  })
  board.addEventListener('keydown', (event) => {
    const one = (event.target as Element).closest<HTMLDetailsElement>('.pop[open]')
    if (event.key !== 'Escape' || one === null) return
    event.stopPropagation()
    one.open = false
    one.querySelector('summary')!.focus()
  })
  // This event does not bubble.
  board.addEventListener(
    'toggle',
    ({ target }) => {
      const one = target as HTMLDetailsElement
      if (!one.open || !one.matches('.pop.add')) return
      // A new version of it, which is open too, does not take the focus.
      if (document.activeElement === document.body || one.contains(document.activeElement)) textsOf(one)[0]?.focus()
      one.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    },
    true,
  )
  board.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (!form.matches('.pop.add form')) return
    event.preventDefault()
    const fields = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))
    void add(form, new URL(form.action).pathname.split('/').at(-1)!, fields)
  })
}

/** What is added is sent in its turn. */
let turn: Promise<unknown> = Promise.resolve()
let added = 0

/** Adds a card or a column. The field is free for the next one at once. */
async function add(form: HTMLFormElement, operation: string, fields: Record<string, string>): Promise<void> {
  const [input] = textsOf(form)
  const { value } = input!
  const lane = form.closest('.lane')
  input!.value = ''
  input!.focus()
  const pending = lane === null ? undefined : showPending(lane, value)
  const sent = turn.then(() => send({ operation, fields }))
  turn = sent
  const isDone = await sent
  pending?.remove()
  if (!isDone && input!.value === '') input!.value = value
  // Such a column shows its first cards only.
  else if (isDone && lane?.querySelector('.more') != null) say(`“${value}” is at the end of the column.`)
}

/** The card as it will be, until the page has it. */
function showPending(lane: Element, title: string): HTMLElement {
  const tile = document.createElement('li')
  tile.className = 'tile pending'
  tile.id = `pending-${++added}`
  const text = document.createElement('span')
  text.className = 'tile-title'
  text.textContent = title
  tile.append(text)
  lane.querySelector('.tiles')!.append(tile)
  tile.scrollIntoView({ block: 'nearest' })
  return tile
}
