import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backUp } from '../../src/admin/backup.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { openStorage } from '../../src/store/open.ts'
import { TestBoard } from '../support/board.ts'
import { createIo } from '../support/command-io.ts'
import { blockOf } from '../support/documents.ts'
import { damageRecord } from '../support/folders.ts'
import { quiet } from '../support/log.ts'
import { runScript } from '../support/process.ts'
import { Service } from '../support/service.ts'
import { newFolder } from '../support/run.ts'

const unused = () => Promise.reject(new Error('not supported by this test'))

// The commands of "Damaged folders" in src/admin/README.md.
test('a damaged workspace gets the state of an earlier backup, and the others keep theirs', async () => {
  const root = newFolder()
  const open = async (name: string) => {
    const storage = await openStorage(`fs:${root}/${name}`, { log: quiet, derived: createDerivations() })
    return Service.start({ name: 'fs', open: async () => ({ ...storage, recordKeys: unused, blobKeys: unused }) }).then((service) => ({
      service,
      stop: () => storage.close(),
    }))
  }
  const before = await open('damaged')
  const [acme, globex] = [await before.service.workspace('Acme'), await before.service.workspace('Globex')]
  const [ann, bob] = [await before.service.person(acme), await before.service.person(globex)]
  const [ours, theirs] = [await TestBoard.create(before.service, ann), await TestBoard.create(before.service, bob)]
  const card = await ours.card(await ours.column())
  await ours.attach(card)
  const early = createIo()
  await backUp(before.service.adminDeps, early)
  await theirs.patch(`/boards/${theirs.id}`, { name: 'Changed since' })
  await before.stop()
  damageRecord(`${root}/damaged`, acme)
  await writeFile(join(root, 'earlier.jsonl'), early.written.map((line) => `${line}\n`).join(''))

  const block = blockOf('src/admin/README.md', 'backup --storage fs:damaged')
  // The first two commands say with exit code 5 that a workspace is missing.
  const lines = block.replaceAll('WORKSPACE', acme).trim().split('\n')
  const commands = lines.map((line, i) => line.replace(/ *#.*/, '') + (i < 2 ? ' || test $? = 5' : ''))
  await runScript(commands.join('\n'), root)

  const { service, stop } = await open('repaired')
  const read = async (token: string, path: string) => (await service.send(token, 'GET', path)).body.data
  expect(await read(bob.read, `/boards/${theirs.id}`)).toMatchObject({ name: 'Changed since' })
  expect(await read(ann.read, `/cards/${card}`)).toMatchObject({ id: card, title: 'Card' })
  const [attachment] = await read(ann.read, `/cards/${card}/attachments`)
  expect((await service.send(ann.read, 'GET', `/attachments/${attachment.id}/content`)).text).toBe('hello')
  await service.app.services.usage.settled()
  await stop()
})
