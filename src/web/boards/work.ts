import type { VNode } from 'preact'
import type { Change } from '../../model/change.ts'
import type { WorkState } from '../../model/work.ts'
import { html } from '../html.ts'
import { distance } from '../time-texts.ts'
import { renderDistance } from '../times.ts'
import type { ListedCard } from '../listed-card.ts'
import { icon } from './icons.ts'

/** The states of the work on a card that people choose from: value → words. */
export const workWords = {
  ready: 'Ready',
  claimed: 'Claimed',
  waiting: 'Waiting for an answer',
  stuck: 'Stuck',
  retrying: 'Retrying',
  blocked: 'Blocked',
} as const satisfies Partial<Record<WorkState, string>>
export type WorkChoice = keyof typeof workWords

/** Whether a text of an address is a state to choose from. */
export function isWorkChoice(text: string): text is WorkChoice {
  return Object.hasOwn(workWords, text)
}

const ASKS = 'Asks: '
/** Characters of a question that a badge has. */
const SHOWN = 90

/** The first words of a text, in one line. */
export function firstWords(text: string, most = SHOWN): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  const characters = [...line]
  if (characters.length <= most) return line
  const cut = characters.slice(0, most).join('')
  // A text without spaces is cut in a word.
  return `${cut.replace(/ \S*$/, '')}…`
}

function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`
}

/** What is to be known of the work on a card: all that its badge depends on. */
export interface WorkBadge {
  readonly look: 'waiting' | 'stuck' | 'blocked' | 'retrying' | 'failed'
  readonly text: string
  /** when it is tried again */
  readonly at?: string | undefined
  /** how far that is, in words */
  readonly distance?: string | undefined
}

/**
 * @param question its text, if the card waits for an answer
 * @param now milliseconds since 1970
 */
export function badgeOf({ work }: Pick<ListedCard, 'work'>, question: string | undefined, now: number): WorkBadge | undefined {
  if (work === undefined || work.state === 'done' || work.state === 'archived') return undefined
  const { state, attempts, not_before: at } = work
  const failed = `Failed ${times(attempts)}`
  if (state === 'waiting') return { look: state, text: question === undefined ? 'Asks a question' : ASKS + firstWords(question) }
  if (state === 'stuck') return { look: state, text: `Stuck after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}` }
  if (state === 'blocked') return { look: state, text: attempts === 0 ? 'Blocked' : `Blocked, failed ${times(attempts)}` }
  if (state === 'retrying' && at !== null) return { look: state, text: failed, at, distance: distance(Date.parse(at), now) }
  return attempts === 0 ? undefined : { look: 'failed', text: failed }
}

const ICONS = { waiting: 'question', stuck: 'stuck', blocked: 'blocked', retrying: 'retry', failed: 'retry' } as const

/** @param now matters only where the badge says so */
export function renderBadge({ look, text, at }: WorkBadge, now: number): VNode {
  return html`<p class="work ${look}">
    ${icon(ICONS[look])}<span
      >${text.startsWith(ASKS) ? html`${ASKS}<bdi>${text.slice(ASKS.length)}</bdi>` : text}${at !== undefined && html`, again ${renderDistance(at, now)}`}</span
    >
  </p>`
}

/** When a card becomes another one without a change: its claim runs out, or it may be tried again. */
export function nextMoment({ claim, work }: Pick<ListedCard, 'claim' | 'work'>): string | undefined {
  return claim?.expires_at ?? (work?.state === 'retrying' ? (work.not_before ?? undefined) : undefined)
}

/** Whether a change is an attempt whose claim ran out. Whoever writes to the card next writes it, too, and is not the one who failed. */
export function isLostAttempt({ kind, action, reason }: Pick<Change, 'kind' | 'action' | 'reason'>): boolean {
  return kind === 'work' && action === 'failed' && reason == null
}
