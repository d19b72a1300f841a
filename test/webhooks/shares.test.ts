import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DeliveryBudget } from '../../src/governor/delivery-budget.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person, type ServiceOptions } from '../support/service.ts'
import { atRest } from '../support/virtual-clock.ts'
import { StubReceivers, Subscription } from './stub-receivers.ts'

const OK = { status: 204 }
const settle = () => atRest(() => false)

/** What the webhooks of one person leave to others, and what they cost while they wait. */
describe('webhooks of two people', () => {
  const receivers = new StubReceivers()
  let service: Service
  let [ann, bob]: Person[] = []
  let board: TestBoard
  let cardId: string
  const start = async (options: ServiceOptions = {}) => {
    service = await Service.start(memory, { sendDelivery: receivers.send, ...options })
    const workspaceId = await service.workspace()
    ;[ann, bob] = [await service.person(workspaceId), await service.person(workspaceId)]
    board = await TestBoard.create(service, ann)
    cardId = await board.card(await board.column())
    service.app.deliverer.start()
  }
  afterEach(async () => {
    vi.useRealTimers()
    await service.app.deliverer.stop()
    await service.stop()
  })
  let renamed = 0
  const rename = () => board.patch(`/cards/${cardId}`, { title: `Title ${++renamed}` })

  test('60 of one that hang delay none of the other, nor one of their own to another receiver', async () => {
    await start()
    const hanging: Subscription[] = []
    for (let i = 0; i < 6; i++) {
      const other = await TestBoard.create(service, ann!)
      for (let j = 0; j < 10; j++) {
        const webhook = await Subscription.create(receivers, other, { url: 'https://hangs.example/' })
        webhook.receiver.behave('hang')
        hanging.push(webhook)
      }
      await other.column()
    }
    const underWay = () => hanging.filter(({ receiver }) => receiver.underWay > 0).length
    await expect.poll(underWay).toBe(3)
    const [ofBob, ofAnn] = [
      await Subscription.create(receivers, board, { url: 'https://hangs.example/' }, bob),
      await Subscription.create(receivers, board, { url: 'https://works.example/' }),
    ]
    for (let i = 1; i <= 3; i++) {
      await rename()
      await ofBob.delivered(i)
      await ofAnn.delivered(i)
    }
    expect(underWay()).toBe(3)
  })

  test('the cost of deliveries to one delays only their own, not the other deliveries, and nothing is missing', async () => {
    const time = { now: 1_000_000 }
    // Two units a second: an attempt in each.
    await start({ deliveryBudget: new DeliveryBudget({ token: 120, workspace: 12_000 }, () => time.now) })
    const [ofAnn, ofBob] = [await Subscription.create(receivers, board), await Subscription.create(receivers, board, {}, bob)]
    // The deliveries of ten seconds at once, and one more.
    for (let i = 1; i <= 11; i++) {
      await rename()
      await ofAnn.delivered(i)
      await ofBob.delivered(i)
      time.now += 1
    }
    service.app.deliverer.attempts.budget!.charge(ann!.workspaceId, ann!.id, 64 * 1024 * 60)
    for (let i = 12; i <= 14; i++) {
      await rename()
      time.now += 1000
      await ofBob.delivered(i)
    }
    service.app.deliverer.lookAgain(ofAnn.id)
    await settle()
    expect(ofAnn.receiver.received).toHaveLength(11)
    time.now += 30_000
    service.app.deliverer.lookAgain(ofAnn.id)
    const { body } = await ofAnn.delivered(12)
    expect(body.data.entries).toHaveLength(3)
    expect(body.data.after).toBe(ofAnn.receiver.received[10]!.body.data.next)
    expect(ofAnn.receiver.seqs).toEqual(ofBob.receiver.seqs)
  })

  describe('that fail', () => {
    /** Lets time pass for the timers of the service, which otherwise wait. */
    const pass = async (milliseconds: number) => {
      await vi.advanceTimersByTimeAsync(milliseconds)
      await settle()
    }
    beforeEach(async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: false })
      await start()
    })
    const failing = async (): Promise<Subscription> => {
      const webhook = await Subscription.create(receivers, board)
      webhook.receiver.behave({ status: 500 }, OK)
      await rename()
      await webhook.until({ failures: 1 })
      await settle()
      return webhook
    }

    test('are not read until the next attempt, which is made then', async () => {
      const webhook = await failing()
      service.store.touched.length = 0
      // The clock of the service stands still, and so the attempt is not due when its timer ends.
      for (let i = 0; i < 3; i++) await pass(1000)
      expect(service.store.touched.filter((name) => name.endsWith(webhook.id))).toEqual([])
      const { next_at } = await webhook.progress()
      service.now = Date.parse(next_at!)
      await pass(3000)
      await webhook.delivered(2)
    })

    test.each<[what: string, change: object, count: number]>([
      ['enabled', { enabled: true }, 2],
      ['disabled', { enabled: false }, 1],
      ['sent elsewhere, and enabled', { enabled: true, url: 'https://other.example/' }, 2],
    ])('are told when another process has changed them: %s', async (_what, change, count) => {
      const webhook = await failing()
      const { place, deps } = service
      const other = await Service.start({ name: 'memory', open: async () => place }, { secretKeys: deps.secretKeys })
      other.now = service.now + 1
      const reply = await other.send(ann!.admin, 'PATCH', `/webhooks/${webhook.id}`, change)
      expect(reply.status).toBe(200)
      // Until the deliverer looks.
      await pass(2000)
      if (count === 2) await webhook.delivered(2)
      service.now += 3_600_000
      await pass(3_600_000)
      expect(webhook.receiver.received).toHaveLength(count)
      await other.app.services.usage.settled()
    })
  })
})
