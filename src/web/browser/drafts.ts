/** What is half-written in the window: on its page, in the panel, and in cards that were closed with it. */
import { hasText } from './merge.ts'

/** Cards with something written that was not sent: it is there when they are opened again. */
export const drafts = new Map<string, HTMLElement>()

/** Whether the person would lose something if the window went elsewhere. */
export function isWriting(): boolean {
  return drafts.size > 0 || hasText(document.body)
}
