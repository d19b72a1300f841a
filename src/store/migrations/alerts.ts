import type { Value } from '../port.ts'
import type { Migration } from './migration.ts'

const [BEFORE, AFTER] = ['notices:', 'alerts:'] as const

/** Version 10. */
export const alertsOfAccounts: Migration = {
  number: 10,
  summary: 'what happens to an account is an alert',
  reason: 'a notice is what a person has to know of the work on boards',
  migrate(key, value) {
    if (!key.startsWith(BEFORE)) return [[key, value]]
    const { user_id, notices } = value as unknown as Stored
    // That a webhook was disabled is a notice from now on. What is old can be read on its page.
    const alerts = notices.filter(({ kind }) => kind !== 'webhook_disabled').map((one) => ({ ...one, id: one.id.replace(/^ntc_/, 'alr_') }))
    return alerts.length === 0 ? [] : [[AFTER + key.slice(BEFORE.length), { user_id, alerts } as unknown as Value]]
  },
}

interface Stored {
  readonly user_id: string
  readonly notices: readonly { readonly id: string; readonly kind: string }[]
}
