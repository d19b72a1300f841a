import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { realDisk } from '../../src/store/fs/disk.ts'
import { takeKernelLock, type KernelLock, lockFolder, type FolderInUse } from '../../src/store/fs/lock.ts'
import { openFsStore, type FsStore } from '../../src/store/fs/store.ts'
import type { StorageUnavailable } from '../../src/store/port.ts'
import { Commits, compare } from '../support/commits.ts'
import { errorOf } from '../support/error-of.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { quiet } from '../support/log.ts'
import { runCommandLine } from '../support/process.ts'
import { seededRandom } from '../support/random.ts'
import { keysOf, PATH, put, StoreFolder } from '../support/store-folder.ts'
import { eachInFolder } from '../support/temporary-folder.ts'
import { StoreProcess } from '../support/store-process.ts'

const LOST = 'the journal was removed or replaced; nothing is written until a restart'

describe('the owner of a folder', () => {
  let path: string
  eachInFolder((created) => (path = created))
  const removeSockets = async () => {
    for (const name of await readdir(`${path}/run`)) await rm(`${path}/run/${name}`)
  }

  test('no other process can use the folder when its socket was removed', async () => {
    const holder = new StoreProcess(path)
    expect(await holder.started).toBeUndefined()
    await removeSockets()
    const error = (await errorOf(lockFolder(path, () => undefined))) as FolderInUse
    expect([error.name, error.socket]).toEqual(['FolderInUse', undefined])
    expect(error.message).toBe(`${path} is in use by another process, whose socket in ${path}/run was removed; restart it`)
    const rival = new StoreProcess(path)
    expect((await rival.started)?.name).toBe('FolderInUse')
    const command = await runCommandLine(['workspace', 'list', '--storage', `fs:${path}`])
    expect([command.code, command.stderr]).toEqual([4, `${error.message}\n`])
    // The holder still works, and its end releases the folder.
    expect((await new Commits(1).commit(holder, 'p1')).outcome).toBe('done')
    await holder.kill()
    await (await lockFolder(path, () => undefined)).release()
  })

  test('in one process too', async () => {
    const lock = await lockFolder(path, () => undefined)
    await removeSockets()
    expect([await lock.isHeld(), (await errorOf(lockFolder(path, () => undefined))).name]).toEqual([true, 'FolderInUse'])
    await lock.release()
    await lock.release()
    await (await lockFolder(path, () => undefined)).release()
  })

  test('where the system has no such lock, a holder without its socket has lost the lock', async () => {
    const unsupported = async () => 'unsupported' as const
    const lock = await lockFolder(path, () => undefined, unsupported)
    expect(await lock.isHeld()).toBe(true)
    await removeSockets()
    expect(await lock.isHeld()).toBe(false)
    await lock.release()
  })

  describe('the lock of the operating system', () => {
    const take = async () => (await takeKernelLock(path)) as KernelLock
    test('it is held by one at a time, until it is released', async () => {
      const first = await take()
      expect(await takeKernelLock(path)).toBe('held')
      await first.release()
      const second = await take()
      await first.release()
      expect(await takeKernelLock(path)).toBe('held')
      await second.release()
    })

    test.runIf(process.platform === 'linux')('it is not supported without the program, or if the program fails otherwise', async () => {
      expect(await takeKernelLock(path, 'lanekeeper-no-such-program')).toBe('unsupported')
      await writeFile(`${path}/failing`, '#!/bin/sh\nexit 2\n', { mode: 0o700 })
      expect(await takeKernelLock(path, `${path}/failing`)).toBe('unsupported')
      expect(await takeKernelLock(`${path}/absent`)).toBe('unsupported')
      await (await take()).release()
    })
  })

  test('a file knows whether it is still at its path', async () => {
    const file = await realDisk.append(`${path}/a`)
    expect(await file.isAt(`${path}/a`)).toBe(true)
    await rename(`${path}/a`, `${path}/b`)
    expect([await file.isAt(`${path}/a`), await file.isAt(`${path}/b`), await file.isAt(`${path}/b/c`)]).toEqual([false, true, false])
    await writeFile(`${path}/a`, '')
    expect(await file.isAt(`${path}/a`)).toBe(false)
    await rm(`${path}/b`)
    expect(await file.isAt(`${path}/b`)).toBe(false)
    await file.close()
  })
})

describe('a journal that does not belong to the process any more', () => {
  let folder: StoreFolder
  let store: FsStore
  let isLocked: boolean
  beforeEach(async () => {
    folder = new StoreFolder()
    isLocked = true
    store = await openFsStore(PATH, { log: folder.log.log, disk: folder.recording, compactAt: Infinity, isLocked: async () => isLocked })
    await put(store, 'a:1')
    folder.recording.operations.length = 0
  })
  const journal = async () => `${PATH}/journal/${(await folder.journal())[0]!}`
  const lose: Readonly<Record<string, () => unknown>> = {
    'the file was removed': async () => folder.disk.remove(await journal()),
    'the file was replaced by a copy': async () => {
      const bytes = (await folder.disk.read(await journal()))!
      await (await folder.disk.create(`${PATH}/copy`)).write(bytes)
      await folder.disk.rename(`${PATH}/copy`, await journal())
    },
    'the lock was lost': () => (isLocked = false),
    'it cannot be looked for': () => folder.fail('isAt', 'EIO'),
  }

  test.each(Object.entries(lose))('nothing is written and acknowledged any more if %s', async (_what, change) => {
    await change()
    const error = (await errorOf(put(store, 'a:2'))) as StorageUnavailable
    expect([error.name, error.outcomeKnown, error.message]).toEqual(['StorageUnavailable', true, LOST])
    folder.repair()
    expect(await errorOf(store.ready())).toBe(error)
    expect(await errorOf(put(store, 'a:3'))).toBe(error)
    expect(await keysOf(store)).toEqual(['a:1'])
    await store.compact()
    await store.close()
    expect(folder.recording.operations.filter((one) => /^(write|create|rename|remove|append|truncate)/.test(one))).toEqual([])
  })

  test.each(Object.entries(lose))('the outcome is unknown if %s while a change is written', async (_what, change) => {
    folder.before = (operation) => (operation.startsWith('sync') ? change() : undefined)
    const error = (await errorOf(put(store, 'a:2'))) as StorageUnavailable
    expect([error.name, error.outcomeKnown, error.message]).toEqual(['StorageUnavailable', false, LOST])
    folder.repair()
    expect(await errorOf(put(store, 'a:3'))).toMatchObject({ outcomeKnown: true, message: LOST })
    expect(await keysOf(store)).toEqual(['a:1'])
  })

  test('a compaction in progress replaces and removes nothing of another owner', async () => {
    await put(store, 'a:1', 'p2')
    folder.before = (operation) => {
      if (operation.startsWith(`rename ${PATH}/records/.p1`)) isLocked = false
    }
    await store.compact()
    expect([await folder.checkpoints(), await folder.journal()]).toEqual([['p1'], ['0000000001.log', '0000000003.log']])
    await store.close()
    expect((await folder.disk.read(`${PATH}/manifest.json`))!.toString()).toContain('{"start":1,"sequence":0,')
  })

  test('if another process takes over at any moment, no acknowledged commit is lost', async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const random = seededRandom(seed)
      const disk = new FaultyDisk(seed)
      const open = (held: () => boolean) => openFsStore(PATH, { log: quiet, disk, compactAt: 3000, isLocked: async () => held() })
      let firstHolds = true
      const commits = new Commits(seed)
      const first = await open(() => firstHolds)
      let stopped = false
      const writing = (async () => {
        while (!stopped) await commits.round(first, ['p1', 'p2'])
      })()
      for (let turns = random(400); turns > 0; turns--) await undefined
      // The socket of the first is removed; then the second takes the lock and reads the folder.
      firstHolds = false
      const second = await open(() => true)
      const later = new Commits(seed, 'second', commits.attempts)
      stopped = true
      await writing
      await first.close()
      await later.round(second, ['p1', 'p2'])
      expect([seed, await compare(second, commits)]).toEqual([seed, []])
      await second.close()
      const next = await open(() => true)
      expect([seed, await compare(next, commits), commits.violations]).toEqual([seed, [], []])
      await next.close()
    }
  })
})
