import type { VNode } from 'preact'
import { DAY, HOUR, MINUTE } from '../model/time.ts'
import { html } from './html.ts'

const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
] as const

/** How far a time is from now, in one unit: "in 29 days", "2 hours ago". */
export function distance(at: number, now: number): string {
  const milliseconds = Math.abs(at - now)
  const [length, unit] = UNITS.find(([one]) => milliseconds >= one) ?? []
  if (length === undefined) return at > now ? 'in less than a minute' : 'just now'
  // What remains is rounded up: a token that expires in 29.5 days is valid on the 29th.
  const count = at > now ? Math.ceil(milliseconds / length) : Math.floor(milliseconds / length)
  const text = `${count} ${unit}${count === 1 ? '' : 's'}`
  return at > now ? `in ${text}` : `${text} ago`
}

/**
 * A time as its distance from now. The exact time is in its title: in UTC, or in the zone of the person if the page runs scripts.
 * @param at RFC 3339
 */
export function renderDistance(at: string, now: number): VNode {
  return html`<time datetime=${at} title="${at.slice(0, 10)} ${at.slice(11, 16)} UTC" data-distance
    >${distance(Date.parse(at), now)}</time
  >` as VNode
}
