import { beforeEach, describe, expect, test } from 'vitest'
import { readJournal, type Entry } from '../../src/store/fs/journal.ts'
import { JournalWriter } from '../../src/store/fs/writer.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { errorOf } from '../support/error-of.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { diskError, recordDisk, type RecordingDisk } from '../support/recording-disk.ts'

const FIRST = '0000000001.log'
const CLOSED = 'the store is closed'
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
  const open = () => JournalWriter.open(recording, '/j', { last: undefined, sequence: 0, written: 0 })
  const append = (writer: JournalWriter, number: number) => writer.append(entry(number), () => undefined)
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

  test('a change that cannot be encoded is refused, and later ones are written', async () => {
    const writer = await open()
    const unencodable = { ...entry(1), put: new Map([['a:1', { n: 1n }]]) }
    const error = await errorOf(writer.append(unencodable, () => expect.unreachable('it was done')))
    expect(error).toBeInstanceOf(StorageUnavailable)
    expect(error).toMatchObject({ message: 'the change could not be encoded', outcomeKnown: true, cause: expect.any(TypeError) })
    await append(writer, 2)
    expect(await revisions()).toEqual(['r2'])
  })

  test('the first reason to refuse writing remains', async () => {
    const writer = await open()
    const first = writer.fail(new Error('first'))
    expect(writer.fail(new Error('second'))).toBe(first)
    await writer.close()
    expect(writer.broken).toBe(first)
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
})
