import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { Disk } from '../../src/store/fs/disk.ts'
import { Partitions } from '../../src/store/fs/partitions.ts'
import { InternedTexts } from '../../src/store/fs/checkpoint.ts'

const BOARD = 'brd_00000000000000000001'
/** Another text that is equal, as JSON.parse makes one. */
const copyOf = (text: string) => Buffer.from(text).toString()

describe('the memory of a folder', () => {
  test('does not keep the journal that was read', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const open = () => {
      const frame = { sequence: 1, entries: [] }
      const journal = { frames: [frame], first: 1, sequence: 1, last: undefined, empty: [], size: 0 }
      const manifest = { checkpoints: new Map<string, number>(), tombstones: new Map<string, string>() }
      const log = pino({ level: 'silent' })
      const partitions = new Partitions({ disk: {} as Disk, folder: '', log, journal, manifest, journalEnd: () => 1, cacheBytes: 0 })
      return { partitions, frame: new WeakRef(frame) }
    }
    const { partitions, frame } = open()
    await new Promise(setImmediate)
    collectGarbage()
    expect([frame.deref(), partitions.names]).toEqual([undefined, []])
  })
})

describe('texts that records share', () => {
  test('are ids and times, apart from the id of the record itself', () => {
    const texts = new InternedTexts()
    const shared: string[] = []
    const share = texts.intern.bind(texts)
    texts.intern = (text) => (shared.push(text), share(text))
    const record = { id: 'crd_00000000000000000001', board_id: BOARD, title: 'A title', label_ids: [BOARD], archived_at: null }
    expect(texts.internIn({ ...record })).toEqual(record)
    expect(shared).toEqual([BOARD])
  })

  test('stay equal when more texts come than are remembered', () => {
    const texts = new InternedTexts()
    const given = Array.from({ length: 50_000 }, (_, i) => String(i % 30_000))
    expect(given.map((text) => texts.intern(copyOf(text)))).toEqual(given)
  })
})
