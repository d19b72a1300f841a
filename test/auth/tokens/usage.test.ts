import { expect, test } from 'vitest'
import { MINUTE } from '../../../src/model/time.ts'
import { drivers } from '../../support/drivers.ts'
import { Service } from '../../support/service.ts'

test.each(drivers)('the last use of a token is recorded with a precision of ten minutes, on $name', async (driver) => {
  const service = await Service.start(driver)
  const person = await service.person(await service.workspace())
  const start = service.now
  const lastUsedAfterRequestAt = async (offset: number) => {
    service.now = start + offset
    const { body } = await service.send(person.read, 'GET', '/account')
    await service.app.services.usage.settled()
    return body.data.token.last_used_at
  }
  const at = (offset: number) => new Date(start + offset).toISOString()
  await lastUsedAfterRequestAt(0)
  expect([
    await lastUsedAfterRequestAt(MINUTE),
    await lastUsedAfterRequestAt(10 * MINUTE),
    await lastUsedAfterRequestAt(11 * MINUTE),
  ]).toEqual([at(0), at(0), at(10 * MINUTE)])
  await service.stop()
})

test('a refused request does not count as a use of the token', async () => {
  const service = await Service.start(drivers[0]!)
  const person = await service.person(await service.workspace())
  await service.leaveOnly(person.workspaceId, person.id)
  await service.send(person.read, 'GET', '/account')
  await service.app.services.usage.settled()
  expect(service.store.touched.filter((key) => key.startsWith('token_use'))).toEqual([])
  await service.stop()
})
