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
  return html`<time datetime=${at} title="${at.slice(0, 10)} ${at.slice(11, 16)} UTC" data-distance>${distance(Date.parse(at), now)}</time>`
}

/**
 * A time for people: to the minute, in UTC. The script of the pages writes it in the zone of the person.
 * @param at RFC 3339
 */
export function renderTime(at: string): VNode {
  return html`<time datetime=${at} data-exact>${at.slice(0, 10)} ${at.slice(11, 16)} UTC</time>`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A day in a few letters, in UTC; with its year unless that is this year. @param at RFC 3339 */
export function renderDay(at: string, now: number): VNode {
  const [year, month, day] = at.slice(0, 10).split('-').map(Number) as [number, number, number]
  const isThisYear = year === new Date(now).getUTCFullYear()
  const text = `${day} ${MONTHS[month - 1]}${isThisYear ? '' : ` ${year}`}`
  return html`<time datetime=${at} title="${at.slice(0, 10)} ${at.slice(11, 16)} UTC">${text}</time>`
}
