import { afterEach, describe, expect, test, vi } from 'vitest'
import { LogUnavailable, type DecisionLog } from '../../src/decision-log/log.ts'
import type { Disk } from '../../src/store/fs/disk.ts'
import { FOLDER, linesOf, logDisk, openLog, PATH, verify } from '../support/decision-log.ts'
import { diskError, recordDisk } from '../support/recording-disk.ts'

afterEach(() => void vi.useRealTimers())

const kindsOf = (lines: readonly any[]) => lines.map(({ kind }) => kind)
/** All files of the log, in the order of their names: those that were rotated have times. */
async function filesOf(disk: Disk): Promise<Buffer[]> {
  const names = (await disk.list(FOLDER)).map((name) => `${FOLDER}/${name}`).filter((name) => name !== PATH)
  return (await Promise.all([...names, PATH].map((name) => disk.read(name)))).filter((bytes) => bytes !== undefined)
}
const isWritten = (log: DecisionLog, body: string) =>
  log.write(body).then(
    () => true,
    (error: unknown) => {
      if (error instanceof LogUnavailable) return false
      throw error
    },
  )

describe('lines', () => {
  test('that come together are written together', async () => {
    const disk = recordDisk(await logDisk())
    const log = await openLog(disk, { sync: 'always' })
    const before = disk.operations.length
    await Promise.all(Array.from({ length: 20 }, (_, i) => log.write(`"kind":"k${i}"`)))
    expect(disk.operations.slice(before)).toEqual([`write ${PATH}`, `sync ${PATH}`])
    expect(kindsOf(await linesOf(disk)).slice(1)).toEqual(Array.from({ length: 20 }, (_, i) => `k${i}`))
  })

  test('are synced before their request goes on, with always only', async () => {
    for (const sync of ['always', 'interval', 'never'] as const) {
      const disk = recordDisk(await logDisk())
      const log = await openLog(disk, { sync })
      const synced = () => disk.operations.filter((operation) => operation === `sync ${PATH}`).length
      const before = synced()
      await log.write('"kind":"a"')
      expect([sync, synced() - before]).toEqual([sync, sync === 'always' ? 1 : 0])
      await log.close()
      expect([sync, synced() - before > 0]).toEqual([sync, sync !== 'never'])
    }
  })

  test('that no request waits for are written and synced soon', async () => {
    vi.useFakeTimers()
    const disk = recordDisk(await logDisk())
    const log = await openLog(disk, { sync: 'interval' })
    log.append('"kind":"a"')
    expect(kindsOf(await linesOf(disk))).toEqual(['start'])
    await vi.advanceTimersByTimeAsync(100)
    expect(kindsOf(await linesOf(disk))).toEqual(['start', 'a'])
    await vi.advanceTimersByTimeAsync(1000)
    expect(disk.operations.slice(-1)).toEqual([`sync ${PATH}`])
  })

  test('are written before those that come later, also if no request waits for them', async () => {
    const disk = await logDisk()
    const log = await openLog(disk)
    log.append('"kind":"a"')
    await log.write('"kind":"b"')
    log.append('"kind":"c"')
    await log.close()
    expect(kindsOf(await linesOf(disk))).toEqual(['start', 'a', 'b', 'c'])
  })
})

describe('a new file', () => {
  test('is begun when one is full, and goes on with the chain', async () => {
    const disk = await logDisk()
    let time = Date.parse('2026-11-20T12:00:00.000Z')
    const log = await openLog(disk, { maxBytes: 1000, clock: () => time++ })
    for (let i = 0; i < 20; i++) await log.write(`"kind":"k${i}","text":"${'x'.repeat(100)}"`)
    const files = await filesOf(disk)
    expect(files.length).toBeGreaterThan(3)
    expect(await verify(files)).toMatchObject({ findings: 0, lines: 20 + files.length, begins_after: null })
    for (const file of files.slice(1)) expect(JSON.parse(file.toString().split('\n')[0]!)).toMatchObject({ kind: 'continue', policy: 'p' })
    expect((await verify(files.toSpliced(1, 1))).findings).toBe(1)
    expect(await disk.list(FOLDER)).toContain('decisions.jsonl.20261120T120000.002Z')
  })

  test('has another name, when two are full at the same time', async () => {
    const disk = await logDisk()
    const log = await openLog(disk, { maxBytes: 1 })
    for (let i = 0; i < 3; i++) await log.write(`"kind":"k${i}"`)
    expect(await disk.list(FOLDER)).toHaveLength(4)
  })

  test.each(['renamed', 'removed'])('is begun within a second when the file was %s by another program', async (how) => {
    const disk = await logDisk()
    let now = 0
    const log = await openLog(disk, { now: () => now })
    await log.write('"kind":"a"')
    const first = (await disk.read(PATH))!
    await (how === 'renamed' ? disk.rename(PATH, `${PATH}.1`) : disk.remove(PATH))
    now += 1000
    await log.write('"kind":"b"')
    expect(kindsOf(await linesOf(disk))).toEqual(['continue', 'b'])
    expect((await verify([first, (await disk.read(PATH))!])).findings).toBe(0)
  })

  test('is not begun while the full one cannot be renamed: the log goes on in it', async () => {
    const real = await logDisk()
    let isRefused = true
    const failures: unknown[] = []
    const disk = recordDisk(real, (operation) => {
      if (isRefused && operation.startsWith('rename')) throw diskError('EACCES')
    })
    let now = 0
    const log = await openLog(disk, { maxBytes: 1, now: () => now, onFailedRotation: (error) => failures.push(error) })
    await log.write('"kind":"a"')
    await log.write('"kind":"b"')
    expect([failures.length, kindsOf(await linesOf(disk))]).toEqual([1, ['start', 'a', 'b']])
    isRefused = false
    now += 1000
    await log.write('"kind":"c"')
    expect(kindsOf(await linesOf(disk))).toEqual(['continue', 'c'])
  })

  test('that belongs to another process is not written to', async () => {
    const disk = await logDisk()
    let now = 0
    const log = await openLog(disk, { now: () => now })
    await disk.rename(PATH, `${PATH}.1`)
    await openLog(disk)
    now += 1000
    expect(await isWritten(log, '"kind":"a"')).toBe(false)
    expect(kindsOf(await linesOf(disk))).toEqual(['start'])
  })
})

describe('a log that cannot be written', () => {
  /** A disk that is full whenever it is set so. */
  const fullDisk = async () => {
    const real = await logDisk()
    const state = { isFull: false }
    const disk = recordDisk(real, (operation) => {
      if (state.isFull && operation.startsWith('write')) throw diskError('ENOSPC')
    })
    return { disk, state }
  }

  test('refuses with `fail`, states how many requests it has refused, and keeps what was answered before', async () => {
    const { disk, state } = await fullDisk()
    const states: (string | undefined)[] = []
    const log = await openLog(disk, { onState: (failure) => states.push(failure?.message) })
    expect(log.ready()).toBeUndefined()
    state.isFull = true
    log.append('"kind":"answered"')
    expect(await isWritten(log, '"kind":"waiting"')).toBe(false)
    await expect(log.ready()).rejects.toThrow('the decision log cannot be written')
    log.refuse()
    await expect(log.ready()).rejects.toThrow(LogUnavailable)
    log.refuse()
    state.isFull = false
    await log.ready()
    expect(log.ready()).toBeUndefined()
    await log.write('"kind":"later"')
    expect(await linesOf(disk)).toMatchObject([{ kind: 'start' }, { kind: 'refused', count: 2 }, { kind: 'answered' }, { kind: 'later' }])
    expect(states).toEqual(['ENOSPC: injected', undefined])
    expect(log.counts).toEqual({ written: 2, dropped: 0, refused: 2 })
    expect((await verify([(await disk.read(PATH))!])).findings).toBe(0)
  })

  test('drops with `drop`, and states how many records are missing', async () => {
    const { disk, state } = await fullDisk()
    const log = await openLog(disk, { onFull: 'drop' })
    state.isFull = true
    log.append('"kind":"a"')
    expect(await isWritten(log, '"kind":"b"')).toBe(true)
    expect(log.ready()).toBeUndefined()
    state.isFull = false
    await log.write('"kind":"c"')
    expect(await linesOf(disk)).toMatchObject([{ kind: 'start' }, { kind: 'dropped', count: 2 }, { kind: 'c' }])
    expect(log.counts).toMatchObject({ dropped: 2, refused: 0 })
  })

  test.each(['fail', 'drop'] as const)('keeps no more lines in memory than its limit, with `%s`', async (onFull) => {
    const real = await logDisk()
    let release = (): void => undefined
    let isSlow = false
    const disk = recordDisk(real, (operation) =>
      isSlow && operation.startsWith('write') ? new Promise<void>((resolve) => (release = resolve)) : undefined,
    )
    const log = await openLog(disk, { onFull, queueBytes: 1000 })
    isSlow = true
    const first = log.write('"kind":"first"')
    await expect.poll(() => disk.inProgress.size).toBe(1)
    for (let i = 0; i < 100; i++) log.append(`"kind":"k","text":"${'x'.repeat(100)}"`)
    const ready = log.ready()
    isSlow = false
    release()
    await first
    if (onFull === 'drop') {
      expect([ready, log.counts.dropped > 80]).toEqual([undefined, true])
    } else await ready
    await log.flush()
    expect(await linesOf(disk)).toHaveLength(onFull === 'drop' ? 3 + 100 - log.counts.dropped : 102)
  })

  test.each([
    ['always', 'sync'],
    ['interval', 'sync'],
  ] as const)('is not written until a restart after a failed sync, with `%s`', async (sync, failing) => {
    const real = await logDisk()
    let fails = false
    const disk = recordDisk(real, (operation) => {
      if (fails && operation.startsWith(failing)) throw diskError('EIO')
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const log = await openLog(disk, { sync })
    fails = true
    expect(await isWritten(log, '"kind":"a"')).toBe(sync === 'interval')
    await vi.advanceTimersByTimeAsync(1000)
    fails = false
    await expect(log.ready()).rejects.toThrow(LogUnavailable)
    expect(await isWritten(log, '"kind":"b"')).toBe(false)
    expect(kindsOf(await linesOf(disk))).toEqual(['start', 'a'])
  })

  test('does not begin', async () => {
    const disk = recordDisk(await logDisk(), (operation) => {
      if (operation.startsWith('write')) throw diskError('ENOSPC')
    })
    await expect(openLog(disk)).rejects.toThrow('ENOSPC')
  })
})

test('whatever fails on the disk, each line that was acknowledged is in the log, once, and the chain holds', async () => {
  const run = async (fault: object | undefined, seed: number) => {
    const disk = await logDisk(seed)
    const first = disk.operations
    let now = 0
    const options = { sync: 'always', maxBytes: 900, now: () => (now += 400) } as const
    const log = await openLog(disk, options)
    const begun = disk.operations
    if (fault !== undefined) disk.fault = { at: begun + 1, ...fault } as never
    const acknowledged: string[] = []
    const refused: string[] = []
    for (let i = 0; i < 8; i++) {
      const name = `k${i}`
      ;((await isWritten(log, `"kind":"${name}"`)) ? acknowledged : refused).push(name)
      await log.ready()?.catch(() => log.refuse())
    }
    const operations = disk.operations - first
    disk.fault = undefined
    const files = await filesOf(disk)
    return { acknowledged, refused, operations, files }
  }
  const { operations } = await run(undefined, 1)
  let refusals = 0
  for (let at = 1; at <= operations; at++)
    for (const kind of ['EIO', 'ENOSPC'])
      for (const effect of ['none', 'partial', 'full'])
        for (const permanent of [true, false]) {
          const { acknowledged, refused, files } = await run({ at: 0, kind, effect, permanent }, at)
          const written = files.flatMap((file) => [...file.toString().matchAll(/"kind":"(k\d)"/g)].map(([, name]) => name!))
          const lost = acknowledged.filter((name) => written.filter((other) => other === name).length !== 1)
          const { findings } = await verify(files)
          expect([at, kind, effect, permanent, lost, findings]).toEqual([at, kind, effect, permanent, [], 0])
          refusals += refused.length
        }
  expect(refusals).toBeGreaterThan(0)
})
