import { cloneElement, isValidElement, type VNode } from 'preact'
import { html, renderMessage } from './html.ts'
import type { PageContext, PageView } from './page-context.ts'

/** Why a form was refused: what its page says when it is shown again. */
export interface Refusal {
  /** default: 422 */
  readonly status?: number
  /** about the form as a whole */
  readonly error?: string
  readonly errors?: FieldErrors
  readonly headers?: Record<string, string>
}

/** What is wrong with fields of a form, by their names. */
export type FieldErrors = Readonly<Record<string, readonly string[] | undefined>>

/** A form that one of our pages accepts. */
interface PostForm {
  /** the path of the page; default of a {@link FormPage}: its own */
  readonly action: string
  /** default of a {@link FormPage}: the form token of the session. Anonymous pages have the one of {@link anonymousFormToken}. */
  readonly token: string
  /** fields that the person does not see; without those that are undefined */
  readonly hidden?: Readonly<Record<string, string | number | undefined>> | undefined
  readonly fields: unknown
  /** whether the script sends it in place, and shows the change at once */
  readonly isSent?: boolean
  /** whether one of the fields is a file */
  readonly hasFile?: boolean
}

/** A form that is sent to one of our pages. */
export function postForm(
  { action, token, hidden = {}, fields, hasFile = false, isSent = false }: PostForm,
  className: string | null = 'card',
): VNode {
  return html`<form
    method="post"
    action=${action}
    class=${className}
    enctype=${hasFile ? 'multipart/form-data' : undefined}
    data-send=${isSent || undefined}
  >
    ${Object.entries({ form_token: token, ...hidden }).map(([name, value]) => value !== undefined && html`<input type="hidden" name=${name} value=${value} />`)}
    ${fields}
  </form>`
}

/** The last line of a form: its button, and the way back. */
export function formActions(button: string, { cancel, isDanger = false }: { cancel?: string | undefined; isDanger?: boolean } = {}): VNode {
  return html`<p class="actions">
    <button class=${isDanger ? 'primary danger' : 'primary'}>${button}</button>
    ${cancel !== undefined && html` <a class="button" href=${cancel}>Cancel</a>`}
  </p>`
}

/** A page that is one form. */
export interface FormPage extends Omit<PostForm, 'action' | 'token'>, Partial<Pick<PostForm, 'action' | 'token'>> {
  readonly title: string
  /** default: the title */
  readonly heading?: unknown
  /** undefined: the fields have their own */
  readonly button?: string
  readonly isDanger?: boolean
  /** where the person goes who does not send it */
  readonly cancel?: string
  /** between the heading and the form */
  readonly above?: unknown
  /** in the form, below its button */
  readonly note?: string
  /** below the form */
  readonly below?: unknown
}

/** What a person writes or chooses in. A choice that is made already needs no focus. */
const FIELD = /^(?:input|textarea|select)$/
const UNFOCUSED: ReadonlySet<unknown> = new Set(['hidden', 'radio', 'checkbox', 'submit'])

/**
 * Gives the focus to a field.
 * @returns a copy, because templates use their constant parts again; undefined: there is no such field
 */
function focused(node: unknown, isWanted: (props: Readonly<Record<string, unknown>>) => boolean): unknown {
  if (Array.isArray(node)) {
    for (const [i, child] of node.entries()) {
      const copy = focused(child, isWanted)
      if (copy !== undefined) return node.with(i, copy)
    }
    return undefined
  }
  if (!isValidElement(node)) return undefined
  const { type, props } = node as VNode<Record<string, unknown>>
  const isField = typeof type === 'string' && FIELD.test(type) && !UNFOCUSED.has(props['type'])
  if (isField) return isWanted(props) ? cloneElement(node, { autofocus: true } as object) : undefined
  const children = focused(props['children'], isWanted)
  return children === undefined ? undefined : cloneElement(node, { children } as object)
}

/** A page that is one form is there to fill it in: the first field that is refused has the focus, or else the first one. */
function withFocus(fields: unknown): unknown {
  return focused(fields, (props) => props['aria-invalid'] === 'true') ?? focused(fields, () => true) ?? fields
}

/**
 * Renders a page that is one form.
 * @param refusal why it is shown again
 */
export function formPage({ path, session }: PageContext, page: FormPage, refusal: Refusal = {}): PageView {
  const { error, errors, status = error === undefined && errors === undefined ? 200 : 422, headers = {} } = refusal
  const { title, heading = title, above, below, note, fields, button, ...form } = page
  const content = html`${withFocus(fields)} ${button !== undefined && formActions(button, form)}
  ${note !== undefined && html`<p class="hint">${note}</p>`}`
  const body = html`
    <h1>${heading}</h1>
    ${error !== undefined && renderMessage('error', error)} ${above}
    ${postForm({ action: path, token: session?.form_token ?? '', ...form, fields: content })} ${below}
  `
  return { title, body, status, headers }
}

/**
 * An input with its label, a hint, and the error of the submitted value.
 * @param refusal has the errors, by name
 */
export function field(
  { name, label, hint, ...attributes }: { name: string; label: string; hint?: unknown } & Record<string, unknown>,
  refusal?: Refusal,
): VNode {
  const error = refusal?.errors?.[name]?.[0]
  const describedBy = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ') || undefined
  return html`<div class="field">
    <label for=${name}>${label}</label>
    ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    <input
      id=${name}
      name=${name}
      aria-describedby=${describedBy}
      aria-invalid=${error === undefined ? undefined : 'true'}
      ...${attributes}
    />
    ${error && html`<p class="error" id="${name}-error">${error}</p>`}
  </div>`
}
