import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { importWorkspace } from '../../src/admin/import.ts'
import { listWorkspaces } from '../../src/admin/workspaces.ts'
import { keys } from '../../src/store/keys.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'
import { TestBoard } from '../support/board.ts'
import { createIo } from '../support/command-io.ts'
import { comparableExport } from '../support/export-lines.ts'
import { drivers, type OpenDriver } from '../support/drivers.ts'
import { failFrom } from '../support/failing-storage.ts'
import { Service, type Person } from '../support/service.ts'
import { exportOf } from '../support/transfers.ts'

/** Size of a file whose bytes are several lines of an export and several chunks in the storage. */
const LARGE = 400_000

const blobIdsOf = (lines: readonly string[]): string[] =>
  [...new Set(lines.flatMap((line): string[] => JSON.parse(line).value?.blob_id ?? []))].toSorted()

/** A workspace with a small and a large file. */
interface Source {
  readonly service: Service
  readonly person: Person
  /** the id of the large file */
  readonly large: string
}
async function createSource(): Promise<Source> {
  const service = await Service.start(drivers[0]!)
  const person = await service.person(await service.workspace(), 'owner')
  const board = await TestBoard.create(service, person)
  const card = await board.card(await board.column())
  await board.attach(card, { text: 'small' })
  const large = (await board.attach(card, { text: 'x'.repeat(LARGE) })).body.data.file_id
  await service.app.services.usage.settled()
  return { service, person, large }
}

describe.each(drivers)('interrupted imports on $name', (driver) => {
  let source: Source
  let lines: string[]
  beforeAll(async () => {
    source = await createSource()
    ;({ lines } = await exportOf(source.service.adminDeps, source.person.workspaceId))
  })
  afterAll(() => source.service.stop())

  const open = async () => {
    const opened = await driver.open()
    const deps: AdminDeps = { ...source.service.adminDeps, store: opened.store, blobs: opened.blobs }
    const close = async () => (await opened.store.close(), await opened.blobs.close())
    return { opened, deps, close }
  }
  const blobIdOf = (fileId: string, exported: readonly string[]): string =>
    JSON.parse(exported.find((line) => line.startsWith(`{"key":"file:${fileId}`))!).value.blob_id
  /** Removes the large file as garbage collection does. */
  const removeFile = async ({ store, blobs, random }: AdminDeps, workspaceId: string, blobId: string): Promise<void> => {
    await transact(store, workspaceId, random, async (tx) => (await tx.get(keys.file(source.large)), tx.remove(keys.file(source.large))))
    await blobs.remove(blobId)
  }
  const blobIds = async ({ blobKeys }: OpenDriver) => [...new Set((await blobKeys()).map((key) => key.split(':')[0]!))].toSorted()

  test('after an import ended at any storage operation, it can be repeated, and nothing else remains', async () => {
    const { workspaceId } = source.person
    let [failed, existed] = [0, 0]
    for (let at = 1; ; at++) {
      const { opened, deps, close } = await open()
      const failing = failFrom(deps, at)
      const first = await importWorkspace(failing.deps, createIo(lines)).catch((error: unknown) => error)
      if (!failing.reached()) {
        await close()
        break
      }
      failed++
      expect(first).toBeInstanceOf(StorageUnavailable)
      const second = await importWorkspace(deps, createIo(lines)).catch((error: unknown) => error)
      // The workspace exists if the process ended after the last commit of its records.
      if (second instanceof Error) {
        expect(second.message).toBe(`workspace ${workspaceId} already exists`)
        existed++
      }
      expect((await listWorkspaces(deps)).map(({ id }) => id)).toEqual([workspaceId])
      const { lines: imported } = await exportOf(deps, workspaceId)
      expect(comparableExport(imported)).toEqual(comparableExport(lines))
      expect((await opened.recordKeys(workspaceId)).filter((key) => key.startsWith('import'))).toEqual([])
      expect(await blobIds(opened)).toEqual(blobIdsOf(imported))
      await close()
    }
    expect([failed > existed, existed > 0]).toEqual([true, true])
  })

  test('a file that is removed while its bytes are exported is abandoned, and the import omits it', async () => {
    const { opened, deps, close } = await open()
    const { workspaceId } = source.person
    await importWorkspace(deps, createIo(lines))
    const blobId = blobIdOf(source.large, (await exportOf(deps, workspaceId)).lines)
    // The file is removed after its first line is written.
    const read = async function* (id: string, start: number, end: number): AsyncGenerator<Uint8Array> {
      if (id === blobId && start > 0) await removeFile(deps, workspaceId, blobId)
      yield* opened.blobs.read(id, start, end)
    }
    const { lines: abandoned, summary } = await exportOf({ ...deps, blobs: { ...opened.blobs, read } }, workspaceId)
    const withLarge = abandoned.filter((line) => line.includes(blobId)).map((line) => Object.keys(JSON.parse(line))[0])
    expect(withLarge).toEqual(['bytes', 'abandoned'])

    const target = await open()
    expect(await importWorkspace(target.deps, createIo(abandoned))).toEqual(summary)
    expect(summary).toMatchObject({ files: 1, bytes: 'small'.length })
    expect(await blobIds(target.opened)).toEqual(blobIdsOf((await exportOf(target.deps, workspaceId)).lines))
    expect(await blobIds(target.opened)).toHaveLength(1)
    await target.close()
    await close()
  })
})
