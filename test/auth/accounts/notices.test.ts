import { describe, expect, test } from 'vitest'
import { addNotice, removeNotices } from '../../../src/auth/accounts/notices.ts'
import { notices as record, type Notice, type NoticeKind } from '../../../src/model/second-factor.ts'
import { limits } from '../../../src/model/limits.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { Service } from '../../support/service.ts'

describe.each(drivers)('the notices of a person, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const person = await service.person(await service.workspace())
  const add = (kind: NoticeKind, thing = '') => {
    const members = { kind, agent: 'A browser', address: kind === 'webhook_disabled' ? thing : '192.0.2.1', session_id: null, name: thing }
    return service.write(GLOBAL, (tx) => addNotice(tx, person.id, members, service.deps))
  }
  const kept = async (): Promise<readonly Notice[]> => {
    const stored = (await service.write(GLOBAL, (tx) => tx.get(keys.notices(person.id))))!
    expect(record.safeParse(stored).success).toBe(true)
    return stored.notices
  }

  test('of one kind displace no notice of another kind', async () => {
    await add('new_sign_in')
    for (let i = 0; i < 30; i++) await add('webhook_disabled', `whk_${i}`)
    for (let i = 0; i < 30; i++) await add('token_created', `Token ${i}`)
    const all = await kept()
    const of = (kind: NoticeKind) => all.filter((one) => one.kind === kind)
    expect(all[0]!.kind).toBe('new_sign_in')
    expect({
      newSignIn: of('new_sign_in').length,
      webhookDisabled: of('webhook_disabled').length,
      tokenCreated: of('token_created').length,
    }).toEqual({ newSignIn: 1, webhookDisabled: 10, tokenCreated: 10 })
    expect(of('token_created').map(({ name }) => name)).toEqual(Array.from({ length: limits.noticesOfKind }, (_, i) => `Token ${20 + i}`))
  })

  test('about the same webhook replace each other, and all notices about security stay', async () => {
    await service.write(GLOBAL, (tx) => removeNotices(tx, person.id))
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
