import type { VNode } from 'preact'
import { DAY, timestamp } from '../../model/time.ts'
import type { TokenUse } from '../../model/token.ts'
import { html } from '../html.ts'
import { renderDistance } from '../times.ts'

const DAYS = 30
const [WIDTH, HEIGHT, STEP] = [180, 24, 6]

/** Rows of a list of terms: when and from where a token was last used, and how often in 30 days. */
export function renderUsage(use: TokenUse | null, now: number): VNode {
  return html`<dt>Last used</dt>
    <dd>${use === null ? 'never' : html`${renderDistance(use.at, now)}${from(use)}`}</dd>
    ${
      use?.days !== undefined &&
      html`<dt>30 days</dt>
        <dd>${renderSparkline(use, now)}</dd>`
    }`
}

function from({ address, agent }: TokenUse): unknown {
  if (address == null && agent == null) return ''
  return html` <span class="hint"
    >${address != null && `from ${address}`} ${agent != null && html`<span class="agent">${agent}</span>`}</span
  >`
}

/** A bar for each of 30 days: the calls that were accepted, and above them those that were denied. */
function renderSparkline({ days = [] }: TokenUse, now: number): VNode {
  const counts = new Map(days.map((day) => [day.day, day]))
  const shown = Array.from({ length: DAYS }, (_, i) => counts.get(timestamp(() => now - (DAYS - 1 - i) * DAY).slice(0, 10)))
  const greatest = Math.max(1, ...shown.map((day) => day?.calls ?? 0))
  const [calls, refusals] = shown.reduce(([a, b], day) => [a + (day?.calls ?? 0), b + (day?.refusals ?? 0)], [0, 0])
  const text = `${count(calls, 'call')}, ${refusals === 0 ? 'none' : refusals} refused`
  const heightOf = (value: number) => (value === 0 ? 0 : Math.max(2, Math.round((value / greatest) * HEIGHT)))
  return html`<span class="usage">
    <svg
      class="sparkline"
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      width=${WIDTH}
      height=${HEIGHT}
      role="img"
      aria-label="Calls of each of the last 30 days: ${text}"
    >
      ${shown.map((day, i) => {
        if (day === undefined) return html`<rect class="none" x=${i * STEP} y=${HEIGHT - 1} width=${STEP - 2} height="1" />`
        const [all, denied] = [heightOf(day.calls), Math.min(heightOf(day.refusals), heightOf(day.calls))]
        return html`<rect class="calls" x=${i * STEP} y=${HEIGHT - all} width=${STEP - 2} height=${all} />
          <rect class="refusals" x=${i * STEP} y=${HEIGHT - all} width=${STEP - 2} height=${denied} />`
      })}
    </svg>
    <span class=${refusals > 0 ? 'refused' : ''}>${text}</span>
  </span>`
}

function count(number: number, word: string): string {
  return `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`
}
