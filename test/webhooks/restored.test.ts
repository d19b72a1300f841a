import { describe, expect, test } from 'vitest'
import { restore } from '../../src/admin/restore.ts'
import { setUpBoard } from '../support/board.ts'
import { createIo } from '../support/command-io.ts'
import { drivers } from '../support/drivers.ts'
import { Service } from '../support/service.ts'
import { backupOf } from '../support/transfers.ts'
import { StubReceivers, Subscription } from './stub-receivers.ts'

describe.each(drivers)('webhooks in a storage that was restored, on $name', (driver) => {
  const receivers = new StubReceivers()
  const setup = setUpBoard(driver, { sendDelivery: receivers.send })
  const rename = (title: string) => setup.board.patch(`/cards/${setup.cardId}`, { title })

  test('go on where the backup was made: nothing is missing, and nothing that was delivered comes again', async () => {
    const { service, board } = setup
    service.app.deliverer.start()
    const [some, none] = [await Subscription.create(receivers, board), await Subscription.create(receivers, board)]
    await none.patch({ enabled: false })
    await rename('Before')
    await some.delivered(1)
    await service.app.deliverer.stop()
    await rename('Between')
    const { lines } = await backupOf(service.adminDeps)
    const target = await Service.start(driver, { sendDelivery: receivers.send, secretKeys: service.deps.secretKeys })
    target.now = service.now
    await restore(target.adminDeps, createIo(lines))
    const shown = await target.send(board.creator.admin, 'PATCH', `/webhooks/${none.id}`, { enabled: true })
    expect(shown).toMatchObject({ status: 200, body: { data: { state: 'active' } } })
    target.app.deliverer.start()
    await some.receiver.got(2)
    await none.receiver.got(1)
    await target.app.deliverer.stop()
    const titlesOf = ({ receiver }: Subscription) => receiver.entries.map(({ data }) => data.title)
    expect([some.receiver.seqs, none.receiver.seqs].map((seqs) => seqs.length)).toEqual([2, 2])
    expect([titlesOf(some), titlesOf(none)]).toEqual([
      ['Before', 'Between'],
      ['Between', 'Between'],
    ])
    await target.stop()
  })
})
