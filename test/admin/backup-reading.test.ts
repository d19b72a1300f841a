import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { backUp } from '../../src/admin/backup.ts'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { addMember } from '../../src/admin/memberships.ts'
import { restore } from '../../src/admin/restore.ts'
import { addUser } from '../../src/admin/users.ts'
import { listWorkspaces } from '../../src/admin/workspaces.ts'
import { decorateStore, StorageUnavailable, type Store } from '../../src/store/port.ts'
import { GLOBAL } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { createIo } from '../support/command-io.ts'
import { drivers, type OpenDriver } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'
import { backupOf } from '../support/transfers.ts'

describe.each(drivers)('the workspaces that a backup reads on $name', (driver) => {
  let service: Service
  let target: OpenDriver
  let deps: AdminDeps
  let ann: Person
  let ben: Person
  beforeEach(async () => {
    service = await Service.start(driver)
    target = await driver.open()
    ann = await service.person(await service.workspace('First'), 'owner')
    ben = await service.person(await service.workspace('Second'), 'owner')
    deps = service.adminDeps
  })
  afterEach(async () => {
    await service.stop()
    await target.store.close()
    await target.blobs.close()
  })
  const restoreTo = async (lines: readonly string[]) => {
    const targetDeps = { ...deps, store: target.store, blobs: target.blobs }
    const summary = await restore(targetDeps, createIo(lines))
    return { summary, workspaces: (await listWorkspaces(targetDeps)).map(({ id }) => id) }
  }
  const withReads = (read: Store['read']): AdminDeps => ({ ...deps, store: decorateStore(deps.store, { read }) })

  test('a workspace that cannot be read is named and left out, and the rest is complete', async () => {
    const failing = withReads((partition, request) =>
      partition === ann.workspaceId ? Promise.reject(new StorageUnavailable('damaged')) : deps.store.read(partition, request),
    )
    const { lines, summary } = await backupOf(failing)
    expect(summary).toMatchObject({ workspaces: 1, users: 2, lost: 0, lost_workspaces: [ann.workspaceId] })
    const restored = await restoreTo(lines)
    expect(restored).toEqual({ summary, workspaces: [ben.workspaceId] })
    // The link of a user to it would lead to nothing.
    expect((await target.recordKeys(GLOBAL)).filter((key) => key.includes(ann.workspaceId))).toEqual([])
  })

  test('a workspace is not lost if it can be read at a later attempt', async () => {
    let failures = 0
    const failing = withReads((partition, request) =>
      partition === ann.workspaceId && failures++ < 2
        ? Promise.reject(new StorageUnavailable('the connection was lost'))
        : deps.store.read(partition, request),
    )
    expect(await backUp(failing, createIo())).toMatchObject({ workspaces: 2, lost_workspaces: [] })
  })

  test('a backup fails if nothing can be read any more', async () => {
    let away = false
    const failing = withReads((partition, request) => {
      away ||= partition === ann.workspaceId
      return away ? Promise.reject(new StorageUnavailable('the storage is away')) : deps.store.read(partition, request)
    })
    await expect(backUp(failing, createIo())).rejects.toThrow('the storage is away')
  })

  test('a backup has each workspace as of one moment, and every member of it as a user', async () => {
    const io = createIo()
    const added: string[] = []
    let sections = 0
    const write = async (line: string): Promise<void> => {
      io.written.push(line)
      // The first workspace is being read, or is read already.
      if (!line.startsWith('{"workspace"')) return
      sections++
      const user = await addUser(deps, { display_name: 'Later' })
      added.push(user.id)
      for (const { workspaceId } of [ann, ben]) await addMember(deps, workspaceId, user, 'member')
      if (sections === 1) await service.workspace('Third')
    }
    const summary = await backUp(deps, { ...io, write })
    expect(summary).toMatchObject({ workspaces: 2, users: 4 })
    const restored = await restoreTo(io.written)
    expect(restored.workspaces.toSorted()).toEqual([ann.workspaceId, ben.workspaceId].toSorted())
    const users = (await target.recordKeys(GLOBAL)).filter((key) => key.startsWith('user:')).map((key) => key.slice('user:'.length))
    expect(users).toEqual(expect.arrayContaining(added))
    const members = await Promise.all([ann, ben].map(({ workspaceId }) => target.recordKeys(workspaceId)))
    const memberIds = members.flat().flatMap((key) => (key.startsWith('membership:') ? key.slice('membership:'.length) : []))
    expect(memberIds).toContain(ann.id)
    expect(memberIds.filter((id) => !users.includes(id))).toEqual([])
    // The second workspace was read after the first user was added.
    expect(memberIds).toContain(added[0])
  })
})

describe.each(drivers)('the memory of a backup on $name', (driver) => {
  test('a batch is read only when the lines of the batch before it were written', async () => {
    const service = await Service.start(driver)
    const ann = await service.person(await service.workspace(), 'owner')
    const board = await TestBoard.create(service, ann)
    await service.write(ann.workspaceId, async (tx) => {
      const card = await board.card(await board.column())
      for (let i = 0; i < 3500; i++) {
        const id = `cmt_${String(i).padStart(20, '0')}`
        const at = '2026-11-20T12:00:00.000Z'
        tx.create(`comment:${id}`, { id, card_id: card, author_id: ann.id, body: 'x', created_at: at, updated_at: at })
      }
    })
    let [read, written, most] = [0, 0, 0]
    const { store } = service.adminDeps
    async function* dump(partition: string): ReturnType<typeof store.dump> & AsyncGenerator<readonly (readonly [string, object])[]> {
      for await (const batch of store.dump(partition)) {
        read += batch.length
        most = Math.max(most, read - written)
        expect(batch.length).toBeLessThanOrEqual(1000)
        yield batch
      }
    }
    const deps = { ...service.adminDeps, store: decorateStore(store, { dump: dump as typeof store.dump }) }
    const write = async (line: string): Promise<void> => void (written += Number(line.startsWith('{"key"')))
    const io = { ...createIo(), write }
    const { records } = await backUp(deps, io)
    expect(records).toBe(written)
    expect(written).toBeGreaterThan(3500)
    // One batch, and the few records of the storage itself, which are read and not written.
    expect(most).toBeLessThanOrEqual(1000 + 20)
    await service.stop()
  })
})
