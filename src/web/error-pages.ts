import type { IssueRefused } from '../auth/tokens/issue.ts'
import { limits } from '../model/limits.ts'
import type { StorageUnavailable } from '../store/port.ts'
import { html } from './html.ts'
import type { PageView } from './page-context.ts'

/**
 * A page that says what went wrong and what to do next.
 * @param again the path of the page that the person came from
 */
export function errorPage(status: number, title: string, text: string, headers: Record<string, string> = {}, again?: string): PageView {
  const body = html`
    <h1>${title}</h1>
    <p role="alert">${text}</p>
    ${again !== undefined && html`<p><a class="button primary" href=${again}>Open the page again</a></p>`}
    <p><a href="/app">Go to your boards</a> or <a href="/settings/tokens">to your API tokens</a></p>
  `
  return { title, body, status, headers }
}

/** The same response for something that does not exist and for something that belongs to another person. */
export function notFoundPage(): PageView {
  return errorPage(404, 'Page not found', 'This page does not exist, or no longer exists.')
}

/** The storage failed while a token was being created or rotated. */
export function notIssuedPage({ outcomeKnown }: StorageUnavailable): PageView {
  const [title, text] = outcomeKnown
    ? [
        'No token was created',
        'The storage is not available at the moment. No token was created, and none was ended. Wait a moment, then start again from the list.',
      ]
    : [
        'The token may have been created',
        'The storage did not respond in time. Check the list. If it contains a new token, rotate that token to get one that you can see.',
      ]
  return errorPage(503, title, text, { 'retry-after': '1' })
}

/** The session ended, or another tab of the same browser renewed it, before this form arrived. */
export function sessionChangedPage(): PageView {
  return errorPage(
    409,
    'Nothing was changed',
    'You signed in or out in another tab in the meantime. Open this page again and send the form once more.',
  )
}

/** The refusal for a person who must wait before the next attempt. */
export function tooManyAttempts(retryAfterMs: number): { status: 429; error: string; headers: Record<string, string> } {
  const seconds = Math.ceil(retryAfterMs / 1000)
  const wait = seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`
  return { status: 429, error: `Too many attempts. Try again in ${wait}.`, headers: { 'retry-after': String(seconds) } }
}

/** The same as a page, for a request that is no form. */
export function tooManyAttemptsPage(retryAfterMs: number): PageView {
  const { status, error, headers } = tooManyAttempts(retryAfterMs)
  return errorPage(status, 'Too many attempts', error, headers)
}

/** What a person is told who has as many active tokens in a workspace as they can have. */
export const TOO_MANY = `You have ${limits.tokensPerPerson} active tokens in this workspace, and cannot have more. Revoke one that you do not need.`

/** A token that was to be rotated has ended. */
export function notActivePage(): PageView {
  return errorPage(
    409,
    'This token is no longer active',
    'It was rotated or revoked, or it has expired. If you sent the form twice, the list contains a new token that you have not seen: rotate that one. If someone else rotated this token, revoke the new one.',
  )
}

/** What the number of the person's tokens, or the rules of the workspace do not allow: both may have changed in the meantime. */
export function refusedPage({ reason }: IssueRefused): PageView {
  if (reason === 'too_long')
    return errorPage(409, 'No token was created', 'The rules of the workspace allow only a shorter lifetime. Start again from the list.')
  if (reason === 'admin')
    return errorPage(409, 'No token was created', 'The rules of the workspace do not allow new tokens with kanban:admin.')
  if (reason === 'not_active') return notActivePage()
  if (reason === 'too_many') return errorPage(422, 'No token was created', TOO_MANY)
  return notFoundPage()
}
