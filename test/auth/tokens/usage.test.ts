import { expect, test } from 'vitest'
import { drivers } from '../../support/drivers.ts'
import { Service } from '../../support/service.ts'

test.each(drivers)('when a token was last used is told ten minutes coarse, on $name', async (driver) => {
  const service = await Service.start(driver)
  const person = await service.person(await service.workspace())
  const start = service.now
  const used = async (after: number) => {
    service.now = start + after
    const { body } = await service.send(person.read, 'GET', '/account')
    await service.app.services.usage.settled()
    return body.data.token.last_used_at
  }
  const minute = 60_000
  const at = (after: number) => new Date(start + after).toISOString()
  await used(0)
  expect([await used(minute), await used(10 * minute), await used(11 * minute)]).toEqual([at(0), at(0), at(10 * minute)])
  await service.stop()
})

test('a request that is refused is no use of the token', async () => {
  const service = await Service.start(drivers[0]!)
  const person = await service.person(await service.workspace())
  await service.leaveOnly(person.workspaceId, person.id)
  await service.send(person.read, 'GET', '/account')
  await service.app.services.usage.settled()
  expect(service.store.touched.filter((key) => key.startsWith('token_use'))).toEqual([])
  await service.stop()
})
