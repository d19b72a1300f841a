/** What is half-written in the window: on its page, in the panel, and in cards that were closed with it. */
import { hasText } from './merge.ts'

/** Cards with something written that was not sent: it is there when they are opened again. */
export const drafts = new Map<string, HTMLElement>()

/** Whether the person would lose something if the window went elsewhere. */
export function isWriting(): boolean {
  // What has waited for a connection may have been sent by now.
  return [...drafts.values()].some(hasText) || hasText(document.body)
}
