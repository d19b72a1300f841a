/**
 * Sends the forms of operations in place: the page stays, shows what has changed, and says why something was refused. Without it, each form is
 * sent by the browser, and leads to a page.
 */
import { refresh } from './live.ts'
import { say } from './toast.ts'

/** A form as it is sent: the id of the operation, and its fields. */
export interface Sent {
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
  return post(`${forms}/${operation}`, new URLSearchParams({ back: location.pathname, ...fields, form_token: token }), answered)
}

/** @param body of a form, with a file or without one */
async function post(action: string, body: URLSearchParams | FormData, answered?: (isDone: boolean) => void): Promise<boolean> {
  let answer: Answer
  let isDone = false
  try {
    const response = await fetch(action, { method: 'POST', headers: { accept: 'application/json' }, body })
    if (response.headers.get('content-type') !== 'application/json') throw new TypeError('no JSON')
    isDone = response.ok
    answer = (await response.json()) as Answer
  } catch {
    say('This could not be sent. Check the connection, and try again.')
    answered?.(false)
    await refresh()
    return false
  }
  const { location: place, text, undo, error, over_claim } = answer
  if (over_claim !== undefined && confirm(`${error} Go on?`)) {
    body.set('over_claim', String(over_claim))
    return post(action, body, answered)
  }
  answered?.(isDone)
  const leaves = isDone && place !== undefined && new URL(place, location.href).pathname !== location.pathname
  if (leaves) location.assign(place)
  else await refresh()
  if (error !== undefined && over_claim === undefined) say(error)
  else if (text !== undefined) say(text, undo && { name: 'Undo', act: () => void send(undo) })
  return isDone
}

/** Sends the forms of the page that say so. */
export function sendForms(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (form.dataset['send'] === undefined || event.defaultPrevented) return
    event.preventDefault()
    const data = new FormData(form, event.submitter)
    const hasFile = form.enctype === 'multipart/form-data'
    const buttons = form.querySelectorAll<HTMLButtonElement>('button')
    for (const button of buttons) button.disabled = true
    const body = hasFile ? data : new URLSearchParams([...data].map(([name, value]) => [name, String(value)]))
    // What was sent is no draft any more: the page shows what it has become.
    void post(form.action, body, (isDone) => {
      for (const button of buttons) button.disabled = false
      if (!isDone) return
      form.reset()
      const menu = form.closest<HTMLDetailsElement>('details[data-popup]')
      if (menu === null) return
      menu.open = false
      // The person may have gone on already.
      if (document.activeElement === document.body || menu.contains(document.activeElement)) menu.querySelector('summary')!.focus()
    })
  })
}
