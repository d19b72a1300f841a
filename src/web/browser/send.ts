/**
 * Sends the forms of operations in place: the page stays, shows what has changed, and says why something was refused. Without it, each form
 * is sent by the browser, and leads to a page.
 */
import { endConflict, showConflict } from './conflict.ts'
import { createElement } from './create-element.ts'
import { giveBack, newKey, takeKey } from './form-keys.ts'
import { putToken } from './form-tokens.ts'
import { catchUp, refresh } from './live-pages.ts'
import { SIGNED_OUT } from './live.ts'
import { sendInTurn } from './outbox.ts'
import { inOwnZone } from './times.ts'
import { keepPreview } from './previews.ts'
import { say, sayDone, sayUndone, warn } from './toast.ts'

/** A form as it is sent: the id of the operation, and its fields. */
interface Sent {
  readonly operation: string
  readonly fields: Readonly<Record<string, string>>
}

interface Answer {
  readonly status: number
  readonly location?: string
  readonly text?: string
  readonly undo?: Sent
  readonly error?: string
  readonly over_claim?: number
  /** that was made of a file */
  readonly attachment?: string
  /** the form with the changes of both, if somebody else was faster */
  readonly form?: string
  /** of the session that the person has begun since the form was made: nothing was done */
  readonly form_token?: string
  /** whether it had to wait for a connection */
  readonly hasWaited?: boolean
}

const UNSENT = 'This could not be sent. Check the connection, and try again.'
const SENT = 'What waited is sent.'
const root = document.querySelector<HTMLElement>('[data-forms]')

/**
 * Performs an operation as a form of this page would, and shows what has changed.
 * @param fields the fields of its form
 * @param answered called before the page is shown anew
 * @returns whether it was done; if not, the page has said why
 */
export function send({ operation, fields }: Sent, answered?: () => void): Promise<boolean> {
  return post(...requestOf({ operation, fields }), answered && { answered })
}

function requestOf({ operation, fields }: Sent): readonly [action: string, body: URLSearchParams] {
  const { forms = '', token = '' } = root?.dataset ?? {}
  // Sent once more after no answer came, it creates once.
  const key = /\.(?:create|upload)$/.test(operation) ? { form_key: newKey() } : {}
  return [`${forms}/${operation}`, new URLSearchParams({ back: location.pathname, ...key, ...fields, form_token: token })]
}

/** Sends a form. Its status is 0 if there was no answer, or another page. */
async function ask(action: string, body: URLSearchParams | FormData, isAgain = false): Promise<Answer> {
  try {
    const request = () => fetch(action, { method: 'POST', headers: { accept: 'application/json' }, body })
    // A file can be changed or gone later, and would then hold up what follows it.
    const [response, hasWaited] = await (body instanceof FormData ? request().then((one) => [one, false] as const) : sendInTurn(request))
    // To the sign-in page. What was written stays here.
    if (response.redirected) return { status: 401, error: SIGNED_OUT, hasWaited }
    const answer = { ...((await response.json()) as Answer), status: response.status, hasWaited }
    if (answer.form_token === undefined || isAgain) return answer
    putToken(answer.form_token)
    body.set('form_token', answer.form_token)
    return { ...(await ask(action, body, true)), hasWaited }
  } catch {
    return { status: 0, error: UNSENT }
  }
}

/** Attaches a file to a card. @returns whether it was done */
export function sendFile(cardId: string, file: File): Promise<boolean> {
  const [action, fields] = requestOf({ operation: 'attachments.upload', fields: { card_id: cardId } })
  const body = new FormData()
  for (const [name, value] of fields) body.append(name, value)
  body.append('file', file)
  return post(action, body)
}

interface Options {
  /** that is sent */
  readonly form?: HTMLFormElement
  /** called before the page is shown anew */
  readonly answered?: () => void
  /** what is taken back */
  readonly undone?: string
}

/** @param body of a form, with a file or without one */
async function post(action: string, body: URLSearchParams | FormData, options: Options = {}): Promise<boolean> {
  const { form, answered } = options
  const from = location.pathname
  const answer = await ask(action, body)
  const { status, location: place, over_claim, error, attachment, hasWaited } = answer
  // The person may be at something else by then.
  const isLate = hasWaited === true || location.pathname !== from
  const sendAnyway = () => {
    body.set('over_claim', String(over_claim))
    return post(action, body, options)
  }
  if (over_claim !== undefined && !isLate && confirm(`${inOwnZone(error ?? '')} Go on?`)) return sendAnyway()
  const isDone = status === 200
  if (attachment !== undefined) void keepPreviewOf(attachment, (body as FormData).get('file'))
  answered?.()
  // Before the page is fetched again: what is sent is no draft any more.
  if (isDone && form !== undefined) {
    finish(form, body)
    const origin = endConflict(form)
    if (origin !== undefined) finish(origin, bodyOf(origin))
  }
  if (form !== undefined && status >= 200 && status < 500) takeKey(form)
  if (isDone && !isLate && place !== undefined && isElsewhere(place, from, body)) location.assign(place)
  // A refused change may be shown as if it were done. Until now, the form was a draft, which an update leaves as it is.
  else if (status !== 401) await (isDone && form === undefined ? catchUp() : refresh())
  if (isLate && !isDone) tellRefusal(answer, body, form, () => void sendAnyway())
  else tell(answer, options)
  return isDone
}

/** Whether an answer leads to another page than the one that a form is on: a conflict may be of a page that the person has left. */
function isElsewhere(place: string, from: string, body: URLSearchParams | FormData): boolean {
  const { pathname } = new URL(place, location.href)
  return pathname !== from && !pathname.endsWith(String(body.get('back')).split('?')[0]!)
}

/** Says what became of what was sent. */
function tell({ form: conflict, error, over_claim, text, undo, hasWaited }: Answer, { form, undone }: Options): void {
  if (over_claim !== undefined) return
  if (conflict !== undefined) showConflict(conflict, form)
  else if (error !== undefined) say(error)
  else if (undone !== undefined) sayUndone(undone)
  else if (text !== undefined) sayDone(text, undo && undoOf(undo, text))
  else if (hasWaited === true) say(SENT)
}

/** Says that something was refused that the person has left: nothing opens over what they do now. */
function tellRefusal(
  { form: conflict, error, over_claim }: Answer,
  body: URLSearchParams | FormData,
  form: HTMLFormElement | undefined,
  sendAnyway: () => void,
): void {
  if (conflict !== undefined) return warn(error!, { name: 'Compare', act: () => showConflict(conflict, form) })
  const said = inOwnZone(error!)
  if (over_claim !== undefined) return warn(said, { name: 'Go on', act: sendAnyway })
  // A form keeps its text.
  const written = form === undefined ? (body.get('title') ?? body.get('name')) : null
  warn(`A change was not saved: ${said}${typeof written === 'string' ? ` You wrote: “${written}”.` : ''}`)
}

/** @param file that the form has sent: a large picture is shown in small */
async function keepPreviewOf(attachment: string, file: FormDataEntryValue | null): Promise<void> {
  if (file instanceof File) await keepPreview(`${root!.dataset['base']!}/attachments/${attachment}`, file)
}

/** What takes an operation back. @param text what was done, such as: The card is moved. */
function undoOf(undo: Sent, text: string): Parameters<typeof sayDone>[1] {
  const id = undo.fields['card_id'] ?? 'none'
  const title = document.querySelector(`#${id} .tile-title, [data-card="${id}"] #card-title`)?.textContent
  const what = title == null ? text : text.replace('The card', `“${title}”`)
  return { what, act: () => void post(...requestOf(undo), { undone: what }) }
}

/** Empties a form that was sent, unless more was written in the meantime, and closes what it stands in. */
function finish(form: HTMLFormElement, body: URLSearchParams | FormData): void {
  // A card that was closed does not get the key and the token of its form.
  const isSame = [...new FormData(form)].every(
    ([name, value]) => value instanceof File || /^form_(?:key|token)$/.test(name) || body.get(name) === value,
  )
  if (isSame) form.reset()
  const details = form.closest<HTMLDetailsElement>('details')
  if (details === null || !isSame) return
  details.open = false
  // The person may have gone on already.
  if (document.activeElement === document.body || details.contains(document.activeElement)) details.querySelector('summary')!.focus()
}

function bodyOf(form: HTMLFormElement, submitter?: HTMLElement | null): URLSearchParams | FormData {
  const data = new FormData(form, submitter)
  return form.enctype === 'multipart/form-data' ? data : new URLSearchParams([...data].map(([name, value]) => [name, String(value)]))
}

/** Sends the forms of the page that say so. */
export function sendForms(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    // A page that is not live could not show what came of it: the browser sends its forms, and shows the page that follows.
    if (form.dataset['send'] === undefined || event.defaultPrevented || root === null) return
    event.preventDefault()
    if (form.closest('[data-add]') !== null) return void add(form)
    if (form.hasAttribute('aria-busy')) return
    const tooLarge = [...form.querySelectorAll<HTMLInputElement>('[data-most]')].some(
      ({ files, dataset }) => (files?.[0]?.size ?? 0) > Number(dataset['most']),
    )
    if (tooLarge) return say('This file is too large.')
    // Its buttons stay as they are, so that the focus does.
    form.setAttribute('aria-busy', 'true')
    void post(form.action, bodyOf(form, event.submitter), { form }).finally(() => form.removeAttribute('aria-busy'))
  })
}

/** Added requests are sent in their turn. */
let turn: Promise<unknown> = Promise.resolve()
let added = 0

/** Adds a card, a column or a subtask. The field is free for the next one at once. */
export async function add(form: HTMLFormElement): Promise<void> {
  const body = bodyOf(form)
  const input = form.querySelector<HTMLInputElement>('input:not([type=hidden])')!
  const { value } = input
  const key = takeKey(form)
  const lane = form.closest('.lane')
  input.value = ''
  input.focus()
  const pending = lane === null ? undefined : showPending(lane, value)
  const sent = turn.then(() => post(form.action, body))
  turn = sent
  const isDone = await sent
  pending?.remove()
  if (!isDone && input.value === '') {
    input.value = value
    giveBack(form, key)
  }
  // Such a column shows its first cards only.
  if (isDone && lane?.querySelector('.more') != null) say(`“${value}” is at the end of the column.`)
}

/** The card as it will be, until the page has it. */
function showPending(lane: Element, title: string): HTMLElement {
  const text = createElement('span', { className: 'tile-title', dir: 'auto' }, title)
  const tile = createElement('li', { className: 'tile pending', id: `pending-${++added}` }, text)
  lane.querySelector('.tiles')!.append(tile)
  tile.scrollIntoView({ block: 'nearest' })
  return tile
}
