import type { VNode } from 'preact'
import type { Operation } from '../../resources/operation.ts'
import type { ListedCard } from '../listed-card.ts'
import type { Reader } from '../reader.ts'
import { html } from '../html.ts'
import type { SignedInContext } from '../page-context.ts'
import { toldBy } from '../told.ts'
import type { Submitted } from './fields.ts'
import { operationForm } from './form.ts'
import type { Place } from './place.ts'

/** An operation that takes another one back, with the fields of its form. */
export interface Undo {
  readonly operation: string
  readonly fields: Readonly<Record<string, string>>
}

/** What was done, in words, for operations that can be taken back. */
const DONE: Readonly<Record<string, string>> = {
  'cards.complete': 'The card is completed.',
  'cards.archive': 'The card is archived.',
  'cards.restore': 'The card is restored.',
  'cards.move': 'The card is moved.',
  'columns.archive': 'The column is archived.',
  'columns.restore': 'The column is restored.',
}
const REOPENED = 'The card is open again.'

/** What an undo says: never that it takes a claimed card away. */
const UNDO_FIELDS = ['card_id', 'column_id', 'completed', 'before', 'to']

/** Cards of a column among which the place of one is looked for. */
const EXAMINED = '100'

/** What takes an operation back. It is read before the operation is performed. */
export async function readUndo(reader: Reader, { id }: Operation, { params, body }: Submitted, { card }: Place): Promise<Undo | undefined> {
  if (id === 'cards.complete') return { operation: id, fields: { ...params, completed: String(body?.['completed'] !== true) } }
  if (id === 'cards.move' && card !== undefined) return { operation: id, fields: { ...params, ...(await readPosition(reader, card)) } }
  const inverse = { archive: 'restore', restore: 'archive' }[id.split('.')[1]!]
  return inverse === undefined ? undefined : { operation: id.replace(/\w+$/, inverse), fields: params }
}

async function readPosition(reader: Reader, { id, board_id, column_id }: ListedCard): Promise<Record<string, string>> {
  const { data } = await reader.read('cards.list', { board_id }, { column_id, limit: EXAMINED })
  const cards = data as readonly ListedCard[]
  const next = cards[cards.findIndex((card) => card.id === id) + 1]
  return next === undefined || next.id === cards[0]?.id ? { column_id, to: 'last' } : { before: next.id }
}

/** What was done, in words; undefined: the page shows it. */
export function doneText(undo: Undo | undefined, { body }: Submitted, { id }: Operation): string | undefined {
  if (undo === undefined) return undefined
  return id === 'cards.complete' && body?.['completed'] !== true ? REOPENED : DONE[id]
}

/** What the address of the next page tells: what was done, and what takes it back. */
export function doneMembers(undo: Undo | undefined, id: string): Readonly<Record<string, string>> | undefined {
  return undo && { did: id, undo: undo.operation, ...undo.fields }
}

/** What the person has done just before, with the form that takes it back. Without JavaScript only: the script shows it at once. */
export function renderDone(context: SignedInContext): VNode | undefined {
  const told = toldBy(context)
  const kept = told.get('kept')
  if (kept !== null) return html`<div class="message did" id="did" role="status" dir="auto">${kept}</div>`
  const [did, undo] = [told.get('did') ?? '', told.get('undo') ?? '']
  if (!Object.hasOwn(DONE, did) || !Object.hasOwn(DONE, undo)) return undefined
  const fields = Object.fromEntries(UNDO_FIELDS.flatMap((name) => (told.has(name) ? [[name, told.get(name)!]] : [])))
  const text = fields['completed'] === 'true' ? REOPENED : DONE[did]
  const form = operationForm(context, undo, fields, html`<button class="quiet">Undo</button>`)
  return html`<div class="message did" id="did" role="status">${text} ${form}</div>`
}
