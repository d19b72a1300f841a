import { describe, expect, test } from 'vitest'
import { addAlert, removeAlerts } from '../../../src/auth/accounts/alerts.ts'
import { alerts as record, type Alert, type AlertKind } from '../../../src/model/second-factor.ts'
import { limits } from '../../../src/model/limits.ts'
import { bringForward } from '../../../src/store/migrations/list.ts'
import type { Value } from '../../../src/store/port.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { Service } from '../../support/service.ts'

describe.each(drivers)('the alerts of a person, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const person = await service.person(await service.workspace())
  const add = (kind: AlertKind, thing = '') => {
    const members = { kind, agent: 'A browser', address: kind === 'webhook_disabled' ? thing : '192.0.2.1', session_id: null, name: thing }
    return service.write(GLOBAL, (tx) => addAlert(tx, person.id, members, service.deps))
  }
  const kept = async (): Promise<readonly Alert[]> => {
    const stored = (await service.write(GLOBAL, (tx) => tx.get(keys.alerts(person.id))))!
    expect(record.safeParse(stored).success).toBe(true)
    return stored.alerts
  }

  test('of one kind displace no alert of another kind', async () => {
    await add('new_sign_in')
    for (let i = 0; i < 30; i++) await add('webhook_disabled', `whk_${i}`)
    for (let i = 0; i < 30; i++) await add('token_created', `Token ${i}`)
    const all = await kept()
    const of = (kind: AlertKind) => all.filter((one) => one.kind === kind)
    expect(all[0]!.kind).toBe('new_sign_in')
    expect({
      newSignIn: of('new_sign_in').length,
      webhookDisabled: of('webhook_disabled').length,
      tokenCreated: of('token_created').length,
    }).toEqual({ newSignIn: 1, webhookDisabled: 10, tokenCreated: 10 })
    expect(of('token_created').map(({ name }) => name)).toEqual(Array.from({ length: limits.alertsOfKind }, (_, i) => `Token ${20 + i}`))
  })

  test('about the same webhook replace each other, and all alerts about security stay', async () => {
    await service.write(GLOBAL, (tx) => removeAlerts(tx, person.id))
    for (let i = 0; i < 3; i++) {
      service.now += 1000
      await add('webhook_disabled', 'whk_same')
      await add('new_sign_in')
    }
    const all = await kept()
    expect(all.map(({ kind }) => kind)).toEqual(['new_sign_in', 'new_sign_in', 'webhook_disabled', 'new_sign_in'])
    expect(all[2]!.at).toBe(new Date(service.now).toISOString())
  })
})

test('alerts that an earlier version stored as notices are kept, except those about webhooks', () => {
  const user_id = 'usr_00000000000000000001'
  const about = (id: string, kind: string) => ({
    id,
    kind,
    at: '2026-11-01T00:00:00.000Z',
    agent: 'A',
    address: 'B',
    session_id: null,
    name: null,
  })
  const before = {
    user_id,
    notices: [about('ntc_0000000000000000000a', 'new_sign_in'), about('ntc_0000000000000000000b', 'webhook_disabled')],
  }
  const after = { user_id, alerts: [about('alr_0000000000000000000a', 'new_sign_in')] }
  expect(bringForward(`notices:${user_id}`, before as unknown as Value, 9)).toEqual([[keys.alerts(user_id), after]])
  expect(bringForward(`notices:${user_id}`, { user_id, notices: [before.notices[1]!] } as unknown as Value, 9)).toEqual([])
})
