import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backUp } from '../../src/admin/backup.ts'
import { exportWorkspace } from '../../src/admin/export.ts'
import { importWorkspace } from '../../src/admin/import.ts'
import { restore } from '../../src/admin/restore.ts'
import type { FsStore } from '../../src/store/fs/store.ts'
import { openStorage } from '../../src/store/open.ts'
import { TestBoard } from '../support/board.ts'
import { createIo } from '../support/command-io.ts'
import { quiet } from '../support/log.ts'
import { Service } from '../support/service.ts'

const unused = () => Promise.reject(new Error('not supported by this test'))

// The procedure of "Damaged folders" in README.md.
test('a damaged workspace gets the state of an earlier backup, and the others keep theirs', async () => {
  const root = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
  const open = async (name: string) => {
    const storage = await openStorage(`fs:${root}/${name}`, { log: quiet })
    return Service.start({ name: 'fs', open: async () => ({ ...storage, recordKeys: unused, blobKeys: unused }) }).then((service) => ({
      service,
      stop: () => storage.close(),
      compact: () => (storage.store as FsStore).compact(),
    }))
  }
  const run = async <T>(
    name: string,
    command: (deps: Service['adminDeps'], io: ReturnType<typeof createIo>) => Promise<T>,
    lines: readonly string[] = [],
  ) => {
    const opened = await open(name)
    const io = createIo(lines)
    const result = await command(opened.service.adminDeps, io)
    await opened.stop()
    return { result, lines: io.written }
  }

  const before = await open('kanban')
  const [acme, globex] = [await before.service.workspace('Acme'), await before.service.workspace('Globex')]
  const [ann, bob] = [await before.service.person(acme), await before.service.person(globex)]
  const [ours, theirs] = [await TestBoard.create(before.service, ann), await TestBoard.create(before.service, bob)]
  const card = await ours.card(await ours.column())
  await ours.attach(card)
  const early = createIo()
  await backUp(before.service.adminDeps, early)
  await theirs.patch(`/boards/${theirs.id}`, { name: 'Changed since' })
  await before.compact()
  await before.stop()
  const checkpoint = join(root, 'kanban', 'records', acme)
  const bytes = await readFile(checkpoint)
  bytes[bytes.length >> 1]! ^= 1
  await writeFile(checkpoint, bytes)

  const present = await run('kanban', backUp)
  expect(present.result.lost_workspaces).toEqual([acme])
  await run('repaired', restore, present.lines)
  await run('earlier', restore, early.written)
  const exported = await run('earlier', (deps, io) => exportWorkspace(deps, acme, io))
  await run('repaired', importWorkspace, exported.lines)

  const { service, stop } = await open('repaired')
  const read = async (token: string, path: string) => (await service.send(token, 'GET', path)).body.data
  expect(await read(bob.read, `/boards/${theirs.id}`)).toMatchObject({ name: 'Changed since' })
  expect(await read(ann.read, `/cards/${card}`)).toMatchObject({ id: card, title: 'Card' })
  const [attachment] = await read(ann.read, `/cards/${card}/attachments`)
  expect((await service.send(ann.read, 'GET', `/attachments/${attachment.id}/content`)).text).toBe('hello')
  await service.app.services.usage.settled()
  await stop()
  await rm(root, { recursive: true, force: true })
})
