import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { importWorkspace } from '../../src/admin/import.ts'
import type { LostFile } from '../../src/admin/transfer-summary.ts'
import { createApp } from '../../src/app.ts'
import type { FileRecord } from '../../src/model/file.ts'
import type { Blobs } from '../../src/store/blobs.ts'
import { keys } from '../../src/store/keys.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { TestBoard } from '../support/board.ts'
import { createIo } from '../support/command-io.ts'
import { drivers, type OpenDriver } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { GIF } from '../support/pictures.ts'
import { cheapPasswords, engine, Service, type Person } from '../support/service.ts'
import { exportOf } from '../support/transfers.ts'

/** Larger than a line of an export, and than a chunk of the storage. */
const LARGE = GIF + 'x'.repeat(400_000)

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

describe.each(drivers)('files with lost bytes on $name', (driver) => {
  let service: Service
  let ann: Person
  let board: TestBoard
  let target: OpenDriver
  let targetDeps: AdminDeps
  /** two cards; the file is attached to both, and is the cover of the first one */
  let cards: [string, string]
  let file: FileRecord
  let attachments: string[]

  beforeEach(async () => {
    service = await Service.start(driver)
    target = await driver.open()
    ann = await service.person(await service.workspace(), 'owner')
    board = await TestBoard.create(service, ann)
    const column = await board.column()
    cards = [await board.card(column), await board.card(column)]
    await board.attach(cards[0], { name: 'kept.txt', text: 'kept' })
    const attached = (await board.attach(cards[0], { name: 'lost.gif', type: 'image/gif', text: LARGE })).body.data
    const again = (await board.post(`/cards/${cards[1]}/attachments`, { file_id: attached.file_id })).body.data
    attachments = [attached.id, again.id]
    await board.put(`/cards/${cards[0]}/cover`, { attachment_id: attached.id })
    file = await service.write(ann.workspaceId, async (tx) => (await tx.get(keys.file(attached.file_id)))!)
    await service.app.services.usage.settled()
    targetDeps = { ...service.adminDeps, store: target.store, blobs: target.blobs }
  })
  afterEach(async () => {
    await service.stop()
    await target.store.close()
    await target.blobs.close()
  })

  const exported = async (blobs: Partial<Blobs> = {}) => {
    const deps = service.adminDeps
    return exportOf({ ...deps, blobs: { ...deps.blobs, ...blobs } }, ann.workspaceId)
  }
  const get = async (path: string) => {
    const app = createApp({ ...targetDeps, log: quiet, engine, passwords: cheapPasswords, rateLimits: undefined })
    const response = await app.fetch(new Request(`http://x/v1${path}`, { headers: { authorization: `Bearer ${ann.read}` } }))
    const body = response.headers.get('content-type')?.startsWith('application/json') ? await response.json() : await response.text()
    await app.services.usage.settled()
    return { status: response.status, body: body as any }
  }
  const lost = (reason: LostFile['reason']): LostFile => ({
    workspace_id: ann.workspaceId,
    file_id: file.id,
    name: 'lost.gif',
    size: LARGE.length,
    reason,
  })

  /** Imports an export, and checks that it has everything except the lost file. */
  const expectImportWithoutFile = async (lines: readonly string[], reason: LostFile['reason']) => {
    expect(await importWorkspace(targetDeps, createIo(lines))).toMatchObject({ files: 1, bytes: 4, lost: 1, lost_files: [lost(reason)] })
    const records = await target.recordKeys(ann.workspaceId)
    expect(records.filter((key) => key.includes(file.id) || attachments.some((id) => key.includes(id)))).toEqual([])
    expect((await get(`/cards/${cards[0]}`)).body.data).toMatchObject({ title: 'Card', cover_attachment_id: null })
    const remaining = (await get(`/cards/${cards[0]}/attachments`)).body.data
    expect(remaining.map(({ name }: { name: string }) => name)).toEqual(['kept.txt'])
    expect(await get(`/attachments/${remaining[0].id}/content`)).toEqual({ status: 200, body: 'kept' })
    expect((await get(`/cards/${cards[1]}/attachments`)).body.data).toEqual([])
    expect(new Set((await target.blobKeys()).map((key) => key.split(':')[0])).size).toBe(1)
  }

  test('a file whose bytes are missing is named and left out, and the rest of the export is complete', async () => {
    const whole = await exported()
    await service.adminDeps.blobs.remove(file.blob_id)
    const { lines, summary } = await exported()
    expect(summary).toEqual({
      ...whole.summary,
      records: whole.summary.records - 1,
      files: 1,
      bytes: 4,
      lost: 1,
      lost_files: [lost('unreadable')],
    })
    const others = whole.lines.slice(1, -1).filter((line) => !line.includes(file.blob_id))
    expect(lines.slice(1, -1).filter((line) => !line.startsWith('{"omitted"'))).toEqual(others)
    await expectImportWithoutFile(lines, 'unreadable')
  })

  /** Reads of bytes that fail for the lost file. */
  const failing = (fails: (end: number) => boolean, error: Error): Partial<Blobs> => {
    const { read } = service.adminDeps.blobs
    return {
      async *read(id, start, end) {
        if (id === file.blob_id && fails(end)) throw error
        yield* read(id, start, end)
      },
    }
  }
  test.each<[string, () => Partial<Blobs> | Promise<Partial<Blobs>>, LostFile['reason']]>([
    ['last bytes are missing', () => failing((end) => end === LARGE.length, new Error('chunk 1 is missing')), 'unreadable'],
    ['bytes cannot be read, although others can be', () => failing(() => true, new StorageUnavailable('EIO')), 'unreadable'],
    [
      'bytes were changed',
      async () => {
        await service.adminDeps.blobs.remove(file.blob_id)
        await service.adminDeps.blobs.write(file.blob_id, bytesOf(`y${LARGE.slice(1)}`))
        return {}
      },
      'damaged',
    ],
  ])('a file whose %s is left out', async (_what, plant, reason) => {
    const { lines, summary } = await exported(await plant())
    expect(summary).toMatchObject({ files: 1, lost: 1, lost_files: [lost(reason)] })
    await expectImportWithoutFile(lines, reason)
  })

  test('a file is not lost if its bytes can be read at the second attempt', async () => {
    let failures = 0
    const failOnce = failing(() => failures++ === 0, new StorageUnavailable('the connection was lost'))
    expect((await exported(failOnce)).summary).toMatchObject({ files: 2, lost: 0, lost_files: [] })
  })

  test('an export fails if no bytes can be read', async () => {
    const away = () => Promise.reject(new StorageUnavailable('the mount is away'))
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield await away()
    }
    await expect(exported({ read: failing, ready: away })).rejects.toThrow('the mount is away')
  })

  test.each<[moment: string, from: number, kinds: string[]]>([
    ['before its bytes are read', 0, ['omitted']],
    ['while its bytes are read', 1, ['bytes', 'abandoned', 'omitted']],
  ])('a file that is removed %s is left out, and is not lost', async (_moment, from, kinds) => {
    const { read, remove } = service.adminDeps.blobs
    async function* removeAndRead(id: string, start: number, end: number): AsyncGenerator<Uint8Array> {
      if (id === file.blob_id && start >= from) {
        await service.write(ann.workspaceId, async (tx) => (await tx.get(keys.file(file.id)), tx.remove(keys.file(file.id))))
        await remove(id)
      }
      yield* read(id, start, end)
    }
    const { lines, summary } = await exported({ read: removeAndRead })
    expect(summary).toMatchObject({ files: 1, lost: 0, lost_files: [] })
    const ofFile = lines.filter((line) => line.includes(file.blob_id) || line.startsWith(`{"omitted":"${file.id}`))
    expect(ofFile.map((line) => Object.keys(JSON.parse(line))[0])).toEqual(kinds)
    expect(JSON.parse(ofFile.at(-1)!)).toEqual({ omitted: file.id, name: file.name, size: file.size, reason: 'removed' })
    expect(await importWorkspace(targetDeps, createIo(lines))).toEqual(summary)
    expect((await get(`/cards/${cards[0]}/attachments`)).body.data.map(({ name }: any) => name)).toEqual(['kept.txt'])
    expect(new Set((await target.blobKeys()).map((key) => key.split(':')[0])).size).toBe(1)
  })

  test('a summary names the first 1000 lost files and counts all of them', async () => {
    await service.write(ann.workspaceId, async (tx) => {
      for (let i = 0; i < 1005; i++) {
        const id = `fil_${String(i).padStart(20, '0')}`
        tx.create(keys.file(id), { ...file, id, blob_id: `blb_${String(i).padStart(20, '0')}` })
      }
    })
    const { summary } = await exported()
    expect({ lost: summary.lost, listed: summary.lost_files.length }).toEqual({ lost: 1005, listed: 1000 })
  })
})
