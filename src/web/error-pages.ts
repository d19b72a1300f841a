import type { StorageUnavailable } from '../store/port.ts'
import { html } from './html.ts'
import type { PageView } from './page-context.ts'

/** A page that says what is wrong, and where to go on. */
export function errorPage(status: number, title: string, text: string, headers: Record<string, string> = {}): PageView {
  const body = html`
    <h1>${title}</h1>
    <p role="alert">${text}</p>
    <p><a href="/settings/tokens">API tokens</a></p>
  `
  return { title, body, status, headers }
}

/** What is not there, or is another person's: one answer for both. */
export function notFoundPage(): PageView {
  return errorPage(404, 'There is no such page', 'It is not there, or not there any more.')
}

/** Storage failed while a token was being issued. */
export function notIssuedPage({ outcomeKnown: outcomeKnown }: StorageUnavailable): PageView {
  const text = outcomeKnown
    ? 'Storage cannot be reached now. No token was issued, and none was ended. Begin again from the list, soon.'
    : 'Storage did not answer in time. If there is a new token in the list, it is one that nobody has seen: rotate it.'
  return errorPage(503, outcomeKnown ? 'No token was issued' : 'It is not known whether a token was issued', text, { 'retry-after': '1' })
}

/** The session ended, or was renewed by another page of the same browser, while this form was on its way. */
export function sessionChangedPage(): PageView {
  return errorPage(
    409,
    'Nothing was done',
    'You signed in again, or out, on another page meanwhile. Open this page anew and try once more.',
  )
}
