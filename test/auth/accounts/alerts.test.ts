import { describe, expect, test } from 'vitest'
import { addAlert } from '../../../src/auth/accounts/alerts.ts'
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
    const members = { kind, agent: 'A browser', address: '192.0.2.1', session_id: null, name: thing }
    return service.write(GLOBAL, (tx) => addAlert(tx, person.id, members, service.deps))
  }
  const kept = async (): Promise<readonly Alert[]> => {
    const stored = (await service.write(GLOBAL, (tx) => tx.get(keys.alerts(person.id))))!
    expect(record.safeParse(stored).success).toBe(true)
    return stored.alerts
  }

  test('of one kind displace no alert of another kind', async () => {
    await add('new_sign_in')
    for (let i = 0; i < 30; i++) await add('passkey_added', `Passkey ${i}`)
    for (let i = 0; i < 30; i++) await add('token_created', `Token ${i}`)
    const all = await kept()
    const of = (kind: AlertKind) => all.filter((one) => one.kind === kind)
    expect(all[0]!.kind).toBe('new_sign_in')
    expect({
      newSignIn: of('new_sign_in').length,
      passkeyAdded: of('passkey_added').length,
      tokenCreated: of('token_created').length,
    }).toEqual({ newSignIn: 1, passkeyAdded: 10, tokenCreated: 10 })
    expect(of('token_created').map(({ name }) => name)).toEqual(Array.from({ length: limits.alertsOfKind }, (_, i) => `Token ${20 + i}`))
  })
})

describe('alerts of earlier versions', () => {
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
  const kept = { user_id, alerts: [about('alr_0000000000000000000a', 'new_sign_in')] }
  const list = (prefix: string) => [
    about(`${prefix}_0000000000000000000a`, 'new_sign_in'),
    about(`${prefix}_0000000000000000000b`, 'webhook_disabled'),
  ]

  test.each([
    [9, 'notices', 'ntc'],
    [11, 'alerts', 'alr'],
  ])('of version %d are kept, except those about webhooks', (version, name, prefix) => {
    const [ofAccount, ofWebhook] = list(prefix)
    const migrate = (...stored: object[]) => bringForward(`${name}:${user_id}`, { user_id, [name]: stored } as unknown as Value, version)
    expect(migrate(ofAccount!, ofWebhook!)).toEqual([[keys.alerts(user_id), kept]])
    expect(record.safeParse(kept).success).toBe(true)
    expect(migrate(ofWebhook!)).toEqual([])
  })
})
