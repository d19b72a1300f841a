import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { LogEnd } from '../../src/decision-log/line.ts'
import { DecisionLog, LogUnavailable, type LogOptions } from '../../src/decision-log/log.ts'
import type { Sink } from '../../src/decision-log/sink.ts'
import type { Disk } from '../../src/store/fs/disk.ts'
import { FOLDER, isChain, linesOf, logDisk, openLog, PATH, verify } from '../support/decision-log.ts'
import { diskError, recordDisk } from '../support/recording-disk.ts'

afterEach(() => void vi.useRealTimers())

const NOW = '2026-11-20T12:00:00.000Z'
/** All files of the log, in the order of their names: those that were rotated have times. */
async function filesOf(disk: Disk): Promise<Buffer[]> {
  const names = (await disk.list(FOLDER)).map((name) => `${FOLDER}/${name}`).filter((name) => name !== PATH)
  return (await Promise.all([...names, PATH].map((name) => disk.read(name)))).filter((bytes) => bytes !== undefined)
}
const kindsOf = (lines: readonly any[]) => lines.map(({ kind }) => kind)
const isWritten = (log: DecisionLog, body: string) =>
  log.write(body).then(
    () => true,
    (error: unknown) => {
      if (error instanceof LogUnavailable) return false
      throw error
    },
  )

interface SinkOptions {
  readonly end?: LogEnd
  /** whether lines can be written at once */
  readonly atOnce?: boolean
}

/** A sink in memory, whose calls can wait or fail. */
class MemorySink implements Sink {
  readonly end: LogEnd
  readonly calls: string[] = []
  text = ''
  isNew = false
  before: (call: string) => unknown = () => undefined
  readonly #atOnce: boolean

  constructor({ end = { head: null, next: 0, torn: undefined, isOpen: false }, atOnce = false }: SinkOptions) {
    this.end = end
    this.#atOnce = atOnce
  }

  prepare = async () => (await this.#step('prepare'), this.isNew)
  write = async (bytes: Buffer) => (await this.#step('write'), void (this.text += bytes))
  sync = () => this.#step('sync')
  close = () => this.#step('close')
  writeNow(bytes: Buffer): boolean {
    if (!this.#atOnce) return false
    this.calls.push('writeNow')
    this.before('writeNow')
    this.text += bytes
    return true
  }

  async #step(call: string): Promise<void> {
    this.calls.push(call)
    await this.before(call)
  }

  get lines(): any[] {
    return this.text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  }

  /** Without the first line. */
  get kinds(): string[] {
    return kindsOf(this.lines.slice(1))
  }

  fail(call: string, error = new Error('full')): void {
    this.before = (one) => {
      if (one === call) throw error
    }
  }

  /** Makes a call wait. @returns a function that ends this */
  hold(call: string): () => void {
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    this.before = (one) => (one === call ? held : undefined)
    return () => ((this.before = () => undefined), release())
  }
}

async function setUp(options: Partial<LogOptions> & SinkOptions = {}) {
  const sink = new MemorySink(options)
  const states: (string | undefined)[] = []
  const onState = (failure: Error | undefined) => void states.push(failure?.message)
  const log = await DecisionLog.open(sink, {
    sync: 'never',
    onFull: 'fail',
    policy: 'p',
    clock: () => Date.parse(NOW),
    onState,
    ...options,
  })
  sink.calls.length = 0
  return { sink, log, states }
}

describe('lines', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))

  test('begin with one that names the chain, in each new file', async () => {
    const { sink, log } = await setUp()
    const chain = { chain: expect.stringMatching(/^[0-9a-f]{16}$/), pid: process.pid, started: NOW, policy: 'p' }
    const hash = expect.any(String)
    expect({ lines: sink.lines, counts: log.counts, head: log.head }).toEqual({
      lines: [{ prev: null, n: 0, kind: 'start', ...chain, hash }],
      counts: { written: 0, dropped: 0, refused: 0 },
      head: sink.lines[0].hash,
    })
    sink.isNew = true
    expect(await log.write('"kind":"a"')).toMatchObject({ n: 2 })
    const [first, second, third] = sink.lines
    expect(sink.lines.slice(1)).toEqual([
      { prev: first.hash, n: 1, kind: 'continue', ...chain, chain: first.chain, hash },
      { prev: second.hash, n: 2, kind: 'a', hash },
    ])
    expect({ head: log.head, written: log.counts.written, isChain: isChain(sink.text), space: await log.space() }).toStrictEqual({
      head: third.hash,
      written: 1,
      isChain: true,
      space: undefined,
    })
  })

  test('go on after the end of a log, and state the remains of a crash', async () => {
    const torn = { bytes: 3, sha256: 'x' }
    const { sink, log } = await setUp({ end: { head: 'f'.repeat(64), next: 7, torn, isOpen: true } })
    await log.write('"kind":"a"')
    expect(sink.text.split('\n').map((line) => line.slice(0, 7))).toEqual(['', '{"prev"', '{"prev"', ''])
    expect(sink.lines).toMatchObject([
      { prev: 'f'.repeat(64), n: 7, kind: 'start', torn },
      { n: 8, kind: 'a' },
    ])
  })

  test('that come together are written together, and each has its number', async () => {
    const { sink, log } = await setUp({ sync: 'always' })
    log.append('"kind":"a"')
    const written = await Promise.all(['b', 'c'].map((kind) => log.write(`"kind":"${kind}"`)))
    expect({ numbers: written.map(({ n }) => n), kinds: sink.kinds, calls: sink.calls }).toEqual({
      numbers: [2, 3],
      kinds: ['a', 'b', 'c'],
      calls: ['prepare', 'write', 'sync'],
    })
  })

  test('are written in the same turn if nothing else is to be done, with those that wait', async () => {
    const { sink, log } = await setUp({ atOnce: true, queueBytes: 25 })
    const numbers: (number | undefined)[] = []
    for (const kind of ['b', 'd']) {
      log.append('"kind":"a"')
      void log.write(`"kind":"${kind}"`).then(({ n }) => numbers.push(n))
    }
    expect({ kinds: sink.kinds, ready: log.ready() }).toStrictEqual({ kinds: ['a', 'b', 'a', 'd'], ready: undefined })
    await vi.advanceTimersByTimeAsync(1000)
    expect({ numbers, calls: sink.calls, written: log.counts.written, isChain: isChain(sink.text) }).toEqual({
      numbers: [2, 4],
      calls: ['writeNow', 'writeNow'],
      written: 4,
      isChain: true,
    })
  })

  test('are not written in the same turn while others are, with those that were refused, or if they must be synced', async () => {
    const { sink, log } = await setUp({ atOnce: true })
    log.append('"kind":"a"')
    const release = sink.hold('write')
    const flushed = log.flush()
    await nextTurn()
    const written = log.write('"kind":"b"')
    release()
    await Promise.all([flushed, written])
    log.refuse()
    await log.write('"kind":"c"')
    const steps = ['prepare', 'write']
    expect({ kinds: sink.kinds, calls: sink.calls }).toEqual({ kinds: ['a', 'b', 'refused', 'c'], calls: [...steps, ...steps, ...steps] })
    const other = await setUp({ atOnce: true, sync: 'always' })
    await other.log.write('"kind":"a"')
    expect({ calls: other.sink.calls, isOtherSynced: other.log.isSynced, isSynced: log.isSynced }).toEqual({
      calls: [...steps, 'sync'],
      isOtherSynced: true,
      isSynced: false,
    })
  })

  test.each([
    ['always', false, [1, 1, 1, 2, 3]],
    ['interval', false, [0, 0, 1, 1, 2]],
    ['interval', true, [0, 0, 1, 1, 2]],
    ['never', false, [0, 0, 0, 0, 0]],
    ['never', true, [0, 0, 0, 0, 0]],
  ] as const)('are synced when %s says so (written at once: %s)', async (sync, atOnce, expected) => {
    const { sink, log } = await setUp({ sync, atOnce })
    // The hash of the first line.
    await vi.advanceTimersByTimeAsync(5000)
    sink.calls.length = 0
    const syncs: number[] = []
    const count = () => syncs.push(sink.calls.filter((call) => call === 'sync').length)
    await log.write('"kind":"a"')
    count()
    await vi.advanceTimersByTimeAsync(999)
    count()
    await vi.advanceTimersByTimeAsync(1)
    await vi.advanceTimersByTimeAsync(5000)
    count()
    await log.write('"kind":"b"')
    count()
    await log.close()
    count()
    const { length } = sink.calls
    await vi.advanceTimersByTimeAsync(5000)
    expect({ syncs, calls: sink.calls.length, lastCall: sink.calls.at(-1) }).toEqual({ syncs: expected, calls: length, lastCall: 'close' })
  })

  test('that were written while a sync became due are synced', async () => {
    const { sink, log } = await setUp({ sync: 'interval' })
    await log.write('"kind":"a"')
    const release = sink.hold('write')
    const written = log.write('"kind":"b"')
    await vi.advanceTimersByTimeAsync(1000)
    release()
    await written
    await nextTurn()
    expect(sink.calls).toEqual(['prepare', 'write', 'prepare', 'write', 'sync'])
  })

  test.each([
    ['after 100 ms', 65_525, [[], [], ['long', 'b']]],
    ['soon if they are long', 65_536, [['long'], ['long'], ['long', 'b']]],
  ])('that no request waits for are written %s', async (_when, length, expected) => {
    const { sink, log } = await setUp()
    const kinds: string[][] = []
    const note = async () => (await nextTurn(), kinds.push(sink.kinds))
    const start = '"kind":"long","text":""'
    log.append(start.replace('""', `"${'x'.repeat(length - start.length)}"`))
    await note()
    await vi.advanceTimersByTimeAsync(99)
    log.append('"kind":"b"')
    await note()
    await vi.advanceTimersByTimeAsync(length < 65_536 ? 1 : 100)
    await note()
    expect(kinds).toEqual(expected)
  })

  test('that come while others are written are written next, without a delay', async () => {
    const { sink, log } = await setUp()
    const release = sink.hold('write')
    const written = log.write('"kind":"a"')
    await nextTurn()
    log.append('"kind":"b"')
    release()
    await written
    await nextTurn()
    expect(sink.kinds).toEqual(['a', 'b'])
  })

  test('that come just before a flush has ended belong to it', async () => {
    const { sink, log } = await setUp()
    void log.write('"kind":"a"').then(() => log.append('"kind":"b"'))
    await log.flush()
    expect(sink.kinds).toEqual(['a', 'b'])
  })

  test.each(['fail', 'drop'] as const)(
    'of refusals that anyone can cause are ten of each source, and their number, with %s',
    async (onFull) => {
      const { sink, log } = await setUp({ onFull, queueBytes: 1 })
      const taken = Array.from({ length: 13 }, () => log.takesRefusal('"address":"x"'))
      expect(taken.filter(Boolean)).toHaveLength(10)
      await vi.advanceTimersByTimeAsync(1100)
      expect(sink.lines.slice(1)).toMatchObject([{ time: NOW, kind: 'left_out', address: 'x', count: 3 }])
      for (let i = 0; i < 13; i++) log.takesRefusal('"address":"x"')
      sink.fail('write')
      await log.close().catch(() => undefined)
      expect(log.counts).toMatchObject({ written: 1, dropped: onFull === 'drop' ? 3 : 0 })
    },
  )
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
    expect({ failures: failures.length, kinds: kindsOf(await linesOf(disk)) }).toEqual({ failures: 1, kinds: ['start', 'a', 'b'] })
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
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))

  test.each([false, true])(
    'refuses with `fail`, states how many it has refused, and keeps the records of answered requests (at once: %s)',
    async (atOnce) => {
      const { sink, log, states } = await setUp({ atOnce })
      expect(log.ready()).toBeUndefined()
      sink.fail(atOnce ? 'writeNow' : 'write')
      log.append('"kind":"answered"')
      const unavailable = new LogUnavailable('the decision log cannot be written', { cause: new Error('full') })
      await expect(log.write('"kind":"waiting"')).rejects.toEqual(unavailable)
      sink.fail('write')
      for (let i = 0; i < 2; i++) {
        await expect(log.ready()).rejects.toEqual(unavailable)
        log.refuse()
      }
      sink.before = () => undefined
      await log.ready()
      expect(log.ready()).toBeUndefined()
      await log.write('"kind":"later"')
      expect(sink.lines.slice(1)).toMatchObject([{ time: NOW, kind: 'refused', count: 2 }, { kind: 'answered' }, { kind: 'later' }])
      expect({ states, counts: log.counts, isChain: isChain(sink.text) }).toEqual({
        states: ['full', undefined],
        counts: { written: 2, dropped: 0, refused: 2 },
        isChain: true,
      })
    },
  )

  test.each([false, true])('drops with `drop`, and states how many records are missing (at once: %s)', async (atOnce) => {
    const { sink, log, states } = await setUp({ onFull: 'drop', atOnce })
    sink.fail(atOnce ? 'writeNow' : 'write')
    log.append('"kind":"a"')
    expect({ n: (await log.write('"kind":"b"')).n, ready: log.ready() }).toStrictEqual({ n: undefined, ready: undefined })
    sink.before = () => undefined
    await log.write('"kind":"c"')
    expect(sink.lines.slice(1)).toMatchObject([{ time: NOW, kind: 'dropped', count: 2 }, { kind: 'c' }])
    expect({ states, counts: log.counts }).toEqual({ states: ['full', undefined], counts: { written: 1, dropped: 2, refused: 0 } })
  })

  test('states a refusal once, also one that comes while those before it are written', async () => {
    const { sink, log } = await setUp()
    log.refuse()
    const release = sink.hold('write')
    const written = log.write('"kind":"a"')
    await nextTurn()
    log.refuse()
    release()
    await written
    await log.write('"kind":"b"')
    await log.write('"kind":"c"')
    expect({ kinds: sink.kinds, firstCount: sink.lines[1].count, secondCount: sink.lines[3].count }).toEqual({
      kinds: ['refused', 'a', 'refused', 'b', 'c'],
      firstCount: 1,
      secondCount: 1,
    })
  })

  test('tries again only when it is asked to, and has kept the records that no request waits for', async () => {
    const { sink, log } = await setUp()
    const release = sink.hold('prepare')
    const waiting = [isWritten(log, '"kind":"a"')]
    await nextTurn()
    waiting.push(isWritten(log, '"kind":"b"'))
    log.append('"kind":"c"')
    release()
    sink.fail('write')
    expect(await Promise.all(waiting)).toEqual([false, false])
    await nextTurn()
    await vi.advanceTimersByTimeAsync(1000)
    expect(sink.calls).toEqual(['prepare', 'write'])
    sink.before = () => undefined
    await log.ready()
    expect(sink.kinds).toEqual(['c'])
  })

  test('is examined without a line if none waits', async () => {
    const { sink, log, states } = await setUp()
    sink.fail('write')
    await isWritten(log, '"kind":"a"')
    sink.calls.length = 0
    await log.ready()
    expect({ calls: sink.calls, states }).toEqual({ calls: ['prepare'], states: ['full', undefined] })
  })

  test('recovers when a line was written, and is tried again at once when it keeps many lines', async () => {
    const { sink, log, states } = await setUp({ atOnce: true })
    sink.fail('writeNow')
    expect(await isWritten(log, '"kind":"a"')).toBe(false)
    sink.before = () => undefined
    expect(await isWritten(log, '"kind":"b"')).toBe(true)
    sink.fail('write')
    log.append(`"kind":"${'c'.repeat(65_520)}"`)
    await log.flush()
    sink.before = () => undefined
    log.append('"kind":"d"')
    await nextTurn()
    expect({ kinds: sink.kinds, states }).toEqual({ kinds: ['b', 'c'.repeat(65_520), 'd'], states: ['full', undefined, 'full', undefined] })
  })

  test.each([
    ['fail', ['first', '0', '1', '2', '3', '4', '5']],
    ['drop', ['first', 'dropped', '0', '1', '2', '3']],
  ] as const)('keeps no more lines in memory than its limit, with `%s`', async (onFull, expected) => {
    const { sink, log } = await setUp({ onFull, queueBytes: 40 })
    const release = sink.hold('write')
    const first = log.write('"kind":"first"')
    await nextTurn()
    const isReady: boolean[] = []
    for (let i = 0; i < 6; i++) {
      isReady.push(log.ready() === undefined)
      log.append(`"kind":"${i}"`)
    }
    expect(isReady).toEqual([true, true, true, true, onFull === 'drop', onFull === 'drop'])
    const ready = log.ready()
    release()
    await ready
    await first
    await log.flush()
    expect({ kinds: sink.kinds, dropped: log.counts.dropped, isChain: isChain(sink.text) }).toEqual({
      kinds: expected,
      dropped: onFull === 'drop' ? 2 : 0,
      isChain: true,
    })
  })

  test.each([
    [10, false],
    [11, true],
  ])('is not ready if its limit of %d bytes is reached again as soon as it has written', async (queueBytes, isReady) => {
    const { log } = await setUp({ queueBytes })
    void log.write('"kind":"long"').then(() => log.append('"kind":"b"'))
    const ready = log.ready()!.then(
      () => true,
      (error: unknown) => !(error instanceof LogUnavailable),
    )
    expect(await ready).toBe(isReady)
  })

  const syncFailed = Object.assign(new Error('lost'), { name: 'SyncFailed' })
  test.each(['always', 'interval'] as const)('is not written until a restart after a failed sync, with `%s`', async (sync) => {
    const { sink, log, states } = await setUp({ sync })
    sink.fail('sync', syncFailed)
    expect(await isWritten(log, '"kind":"a"')).toBe(sync === 'interval')
    await vi.advanceTimersByTimeAsync(1000)
    sink.before = () => undefined
    sink.calls.length = 0
    await expect(log.ready()).rejects.toThrow(LogUnavailable)
    expect(await isWritten(log, '"kind":"b"')).toBe(false)
    await log.close()
    expect({ kinds: sink.kinds, calls: sink.calls, states }).toEqual({ kinds: ['a'], calls: ['close'], states: ['lost'] })
  })

  test.each(['fail', 'drop'] as const)(
    'does not write a line twice that was written, and could not be synced, with `%s`',
    async (onFull) => {
      const { sink, log, states } = await setUp({ sync: 'always', onFull })
      sink.fail('sync')
      log.append('"kind":"a"')
      await log.flush()
      sink.before = () => undefined
      await log.write('"kind":"b"')
      expect({ kinds: sink.kinds, dropped: log.counts.dropped, states }).toEqual({
        kinds: ['a', 'b'],
        dropped: 0,
        states: ['full', undefined],
      })
    },
  )

  test('tries once more when it is closed, and tells how many lines are lost', async () => {
    const { sink, log } = await setUp()
    sink.before = (call) => {
      if (call === 'write' && sink.calls.length < 5) throw new Error('full')
    }
    for (const kind of ['a', 'b']) log.append(`"kind":"${kind}"`)
    await expect(log.close()).rejects.toEqual(new LogUnavailable('the last 2 lines of the decision log are lost'))
    expect(sink.calls).toEqual(['prepare', 'write', 'prepare', 'write', 'close'])
    sink.calls.length = 2
    await log.close()
    expect(sink.kinds).toEqual(['a', 'b'])
  })

  test('tells that its last sync has failed', async () => {
    const { sink, log, states } = await setUp({ sync: 'interval' })
    sink.fail('sync')
    await log.close()
    expect({ states, calls: sink.calls }).toEqual({ states: ['full'], calls: ['sync', 'close'] })
  })

  test('does not begin', async () => {
    const sink = new MemorySink({})
    sink.fail('write')
    await expect(DecisionLog.open(sink, { sync: 'never', onFull: 'fail', policy: 'p', clock: () => 0 })).rejects.toThrow('full')
    expect(sink.calls).toEqual(['prepare', 'write', 'close'])
  })
})

describe('whatever fails on the disk, each line that was acknowledged is in the log, once, and the chain holds', () => {
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
  test.each(['EIO', 'ENOSPC'].flatMap((kind) => ['none', 'partial', 'full'].map((effect) => [kind, effect])))(
    '%s, with the effect: %s',
    async (kind, effect) => {
      const { operations } = await run(undefined, 1)
      let refusals = 0
      for (let at = 1; at <= operations; at++)
        for (const permanent of [true, false]) {
          const { acknowledged, refused, files } = await run({ at: 0, kind, effect, permanent }, at)
          const written = files.flatMap((file) => [...file.toString().matchAll(/"kind":"(k\d)"/g)].map(([, name]) => name!))
          const lost = acknowledged.filter((name) => written.filter((other) => other === name).length !== 1)
          const { findings } = await verify(files)
          expect({ at, permanent, lost, findings }).toEqual({ at, permanent, lost: [], findings: 0 })
          refusals += refused.length
        }
      expect(refusals).toBeGreaterThan(0)
    },
  )
})
