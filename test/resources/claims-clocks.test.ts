import { beforeEach, describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service } from '../support/service.ts'

/** How far the clocks of two processes are apart, in milliseconds. */
const APART = 2000
/** The time of a claim, in milliseconds. */
const TTL = 10_000

// What src/http/claims.md says about processes whose clocks differ.
describe.each(drivers)('claims with two processes whose clocks differ, on $name', (driver) => {
  const setup = setUpBoard(driver)
  let ahead: Service
  beforeEach(async () => {
    ahead = await Service.start({ name: driver.name, open: async () => setup.service.place })
    ahead.now = setup.service.now + APART
  })
  const wait = (milliseconds: number) => {
    setup.service.now += milliseconds
    ahead.now += milliseconds
  }
  const take = async (service: Service, token: string) => {
    const { status, body } = await service.send(token, 'PUT', `/cards/${setup.cardId}/claim`, { ttl: TTL / 1000 })
    return status === 200 ? (body.data.epoch as number) : status
  }
  const isHeld = async (service: Service) => (await service.send(setup.ann.read, 'GET', `/cards/${setup.cardId}/claim`)).body.data !== null
  const write = async (service: Service, token: string, epoch: number) =>
    (await service.send(token, 'PATCH', `/cards/${setup.cardId}`, { title: `Title ${Math.random()}` }, { 'if-claim': String(epoch) }))
      .status

  test('a claim ends earlier by the difference, at the earliest', async () => {
    const { service, ann, bob } = setup
    expect(await take(service, ann.write)).toBe(1)
    wait(TTL - APART - 1)
    expect({ isHeld: await isHeld(service), isHeldAhead: await isHeld(ahead), take: await take(ahead, bob.write) }).toEqual({
      isHeld: true,
      isHeldAhead: true,
      take: 409,
    })
    wait(1)
    expect({ service: await isHeld(service), ahead: await isHeld(ahead) }).toEqual({ service: true, ahead: false })
    // Until another takes the card, its holder is refused by one process and not by the other.
    expect({ ahead: await write(ahead, ann.write, 1), service: await write(service, ann.write, 1) }).toEqual({ ahead: 412, service: 200 })
    expect(await take(ahead, bob.write)).toBe(2)
    for (const one of [service, ahead])
      expect({ ann: await write(one, ann.write, 1), bob: await write(one, bob.write, 2) }).toEqual({ ann: 412, bob: 200 })
  })

  test('a claim ends later by the difference, at the latest', async () => {
    const { service, ann, bob } = setup
    expect(await take(ahead, ann.write)).toBe(1)
    wait(TTL)
    expect({ service: await isHeld(service), ahead: await isHeld(ahead) }).toEqual({ service: true, ahead: false })
    wait(APART - 1)
    expect({ isHeld: await isHeld(service), take: await take(service, bob.write) }).toEqual({ isHeld: true, take: 409 })
    wait(1)
    expect({ isHeld: await isHeld(service), take: await take(service, bob.write) }).toEqual({ isHeld: false, take: 2 })
    for (const one of [service, ahead])
      expect({ ann: await write(one, ann.write, 1), bob: await write(one, bob.write, 2) }).toEqual({ ann: 412, bob: 200 })
  })
})
