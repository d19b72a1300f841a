import type { VNode } from 'preact'
import { namesInPath, type Operation } from '../../resources/operation.ts'
import { postForm } from '../form-page.ts'
import { html } from '../html.ts'
import type { SignedInContext } from '../page-context.ts'
import { renderTime } from '../times.ts'
import { fieldsOf, shownValue, type Field } from './fields.ts'
import type { Choices, Place } from './place.ts'

/** The address of the form of an operation. @param fields those that are filled in; the person returns to the present page */
export function formAddress(
  { params, path }: SignedInContext,
  operation: string,
  fields: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries({ ...fields, back: path }).filter((one): one is [string, string] => one[1] !== undefined)
  return `/app/${params['workspace']}/do/${operation}?${new URLSearchParams(given)}`
}

/**
 * A form of a page that performs an operation: its own content, and fields that the person does not see.
 * @param hasFile whether it uploads a file. Its content then ends with it.
 */
export function operationForm(
  { params, session, path }: SignedInContext,
  operation: string,
  hidden: Readonly<Record<string, string | undefined>>,
  content: unknown,
  className = 'inline',
  hasFile = false,
): VNode {
  const all = Object.entries({ back: path, ...hidden })
  const fields = html`${all.map(([name, value]) => value !== undefined && html`<input type="hidden" name=${name} value=${value} />`)}
  ${content}`
  return postForm(
    { action: `/app/${params['workspace']}/do/${operation}`, token: session.form_token, fields, isSent: true, hasFile },
    className,
  )
}

/** What the form of an operation is rendered with. */
export interface FormParts {
  readonly operation: Operation
  readonly place: Place
  /** those of the path, and what is chosen already */
  readonly given: URLSearchParams
  readonly choices: ReadonlyMap<string, Choices | undefined>
  /** the errors of what was submitted, by the names of the fields */
  readonly issues?: ReadonlyMap<string, string>
  /** whether somebody else has changed it in the meantime: what is current then stands beside each field */
  readonly isConflict?: boolean
}

/** Whether a place among others is chosen by `to` alone, unless the address says more. */
const PLACES = new Set(['before', 'after'])

/** Whether the fields of an operation are those of what it changes. */
export function isUpdate({ method }: Operation): boolean {
  return method === 'PATCH' || method === 'PUT'
}

/** What an operation is called: `create Card` → `Create card`. */
export function titleOf({ needs: [action, subject] }: Operation): string {
  if (action === 'update') return `Edit ${subject.toLowerCase()}`
  const words = action.includes('_')
    ? action.replaceAll('_', ' ')
    : `${action} ${subject.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()}`
  return words[0]!.toUpperCase() + words.slice(1)
}

/** The zone of a time that is entered: UTC, or that of the person if the page runs scripts. */
export function zoneHint(): VNode {
  return html` <span class="hint" data-zone>(UTC)</span>`
}

/** The text of a `<textarea>`. The first line break in it is not part of the text. */
export function textOfArea(text: string): string {
  return text.startsWith('\n') ? `\n${text}` : text
}

/** The beginning of what the reference says of a member; the rest is for programs. */
function hintOf({ hint, label }: Field): string {
  const first = hint.split(/[.;:] /)[0]!.replace(/\.$/, '')
  // “The title of the card” says no more than the label of the field.
  const isSaid = first.startsWith('The ') && first.toLowerCase().includes(label.toLowerCase())
  return first === '' || isSaid ? '' : `${first}.`
}

/** The fields of the form of an operation. */
export function renderFields({ operation, place, given, choices, issues = new Map(), isConflict = false }: FormParts): VNode {
  const current = isUpdate(operation) ? (place.target?.record ?? {}) : {}
  const [first] = namesInPath(operation.path)
  const fields = fieldsOf(operation).filter(
    ({ name, isRequired }) => isRequired || given.has(name) || (!PLACES.has(name) && choices.get(name)?.length !== 0),
  )
  return html`${first !== undefined && html`<input type="hidden" name=${first} value=${given.get(first)} />`}
  ${fields.map((field) => {
    const was = Object.hasOwn(current, field.name) ? shownValue(current[field.name]) : undefined
    const value = given.has(field.name) ? given.getAll(field.name).join('\n') : (was ?? '')
    return html`<div class="field">
      <label for="do-${field.name}">${field.label}${field.kind === 'time' && zoneHint()}</label>
      ${hintOf(field) !== '' && html`<p class="hint" id="do-${field.name}-hint">${hintOf(field)}</p>`}
      ${renderControl(field, value, choices.get(field.name), issues.get(field.name))}
      ${was !== undefined && html`<input type="hidden" name="was.${field.name}" value=${was} />`}
      ${isConflict && was !== undefined && was !== value && html`<p class="theirs"><span class="hint">It is now:</span> <span class="prose">${was === '' ? 'empty' : field.kind === 'time' ? renderTime(was) : was}</span></p>`}
      ${issues.has(field.name) && html`<p class="error" id="do-${field.name}-error">${issues.get(field.name)}</p>`}
    </div>`
  })}` as VNode
}

function renderControl(field: Field, value: string, choices: Choices | undefined, issue: string | undefined): VNode {
  const { name, kind, isRequired, maxLength, words } = field
  const describedBy = [hintOf(field) !== '' && `do-${name}-hint`, issue !== undefined && `do-${name}-error`].filter(Boolean).join(' ')
  const shared = {
    id: `do-${name}`,
    name,
    required: isRequired && kind !== 'prose',
    maxlength: maxLength,
    'aria-describedby': describedBy === '' ? undefined : describedBy,
    'aria-invalid': issue === undefined ? undefined : 'true',
  }
  const offered = choices ?? words?.map((word) => [word, word === 'true' ? 'Yes' : word === 'false' ? 'No' : word] as const)
  if (kind === 'ids' && offered !== undefined) {
    const chosen = new Set(value.split('\n'))
    return html`<select ...${shared} multiple size=${Math.min(8, Math.max(2, offered.length))}>
      ${offered.map(([id, text]) => html`<option value=${id} selected=${chosen.has(id)}>${text}</option>`)}
    </select>`
  }
  if (offered !== undefined)
    return html`<select ...${shared}>
      ${(!isRequired || value === '') && html`<option value="">${isRequired ? 'Choose' : '-'}</option>`}
      ${offered.map(([id, text]) => html`<option value=${id} selected=${id === value}>${text}</option>`)}
    </select>`
  if (kind === 'prose' || kind === 'lines' || kind === 'ids')
    return html`<textarea ...${shared} rows=${kind === 'prose' ? 8 : 4}>${textOfArea(value)}</textarea>`
  if (kind === 'time') return html`<input type="datetime-local" ...${shared} value=${value.slice(0, 16)} data-time />`
  if (kind === 'number') return html`<input type="number" ...${shared} value=${value} />`
  if (kind === 'color') return html`<input ...${shared} value=${value} placeholder="#1f6feb" pattern="#[0-9A-Fa-f]{6}" />`
  return html`<input ...${shared} value=${value} autocomplete="off" />`
}
