import type { VNode } from 'preact'
import type { Change } from '../../model/change.ts'
import { ApiError } from '../../model/errors.ts'
import type { Operation } from '../../resources/operation.ts'
import { authorsOf } from '../boards/authors.ts'
import { html } from '../html.ts'
import { listOf } from '../phrases.ts'
import type { Reader } from '../reader.ts'
import { renderTime } from '../times.ts'
import { fieldsOf, isUpdate, readFields, versionsOf, type Field } from './fields.ts'
import { compareTexts, mergeTexts, type Mark } from './merge-texts.ts'
import { readPlace, type Choices, type Place } from './place.ts'

/** What a form is shown with whose object somebody else has changed since it was made. */
export interface Conflict {
  /** who has changed what of it, and when; undefined: the feed does not say so */
  readonly said: VNode | undefined
  /** of the fields of the form, by their names */
  readonly fields: ReadonlyMap<string, Resolved>
}

/** A field with the changes of both. */
interface Resolved {
  /** what the field has now */
  readonly value: string
  /** what stands beside it; undefined: only one has changed it */
  readonly beside?: VNode
}

export const CONFLICT = 'This has changed since you began. Nothing of yours is lost, and nothing was saved yet.'
const BOTH = 'Both changes are in the field. Marked is what differs.'
const COLLIDES = 'Both of you have changed the same words: the field has yours there. Marked is what differs.'
const TOO_DIFFERENT = 'The texts differ too much to be merged: the field has yours.'

/** How many changes of the board, newest first, are searched for the last one of an object. */
const EXAMINED = '100'

/**
 * Merges what a person has written with what somebody else has saved meanwhile. What only one has changed is kept; of a text that both
 * have changed, what does not collide.
 * @param choices names of ids, by the names of fields
 */
export async function readConflict(
  reader: Reader,
  operation: Operation,
  form: URLSearchParams,
  { place, choices }: { readonly place: Place; readonly choices: ReadonlyMap<string, Choices | undefined> },
): Promise<Conflict> {
  const change = await readLastChange(reader, operation, place)
  const record = place.target?.record ?? {}
  const fields = fieldsOf(operation).filter(({ name }) => form.has(name) && Object.hasOwn(record, name))
  return {
    said: change && html`<p><bdi>${change.by}</bdi> ${change.what} at ${renderTime(change.at)}.</p>`,
    fields: new Map(fields.map((field) => [field.name, resolve(field, form, record, choices.get(field.name))])),
  }
}

/**
 * Whether all that a form changes is stored: it changes nothing, or it was sent before and its answer was lost. What somebody else has added
 * since to the same text is no matter.
 */
export function isStored(operation: Operation, form: URLSearchParams, { target }: Place): boolean {
  const { body } = readFields(operation, form)
  if (body === undefined || !isUpdate(operation)) return false
  const record = target?.record ?? {}
  const changed = fieldsOf(operation).filter(({ name }) => Object.hasOwn(body, name))
  return changed.every((field) => {
    const { theirs } = versionsOf(field, form, record)
    return Object.hasOwn(record, field.name) && resolve(field, form, record, undefined).value === theirs
  })
}

/** @returns where a form acts, if all that it changes is stored by now; undefined: something is left, or the object is gone */
export async function findStored(reader: Reader, operation: Operation, form: URLSearchParams): Promise<Place | undefined> {
  try {
    const place = await readPlace(reader, operation, readFields(operation, form).params)
    return isStored(operation, form, place) ? place : undefined
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** What is said of a change of somebody else that did not collide with what was saved; undefined: it was the person's own. */
export async function keptText(reader: Reader, operation: Operation, place: Place): Promise<string | undefined> {
  const change = await readLastChange(reader, operation, place)
  return change === undefined || change.isOwn ? undefined : `Saved. ${change.by} ${change.what} meanwhile: both changes are kept.`
}

function resolve(field: Field, form: URLSearchParams, record: Readonly<Record<string, unknown>>, choices: Choices | undefined): Resolved {
  const versions = versionsOf(field, form, record)
  const { base, mine, theirs } = versions
  if (mine === base) return { value: theirs }
  if (theirs === base || theirs === mine) return { value: mine }
  if (field.kind !== 'line' && field.kind !== 'prose') return { value: mine, beside: renderPresent(presentValue(field, theirs, choices)) }
  const merged = base === undefined ? undefined : mergeTexts({ base, mine, theirs })
  const value = merged?.text ?? mine
  const marks = compareTexts(theirs, value)
  const hint = merged === undefined || marks === undefined ? TOO_DIFFERENT : merged.collides ? COLLIDES : BOTH
  const [present, changed] = marks ?? [[{ text: theirs, isOwn: false }], [{ text: value, isOwn: false }]]
  return {
    value,
    beside: html`<p class="hint">${hint}</p>
      ${renderPresent(theirs === '' ? 'empty' : renderMarks(present))}
      <p class="theirs ours">
        <span class="hint">With your change:</span> <span class="prose" dir="auto">${renderMarks(changed)}</span>
      </p>` as VNode,
  }
}

const renderPresent = (content: unknown): VNode =>
  html`<p class="theirs"><span class="hint">It is now:</span> <span class="prose" dir="auto">${content}</span></p>`

const renderMarks = (marks: readonly Mark[]) => marks.map(({ text, isOwn }) => (isOwn ? html`<mark>${text}</mark>` : text))

function presentValue({ kind }: Field, value: string, choices: Choices = []): unknown {
  if (value === '') return 'empty'
  if (kind === 'time') return renderTime(value)
  const names = new Map(choices)
  return value
    .split('\n')
    .map((id) => names.get(id) ?? id)
    .join(', ')
}

interface LastChange {
  readonly at: string
  readonly isOwn: boolean
  /** who has changed it, and what, in words */
  readonly by: string
  readonly what: string
}

/** Reads who has changed an object last, from the change feed of its board, as the person may read it. */
async function readLastChange(reader: Reader, operation: Operation, { target, board }: Place): Promise<LastChange | undefined> {
  if (target === undefined || board === undefined) return undefined
  const { data } = await reader.read('boards.changes', { board_id: board.id }, { order: 'desc', limit: EXAMINED })
  const change = (data as readonly Change[]).find(
    ({ kind, id, action }) => kind === target.kind && id === target.record['id'] && action === 'updated',
  )
  if (change === undefined) return undefined
  const [by = ''] = await authorsOf(reader, [change])
  const isOwn = change.actor_id === reader.context.session.user_id && change.token_id === null
  const labels = fieldsOf(operation).flatMap(({ name, label }) => (change.changed?.includes(name) ? [`the ${label.toLowerCase()}`] : []))
  const what = labels.length === 0 ? 'this' : listOf(labels).join('')
  return { at: change.at, isOwn, by: isOwn ? 'You' : by, what: `changed ${what}` }
}
