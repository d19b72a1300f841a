import { crc32 } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Disk } from '../../src/store/fs/disk.ts'
import {
  ADVICE,
  encodeFrame,
  journalName,
  readJournal as readOnly,
  repairJournal,
  StorageDamaged,
  type Entry,
} from '../../src/store/fs/journal.ts'
import { FaultyDisk } from '../support/faulty-disk.ts'
import { diskError, recordDisk } from '../support/recording-disk.ts'

const entry = (text: string): Entry => ({
  partition: 'p1',
  revision: `r ${text}`,
  put: new Map([[`a:${text}`, { text }]]),
  remove: new Set(['b:1']),
  indexes: new Map([['i', { add: [`x ${text}`], remove: ['y 1'] }]]),
})
/** A frame as the format documents it. */
const frame = (sequence: number, payload: string) =>
  `lk1 ${sequence} ${Buffer.byteLength(payload)} ${crc32(payload).toString(16).padStart(8, '0')}\n${payload}\n`
const payloadOf = (text: string) => `[["p1","r ${text}",[["a:${text}",{"text":"${text}"}]],["b:1"],[["i",["x ${text}"],["y 1"]]]]]`
/** Reads a journal and repairs its end, as at the start of the service. */
const readJournal = async (disk: Disk, folder: string) => {
  const journal = await readOnly(disk, folder)
  return { ...journal, aside: await repairJournal(disk, folder, journal) }
}
const frames = (...sequences: number[]) => sequences.map((sequence) => frame(sequence, payloadOf(`é${sequence}`))).join('')

describe('the files of the journal', () => {
  let disk: FaultyDisk
  beforeEach(async () => {
    disk = new FaultyDisk(1)
    await disk.makeFolder('/j')
  })
  const write = async (files: Readonly<Record<string, string | Buffer>>) => {
    for (const [name, content] of Object.entries(files)) await (await disk.create(`/j/${name}`)).write(Buffer.from(content))
  }
  const contents = async () => {
    const names = await disk.list('/j')
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, (await disk.read(`/j/${name}`))!.toString()] as const)))
  }
  const errorOf = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.unreachable('the journal was read'),
      (error: unknown) => error as Error,
    )
  const sequences = async () => (await readJournal(disk, '/j')).frames.map(({ sequence }) => sequence)

  test('a frame has a header with its size and checksum, and its changes as JSON', () => {
    expect(encodeFrame(12, [entry('é')]).toString()).toBe(frame(12, payloadOf('é')))
    expect(journalName(12)).toBe('0000000012.log')
  })

  test('a checksum with leading zeros has 8 digits', async () => {
    const text = Array.from({ length: 5000 }, (_, i) => `n${i}`).find((one) => crc32(payloadOf(one)) < 2 ** 24)!
    const encoded = encodeFrame(1, [entry(text)])
    expect(encoded.toString()).toMatch(/^lk1 1 \d+ 00[0-9a-f]{6}\n/)
    await write({ '0000000001.log': encoded })
    expect(await sequences()).toEqual([1])
  })

  test('frames are read in order, with their changes, from all files', async () => {
    await write({
      '0000000001.log': frames(1, 2),
      '0000000003.log': frames(3),
      'notes.txt': 'x',
      'x0000000009.log': 'x',
      '0000000009.logx': 'x',
    })
    const journal = await readJournal(disk, '/j')
    expect(journal).toEqual({
      frames: [1, 2, 3].map((sequence) => ({ sequence, entries: [entry(`é${sequence}`)] })),
      first: 1,
      sequence: 3,
      last: { name: '0000000003.log', intact: Buffer.from(frames(3)), rest: Buffer.alloc(0) },
      empty: [],
      aside: undefined,
      size: Buffer.byteLength(frames(1, 2, 3)),
    })
  })

  test('a journal without files is empty', async () => {
    const empty = { frames: [], first: undefined, sequence: 0, last: undefined, empty: [], aside: undefined, size: 0 }
    expect(await readJournal(disk, '/j')).toEqual(empty)
    expect(await readJournal(disk, '/absent')).toEqual(empty)
  })

  test('a journal may begin at any frame, and then has no gap', async () => {
    await write({ '0000000007.log': frames(7, 8), '0000000009.log': '' })
    expect(await sequences()).toEqual([7, 8])
    await write({ '0000000010.log': frames(10) })
    expect((await errorOf(readJournal(disk, '/j'))).message).toBe(`0000000010.log: frame 9 is missing, frame 10 follows; ${ADVICE}`)
    await disk.remove('/j/0000000007.log')
    expect(await sequences()).toEqual([10])
    await write({ '0000000010.log': frames(9) })
    expect((await errorOf(readJournal(disk, '/j'))).message).toBe(`0000000010.log: frame 10 is missing, frame 9 follows; ${ADVICE}`)
  })

  test('empty files at the end are removed, and the one before them is continued', async () => {
    await write({ '0000000001.log': frames(1), '0000000002.log': '', '0000000003.log': '' })
    expect((await readJournal(disk, '/j')).last!.name).toBe('0000000001.log')
    expect(await contents()).toEqual({ '0000000001.log': frames(1) })
  })

  test('a last file of one byte is cut off, and continued', async () => {
    await write({ '0000000001.log': frames(1), '0000000002.log': 'l' })
    expect((await readJournal(disk, '/j')).last!.name).toBe('0000000002.log')
    expect(await contents()).toEqual({ '0000000001.log': frames(1), '0000000002.log': '', '0000000002.log.0.torn': 'l' })
  })

  test('an empty file that cannot be removed is an error', async () => {
    await write({ '0000000001.log': frames(1), '0000000002.log': '' })
    const recording = recordDisk(disk, (operation) => {
      if (operation.startsWith('remove')) throw diskError('EIO')
    })
    expect(await errorOf(readJournal(recording, '/j'))).toMatchObject({ code: 'EIO' })
  })

  test('of files that are all empty, the last one is continued', async () => {
    await write({ '0000000001.log': '', '0000000002.log': '' })
    expect(await readJournal(disk, '/j')).toMatchObject({ frames: [], first: 1, sequence: 1, last: { name: '0000000002.log' }, size: 0 })
  })

  test.each([
    ['a part of a frame', frames(2).slice(0, -30)],
    ['a frame without its last byte', frames(2).slice(0, -1)],
    ['a header without its newline', 'lk1 2 10 00000000'],
    ['a frame with another last byte', `${frames(2).slice(0, -1)} `],
    ['a frame with a wrong checksum', frames(2).replace(/ [0-9a-f]{8}\n/, ' 00000000\n')],
    ['a frame with something after its checksum', frames(2).replace(/( [0-9a-f]{8})\n/, '$1 \n')],
    ['zeros', '\0'.repeat(200)],
    ['a part of a frame that contains the beginning of a frame', 'lk1 2 900 00000000\n[["lk1 3 2 00000000\n[]\n'],
  ])('%s at the end is moved to a file', async (_what, rest) => {
    const before = { '0000000001.log': frames(1) + rest }
    await write(before)
    const aside = `0000000001.log.${Buffer.byteLength(frames(1))}.torn`
    const journal = await readOnly(disk, '/j')
    expect([journal.sequence, journal.last!.rest.toString(), await contents()]).toEqual([1, rest, before])
    expect((await readJournal(disk, '/j')).aside).toBe(`/j/${aside}`)
    const after = { '0000000001.log': frames(1), [aside]: rest }
    expect([await sequences(), await contents()]).toEqual([[1], after])
  })

  test.each([
    ['an intact frame follows', { '0000000001.log': `${frames(1)}xx${frames(2)}` }, '0000000001.log', Buffer.byteLength(frames(1))],
    ['two damaged places precede an intact frame', { '0000000001.log': `xxlk1 ${frames(2)}` }, '0000000001.log', 0],
    [
      'a file with frames follows',
      { '0000000001.log': `${frames(1)}xx`, '0000000002.log': frames(2) },
      '0000000001.log',
      Buffer.byteLength(frames(1)),
    ],
    ['its header has a long number', { '0000000001.log': `lk1 ${'0'.repeat(60)}1 2 00000000\n[]\n${frames(2)}` }, '0000000001.log', 0],
    ['it begins one byte later', { '0000000001.log': `x${frames(1)}` }, '0000000001.log', 0],
    ['its header has something before it', { '0000000001.log': `x${frames(1)}${frames(2)}` }, '0000000001.log', 0],
  ])('a damaged frame is refused if %s, and nothing is changed', async (_what, files, name, end) => {
    await write(files)
    const error = await errorOf(readJournal(disk, '/j'))
    expect([error instanceof StorageDamaged, error.name]).toEqual([true, 'StorageDamaged'])
    expect(error.message).toBe(`/j/${name} is damaged at byte ${end}: intact frames follow; ${ADVICE}`)
    expect(await contents()).toEqual(files)
  })

  test('a header has at most 64 bytes', async () => {
    const padded = (zeros: number) => frame(1, '[]').replace('lk1 1', `lk1 ${'0'.repeat(zeros)}1`)
    const header = padded(0).indexOf('\n') + 1
    await write({ '0000000001.log': padded(64 - header) })
    expect(await sequences()).toEqual([1])
    await write({ '0000000001.log': padded(65 - header) })
    expect(await sequences()).toEqual([])
  })

  describe('the last file', () => {
    const read = (before: (operation: string) => unknown) => readJournal(recordDisk(disk, before), '/j')

    test('on a full disk it is truncated and synced instead', async () => {
      await write({ '0000000001.log': `${frames(1)}rest` })
      const recording = recordDisk(disk, (operation) => {
        if (operation.startsWith('create')) throw diskError('ENOSPC')
      })
      expect((await readJournal(recording, '/j')).frames).toHaveLength(1)
      expect(await contents()).toEqual({ '0000000001.log': frames(1) })
      expect(recording.operations.slice(-4)).toEqual([
        'append /j/0000000001.log',
        `truncate /j/0000000001.log ${Buffer.byteLength(frames(1))}`,
        'sync /j/0000000001.log',
        'close /j/0000000001.log',
      ])
    })

    test('if it can be neither written nor truncated, that is an error, and the file is closed', async () => {
      await write({ '0000000001.log': frames(1) })
      const full = (failed: string) => (operation: string) => {
        if (operation.startsWith('create')) throw diskError('ENOSPC')
        if (operation.startsWith(failed)) throw diskError('EIO')
      }
      expect(await errorOf(read(full('truncate')))).toMatchObject({ code: 'EIO' })
      expect(await errorOf(read(full('sync')))).toMatchObject({ name: 'SyncFailed' })
      expect(await errorOf(read(full('close')))).toMatchObject({ code: 'EIO' })
      const recording = recordDisk(disk, full('sync'))
      await errorOf(readJournal(recording, '/j'))
      expect(recording.operations.at(-1)).toBe('close /j/0000000001.log')
    })

    test('a failure to keep an incomplete frame that is not a full disk is an error', async () => {
      await write({ '0000000001.log': `${frames(1)}rest` })
      const failing = (operation: string) => {
        if (/^create .*torn/.test(operation)) throw diskError('EIO')
      }
      expect(await errorOf(read(failing))).toMatchObject({ code: 'EIO' })
      expect(await contents()).toEqual({ '0000000001.log': `${frames(1)}rest` })
    })

    test('any other failure to write it is an error', async () => {
      await write({ '0000000001.log': frames(1) })
      const failing = (operation: string) => {
        if (operation.startsWith('create')) throw diskError('EIO')
      }
      expect(await errorOf(read(failing))).toMatchObject({ code: 'EIO' })
      expect(await contents()).toEqual({ '0000000001.log': frames(1) })
    })
  })

  test('a file that disappears while the journal is read counts as empty', async () => {
    await write({ '0000000001.log': frames(1) })
    const vanishing = { ...recordDisk(disk), list: async () => ['0000000001.log', '0000000002.log'] }
    expect((await readJournal(vanishing, '/j')).size).toBe(Buffer.byteLength(frames(1)))
  })
})
