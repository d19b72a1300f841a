import type { VNode } from 'preact'
import type { ChangedKind } from '../../model/change.ts'
import type { Delivery, Webhook } from '../../model/webhook.ts'
import { html } from '../html.ts'
import { renderTime } from '../times.ts'

const STATES: Readonly<Record<Webhook['state'], string>> = {
  active: 'Active',
  failing: 'Failing',
  suspended: 'Suspended',
  disabled: 'Disabled',
}

/**
 * What a webhook does, and why it does not.
 * @param mayEnable whether the person can enable it
 * @param nextTry when the delivery is tried again, if that is known
 */
export function renderState(
  { state, reason, failing_since }: Pick<Webhook, 'state' | 'reason' | 'failing_since'>,
  mayEnable: boolean,
  nextTry?: VNode,
): VNode {
  const since = state === 'failing' && failing_since !== null && html` <span>since ${renderTime(failing_since)}.</span>`
  const next =
    state === 'failing'
      ? html`The delivery is tried again${nextTry && html` ${nextTry}`}, for three days at most.`
      : state !== 'active' && !mayEnable && 'Only its creator can enable it again.'
  return html`<p>
      <span class="state ${state}">${STATES[state]}</span>${since}${reason !== null && html` <span>${sentences(reason)}</span>`}
    </p>
    ${next && html`<p class="hint">${next}</p>`}` as VNode
}

/** A reason as whole sentences: the last part of some is an error in a few words. */
function sentences(reason: string): string {
  const text = reason.replaceAll(/(?<=^|\. )[a-z]/g, (letter) => letter.toUpperCase())
  return text.endsWith('.') ? text : `${text}.`
}

/** What a webhook is told of. */
export function kindsText(kinds: readonly ChangedKind[] | null): string {
  if (kinds === null) return 'all changes'
  const names = new Intl.ListFormat('en').format(kinds.map((kind) => kind.replaceAll('_', ' ')))
  return `changes of the ${kinds.length === 1 ? 'kind' : 'kinds'} ${names}`
}

/** What came of an attempt, in a sentence. */
export function answerText({ status, duration_ms, error }: Pick<Delivery, 'status' | 'duration_ms' | 'error'>): string {
  const time = `after ${duration_ms.toLocaleString('en')} ms`
  return status === null ? `No answer ${time}: ${error}.` : `The receiver answered ${status} ${time}.`
}
