import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

/** Runs suite.ts with an empty folder for temporary files. */
async function startRun({ hang }: { hang: boolean }) {
  const folder = await mkdtemp(join(tmpdir(), 'i-'))
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST$|NODE_ENV$|LANEKEEPER_)/.test(name))
  const run = spawn(process.execPath, [vitest, 'run', '--config', 'test/setup/interrupted/vitest.config.ts'], {
    cwd: root,
    env: { ...Object.fromEntries(inherited), TMPDIR: folder, LANEKEEPER_HANG: hang ? '1' : '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const pids = await new Promise<number[]>((resolve, reject) => {
    run.stderr.on('data', (data: Buffer) => void (output += data.toString()))
    run.stdout.on('data', (data: Buffer) => {
      output += data.toString()
      const started = /started: (\[.*\])/.exec(output)?.[1]
      if (started !== undefined) resolve(JSON.parse(started) as number[])
    })
    run.once('close', () => reject(new Error(output)))
  })
  return { run, folder, pids }
}

/** Whether a process exists. A process that has ended and that its parent has not waited for is not counted. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^State:\tZ/m.test(await readFile(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function expectNothingLeft({ folder, pids }: { folder: string; pids: readonly number[] }): Promise<void> {
  const left = async () => ({ running: await Promise.all(pids.map(isRunning)), files: await readdir(folder) })
  await expect.poll(left, { timeout: 30_000 }).toEqual({ running: [false, false, false], files: [] })
}

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('a run that is ended by %s leaves no process and no folder', async (signal) => {
  const started = await startRun({ hang: true })
  expect(await readdir(started.folder)).not.toEqual([])
  expect(await Promise.all(started.pids.map(isRunning))).toEqual([true, true, true])
  started.run.kill(signal)
  await expectNothingLeft(started)
})

test('a run whose suites stop nothing leaves no process and no folder', async () => {
  const started = await startRun({ hang: false })
  expect(await once(started.run, 'exit')).toEqual([0, null])
  await expectNothingLeft(started)
})
