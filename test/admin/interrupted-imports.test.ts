import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importWorkspace } from '../../src/admin/import.ts'
import { listWorkspaces } from '../../src/admin/workspaces.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { TestBoard } from '../support/board.ts'
import { createIo } from '../support/command-io.ts'
import { comparableExport } from '../support/export-lines.ts'
import { drivers } from '../support/drivers.ts'
import { failFrom } from '../support/failing-storage.ts'
import { Service } from '../support/service.ts'
import { exportOf } from '../support/transfers.ts'

/** Size of a file whose bytes are several lines of an export and several chunks in the storage. */
const LARGE = 400_000

const blobIdsOf = (lines: readonly string[]): string[] =>
  [...new Set(lines.flatMap((line): string[] => JSON.parse(line).value?.blob_id ?? []))].toSorted()

describe.each(drivers)('interrupted imports on $name', (driver) => {
  let source: Service
  let workspaceId: string
  let lines: string[]
  beforeAll(async () => {
    source = await Service.start(drivers[0]!)
    const person = await source.person(await source.workspace(), 'owner')
    workspaceId = person.workspaceId
    const board = await TestBoard.create(source, person)
    const card = await board.card(await board.column())
    await board.attach(card, { text: 'small' })
    await board.attach(card, { text: 'x'.repeat(LARGE) })
    await source.app.services.usage.settled()
    ;({ lines } = await exportOf(source.adminDeps, workspaceId))
  })
  afterAll(() => source.stop())

  test('after an import ended at any storage operation, it can be repeated, and nothing else remains', async () => {
    let [failed, existed] = [0, 0]
    for (let at = 1; ; at++) {
      const opened = await driver.open()
      const deps = { ...source.adminDeps, store: opened.store, blobs: opened.blobs }
      const close = async () => (await opened.store.close(), await opened.blobs.close())
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
      const stored = (await opened.blobKeys()).map((key) => key.split(':')[0]!)
      expect([...new Set(stored)].toSorted()).toEqual(blobIdsOf(imported))
      await close()
    }
    expect([failed > existed, existed > 0]).toEqual([true, true])
  })
})
