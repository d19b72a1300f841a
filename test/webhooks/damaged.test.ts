import { expect, test } from 'vitest'
import { indexes } from '../../src/store/indexes.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { StubReceivers, Subscription } from './stub-receivers.ts'

test('a workspace whose webhooks cannot be read delays no other workspace', async () => {
  const receivers = new StubReceivers()
  const damaged = new Set<string>()
  const service = await Service.start(memory, { sendDelivery: receivers.send })
  const { read } = service.store
  service.store.read = async (partition, request) => {
    const isLook = request.ranges.some(({ index }) => index === indexes.followingWebhooks().name)
    if (isLook && damaged.has(partition)) throw new Error('damaged')
    return read.call(service.store, partition, request)
  }
  const subscriptions = await Promise.all(
    [0, 1].map(async () => {
      const board = await TestBoard.create(service, await service.person(await service.workspace(), 'owner'))
      return { board, webhook: await Subscription.create(receivers, board) }
    }),
  )
  const [first, last] = subscriptions.toSorted((one, other) => (one.board.creator.workspaceId < other.board.creator.workspaceId ? -1 : 1))
  damaged.add(first!.board.creator.workspaceId)
  service.app.deliverer.start()
  for (const { board } of [first!, last!]) await board.column()
  await last!.webhook.delivered(1)
  damaged.clear()
  service.app.deliverer.lookAgain()
  expect((await first!.webhook.delivered(1)).body.data.entries.map(({ kind }) => kind)).toEqual(['column'])
  await service.stop()
})
