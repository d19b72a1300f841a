import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { threadReader } from '../../src/importers/board-reader.ts'
import { readBoardFile, type BoardFile } from '../../src/importers/board-reading.ts'
import { requireBuild } from '../support/process.ts'
import { members, USER } from './text-import.ts'

const fileOf = (text: string, from = 'csv'): BoardFile => ({
  bytes: Buffer.from(text),
  choices: { from, members: [], fileName: 'Garden' },
  userId: USER,
  users: members,
})
const TABLE = fileOf('title,assignees\nSow,Robert Taylor; Zoe\n')
const UNREADABLE = { refused: expect.stringContaining('takes too much time or memory here') }

describe('the thread of the built program', () => {
  beforeAll(requireBuild)
  const read = threadReader(new URL('../../dist/bundle/reading-thread.js', import.meta.url))

  test('reads what the function reads', async () => {
    const reading = await read(TABLE)
    expect(reading).toEqual(readBoardFile(TABLE))
    expect(reading).toMatchObject({
      result: { dry_run: true, name: 'Garden', cards: 1 },
      people: [
        { name: 'Robert Taylor', userId: 'usr_11111111111111111111' },
        { name: 'Zoe', userId: null },
      ],
      columns: [{ name: 'No status', completes: false }],
    })
  })

  test.each<[what: string, file: BoardFile]>([
    ['three million objects', fileOf(`[${'{},'.repeat(3_000_000)}{}]`, 'github')],
    ['a table of broken rows', fileOf(`title\n${'"a"b\n'.repeat(1_500_000)}`)],
  ])('%s are refused or reported, and the thread ends', async (_what, file) => {
    const reading = await read(file)
    expect('refused' in reading || reading.result.not_carried.length > 0).toBe(true)
  })
})

describe('a thread that does not answer refuses the file', () => {
  const generous = { time: 60_000, memory: 320 }
  test.each<[what: string, code: string, limits: typeof generous]>([
    ['that takes too long', 'for (;;) {}', { ...generous, time: 1 }],
    ['that needs too much memory', 'const all = []; for (;;) all.push(new Array(1000).fill({}))', { ...generous, memory: 16 }],
    ['that throws', 'throw new Error("broken")', generous],
  ])('%s', async (_what, code, limits) => {
    expect(await threadReader(await moduleOf(code), limits)(TABLE)).toEqual(UNREADABLE)
  })
})

test('files are read one at a time, in turn; few may wait, and then others are read again', async () => {
  const code = `import { parentPort, workerData } from 'node:worker_threads'
  parentPort.postMessage({ refused: workerData.question.choices.fileName })`
  const read = threadReader(await moduleOf(code))
  const named = (i: number): BoardFile => ({ ...TABLE, choices: { ...TABLE.choices, fileName: `${i}` } })
  const order: string[] = []
  const all = await Promise.allSettled(
    Array.from({ length: 8 }, async (_one, i) => {
      const reading = await read(named(i))
      order.push('refused' in reading ? reading.refused : '')
    }),
  )
  expect(all.map(({ status }) => status === 'fulfilled')).toEqual([true, true, true, true, true, true, false, false])
  expect(all.at(-1)).toMatchObject({ reason: { code: 'rate_limited', details: { headers: { 'retry-after': '60' } } } })
  expect(order).toEqual(['0', '1', '2', '3', '4', '5'])
  expect(await read(named(9))).toEqual({ refused: '9' })
})

async function moduleOf(code: string): Promise<URL> {
  const file = join(await mkdtemp(join(tmpdir(), 'thread-')), 'thread.mjs')
  await writeFile(file, code)
  return pathToFileURL(file)
}
