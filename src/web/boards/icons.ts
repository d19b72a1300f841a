import type { VNode } from 'preact'
import type { Card } from '../../model/card.ts'
import { html } from '../html.ts'

const SHAPES = {
  due: '<circle cx="8" cy="8" r="6"/><path d="M8 4.7V8l2.2 1.6"/>',
  subtasks: '<rect x="2.2" y="2.2" width="11.6" height="11.6" rx="2.6"/><path d="m5.2 8.2 2 2 3.7-4.3"/>',
  comments: '<path d="M13.8 7.6a5.4 5.4 0 0 1-7.9 4.8L2.4 13.6l1.2-3.3a5.4 5.4 0 1 1 10.2-2.7Z"/>',
  attachments: '<path d="m13.4 7.4-5.5 5.5a3.4 3.4 0 0 1-4.8-4.8l5.6-5.6a2.3 2.3 0 0 1 3.2 3.2l-5.5 5.6a1.1 1.1 0 0 1-1.6-1.6l5-5.1"/>',
  description: '<path d="M2.5 4h11M2.5 8h11M2.5 12h6"/>',
  done: '<circle cx="8" cy="8" r="6"/><path d="m5.3 8.2 1.9 1.9 3.6-4.1"/>',
  failed: '<circle cx="8" cy="8" r="6"/><path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4"/>',
  blocked: '<circle cx="8" cy="8" r="6"/><path d="M3.8 3.8l8.4 8.4"/>',
  claim: '<circle cx="8" cy="5" r="2.7"/><path d="M2.8 13.8a5.2 5.2 0 0 1 10.4 0"/>',
  retry: '<path d="M13 8a5 5 0 1 1-1.5-3.6"/><path d="M13.2 2v2.9h-2.9"/>',
  stuck: '<path d="M8 2.2 14.2 13H1.8Z"/><path d="M8 6.4v3M8 11.2v.1"/>',
  question: '<circle cx="8" cy="8" r="6"/><path d="M6.2 6.3a1.9 1.9 0 1 1 2.6 1.9c-.6.2-.8.6-.8 1.1M8 11.4v.1"/>',
  private: '<rect x="3" y="7" width="10" height="6.6" rx="1.6"/><path d="M5.2 7V5.1a2.8 2.8 0 0 1 5.6 0V7"/>',
  file: '<path d="M9 1.9H4.6a1.3 1.3 0 0 0-1.3 1.3v9.6a1.3 1.3 0 0 0 1.3 1.3h6.8a1.3 1.3 0 0 0 1.3-1.3V5.6Z"/><path d="M9 1.9v3.7h3.7"/>',
} as const

/** The shapes of the icon of a file, for a picture of their own. */
export const fileSign = SHAPES.file

/** A line icon, of the size and the color of the text. It is decoration: what it means stands beside it. */
export function icon(name: keyof typeof SHAPES): VNode {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" dangerouslySetInnerHTML=${{ __html: SHAPES[name] }}></svg>`
}

/**
 * A color of a user: the policy of the page allows no style attributes, but a fill.
 * @param color `#rrggbb`
 */
export function swatch(color: string, kind: 'dot' | 'band'): VNode {
  return html`<svg class=${kind} aria-hidden="true"><rect width="100%" height="100%" fill=${color} /></svg>`
}

/** The sign of a card that is completed, by its outcome. */
export function doneSign(outcome: Card['outcome']): VNode {
  return outcome === 'failed'
    ? html`<span class="fact failed">${icon('failed')}Failed</span>`
    : html`<span class="fact done">${icon('done')}Done</span>`
}
