import type { VNode } from 'preact'
import { DAY } from '../../model/time.ts'
import { html } from '../html.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A day in a few letters, in UTC; with its year unless that is this year. @param at RFC 3339 */
export function renderDay(at: string, now: number): VNode {
  const [year, month, day] = at.slice(0, 10).split('-').map(Number) as [number, number, number]
  const isThisYear = year === new Date(now).getUTCFullYear()
  const text = `${day} ${MONTHS[month - 1]}${isThisYear ? '' : ` ${year}`}`
  return html`<time datetime=${at} title="${at.slice(0, 10)} ${at.slice(11, 16)} UTC">${text}</time>` as VNode
}

export type DueState = 'done' | 'overdue' | 'soon' | 'later'

/** How near the due time of a card is. */
export function dueState({ due_at, completed_at }: { due_at: string; completed_at: string | null }, now: number): DueState {
  if (completed_at !== null) return 'done'
  const remaining = Date.parse(due_at) - now
  return remaining <= 0 ? 'overdue' : remaining <= 2 * DAY ? 'soon' : 'later'
}
