import { readFile, writeFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FsStore } from '../../src/store/fs/store.ts'
import { readRequest } from '../support/changes.ts'
import { errorOf } from '../support/error-of.ts'
import { runCommandLine, startProcess } from '../support/process.ts'
import { eachInFolder } from '../support/temporary-folder.ts'
import { keysOf, PATH, put, StoreFolder } from '../support/store-folder.ts'

describe('a damaged partition', () => {
  let folder: StoreFolder
  let store: FsStore
  let intact: Buffer
  const checkpoint = `${PATH}/records/p1`
  const write = async (bytes: Uint8Array) => (await folder.disk.create(checkpoint)).write(bytes)
  const flipBit = (at: number) => (bytes: Buffer) => {
    const copy = Buffer.from(bytes)
    copy[at < 0 ? copy.byteLength + at : at]! ^= 1
    return copy
  }
  beforeEach(async () => {
    folder = new StoreFolder()
    store = await folder.open()
    for (const name of ['p1', 'p2']) await put(store, 'a:1', name)
    await store.compact()
    // The last change of the damaged partition is in the journal only.
    for (const name of ['p1', 'p2']) await put(store, 'a:2', name)
    await store.close()
    intact = (await folder.disk.read(checkpoint))!
    await write(flipBit(60)(intact))
    store = await folder.open()
    folder.recording.operations.length = 0
  })
  afterEach(() => store.close())

  test('it answers as unavailable, is logged once and named, and the others work', async () => {
    expect(store.damaged()).toEqual([])
    for (let i = 0; i < 3; i++) {
      expect(await errorOf(store.read('p1', readRequest({})))).toMatchObject({
        name: 'StorageUnavailable',
        outcomeKnown: true,
        cause: { name: 'StorageDamaged', message: `${checkpoint} is damaged: its checksum does not match` },
      })
      expect(await errorOf(put(store, 'a:3'))).toMatchObject({ name: 'StorageUnavailable', outcomeKnown: true })
      expect(await errorOf(keysOf(store))).toMatchObject({ name: 'StorageUnavailable' })
    }
    expect(folder.log.lines).toEqual([
      expect.objectContaining({ level: 50, partition: 'p1', err: expect.objectContaining({ type: 'StorageDamaged' }) }),
    ])
    expect(store.damaged()).toEqual(['p1'])
    await store.ready()
    expect([await put(store, 'a:3', 'p2'), await keysOf(store, 'p2')]).toEqual(['done', ['a:1', 'a:2', 'a:3']])
  })

  /** An intact checkpoint of another format, as a later version may write it. */
  const withNextFormat = (bytes: Buffer): Buffer => {
    const text = `${bytes.toString().replace('"format":1', '"format":2').split('\n').slice(0, -2).join('\n')}\n`
    return Buffer.from(`${text}{"crc":"${crc32(text).toString(16).padStart(8, '0')}"}\n`)
  }

  test.each([
    ['has a flipped bit', flipBit(40)],
    ['has a flipped bit in its checksum', flipBit(-5)],
    ['has no end', (bytes: Buffer) => bytes.subarray(0, -20)],
    ['is empty', () => Buffer.alloc(0)],
    ['has another format', withNextFormat],
  ])('it is unavailable if its checkpoint %s, which a compaction leaves as it is', async (_what, transform) => {
    await store.close()
    await write(transform(intact))
    store = await folder.open()
    const cause = { name: 'StorageDamaged', message: expect.stringContaining(`${checkpoint} `) }
    for (const attempt of [() => keysOf(store), () => put(store, 'a:3')])
      expect(await errorOf(attempt())).toMatchObject({ name: 'StorageUnavailable', outcomeKnown: true, cause })
    await store.compact()
    expect(await folder.disk.read(checkpoint)).toEqual(transform(intact))
    expect(await put(store, 'a:3', 'p2')).toBe('done')
  })

  test('its file is not read again at each use', async () => {
    for (let i = 0; i < 3; i++) await errorOf(keysOf(store))
    expect(folder.recording.operations.filter((one) => one === `readParts ${checkpoint}`)).toHaveLength(2)
  })

  test.each([
    ['damaged', () => undefined],
    ['unreadable', () => folder.fail(`readParts ${checkpoint}`, 'EIO')],
  ])('the journal is compacted for the others while one is %s, and keeps the changes of that one', async (_what, fail) => {
    fail()
    for (let i = 3; i < 6; i++) {
      await put(store, `a:${i}`, 'p2')
      await store.compact()
    }
    folder.repair()
    // The journal of the frames before is gone if it has no change of the damaged partition.
    expect((await folder.journal())[0]).toBe('0000000003.log')
    expect((await folder.disk.read(`${PATH}/records/p2`))!.toString()).toContain('"k":"a:5"')
    await store.close()
    // It is restored from a backup.
    await write(intact)
    store = await folder.open()
    expect([await keysOf(store), await keysOf(store, 'p2')]).toEqual([
      ['a:1', 'a:2'],
      ['a:1', 'a:2', 'a:3', 'a:4', 'a:5'],
    ])
    await store.compact()
    expect(await folder.journal()).toEqual(['0000000008.log'])
    await store.close()
    store = await folder.open()
    expect(await keysOf(store)).toEqual(['a:1', 'a:2'])
  })
})

describe('the service with a damaged workspace', () => {
  let path: string
  eachInFolder((created) => (path = created))

  test('it starts, and from the first use of the workspace on, /readyz and the log name it', async () => {
    const storage = ['--storage', `fs:${path}`]
    const ids: string[] = []
    for (const name of ['one', 'two']) {
      const { stdout } = await runCommandLine(['workspace', 'create', name, '--json', ...storage])
      ids.push((JSON.parse(stdout) as { id: string }).id)
    }
    // A checkpoint that is damaged.
    await writeFile(`${path}/records/${ids[0]!}`, 'x')
    const service = startProcess(['--json', ...storage])
    const { url, workspaces } = JSON.parse(await service.until('\n')) as { url: string; workspaces: { id: string }[] }
    const readiness = async () => {
      const response = await fetch(`${url}/readyz`)
      const { policy: _hash, ...state } = (await response.json()) as { policy: string }
      return [response.status, state]
    }
    expect(workspaces.map(({ id }) => id)).toEqual(ids.toSorted())
    expect(await readiness()).toEqual([200, { status: 'ready', storage: 'fs' }])
    const { stdout } = await runCommandLine(['workspace', 'list', '--json', ...storage])
    expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual([ids[1]])
    expect(await readiness()).toEqual([200, { status: 'ready', storage: 'fs', damaged: [ids[0]] }])
    expect(service.stderr()).toMatch(new RegExp(`"partition":"${ids[0]!}".*records could not be read`))
    expect(await service.stop()).toBe(0)
    expect(await readFile(`${path}/records/${ids[0]!}`, 'utf8')).toBe('x')
  })

  test('it does not start without the records of all workspaces, and says what is damaged and what to do', async () => {
    const storage = ['--storage', `fs:${path}`]
    await runCommandLine(['workspace', 'create', 'one', ...storage])
    await writeFile(`${path}/records/global`, 'x')
    const message = `${path}/records/global is damaged: its checksum does not match; restore the last backup, see "Damaged folders" in src/admin/README.md`
    for (const command of [['serve', '--port', '0'], ['check'], ['workspace', 'list']]) {
      const { code, stderr } = await runCommandLine([...command, ...storage])
      expect([command, code, stderr.trimEnd().split('\n').at(-1)]).toEqual([command, 4, message])
    }
  })
})
