/** The search in all boards and cards of a workspace, on every page: Ctrl+K, or ⌘K on a Mac. Its link leads to a page that finds cards, too. */
import type { Found } from '../boards/found.ts'
import { ask, type Choice } from './chooser.ts'

const IS_MAC = /^(?:Mac|iP)/.test(navigator.platform)

const link = document.querySelector<HTMLAnchorElement>('[data-find]')

/** Goes to what was found, as a click on a link to it would: a card of the board that is open opens over it. */
function goTo({ address, board }: Pick<Found, 'address' | 'board'>, isApart: boolean): void {
  const isOpen = board !== undefined && document.querySelector('[data-may]')?.getAttribute('data-feed') === board
  if (isApart) window.open(address, '_blank', 'noopener')
  else if (isOpen) {
    const way = document.createElement('a')
    way.href = address
    document.body.append(way)
    way.click()
    way.remove()
  } else location.assign(address)
}

async function search(text: string): Promise<readonly Choice[]> {
  const { find } = link!.dataset
  const query = text === '' ? '' : `?${new URLSearchParams({ q: text })}`
  const response = await fetch(find! + query, { headers: { accept: 'application/json' } })
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`)
  const { found } = (await response.json()) as { found: readonly Found[] }
  return found.map((one) => ({ text: one.name, detail: one.detail, choose: (isApart) => goTo(one, isApart) }))
}

function open(): void {
  const before = document.activeElement
  const other = (text: string): Choice => {
    const address = new URL(link!.href)
    address.searchParams.set('q', text)
    return { text: `All cards with “${text}”`, choose: (isApart) => goTo({ address: address.href }, isApart) }
  }
  const back = () => before instanceof HTMLElement && before.focus()
  void ask(undefined, { label: 'Search boards and cards', choices: search(''), search, other, back })
}

/** Whether a key asks for the search on this page. On a Mac, Ctrl+K belongs to the field that a person writes in. */
export function asksForSearch({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  const isAsked = IS_MAC ? metaKey && !ctrlKey : ctrlKey && !metaKey
  return link !== null && isAsked && !altKey && !shiftKey && key.toLowerCase() === 'k'
}

export function searchEverywhere(): void {
  if (link === null) return
  link.title += IS_MAC ? ' (⌘K)' : ' (Ctrl+K)'
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    open()
  })
  addEventListener('keydown', (event) => {
    if (!asksForSearch(event)) return
    event.preventDefault()
    open()
  })
}
