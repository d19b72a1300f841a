import type { VNode } from 'preact'
import { html } from './html.ts'
import { dayText, distance, remaining } from './time-texts.ts'

/**
 * A time as its distance from now. The exact time is in its title: in UTC, or in the zone of the person if the page runs scripts.
 * @param at RFC 3339
 */
export function renderDistance(at: string, now: number): VNode {
  return html`<time datetime=${at} title=${utc(at)} data-distance>${distance(Date.parse(at), now)}</time>`
}

/**
 * A clock that runs down to a time. The exact time is in its title.
 * @param at RFC 3339
 */
export function renderRemaining(at: string, now: number): VNode {
  return html`<time class="clock" datetime=${at} title=${utc(at)} data-remaining>${remaining(Date.parse(at), now)}</time>`
}

/**
 * A time for people: to the minute, in UTC. The script of the pages writes it in the zone of the person.
 * @param at RFC 3339
 */
export function renderTime(at: string): VNode {
  return html`<time datetime=${at} data-exact>${utc(at)}</time>`
}

/**
 * A time of something that was done. The script of the pages writes it as its distance from now, or as its day if that is long ago.
 * @param at RFC 3339
 */
export function renderMoment(at: string): VNode {
  return html`<time datetime=${at} data-moment>${utc(at)}</time>`
}

/**
 * A day in a few letters, in UTC; with its year unless that is this year.
 * @param at RFC 3339
 */
export function renderDay(at: string, now: number): VNode {
  const day = new Date(at)
  const text = dayText(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), new Date(now).getUTCFullYear())
  return html`<time datetime=${at} title=${utc(at)} data-day>${text}</time>`
}

function utc(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
}
