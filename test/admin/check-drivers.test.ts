import { readdir, readFile, writeFile } from 'node:fs/promises'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { readWorld } from '../../src/demo/world.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { systemClock } from '../../src/model/time.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { openStorage, type StorageHandle } from '../../src/store/open.ts'
import { createRedisDriver } from '../../src/store/redis/client.ts'
import { keys } from '../../src/store/keys.ts'
import { transact } from '../../src/store/transact.ts'
import { driversOf } from '../support/driver-selection.ts'
import { findDamage } from '../support/findings.ts'
import { damageRecord } from '../support/folders.ts'
import { quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { cheapPasswords, engine } from '../support/service.ts'
import { CommandHost, startService } from '../support/process.ts'
import { newFolder } from '../support/run.ts'

/** A workspace whose import was interrupted: its rest is no damage. */
const INTERRUPTED = 'wsp_00000000000000000001'
const namesOf = (findings: readonly { kind: string; subject: string }[]) =>
  findings.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()
const depsOf = ({ store, blobs }: StorageHandle) => ({ store, blobs, clock: systemClock, random: systemRandom })
/** Writes the demo data, and what an interrupted import leaves. @returns the ids of its workspaces */
async function fill(storage: StorageHandle): Promise<{ Acme: string; Globex: string }> {
  const deps = { ...depsOf(storage), passwords: cheapPasswords }
  const app = createApp({ ...deps, log: quiet, engine, rateLimits: undefined })
  const { workspaces } = await seedDemo(deps, app.fetch, readWorld())
  await app.services.usage.settled()
  await transact(storage.store, INTERRUPTED, systemRandom, async (tx) => {
    tx.create(keys.importing(), { id: 'run', begun_at: '2026-11-20T12:00:00.000Z' })
  })
  return { Acme: workspaces[0]!.id, Globex: workspaces[1]!.id }
}

describe.runIf(driversOf('service').includes('redis'))('a check of Redis', () => {
  let server: RedisServer
  let storage: StorageHandle
  let client: Redis
  let Acme: string
  const key = (name: string) => `lk:{${Acme}}:${name}`
  /** The key of a record of a kind. */
  const recordOf = async (kind: string) => (await client.zrange(key('k'), 0, -1)).find((name) => name.startsWith(`${kind}:`))!
  /** As the command does, in a process that has read nothing before. */
  const check = async (options = {}) => {
    const own = await openStorage(server.url, { log: quiet, derived: createDerivations() })
    return findDamage(depsOf(own), options).finally(() => own.close())
  }
  beforeEach(async () => {
    server = await startRedis()
    storage = await openStorage(server.url, { log: quiet, derived: createDerivations() })
    Acme = (await fill(storage)).Acme
    client = createRedisDriver(server.url).getInstance() as Redis
    await client.connect()
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
    expect({ lost, areOthersStray: others.every((name) => name.startsWith('index_entry_stray comments:')) }).toEqual({
      lost: `record_lost ${label}`,
      areOthersStray: true,
    })
    expect(others).toHaveLength(1)
    expect((await check({ reindex: true })).summary).toMatchObject({ damage: 1, repaired: 1 })
    expect(await damageOf()).toEqual([])
  })

  test.each<[what: string, key: string, read: (key: string) => Promise<string[]>, kind: string]>([
    ['records', 'k', (name) => client.zrange(name, 0, -1), 'record_unlisted'],
    ['indexes', 'v', (name) => client.hkeys(name), 'index_unlisted'],
  ])('names %s whose list Redis has evicted, and lists them again with `reindex`', async (_what, name, read, kind) => {
    const listed = (await read(key(name))).toSorted()
    await client.del(key(name))
    const found = (await damageOf()).filter((one) => one.startsWith('record_unlisted') || kind === 'index_unlisted')
    expect(found).toEqual(listed.map((one) => `${kind} ${one}`))
    await check({ reindex: true })
    expect((await read(key(name))).toSorted()).toEqual(listed)
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
  let path: string
  let workspaces: { Acme: string; Globex: string }
  const flipBit = async (name: string) => {
    const bytes = await readFile(`${path}/${name}`)
    bytes[bytes.byteLength >> 1]! ^= 1
    await writeFile(`${path}/${name}`, bytes)
  }
  beforeEach(async () => {
    path = newFolder()
    const storage = await openStorage(`fs:${path}`, { log: quiet, derived: createDerivations() })
    workspaces = await fill(storage)
    await storage.close()
  })

  test('names a workspace that the disk has damaged, before it is used and after', async () => {
    const { Acme } = workspaces
    for (const loadBefore of [false, true]) {
      const storage = await openStorage(`fs:${path}`, { log: quiet, derived: createDerivations() })
      if (loadBefore) expect((await findDamage(depsOf(storage))).summary.damage).toBe(0)
      damageRecord(path, Acme)
      const { findings } = await findDamage(depsOf(storage))
      const messages = findings.filter(({ kind }) => kind === 'partition_damaged').map(({ partition, message }) => [partition, message])
      expect(messages).toEqual([[Acme, expect.stringMatching(`^${path}/records.db is damaged in the workspace ${Acme}: the record `)]])
      await storage.close()
      damageRecord(path, Acme)
    }
  })

  test('reports damage on the command line, with the exit code 6, also through the running service', async () => {
    const { Globex } = workspaces
    const env = { LANEKEEPER_STORAGE: `fs:${path}`, LANEKEEPER_LOG: 'silent' }
    const host = new CommandHost(env)
    const clean = await host.run(['check'])
    expect({ code: clean.code, firstLine: clean.stdout.split('\n')[0] }).toEqual({
      code: 0,
      firstLine: expect.stringMatching(/^import_unfinished wsp_0{19}1 importing:self: an import of this workspace has begun/),
    })
    const blob = (await readdir(`${path}/bytes`)).find((name) => name.startsWith('blb_'))
    await flipBit(`bytes/${blob}/0`)
    damageRecord(path, Globex)
    const service = await startService([], env)
    for (const args of [['check'], ['check', '--quick']]) {
      const { code, stdout, stderr } = await host.run([...args, '--json'])
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect({ code, lastLine: stderr.trimEnd().split('\n').at(-1) }).toEqual({
        code: 6,
        lastLine: expect.stringMatching(`^damage was found: ${lines.at(-1).damage} findings?$`),
      })
      expect(lines.slice(0, -1).filter(({ partition, kind }) => partition === Globex && kind === 'partition_damaged')).toHaveLength(1)
      expect(lines.at(-1)).toMatchObject({ partitions: 4, remarks: 1 })
    }
    await service.stop()
    const { code, stdout } = await host.run(['check', '--reindex'])
    expect({ code, stdout }).toEqual({
      code: 6,
      stdout: expect.stringContaining(`partition_damaged ${Globex} ${Globex}: ${path}/records.db is damaged in the workspace ${Globex}`),
    })
  })
})
