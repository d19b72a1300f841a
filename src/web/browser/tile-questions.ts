/** What is asked beside the tile of a card: its title, people, labels, due time and column. */
import type { CardChoice, CardChoices } from '../boards/card-choice.ts'
import { titleOf } from './card-actions.ts'
import { ask, type Choice } from './chooser.ts'
import { focusOn } from './focus.ts'
import { send } from './send.ts'

/** Colors of a new label: they can be told apart in both themes. */
const PALETTE: readonly (readonly [name: string, color: string])[] = [
  ['Blue', '#1f6feb'],
  ['Green', '#1a7f37'],
  ['Yellow', '#bf8700'],
  ['Orange', '#d1570a'],
  ['Red', '#cf222e'],
  ['Pink', '#bf3989'],
  ['Purple', '#8250df'],
  ['Gray', '#6e7781'],
]
const SUGGESTED_DAYS = 8

type Asker = (tile: HTMLElement) => void

const fieldsOf = ({ id }: HTMLElement) => ({ card_id: id })
/** The tile may be another element by then. */
const backTo =
  ({ id }: HTMLElement) =>
  () =>
    void focusOn(document.getElementById(id))

async function fetchChoices({ id }: { readonly id: string }, of: string, q = ''): Promise<CardChoices> {
  const { base } = document.querySelector<HTMLElement>('[data-feed]')!.dataset
  const query = q === '' ? '' : `?${new URLSearchParams({ q })}`
  const response = await fetch(`${base!}/cards/${id}/choices/${of}${query}`, { headers: { accept: 'application/json' } })
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`)
  return (await response.json()) as CardChoices
}

const chosen = ({ operation, fields, ...shown }: CardChoice): Choice => ({ ...shown, choose: () => void send({ operation, fields }) })

const askFor =
  (label: string, of: string): Asker =>
  (tile) => {
    const choices = fetchChoices(tile, of).then((found) => found.choices.map(chosen))
    void ask(tile, { label, choices, back: backTo(tile) })
  }

/** Lets the link to the form of a blocker ask for it in place. */
export function askForBlockers(): void {
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLElement>('[data-asks=blockers]')
    const id = link?.closest<HTMLElement>('[data-card]')?.dataset['card']
    if (!link || id === undefined || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    const search = async (text: string) => (await fetchChoices({ id }, 'blockers', text)).choices.map(chosen)
    // The page may have been shown anew since.
    const back = () => void focusOn(document.querySelector(`[data-card="${id}"] [data-asks=blockers]`))
    void ask(link, { label: 'Blocked by: search the cards of the board', choices: search(''), search, back })
  })
}

function askTitle(tile: HTMLElement): void {
  const title = titleOf(tile)
  const rename = (text: string) =>
    void send({ operation: 'cards.update', fields: { ...fieldsOf(tile), title: text, 'was.title': title, revision: '-' } })
  const other = (text: string) => ({ text: `Rename to “${text}”`, choose: () => rename(text) })
  void ask(tile, { label: 'Title', value: title, choices: [], other, back: backTo(tile) })
}

function askLabels(tile: HTMLElement): void {
  const found = fetchChoices(tile, 'labels')
  let board: string | undefined
  const choices = found.then((all) => {
    board = all.boardOfNewLabels
    return all.choices.map(chosen)
  })
  const other = (name: string) =>
    board === undefined ? undefined : { text: `New label “${name}”`, choose: () => askColor(tile, board!, name) }
  void ask(tile, { label: 'Labels', choices, other, back: backTo(tile) })
}

function askColor(tile: HTMLElement, boardId: string, name: string): void {
  const make = async (color: string) => {
    if (!(await send({ operation: 'labels.create', fields: { board_id: boardId, name, color } }))) return
    const made = (await fetchChoices(tile, 'labels')).choices.find((choice) => choice.text === name && !choice.isChosen)
    if (made !== undefined) void send(made)
  }
  const choices = PALETTE.map(([text, color]) => ({ text, color, choose: () => void make(color) }))
  void ask(tile, { label: `Color of “${name}”`, choices, back: backTo(tile) })
}

const weekday = new Intl.DateTimeFormat('en', { weekday: 'long' })
const shortDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const fullDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', weekday: 'long' })

/** The end of a day in the zone of the person: whoever names a day means all of it. */
const endOf = (year: number, month: number, day: number) => new Date(year, month, day, 23, 59)

function askDue(tile: HTMLElement): void {
  const due = (at: Date | undefined) =>
    void send({ operation: 'cards.update', fields: { ...fieldsOf(tile), due_at: at?.toISOString() ?? '', 'was.due_at': '-' } })
  const now = new Date()
  const days = Array.from({ length: SUGGESTED_DAYS }, (_, i) => {
    const at = endOf(now.getFullYear(), now.getMonth(), now.getDate() + i)
    const name = i === 0 ? 'Today' : i === 1 ? 'Tomorrow' : i === 7 ? 'In a week' : weekday.format(at)
    return { text: `${name}, ${shortDay.format(at)}`, choose: () => due(at) }
  })
  const other = (text: string) => {
    const [, year, month, day] = /^(\d{4})-(\d\d?)-(\d\d?)$/.exec(text) ?? []
    const at = endOf(Number(year), Number(month) - 1, Number(day))
    return at.getDate() === Number(day) ? { text: fullDay.format(at), choose: () => due(at) } : undefined
  }
  const choices = [...days, { text: 'No due date', choose: () => due(undefined) }]
  void ask(tile, { label: 'Due: a day, or 2030-12-31', choices, other, back: backTo(tile) })
}

/** What a key or the menu of a tile asks, by the operation that follows. */
export const questions: readonly { readonly key: string; readonly name: string; readonly operation: string; readonly ask: Asker }[] = [
  { key: 'e', name: 'Rename', operation: 'cards.update', ask: askTitle },
  { key: 'a', name: 'Assign', operation: 'cards.assign', ask: askFor('Assign', 'people') },
  { key: 'l', name: 'Labels', operation: 'cards.apply_label', ask: askLabels },
  { key: 'd', name: 'Due', operation: 'cards.update', ask: askDue },
  { key: 'm', name: 'Move', operation: 'cards.move', ask: askFor('Move to', 'columns') },
]
