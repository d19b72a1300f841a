import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { keys } from '../../src/store/keys.ts'
import { homeBoards } from '../../src/store/migrations/0003-home-boards.ts'
import { migrateStore } from '../../src/store/migrations/run.ts'
import type { StorageHandle } from '../../src/store/open.ts'
import { driversOf } from '../support/driver-selection.ts'
import { findDamage } from '../support/findings.ts'
import { expectedFiles, known, root, senderOf } from '../support/format-2.ts'
import { OldStorage } from '../support/old-storage.ts'

const nameOf = (board: string | null) => Object.keys(known.boards).find((name) => known.boards[name] === board) ?? board

/** The files as they are stored: name → home board and visibility. */
async function filesOf({ store }: StorageHandle): Promise<Record<string, unknown>> {
  const files: Record<string, unknown> = {}
  for await (const batch of store.dump(known.workspace))
    for (const [key, value] of batch)
      if (key.startsWith('file:')) files[String(value['name'])] = [nameOf(value['board_id'] as string | null), value['visibility']]
  return files
}

test('a file of the present version stays as it is', () => {
  for (const board_id of [null, 'brd_00000000000000000001']) {
    const file = { id: 'fil_00000000000000000001', board_id }
    expect(homeBoards.migrate(keys.file(file.id), file)[0]![1]).toBe(file)
  }
})

describe.each(driversOf('service').filter((name) => name !== 'memory'))('files without a home board, on %s', (driver) => {
  const storage = new OldStorage(root, driver)

  test('get the board of their oldest attachment, and keep their visibility unless their owner has left', async () => {
    expect(await filesOf(await storage.openMigrated())).toEqual(expectedFiles)
    const deps = { ...storage.handle!, clock: () => Date.parse(known.now), random: systemRandom }
    expect((await findDamage(deps)).findings).toEqual([])
  })

  test('are accessible as the contract says', async () => {
    const send = senderOf(await storage.openMigrated())
    const [first] = known.cards
    const { body } = await send('olivia', 'GET', `/cards/${first}/attachments`)
    const attachments: Record<string, any> = Object.fromEntries(body.data.map((each: any) => [each.name, each]))
    expect(Object.values(attachments).map(({ name, visibility }) => `${name}: ${visibility}`)).toEqual([
      'private.png: private',
      'on both.txt: workspace',
      'private of Leo.txt: board',
      'shared by Leo.txt: workspace',
    ])
    const read = async (person: 'olivia' | 'mira' | 'ben', name: string) =>
      (await send(person, 'GET', `/files/${known.files[name]}`)).status
    expect([await read('mira', 'private.png'), await read('olivia', 'private.png')]).toEqual([200, 404])
    expect([await read('ben', 'detached.txt'), await read('mira', 'detached.txt')]).toEqual([200, 404])
    expect(await read('ben', 'private of Leo.txt')).toBe(200)
    const detach = async (name: string) => (await send('olivia', 'DELETE', `/attachments/${attachments[name].id}`)).status
    expect([await detach('private.png'), await detach('private of Leo.txt')]).toEqual([403, 200])
  })

  test('get the same when the migration is interrupted before any of its commits, and repeated', async () => {
    let commits = 0
    for (let limit = 0, done = false; !done; limit++) {
      if (limit > 0) {
        await storage.remove()
        await storage.create()
      }
      const { store } = await storage.open({ allowOutdated: true })
      commits = 0
      const beforeCommit = async () => {
        if (commits++ === limit) throw new Error('interrupted')
      }
      done = await migrateStore({ store, random: systemRandom, beforeCommit }).then(
        () => true,
        () => false,
      )
      await storage.close()
      expect(await filesOf(await storage.openMigrated())).toEqual(expectedFiles)
      await storage.close()
    }
    expect(commits).toBeGreaterThan(3)
  })
})
