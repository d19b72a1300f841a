import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { beforeAll, describe, expect, test } from 'vitest'
import { examinations } from '../../src/cli/policy/examination.ts'
import { threadExaminer } from '../../src/cli/policy/examiner.ts'
import { programVersion } from '../../src/model/package-files.ts'
import { otherFiles } from '../support/other-policy.ts'
import { shippedFiles } from '../support/policy.ts'
import { requireBuild } from '../support/process.ts'

const built = new URL('../../dist/bundle/examination-thread.js', import.meta.url)

describe('the thread of the built program', () => {
  beforeAll(requireBuild)
  const examiner = threadExaminer(built)

  test('answers what the function answers', async () => {
    const withoutTime = (one: object) => JSON.parse(JSON.stringify(one, (name, value) => (name === 'milliseconds' ? 0 : value)))
    const expected = examinations.examine(otherFiles, shippedFiles)
    expect(withoutTime(await examiner.examine(otherFiles, shippedFiles))).toEqual(withoutTime(expected))
  })

  test('answers about departures', async () => {
    expect(await examiner.departuresOf(otherFiles)).toEqual({ rows: [] })
  })

  test('answers nothing to a program of another version', async () => {
    const task = { version: `${programVersion}1`, question: { question: 'departuresOf', given: [otherFiles] } }
    const thread = new Worker(built, { workerData: task })
    const outcome = new Promise((resolve) => thread.once('message', resolve).once('error', ({ message }) => resolve(message)))
    expect(await outcome).toBe(`the program on disk is version ${programVersion}, and ${programVersion}1 is running: restart it`)
  })
})

describe('a thread that does not answer is an error', () => {
  const generous = { time: 60_000, memory: 512 }
  test.each<[what: string, code: string | undefined, limits: typeof generous, reason: RegExp]>([
    ['that cannot start', undefined, generous, /has not answered: Cannot find module/],
    ['that throws', 'throw new Error("broken")', generous, /has not answered: broken$/],
    ['that ends', 'process.exit(3)', generous, /has not answered: it ended with 3$/],
    [
      'that needs too much memory',
      'const all = []; for (;;) all.push(new Array(1000).fill({}))',
      { ...generous, memory: 16 },
      /memory limit/,
    ],
    ['that takes too long', 'for (;;) {}', { ...generous, time: 1 }, /it took longer than 0.001 seconds$/],
  ])('%s', async (_what, code, limits, reason) => {
    const file = join(await mkdtemp(join(tmpdir(), 'thread-')), 'thread.mjs')
    if (code !== undefined) await writeFile(file, code)
    await expect(threadExaminer(pathToFileURL(file), limits).examine(shippedFiles, otherFiles)).rejects.toThrow(reason)
  })
})
