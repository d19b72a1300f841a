/**
 * Sends the forms of operations in place: the page stays, shows what has changed, and says why something was refused. Without it, each form is
 * sent by the browser, and leads to a page.
 */
import { refresh, SIGNED_OUT } from './live.ts'
import { say } from './toast.ts'

/** A form as it is sent: the id of the operation, and its fields. */
interface Sent {
  readonly operation: string
  readonly fields: Readonly<Record<string, string>>
}

interface Answer {
  readonly location?: string
  readonly text?: string
  readonly undo?: Sent
  readonly error?: string
  readonly over_claim?: number
}

const root = document.querySelector<HTMLElement>('[data-forms]')

/**
 * Performs an operation as a form of this page would, and shows what has changed.
 * @param fields those of its form
 * @param answered called before the page is shown anew
 * @returns whether it was done; if not, the page has said why
 */
export function send({ operation, fields }: Sent, answered?: () => void): Promise<boolean> {
  const { forms = '', token = '' } = root?.dataset ?? {}
  return post(`${forms}/${operation}`, new URLSearchParams({ back: location.pathname, ...fields, form_token: token }), undefined, answered)
}

/** @param body of a form, with a file or without one @param form that is sent @param answered called before the page is shown anew */
async function post(action: string, body: URLSearchParams | FormData, form?: HTMLFormElement, answered?: () => void): Promise<boolean> {
  let answer: Answer
  let isDone = false
  try {
    const response = await fetch(action, { method: 'POST', headers: { accept: 'application/json' }, body })
    if (response.redirected) {
      // To the sign-in page. What was written stays here.
      say(SIGNED_OUT)
      answered?.()
      return false
    }
    if (response.headers.get('content-type') !== 'application/json') throw new TypeError('no JSON')
    isDone = response.ok
    answer = (await response.json()) as Answer
    if (response.status === 412 && form !== undefined) {
      // The page of the form shows what somebody else has changed, beside what the person has written.
      form.submit()
      return false
    }
  } catch {
    say('This could not be sent. Check the connection, and try again.')
    answered?.()
    await refresh()
    return false
  }
  const { location: place, text, undo, error, over_claim } = answer
  if (over_claim !== undefined && confirm(`${error} Go on?`)) {
    body.set('over_claim', String(over_claim))
    return post(action, body, form, answered)
  }
  answered?.()
  const leaves = isDone && place !== undefined && new URL(place, location.href).pathname !== location.pathname
  // Before the page is fetched again: what is sent is no draft any more.
  if (isDone && form !== undefined) finish(form, body)
  if (leaves) location.assign(place)
  else await refresh()
  if (error !== undefined && over_claim === undefined) say(error)
  else if (text !== undefined) say(text, undo && { name: 'Undo', act: () => void send(undo) })
  return isDone
}

/** Empties a form that was sent, unless more was written in the meantime, and closes what it stands in. */
function finish(form: HTMLFormElement, body: URLSearchParams | FormData): void {
  const isSame = [...new FormData(form)].every(([name, value]) => value instanceof File || body.get(name) === value)
  if (isSame) form.reset()
  const details = form.closest<HTMLDetailsElement>('details')
  if (details === null || !isSame) return
  details.open = false
  // The person may have gone on already.
  if (document.activeElement === document.body || details.contains(document.activeElement)) details.querySelector('summary')!.focus()
}

/** Forms that are on their way. Their buttons stay as they are, so that the focus does. */
const sending = new WeakSet<HTMLFormElement>()

/** Sends the forms of the page that say so. */
export function sendForms(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (form.dataset['send'] === undefined || event.defaultPrevented) return
    event.preventDefault()
    if (sending.has(form)) return
    const tooLarge = [...form.querySelectorAll<HTMLInputElement>('[data-most]')].some(
      ({ files, dataset }) => (files?.[0]?.size ?? 0) > Number(dataset['most']),
    )
    if (tooLarge) return say('This file is too large.')
    const data = new FormData(form, event.submitter)
    const body =
      form.enctype === 'multipart/form-data' ? data : new URLSearchParams([...data].map(([name, value]) => [name, String(value)]))
    sending.add(form)
    form.setAttribute('aria-busy', 'true')
    void post(form.action, body, form).finally(() => {
      sending.delete(form)
      form.removeAttribute('aria-busy')
    })
  })
}
