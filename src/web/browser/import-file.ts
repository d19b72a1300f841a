/**
 * Sends the form of an import in place, and shows the page that answers. The chosen file stays: a page cannot choose a file again.
 */
import { createElement } from './create-element.ts'

const UNSENT = 'The file could not be sent. Check the connection, and try again.'

export function keepImportedFile(): void {
  addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    const file = form.querySelector<HTMLInputElement>('[data-kept]')
    if (file === null) return
    event.preventDefault()
    void sendFile(form, file, event.submitter as HTMLButtonElement | null)
  })
}

async function sendFile(form: HTMLFormElement, file: HTMLInputElement, button: HTMLButtonElement | null): Promise<void> {
  if (form.ariaBusy === 'true') return
  form.ariaBusy = 'true'
  // Before the fields are disabled: those are not sent.
  const body = new FormData(form, button)
  const buttons = form.querySelectorAll('button')
  for (const one of buttons) one.disabled = true
  try {
    const response = await fetch(button?.hasAttribute('formaction') ? button.formAction : form.action, { method: 'POST', body })
    if (response.redirected) return location.assign(response.url)
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const [here, there] = [document.querySelector('main')!, page.querySelector('main')!]
    page.querySelector('[data-kept]')?.replaceWith(file)
    here.replaceWith(document.adoptNode(there))
    document.title = page.title
    const heading = there.querySelector<HTMLElement>('[role=alert], h2, h1')!
    heading.tabIndex = -1
    heading.focus()
    scrollTo({ top: 0 })
  } catch {
    if (!form.previousElementSibling?.matches('[role=alert]'))
      form.before(createElement('p', { className: 'message error', role: 'alert' }, UNSENT))
  } finally {
    form.ariaBusy = null
    for (const one of buttons) one.disabled = false
  }
}
