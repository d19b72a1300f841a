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

/** What a webhook does, and why it does not. */
export function renderState({ state, reason, failing_since }: Pick<Webhook, 'state' | 'reason' | 'failing_since'>): VNode {
  const since = state === 'failing' && failing_since !== null && html`<span> since ${renderTime(failing_since)}</span>`
  return html`<span class="state ${state}">${STATES[state]}${since}</span>${reason !== null && html` <span>${reason}</span>`}` as VNode
}

/** What a webhook is told of. */
export function kindsText(kinds: readonly ChangedKind[] | null): string {
  if (kinds === null) return 'all changes'
  return `changes of ${new Intl.ListFormat('en').format(kinds.map((kind) => kind.replaceAll('_', ' ')))}`
}

/** What came of an attempt, in a sentence. */
export function answerText({ status, duration_ms, error }: Pick<Delivery, 'status' | 'duration_ms' | 'error'>): string {
  const time = `after ${duration_ms.toLocaleString('en')} ms`
  return status === null ? `No answer ${time}: ${error}.` : `The receiver answered ${status} ${time}.`
}
