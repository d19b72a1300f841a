import { html } from './html.ts'
import type { Shown } from './visit.ts'

/** A page that says what is wrong, and where to go on. */
export function problem(status: number, title: string, text: string, headers: Record<string, string> = {}): Shown {
  const body = html`
    <h1>${title}</h1>
    <p role="alert">${text}</p>
    <p><a href="/settings/tokens">API tokens</a></p>
  `
  return { title, body, status, headers }
}

/** What is not there, or is another person's: one answer for both. */
export function notFound(): Shown {
  return problem(404, 'There is no such page', 'It is not there, or not there any more.')
}
