import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { change } from '../support/changes.ts'
import { Commits, compare } from '../support/commits.ts'
import { blockOf } from '../support/documents.ts'
import { keysOf, openFolder } from '../support/folders.ts'
import { runScript } from '../support/process.ts'
import { canInstall, install, missingProgram } from '../support/programs.ts'
import { StoreProcess } from '../support/store-process.ts'
import { eachInFolder } from '../support/temporary-folder.ts'

let path: string
eachInFolder((created) => (path = created))
const hasProgram = () => spawnSync('sqlite3', ['--version']).status === 0

beforeAll(() => {
  if (hasProgram()) return
  if (!canInstall()) throw missingProgram('sqlite3')
  console.log('setup: sqlite3 is missing; needed by test/store/fs-sqlite3.test.ts. Installing the Debian package sqlite3.')
  install('sqlite3')
})

describe('beside a service that writes, sqlite3', () => {
  test('makes a backup, which has all changes before it, and finds no damage', async () => {
    const service = new StoreProcess(`${path}/data`)
    expect(await service.started).toBeUndefined()
    const commits = new Commits(1)
    for (let i = 0; i < 5; i++) await commits.round(service, ['p1', 'p2'])
    const before = commits.branch(1)
    let isDone = false
    const writing = (async () => {
      while (!isDone) await commits.round(service, ['p1', 'p2'])
    })()
    expect(await runScript(blockOf('src/store/README.md', '.backup copy.db'), path)).toMatchObject({ stdout: 'ok\n' })
    mkdirSync(`${path}/backup`)
    renameSync(`${path}/copy.db`, `${path}/backup/records.db`)
    isDone = true
    await writing
    const present = commits.branch(2)
    await service.kill()

    // What came after the backup may be there or not.
    const after = commits.attempts.slice(before.attempts.length).map((attempt) => ({ ...attempt, outcome: 'unknown' as const }))
    const store = await openFolder(`${path}/backup`)
    expect(await compare(store, new Commits(1, 'r', [...before.attempts, ...after]))).toEqual([])
    await store.close()
    const original = await openFolder(`${path}/data`)
    expect({ differences: await compare(original, present), violations: commits.violations }).toEqual({ differences: [], violations: [] })
    await original.close()
  })

  test('reads for long, and the service goes on with a longer log', async () => {
    const store = await openFolder(path, { checkpointAt: 1 })
    const reader = spawn('sqlite3', [`${path}/records.db`], { stdio: ['pipe', 'pipe', 'inherit'] })
    reader.stdin.write('BEGIN; SELECT count(*) FROM records;\n')
    await once(reader.stdout, 'data')
    for (let i = 0; i < 20; i++) await store.commit('p1', change({ put: { [`a:${i}`]: { text: 'x'.repeat(5000) } } }))
    const { checkpointFailures, logBytes } = await store.metrics()
    expect(checkpointFailures).toBeGreaterThan(0)
    expect(logBytes).toBeGreaterThan(50_000)
    reader.stdin.end()
    await once(reader, 'close')
    for (let i = 20; i < 60; i++) await store.commit('p1', change({ put: { [`a:${i}`]: { text: 'x'.repeat(5000) } } }))
    expect((await store.metrics()).logBytes).toBeLessThan(400_000)
    await store.close()
    const again = await openFolder(path)
    expect((await keysOf(again)).length).toBe(60)
    await again.close()
  })

  test('writes for long, and changes are refused meanwhile, but not for ever', async () => {
    const store = await openFolder(path)
    await store.commit('p1', change({ put: { 'a:1': {} } }))
    const writer = spawn('sqlite3', [`${path}/records.db`], { stdio: ['pipe', 'pipe', 'inherit'] })
    writer.stdin.write("BEGIN IMMEDIATE; SELECT 'begun';\n")
    await once(writer.stdout, 'data')
    await expect(store.commit('p1', change({ put: { 'a:2': {} } }))).rejects.toMatchObject({
      outcomeKnown: true,
      message: 'another program writes to records.db',
    })
    writer.stdin.end('ROLLBACK;\n')
    await once(writer, 'close')
    await store.commit('p1', change({ put: { 'a:2': {} } }))
    expect(await keysOf(store)).toEqual(['a:1', 'a:2'])
    await store.close()
  })
})

test('sqlite3 takes over the log of a killed process, and the next start misses nothing', async () => {
  const commits = new Commits(3)
  for (let i = 0; i < 3; i++) {
    const service = new StoreProcess(path)
    expect(await service.started).toBeUndefined()
    for (let round = 0; round < 4; round++) await commits.round(service, ['p1', 'p2'])
    await service.kill()
    execFileSync('sqlite3', [`${path}/records.db`, 'SELECT count(*) FROM records'])
    const store = await openFolder(path)
    expect(await compare(store, commits)).toEqual([])
    await store.close()
  }
})
