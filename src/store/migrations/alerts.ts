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
    const { user_id, notices } = value as unknown as Stored<'notices'>
    const alerts = notices.map((one) => ({ ...one, id: one.id.replace(/^ntc_/, 'alr_') }))
    return [[AFTER + key.slice(BEFORE.length), { user_id, alerts } as unknown as Value]]
  },
}

/** Version 12. */
export const alertsOfAccountsAlone: Migration = {
  number: 12,
  summary: 'no alert is about a webhook',
  reason: 'its creator gets a notice when a webhook is disabled, and its page says why',
  migrate(key, value) {
    if (!key.startsWith(AFTER)) return [[key, value]]
    const { alerts } = value as unknown as Stored<'alerts'>
    const others = alerts.filter(({ kind }) => kind !== 'webhook_disabled')
    if (others.length === alerts.length) return [[key, value]]
    return others.length === 0 ? [] : [[key, { ...value, alerts: others } as unknown as Value]]
  },
}

/** The record of a person. */
type Stored<List extends string> = { readonly user_id: string } & Readonly<
  Record<List, readonly { readonly id: string; readonly kind: string }[]>
>
