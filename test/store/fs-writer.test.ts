import { beforeEach, describe, expect, test } from 'vitest'
import { readJournal, type Entry } from '../../src/store/fs/journal.ts'
import { JournalWriter } from '../../src/store/fs/writer.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { diskError, recordDisk, type RecordingDisk } from '../support/recording-disk.ts'

const FIRST = '0000000001.log'
const START = { last: undefined, sequence: 0, written: 0 }
const CLOSED = 'the store is closed'
const SYNC_FAILED = 'the disk failed to sync written data; nothing is written until a restart'
const entry = (number: number): Entry => ({
  partition: 'p1',
  revision: `r${number}`,
  put: new Map(),
  remove: new Set(),
  indexes: new Map(),
})

describe('the writer of the journal', () => {
  let disk: FaultyDisk
  let recording: RecordingDisk
  /** the errors of the next operations, by the beginning of their names */
  let faults: [operation: string, code: string][]
  /** the beginning of the name of slow operations */
  let slow: string | undefined
  beforeEach(async () => {
    disk = new FaultyDisk(1)
    await disk.makeFolder('/j')
    faults = []
    slow = undefined
    recording = recordDisk(disk, async (operation) => {
      if (slow !== undefined && operation.startsWith(slow)) await new Promise(setImmediate)
      const index = faults.findIndex(([failed]) => operation.startsWith(failed))
      if (index !== -1) throw diskError(faults.splice(index, 1)[0]![1])
    })
  })
  const open = (end: { last: string | undefined; sequence: number; written: number } = START) => JournalWriter.open(recording, '/j', end)
  const append = (writer: JournalWriter, number: number) => writer.append(entry(number), () => undefined)
  const errorOf = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.unreachable('it succeeded'),
      (error: unknown) => error as StorageUnavailable,
    )
  /** The revisions of the frames on the disk. */
  const revisions = async () => (await readJournal(disk, '/j')).frames.map(({ entries }) => entries.map(({ revision }) => revision).join())
  /** The operations since the last call. The checks whether the journal belongs to the process are in fs-owner.test.ts. */
  const operations = () => recording.operations.splice(0).filter((one) => !one.startsWith('isAt'))

  test('a frame counts as written as soon as all of its changes were reported, and not before', async () => {
    const writer = await open()
    await append(writer, 1)
    const reported: number[] = []
    // The first of them is alone in a frame, because nothing is written when it arrives.
    await Promise.all([2, 3, 4].map((number) => writer.append(entry(number), () => reported.push(writer.sequence))))
    expect([reported, writer.sequence]).toEqual([[1, 2, 2], 3])
    expect(await revisions()).toEqual(['r1', 'r2', 'r3,r4'])
  })

  test('it opens the last file, or the file of the next frame, and syncs its name', async () => {
    const writer = await open()
    expect([writer.current, writer.sequence, writer.written, writer.broken]).toEqual([FIRST, 0, 0, undefined])
    expect(operations()).toEqual([`append /j/${FIRST}`, 'syncFolder /j', `size /j/${FIRST}`])
    await writer.close()
    const next = await open({ last: FIRST, sequence: 7, written: 99 })
    expect([next.current, next.sequence, next.written]).toEqual([FIRST, 7, 99])
    expect((await open({ last: undefined, sequence: 7, written: 0 })).current).toBe('0000000008.log')
  })

  test('if the name of the file cannot be synced, opening fails and the file is closed', async () => {
    faults = [['syncFolder', 'EIO']]
    slow = 'close'
    expect(await errorOf(open())).toMatchObject({ name: 'SyncFailed' })
    expect([operations().at(-1), recording.inProgress.size]).toEqual([`close /j/${FIRST}`, 0])
  })

  test('a change is done when its frame is synced, and is called back before the promise resolves', async () => {
    const writer = await open()
    operations()
    const done: string[] = []
    const appended = writer.append(entry(1), () => done.push(`done after ${operations().join()}`)).then(() => done.push('resolved'))
    await appended
    expect(done).toEqual([`done after write /j/${FIRST},sync /j/${FIRST}`, 'resolved'])
    expect([writer.sequence, writer.written]).toEqual([1, (await disk.read(`/j/${FIRST}`))!.byteLength])
  })

  test('changes that arrive during a write share the next frame, at most 1000 of them', async () => {
    const writer = await open()
    const order: number[] = []
    const all = Array.from({ length: 2002 }, (_, i) => writer.append(entry(i), () => order.push(i)))
    await Promise.all(all)
    const sizes = (await readJournal(disk, '/j')).frames.map(({ entries }) => entries.length)
    expect(sizes).toEqual([1, 1000, 1000, 1])
    expect(order).toEqual(Array.from({ length: 2002 }, (_, i) => i))
    expect(writer.sequence).toBe(4)
  })

  test('flush() waits for what is queued, writes nothing, and resolves also if a change fails', async () => {
    const writer = await open()
    await writer.flush()
    expect(operations()).toHaveLength(3)
    const order: string[] = []
    const change = writer.append(entry(1), () => order.push('change'))
    await writer.flush().then(() => order.push('flush'))
    await change
    expect(order).toEqual(['change', 'flush'])
    faults = [['write', 'EIO']]
    const failing = errorOf(append(writer, 2))
    await writer.flush()
    expect((await failing).message).toBe('the journal could not be written')
  })

  test('a flush that shares a frame with a failing change resolves', async () => {
    const writer = await open()
    const first = append(writer, 1)
    faults = [['sync /j/', 'EIO']]
    const flushed = [writer.flush(), writer.flush()]
    const second = errorOf(append(writer, 2))
    await Promise.all([errorOf(first), second, ...flushed])
    expect(writer.broken?.message).toBe(SYNC_FAILED)
  })

  test('a change that cannot be encoded is refused, and later ones are written', async () => {
    const writer = await open()
    const unencodable = { ...entry(1), put: new Map([['a:1', { n: 1n }]]) }
    const error = await errorOf(writer.append(unencodable, () => expect.unreachable('it was done')))
    expect(error).toBeInstanceOf(StorageUnavailable)
    expect(error).toMatchObject({ message: 'the change could not be encoded', outcomeKnown: true, cause: expect.any(TypeError) })
    await append(writer, 2)
    expect(await revisions()).toEqual(['r2'])
  })

  describe('when a write fails', () => {
    test('the file is cut off at the last whole frame and synced, and writing goes on', async () => {
      const writer = await open()
      await append(writer, 1)
      const { byteLength } = (await disk.read(`/j/${FIRST}`))!
      operations()
      disk.fault = { at: disk.operations + 2, kind: 'ENOSPC', permanent: false, effect: 'partial' }
      const error = await errorOf(append(writer, 2))
      expect(error).toMatchObject({ message: 'the journal could not be written', outcomeKnown: true, cause: { code: 'ENOSPC' } })
      expect(operations()).toEqual([`write /j/${FIRST}`, `truncate /j/${FIRST} ${byteLength}`, `sync /j/${FIRST}`])
      expect([writer.sequence, writer.written, writer.broken]).toEqual([1, byteLength, undefined])
      await append(writer, 3)
      expect(await revisions()).toEqual(['r1', 'r3'])
    })

    test('the file of an earlier process is cut off at its own size', async () => {
      await append(await open(), 1)
      const { byteLength } = (await disk.read(`/j/${FIRST}`))!
      const writer = await open({ last: FIRST, sequence: 1, written: 5000 })
      faults = [['write', 'ENOSPC']]
      await errorOf(append(writer, 2))
      expect(operations()).toContain(`truncate /j/${FIRST} ${byteLength}`)
      await append(writer, 2)
      expect(await revisions()).toEqual(['r1', 'r2'])
    })

    test.each(['truncate', 'sync'])('if the %s fails too, the outcome is unknown and nothing is written any more', async (operation) => {
      const writer = await open()
      faults = [
        ['write', 'EIO'],
        [operation, 'EROFS'],
      ]
      expect(await errorOf(append(writer, 1))).toMatchObject({ message: SYNC_FAILED, outcomeKnown: false, cause: { code: 'EIO' } })
      expect(writer.broken).toMatchObject({ message: SYNC_FAILED, outcomeKnown: true })
      operations()
      expect(await errorOf(append(writer, 2))).toBe(writer.broken)
      expect(operations()).toEqual([])
    })
  })

  test('after a failed sync the outcome is unknown, and nothing is written any more', async () => {
    const writer = await open()
    faults = [['sync /j/', 'EIO']]
    const error = await errorOf(append(writer, 1))
    expect(error).toMatchObject({ message: SYNC_FAILED, outcomeKnown: false, cause: { name: 'SyncFailed' } })
    expect(writer.broken).toMatchObject({ message: SYNC_FAILED, outcomeKnown: true, cause: error.cause })
    expect([writer.sequence, writer.written]).toEqual([0, 0])
    operations()
    expect(await errorOf(append(writer, 2))).toBe(writer.broken)
    expect(await errorOf(writer.rotate())).toBe(writer.broken)
    expect(operations()).toEqual([])
  })

  test('the first reason to refuse writing remains', async () => {
    const writer = await open()
    const first = writer.fail(new Error('first'))
    expect(writer.fail(new Error('second'))).toBe(first)
    await writer.close()
    expect(writer.broken).toBe(first)
  })

  describe('rotate()', () => {
    test('it begins a new file between two frames, and returns the sequence before it', async () => {
      const writer = await open()
      slow = 'close'
      const [first, rotated, second] = [append(writer, 1), writer.rotate(), append(writer, 2)]
      expect(await rotated).toBe(1)
      expect(recording.inProgress.has(`close /j/${FIRST}`)).toBe(false)
      await Promise.all([first, second])
      expect([writer.current, writer.sequence]).toEqual(['0000000002.log', 2])
      expect(writer.written).toBe((await disk.read('/j/0000000002.log'))!.byteLength)
      expect(await disk.list('/j')).toEqual([FIRST, '0000000002.log'])
      expect(recording.operations.filter((one) => /append|close|syncFolder/.test(one)).slice(2)).toEqual([
        'append /j/0000000002.log',
        'syncFolder /j',
        `close /j/${FIRST}`,
      ])
    })

    test('a partly written frame in the new file is cut off at the size of the new file', async () => {
      const writer = await open()
      await append(writer, 1)
      await writer.rotate()
      faults = [['write', 'ENOSPC']]
      await errorOf(append(writer, 2))
      expect(recording.operations).toContain('truncate /j/0000000002.log 0')
    })

    test('an empty file is not replaced, and what was written before no longer counts', async () => {
      const writer = await open({ last: undefined, sequence: 3, written: 1000 })
      operations()
      expect(await writer.rotate()).toBe(3)
      expect([writer.current, writer.written, operations()]).toEqual(['0000000004.log', 0, []])
    })

    test('if the new file cannot be opened, writing goes on in the old one', async () => {
      const writer = await open()
      await append(writer, 1)
      const { written } = writer
      faults = [['append', 'ENOSPC']]
      expect(await errorOf(writer.rotate())).toMatchObject({ code: 'ENOSPC' })
      expect([writer.current, writer.written, writer.broken]).toEqual([FIRST, written, undefined])
      await append(writer, 2)
      expect(await revisions()).toEqual(['r1', 'r2'])
    })

    test('if the name of the new file cannot be synced, nothing is written any more, and the new file is closed', async () => {
      const writer = await open()
      await append(writer, 1)
      operations()
      faults = [['syncFolder', 'EIO']]
      slow = 'close'
      const error = await errorOf(writer.rotate())
      expect(recording.inProgress.size).toBe(0)
      expect(error).toMatchObject({ name: 'SyncFailed' })
      expect(writer.broken).toMatchObject({ message: SYNC_FAILED, cause: error })
      expect(operations()).toEqual(['append /j/0000000002.log', 'syncFolder /j', 'close /j/0000000002.log'])
      expect(writer.current).toBe(FIRST)
    })
  })

  test('close() waits for what is queued, refuses the rest, and closes the file last', async () => {
    const writer = await open()
    slow = 'close'
    const queued = [append(writer, 1), append(writer, 2)]
    await writer.close()
    await Promise.all(queued)
    const frame = [`write /j/${FIRST}`, `sync /j/${FIRST}`]
    expect([operations().slice(3), recording.inProgress.size]).toEqual([[...frame, ...frame, `close /j/${FIRST}`], 0])
    expect(await errorOf(append(writer, 3))).toMatchObject({ name: 'StorageUnavailable', message: CLOSED, outcomeKnown: true })
    expect(operations()).toEqual([])
  })

  test('a change that arrives while the writer closes is either written before the file is closed or refused', async () => {
    const writer = await open()
    const [first, closed] = [append(writer, 1), writer.close()]
    const late: Promise<unknown>[] = []
    for (let i = 0; i < 30; i++) {
      late.push(append(writer, 2 + i).catch((error: unknown) => error))
      await undefined
    }
    await Promise.all([first, closed])
    const refused = (await Promise.all(late)).filter((outcome) => outcome !== undefined)
    expect(refused.map((error) => (error as Error).message)).toEqual(refused.map(() => CLOSED))
    expect(operations().at(-1)).toBe(`close /j/${FIRST}`)
    expect((await revisions()).join().split(',')).toHaveLength(31 - refused.length)
  })
})
