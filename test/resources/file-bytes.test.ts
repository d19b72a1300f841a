import { beforeEach, describe, expect, test } from 'vitest'
import { importWorkspace } from '../../src/admin/import.ts'
import { listWithUse } from '../../src/admin/workspaces.ts'
import { keys } from '../../src/store/keys.ts'
import { decorateStore } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { collectAll } from '../support/collections.ts'
import { createIo } from '../support/command-io.ts'
import { drivers } from '../support/drivers.ts'
import { FORM_TYPE, formText } from '../support/form-text.ts'
import { Service, type Reply } from '../support/service.ts'
import { exportOf } from '../support/transfers.ts'

const MOST = 1000

describe.each(drivers)('the bytes of files, on $name', (driver) => {
  const setup = setUpBoard(driver, { workspaceBytes: MOST })
  let board: TestBoard
  let cardId: string
  beforeEach(async () => {
    board = await TestBoard.create(setup.service, setup.ann)
    cardId = await board.card(await board.column())
  })
  const attach = (size: number) => board.attach(cardId, { text: 'x'.repeat(size) })
  const used = async (service = setup.service) => {
    const { store, random } = service.adminDeps
    return transact(store, setup.ann.workspaceId, random, async (tx) => (await tx.get(keys.fileBytes()))?.bytes ?? 0)
  }
  const full = (of: number) => ({
    status: 507,
    body: {
      error: {
        code: 'insufficient_storage',
        used_bytes: of,
        limit_bytes: MOST,
        message: expect.stringContaining(`${of} of ${MOST} bytes`),
      },
    },
  })

  test('have a limit for their sum, which includes files that wait for their removal', async () => {
    const first = (await attach(600)).body.data
    expect(await attach(401)).toMatchObject(full(600))
    expect((await attach(400)).status).toBe(201)
    expect(await attach(1)).toMatchObject(full(1000))
    expect((await attach(0)).status).toBe(201)
    await board.delete(`/attachments/${first.id}`)
    expect(await attach(1)).toMatchObject(full(1000))
    await collectAll(setup.service.adminDeps, setup.ann.workspaceId)
    expect(await used()).toBe(400)
    expect((await attach(600)).status).toBe(201)
    expect((await listWithUse(setup.service.adminDeps)).find(({ id }) => id === setup.ann.workspaceId)).toMatchObject({ file_bytes: 1000 })
    await board.delete(`/boards/${board.id}`)
    await collectAll(setup.service.adminDeps, setup.ann.workspaceId)
    expect(await used()).toBe(0)
  })

  test('are counted exactly by uploads at the same time, and none makes another one fail', async () => {
    const replies: Reply[] = await Promise.all(Array.from({ length: 12 }, () => attach(100)))
    const statuses = replies.map(({ status }) => status)
    expect({
      stored: statuses.filter((status) => status === 201).length,
      full: statuses.filter((status) => status === 507).length,
    }).toEqual({ stored: 10, full: 2 })
    expect(await used()).toBe(1000)
    expect(await setup.board.all(`/cards/${cardId}/attachments`)).toHaveLength(10)
    await board.delete(`/boards/${board.id}`)
    await collectAll(setup.service.adminDeps, setup.ann.workspaceId)
  })

  test('are not counted for a request that is refused, repeated or a dry run', async () => {
    const send = (path: string, headers: Record<string, string> = {}) =>
      setup.service.send(setup.ann.write, 'POST', `/cards/${cardId}/files${path}`, formText('x'.repeat(100)), {
        'content-type': FORM_TYPE,
        ...headers,
      })
    expect((await send('?dry_run=true')).status).toBe(201)
    expect((await send('', { 'if-match': '"0"' })).status).toBe(412)
    expect(await used()).toBe(0)
    for (const _ of [1, 2]) expect((await send('', { 'idempotency-key': 'k' })).status).toBe(201)
    expect(await used()).toBe(100)
    // Announced, and refused before it is read.
    expect(await send('', { 'content-length': String(MOST + 64 * 1024) })).toMatchObject(full(100))
    await board.delete(`/boards/${board.id}`)
    await collectAll(setup.service.adminDeps, setup.ann.workspaceId)
    expect(await used()).toBe(0)
  })

  test('are counted by an import, also by one that is repeated', async () => {
    expect((await attach(300)).status).toBe(201)
    const { lines } = await exportOf(setup.service.adminDeps, setup.ann.workspaceId)
    expect(lines.join('\n')).not.toContain('file_bytes')
    const other = await Service.start(driver)
    // The first one fails when its files are there.
    const failing = decorateStore(other.store, {
      commit: async (partition, change) => {
        if (change.put.has(keys.workspace())) throw new Error('stopped')
        return other.store.commit(partition, change)
      },
    })
    await expect(importWorkspace({ ...other.adminDeps, store: failing }, createIo(lines))).rejects.toThrow('stopped')
    await importWorkspace(other.adminDeps, createIo(lines))
    expect(await used(other)).toBe(300)
    await other.stop()
  })
})
