import type { VNode } from 'preact'
import { namesInPath, type Operation } from '../../resources/operation.ts'
import { operationOf } from '../reader.ts'
import { formActions, postForm } from '../form-page.ts'
import { html } from '../html.ts'
import type { PageContext, SignedInContext } from '../page-context.ts'
import type { Conflict } from './conflict.ts'
import { fieldsOf, isUpdate, shownValue, wordsOf, type Field } from './fields.ts'
import { FORM_KEY, newFormKey } from './form-key.ts'
import type { Choices, Place } from './place.ts'

/** The fields of a form that are given. Those that are undefined are left out. */
export type Given = Readonly<Record<string, string | undefined>>

/** The path of the workspace that a page is in. */
export function baseOf({ params }: PageContext): string {
  return `/app/${params['workspace']}`
}

/**
 * The address of the form of an operation.
 * @param fields those that are filled in; the person returns to the present page
 */
export function formAddress(context: SignedInContext, operation: string, fields: Given): string {
  const given = Object.entries({ ...fields, back: context.path }).filter((one): one is [string, string] => one[1] !== undefined)
  return `${baseOf(context)}/do/${operation}?${new URLSearchParams(given)}`
}

/** A form of a page that performs an operation: its own content, and fields that the person does not see. */
export function operationForm(context: SignedInContext, operation: string, hidden: Given, content: unknown, className = 'inline'): VNode {
  const { session, path } = context
  const row = operationOf(context, operation)!
  return postForm(
    {
      action: `${baseOf(context)}/do/${operation}`,
      token: session.form_token,
      hidden: { back: path, [FORM_KEY]: newFormKey(context, row), ...hidden },
      fields: content,
      isSent: true,
      hasFile: row.takesUpload,
    },
    className,
  )
}

/** The part of the form of an operation that stands on another page. */
export interface PartialForm {
  /** the names of its fields */
  readonly fields: readonly string[]
  /** what the fields have; for an update the record, whose fields are sent only if they were changed */
  readonly record?: object | undefined
  /** what there is to choose from in a field of ids */
  readonly choices?: Choices | undefined
  readonly button: unknown
  /** further attributes of the control, if it exists */
  readonly attributes?: Readonly<Record<string, unknown>>
  /** whether the controls stand in one line with the button, without labels that are seen */
  readonly isLine?: boolean
  readonly className?: string
  /** the board whose people a text can mention */
  readonly boardId?: string
}

/** The part of an operation's form that stands on another page. */
export function partialForm(
  context: SignedInContext,
  operation: Operation,
  given: Given,
  { fields: names, record, choices, button, attributes = {}, isLine = false, className, boardId }: PartialForm,
): VNode {
  const values = (record ?? {}) as Readonly<Record<string, unknown>>
  const fields = names.map((name) => fieldsOf(operation).find((field) => field.name === name)!)
  const was = record !== undefined && isUpdate(operation) ? names.map((name) => [`was.${name}`, shownValue(values[name])]) : []
  const controls = fields.map((field) => {
    const control = renderControl(field, shownValue(values[field.name]), field.of && choices, {
      required: mustHaveText(operation, field),
      'aria-label': isLine ? field.label : undefined,
      'data-people': peopleAddress(baseOf(context), operation, field, boardId),
      ...(fields.length === 1 && attributes),
    })
    return isLine ? control : html`<label>${labelOf(field)}${control}</label>`
  })
  const content = html`${controls} ${typeof button === 'string' ? formActions(button) : button}`
  return operationForm(
    context,
    operation.id,
    { ...given, ...Object.fromEntries(was) },
    content,
    className ?? (isLine ? 'inline add' : 'stacked'),
  )
}

/**
 * Where the script of an editor gets the people whom its text can mention; undefined: a mention there tells nobody.
 * @param base the path of the workspace
 */
function peopleAddress(base: string, { id }: Operation, { kind }: Field, boardId: string | undefined): string | undefined {
  return kind === 'prose' && MENTIONING.test(id) && boardId !== undefined ? `${base}/boards/${boardId}/people` : undefined
}
const MENTIONING = /^(?:cards|comments)\./

/** What the form of an operation is rendered with. */
export interface FormContent {
  /** the path of the workspace */
  readonly base: string
  readonly operation: Operation
  readonly place: Place
  /** the parameters of the path, and choices that are already made */
  readonly given: URLSearchParams
  readonly choices: ReadonlyMap<string, Choices | undefined>
  /** the errors in the submitted form, by the names of the fields */
  readonly issues?: ReadonlyMap<string, string>
  /** what somebody else has changed since it was made */
  readonly conflict?: Conflict | undefined
}

/** What is in a form only if the address says so: a place among others is chosen by `to` alone, and buttons of pages enable and disable. */
const ONLY_GIVEN = new Set(['before', 'after', 'enabled'])

/** Whether a field may not be empty. A short text that was there may be changed, and not removed. */
function mustHaveText(operation: Operation, { kind, isRequired, isNullable }: Field): boolean {
  return isRequired || (isUpdate(operation) && (kind === 'line' || kind === 'url') && !isNullable)
}

/** What an operation is called: `create Card` → `Create card`. */
export function titleOf({ needs: [action, subject] }: Operation): string {
  if (action === 'update') return `Edit ${subject.toLowerCase()}`
  return wordsOf(action.includes('_') ? action : `${action} ${subject.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()}`)
}

/** What the button of the form says: a form that changes what is there saves it. */
export function buttonOf(operation: Operation): string {
  return /^(?:update$|rename$|set_)/.test(operation.needs[0]) ? 'Save' : titleOf(operation)
}

/** A time that is entered is in UTC, or in the zone of the person if the page runs scripts. */
function labelOf({ label, kind }: Field): VNode {
  return html`${label}${kind === 'time' && html` <span class="hint" data-zone>(UTC)</span>`}${kind === 'prose' && html` <span class="hint">(Markdown)</span>`}` as VNode
}

/** The beginning of a member's description in the reference; the rest is for programs. */
function hintOf({ hint, label }: Field): string {
  const first = hint.split(/[.;:] /)[0]!.replace(/\.$/, '')
  // “The title of the card” says no more than the label of the field.
  const isSaid = first.startsWith('The ') && first.toLowerCase().includes(label.toLowerCase())
  // In the reference, words of the API are code; here they are choices.
  return first === '' || isSaid ? '' : `${first.replaceAll('`', '')}.`
}

/** The fields of the form of an operation. */
export function renderFields({ base, operation, place, given, choices, issues = new Map(), conflict }: FormContent): VNode {
  const current = isUpdate(operation) ? (place.target?.record ?? {}) : {}
  const [first] = namesInPath(operation.path)
  const isShown = ({ name, isRequired }: Field) => isRequired || (!ONLY_GIVEN.has(name) && choices.get(name)?.length !== 0)
  // What the person has not seen is no part of the conflict.
  const fields = fieldsOf(operation).filter((one) => given.has(one.name) || (conflict === undefined && isShown(one)))
  return html`${first !== undefined && html`<input type="hidden" name=${first} value=${given.get(first)} />`}
  ${fields.map((field) => {
    const { name } = field
    // A default number is filled in from the start: an empty field would say that there is no number.
    const was = Object.hasOwn(current, name) ? shownValue(current[name]) : field.standard?.toString()
    const resolved = conflict?.fields.get(name)
    const value = resolved?.value ?? (given.has(name) ? given.getAll(name).join('\n') : (was ?? ''))
    const [hint, issue] = [hintOf(field), issues.get(name)]
    const describedBy = [hint !== '' && `do-${name}-hint`, issue !== undefined && `do-${name}-error`].filter(Boolean).join(' ')
    const attributes = {
      id: `do-${name}`,
      required: mustHaveText(operation, field),
      'aria-describedby': describedBy === '' ? undefined : describedBy,
      'aria-invalid': issue === undefined ? undefined : 'true',
      'data-people': peopleAddress(base, operation, field, place.board?.id),
    }
    const isSet = field.kind === 'set'
    return html`<${isSet ? 'fieldset' : 'div'} class="field" aria-describedby=${isSet ? attributes['aria-describedby'] : undefined}>
      ${isSet ? html`<legend>${labelOf(field)}</legend>` : html`<label for="do-${name}">${labelOf(field)}</label>`}
      ${hint !== '' && html`<p class="hint" id="do-${name}-hint">${hint}</p>`} ${renderControl(field, value, choices.get(name), attributes)}
      ${was !== undefined && html`<input type="hidden" name="was.${name}" value=${was} />`}
      ${resolved?.beside}
      ${issue !== undefined && html`<p class="error" id="do-${name}-error">${issue}</p>`}
    </${isSet ? 'fieldset' : 'div'}>`
  })}` as VNode
}

function renderControl(field: Field, value: string, choices: Choices | undefined, attributes: Readonly<Record<string, unknown>>): VNode {
  const { name, kind, isRequired, isNullable, maxLength, words } = field
  if (kind === 'set') return renderSet(field, value)
  const shared: Readonly<Record<string, unknown>> = { name, ...attributes }
  const offered = choices ?? words?.map((word) => [word, word === 'true' ? 'Yes' : word === 'false' ? 'No' : wordsOf(word)] as const)
  if (offered !== undefined) {
    const isMultiple = kind === 'ids'
    const { placeholder = isRequired ? 'Choose' : '-', ...others } = shared
    const chosen = new Set(value.split('\n'))
    return html`<select ...${others} multiple=${isMultiple} size=${isMultiple ? Math.min(8, Math.max(2, offered.length)) : undefined}>
      ${!isMultiple && (isNullable || value === '') && html`<option value="">${placeholder}</option>`}
      ${offered.map(([id, text]) => html`<option value=${id} selected=${chosen.has(id)}>${text}</option>`)}
    </select>`
  }
  // The first line break in a text area is not part of its text.
  if (kind === 'prose' || kind === 'lines' || kind === 'ids')
    return html`<textarea dir="auto" rows=${kind === 'prose' ? 8 : 4} ...${shared}>
${value.startsWith('\n') ? `\n${value}` : value}</textarea>`
  if (kind === 'time') return html`<input type="datetime-local" ...${shared} value=${value.slice(0, 16)} data-time />`
  if (kind === 'number') return html`<input type="number" ...${shared} value=${value} placeholder=${isNullable ? 'No limit' : undefined} />`
  // It is not shown again, not even to whoever has typed it.
  if (kind === 'secret') return html`<input type="password" ...${shared} maxlength=${maxLength} autocomplete="off" />`
  if (kind === 'url') return html`<input type="url" ...${shared} maxlength=${maxLength} value=${value} autocomplete="off" />`
  if (kind === 'color' && isRequired) return html`<input type="color" ...${shared} value=${value || '#1f6feb'} />`
  if (kind === 'color') return html`<input ...${shared} value=${value} placeholder="#1f6feb" pattern="#[0-9A-Fa-f]{6}" />`
  return html`<input dir="auto" ...${shared} maxlength=${maxLength} value=${value} autocomplete="off" />`
}

/** A box for each of several words. The form has the field without a choice too: whoever takes all of them back sends none. */
function renderSet({ name, words = [] }: Field, value: string): VNode {
  const chosen = new Set(value.split('\n'))
  return html`<input type="hidden" name=${name} value="" />
    <div class="set">
      ${words.map(
        (word) => html`<label><input type="checkbox" name=${name} value=${word} checked=${chosen.has(word)} /> ${wordsOf(word)}</label>`,
      )}
    </div>`
}

/** Where an operation acts, in words. */
export function whereOf({ card, board, target }: Place): unknown {
  const { name, title, url } = (target?.record ?? {}) as Readonly<Partial<Record<'name' | 'title' | 'url', string>>>
  const own = target?.kind === 'card' || target?.kind === 'board' ? undefined : (name ?? title ?? url)
  const parts = [own, card?.title, board?.name].filter((part) => part !== undefined)
  return parts.map((part, i) => [i > 0 && ', in ', html`<strong dir="auto">${part}</strong>`])
}
