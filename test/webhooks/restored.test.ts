import { describe, expect, test } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
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

  test('are disabled; enabled, they go on where the backup was made: nothing is missing, and nothing that was delivered comes again', async () => {
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
    const summary = await restore(target.adminDeps, createIo(lines))
    expect(summary.disabled_webhooks).toBe(1)
    const { creator } = board
    const shown = await target.send(creator.admin, 'GET', `/webhooks/${some.id}`)
    expect(shown.body.data).toMatchObject({ state: 'disabled', reason: expect.stringContaining('restored from a backup') })
    const enable = (input = {}) => runCommand(target.adminDeps, 'webhooks.enable', input, createIo())
    const row = { workspace: creator.workspaceId, webhook: some.id, board: board.id, creator: creator.id, host: 'hooks.example' }
    expect(await enable({ dryRun: true })).toEqual([row])
    const enabled = await target.send(creator.admin, 'PATCH', `/webhooks/${none.id}`, { enabled: true })
    expect(enabled).toMatchObject({ status: 200, body: { data: { state: 'active' } } })
    target.app.deliverer.start()
    await none.receiver.got(1)
    // A copy must not speak for the original before somebody says so.
    expect(some.receiver.received.length).toBe(1)
    await expect(enable({ workspace: 'wsp_00000000000000000000' })).rejects.toMatchObject({ code: 'not_found' })
    expect(await enable({ workspace: creator.workspaceId })).toEqual([row])
    expect(await enable()).toEqual([])
    await some.receiver.got(2)
    await target.app.deliverer.stop()
    const titlesOf = ({ receiver }: Subscription) => receiver.entries.map(({ data }) => data.title)
    expect([some.receiver.seqs, none.receiver.seqs].map((seqs) => seqs.length)).toEqual([2, 2])
    expect({ some: titlesOf(some), none: titlesOf(none) }).toEqual({ some: ['Before', 'Between'], none: ['Between', 'Between'] })
    await target.stop()
  })

  test('that their creator enables no longer count as restored, and a copy of the copy keeps them', async () => {
    const { service, board } = setup
    const [one, other] = [await Subscription.create(receivers, board), await Subscription.create(receivers, board)]
    const restoredFrom = async (lines: readonly string[]) => {
      const target = await Service.start(driver, { sendDelivery: receivers.send, secretKeys: service.deps.secretKeys })
      target.now = service.now
      await restore(target.adminDeps, createIo(lines))
      return target
    }
    const first = await restoredFrom((await backupOf(service.adminDeps)).lines)
    const patch = (body: object) => first.send(board.creator.admin, 'PATCH', `/webhooks/${one.id}`, body)
    for (const enabled of [true, false]) expect((await patch({ enabled })).status).toBe(200)
    const second = await restoredFrom((await backupOf(first.adminDeps)).lines)
    for (const { adminDeps } of [first, second]) {
      const enabled = (await runCommand(adminDeps, 'webhooks.enable', {}, createIo())) as { readonly webhook: string }[]
      const ids = new Set(enabled.map(({ webhook }) => webhook))
      expect({ one: ids.has(one.id), other: ids.has(other.id) }).toEqual({ one: false, other: true })
    }
    await first.stop()
    await second.stop()
  })
})
