import { readFile, writeFile } from 'node:fs/promises'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../src/admin/migrate.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { systemClock } from '../../src/model/time.ts'
import { openStorage, type StorageHandle } from '../../src/store/open.ts'
import { createRedisDriver } from '../../src/store/redis/client.ts'
import { driversOf } from '../support/driver-selection.ts'
import { findDamage } from '../support/findings.ts'
import { known, root } from '../support/format-1.ts'
import { copyFolder, loadRedis } from '../support/old-format.ts'
import { quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { CommandHost, startProcess } from '../support/process.ts'

const { Acme, Globex } = known.workspaces
const namesOf = (findings: readonly { kind: string; subject: string }[]) =>
  findings.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()
const depsOf = ({ store, blobs }: StorageHandle) => ({ store, blobs, clock: systemClock, random: systemRandom })
const io = { progress: () => undefined, write: async () => undefined, lines: (async function* () {})() }

describe.runIf(driversOf('service').includes('redis'))('a check of Redis', () => {
  let server: RedisServer
  let storage: StorageHandle
  let client: Redis
  const key = (name: string) => `lk:{${Acme}}:${name}`
  /** The key of a record of a kind. */
  const recordOf = async (kind: string) => (await client.zrange(key('k'), 0, -1)).find((name) => name.startsWith(`${kind}:`))!
  const check = (options = {}) => findDamage(depsOf(storage), options)
  beforeEach(async () => {
    server = await startRedis()
    await loadRedis(root, server.url)
    const outdated = await openStorage(server.url, { log: quiet, allowOutdated: true })
    await migrate(depsOf(outdated), io)
    await outdated.close()
    storage = await openStorage(server.url, { log: quiet })
    client = createRedisDriver(server.url).getInstance() as Redis
    await client.connect()
    // The fixture has an interrupted import, whose rest is no damage.
    expect(namesOf((await check()).findings)).toEqual(['import_unfinished importing:self'])
  })
  afterEach(async () => {
    client.disconnect()
    await storage.close()
    await server.stop()
  })
  const damageOf = async (options = {}) => namesOf((await check(options)).findings.filter(({ kind }) => kind !== 'import_unfinished'))

  test('names a record that Redis has evicted, and removes it from the list with `reindex`', async () => {
    const label = await recordOf('comment')
    await client.del(key(`r:${label}`))
    const [lost, ...others] = (await damageOf()).toSorted().toReversed()
    expect([lost, others.every((name) => name.startsWith('index_entry_stray comments:'))]).toEqual([`record_lost ${label}`, true])
    expect(others).toHaveLength(1)
    expect((await check({ reindex: true })).summary).toMatchObject({ damage: 1, repaired: 1 })
    expect(await damageOf()).toEqual([])
  })

  test('names records whose list Redis has evicted, and lists them again with `reindex`', async () => {
    const listed = await client.zrange(key('k'), 0, -1)
    await client.del(key('k'))
    const found = await damageOf()
    expect(found.filter((name) => name.startsWith('record_unlisted'))).toEqual(listed.map((name) => `record_unlisted ${name}`).toSorted())
    await check({ reindex: true })
    expect(await client.zrange(key('k'), 0, -1)).toEqual(listed)
    expect(await damageOf()).toEqual([])
  })

  test('names indexes whose list Redis has evicted, and lists them again with `reindex`', async () => {
    const listed = (await client.hkeys(key('v'))).toSorted()
    await client.del(key('v'))
    expect(await damageOf()).toEqual(listed.map((name) => `index_unlisted ${name}`).toSorted())
    await check({ reindex: true })
    expect((await client.hkeys(key('v'))).toSorted()).toEqual(listed)
    expect(await damageOf()).toEqual([])
  })

  test('names the entries of an index that Redis has evicted, and rebuilds it with `reindex`', async () => {
    const name = (await client.hkeys(key('v'))).find((index) => index.startsWith('active_cards:'))!
    const entries = await client.zrange(key(`i:${name}`), 0, -1)
    await client.del(key(`i:${name}`))
    expect(await damageOf()).toEqual(entries.map((entry) => `index_entry_missing ${name} ${entry}`))
    await check({ reindex: true })
    expect(await client.zrange(key(`i:${name}`), 0, -1)).toEqual(entries)
  })
})

describe.runIf(driversOf('service').includes('fs'))('a check of a folder', () => {
  let folder: { path: string; remove(): Promise<void> }
  const flipBit = async (name: string) => {
    const bytes = await readFile(`${folder.path}/${name}`)
    bytes[bytes.byteLength >> 1]! ^= 1
    await writeFile(`${folder.path}/${name}`, bytes)
  }
  beforeEach(async () => {
    folder = await copyFolder(root)
    await (await openStorage(`fs:${folder.path}`, { log: quiet })).close()
  })
  afterEach(() => folder.remove())

  test('names a checkpoint that the disk has damaged, before it is used and after', async () => {
    for (const loadBefore of [false, true]) {
      const storage = await openStorage(`fs:${folder.path}`, { log: quiet })
      if (loadBefore) expect((await findDamage(depsOf(storage))).summary.damage).toBe(0)
      await flipBit(`records/${Acme}`)
      const { findings } = await findDamage(depsOf(storage))
      const messages = findings.filter(({ kind }) => kind === 'partition_damaged').map(({ partition, message }) => [partition, message])
      expect(messages).toEqual([[Acme, `${folder.path}/records/${Acme} is damaged: its checksum does not match`]])
      await storage.close()
      await flipBit(`records/${Acme}`)
    }
  })

  test('reports damage on the command line, with the exit code 6, also through the running service', async () => {
    const env = { LANEKEEPER_STORAGE: `fs:${folder.path}`, LANEKEEPER_LOG: 'silent' }
    const host = new CommandHost(env)
    const clean = await host.run(['check'])
    expect([clean.code, clean.stdout.split('\n')[0]]).toEqual([
      0,
      expect.stringMatching(/^import_unfinished wsp_0{19}1 importing:self: an import of this workspace has begun/),
    ])
    await flipBit('bytes/blb_xcs89szj3s49zym04an5/0').catch(() => undefined)
    await flipBit(`records/${Globex}`)
    const service = startProcess(['--json'], env)
    await service.until('\n')
    for (const args of [['check'], ['check', '--quick']]) {
      const { code, stdout, stderr } = await host.run([...args, '--json'])
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect([code, stderr.trimEnd().split('\n').at(-1)]).toEqual([
        6,
        expect.stringMatching(`^damage was found: ${lines.at(-1).damage} findings?$`),
      ])
      expect(lines.slice(0, -1).filter(({ partition, kind }) => partition === Globex && kind === 'partition_damaged')).toHaveLength(1)
      expect(lines.at(-1)).toMatchObject({ partitions: 4, notices: 1 })
    }
    await service.stop()
    const { code, stdout } = await host.run(['check', '--reindex'])
    host.stop()
    expect([code, stdout]).toEqual([
      6,
      expect.stringContaining(`partition_damaged ${Globex} ${Globex}: ${folder.path}/records/${Globex} is damaged`),
    ])
  })
})

describe.runIf(driversOf('service').includes('redis'))('the command `migrate`', () => {
  test('migrates a Redis, on which neither a service nor another command starts before', async () => {
    const server = await startRedis()
    await loadRedis(root, server.url)
    const env = { LANEKEEPER_STORAGE: server.url }
    const host = new CommandHost(env)
    const refusal =
      'this Redis holds records of version 0, and this version of Lanekeeper needs version 4: end all services that use it, and run "lanekeeper migrate"\n'
    for (const args of [['serve'], ['workspace', 'list'], ['check']])
      expect(await host.run(args)).toEqual({ code: 4, stdout: '', stderr: refusal })
    const { code, stdout } = await host.run(['migrate', '--json'])
    expect([code, JSON.parse(stdout)]).toEqual([0, { from: 0, to: 4, partitions: 4, records: 23, damaged: [] }])
    const again = await host.run(['migrate', '--json'])
    expect([again.code, JSON.parse(again.stdout)]).toEqual([0, { from: 4, to: 4, partitions: 0, records: 0, damaged: [] }])
    const listed = await host.run(['workspace', 'list', '--json'])
    host.stop()
    expect(JSON.parse(listed.stdout).map(({ name }: { name: string }) => name)).toEqual(['Acme', 'Globex'])
    // The code before it refuses the storage now, because of its format.
    const client = createRedisDriver(server.url).getInstance() as Redis
    await client.connect()
    expect(await client.get('lk:format')).toBe('2')
    client.disconnect()
    await server.stop()
  })
})
