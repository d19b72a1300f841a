import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemRandom as random } from '../../src/model/ids.ts'
import { HOUR } from '../../src/model/time.ts'
import { indexes } from '../../src/store/indexes.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { Lease } from '../../src/webhooks/lease.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { StubReceivers, Subscription } from './stub-receivers.ts'

/** A process that serves a storage, with a measure of time of its own. */
class Process {
  time = Math.random() * HOUR
  readonly lease: Lease

  constructor(service: Service) {
    this.lease = new Lease({ services: () => service.app.services, random, elapsed: () => this.time })
  }

  /** Lets time pass, and asks for the lease. */
  takeAfter(milliseconds: number): Promise<boolean> {
    this.time += milliseconds
    return this.lease.take()
  }
}

describe.each(drivers)('the lease, on $name', (driver) => {
  let service: Service
  let [one, two, three]: Process[] = []
  beforeAll(async () => void (service = await Service.start(driver)))
  afterAll(() => service.stop())
  beforeEach(async () => {
    await service.write(GLOBAL, async (tx) => {
      if ((await tx.get(keys.deliveryLease())) !== undefined) tx.remove(keys.deliveryLease())
    })
    ;[one, two, three] = [new Process(service), new Process(service), new Process(service)]
    expect(await one.takeAfter(0)).toBe(true)
  })

  test('is kept by a process that renews it, however long that is', async () => {
    for (let i = 0; i < 10; i++) {
      expect(await two!.takeAfter(7_999)).toBe(false)
      expect(await one!.takeAfter(7_999)).toBe(true)
    }
  })

  test('passes to another process that has seen no renewal for eight seconds by its own measure', async () => {
    expect(await two!.takeAfter(HOUR)).toBe(false)
    expect(await two!.takeAfter(7_999)).toBe(false)
    expect(await one!.takeAfter(0)).toBe(true)
    expect(await two!.takeAfter(1)).toBe(false)
    expect(await two!.takeAfter(7_999)).toBe(false)
    // A third one has not looked for so long.
    expect(await three!.takeAfter(HOUR)).toBe(false)
    expect(await two!.takeAfter(1)).toBe(true)
    expect(await three!.takeAfter(7_999)).toBe(false)
    // The first one was stopped, and not killed.
    expect(await one!.takeAfter(HOUR)).toBe(false)
    expect(await two!.takeAfter(HOUR)).toBe(true)
  })

  test('does not depend on the clocks, which differ', async () => {
    for (const hours of [5, -5]) {
      service.now += hours * HOUR
      expect({ two: await two!.takeAfter(0), one: await one!.takeAfter(0) }).toEqual({ two: false, one: true })
    }
  })

  test('that is given up is taken at once, and only its holder gives it up', async () => {
    await two!.lease.release()
    expect(await two!.takeAfter(0)).toBe(false)
    await one!.lease.release()
    expect(await two!.takeAfter(0)).toBe(true)
    expect(await one!.takeAfter(0)).toBe(false)
  })

  test('is given to one of many that ask at the same time', async () => {
    await one!.lease.release()
    const asked = Array.from({ length: 8 }, () => new Process(service).takeAfter(0))
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1)
  })
})

test('the lease of a storage that no other process can use is taken at once, and nothing is written', async () => {
  const service = await Service.start(memory)
  const killed = new Process(service)
  expect(await killed.takeAfter(0)).toBe(true)
  service.store.isRemote = false
  const next = new Process(service)
  expect(await next.takeAfter(0)).toBe(true)
  service.store.beforeCommit = () => Promise.reject(new Error('nothing is to be written'))
  expect(await next.takeAfter(0)).toBe(true)
  await next.lease.release()
  await service.stop()
})

describe('the deliverer', () => {
  const receivers = new StubReceivers()
  const setup = setUpBoard(memory, { sendDelivery: receivers.send })

  test('writes nothing without webhooks, delivers only with the lease, and gives it up at its end', async () => {
    const { service, board, cardId } = setup
    const { deliverer } = service.app
    const rename = (title: string) => board.patch(`/cards/${cardId}`, { title })
    let isWritten = false
    service.store.beforeCommit = async () => void (isWritten = true)
    deliverer.start()
    const looks = () => service.store.touched.filter((index) => (index as string) === indexes.webhookWorkspaces().name).length
    await expect.poll(looks).toBe(1)
    deliverer.lookAgain()
    await expect.poll(looks).toBe(2)
    expect(isWritten).toBe(false)

    const other = new Process(service)
    await other.lease.take()
    const webhook = await Subscription.create(receivers, board)
    webhook.receiver.behave('hang', { status: 204 })
    await rename('One')
    deliverer.lookAgain()
    await expect.poll(looks).toBeGreaterThan(3)
    expect(webhook.receiver.received).toEqual([])
    await other.lease.release()
    deliverer.lookAgain()
    await webhook.receiver.got(1)
    // It is cut when another process has the lease, and repeated by the next holder.
    while (!(await other.takeAfter(8_000)));
    deliverer.lookAgain()
    await expect.poll(() => webhook.receiver.underWay).toBe(0)
    await rename('Two')
    deliverer.lookAgain()
    await webhook.read()
    expect(webhook.receiver.received).toHaveLength(1)
    await other.lease.release()
    deliverer.lookAgain()
    await webhook.delivered(3)
    expect(webhook.receiver.received.map(({ id, body }) => [id, body.data.entries[0].seq])).toEqual([
      [webhook.receiver.received[0]!.id, webhook.receiver.seqs[0]],
      [webhook.receiver.received[0]!.id, webhook.receiver.seqs[0]],
      [webhook.receiver.received[2]!.id, webhook.receiver.seqs[1]],
    ])
    expect(await other.takeAfter(0)).toBe(false)
    await deliverer.stop()
    expect(await other.takeAfter(0)).toBe(true)
  })
})
