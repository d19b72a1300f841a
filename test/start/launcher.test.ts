import { execFile } from 'node:child_process'
import { access, copyFile, mkdir, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { programVersion } from '../../src/model/package-files.ts'
import { requireBuild } from '../support/process.ts'
import { newFolder } from '../support/run.ts'

const root = resolve(import.meta.dirname, '../..')
const launcher = join(root, 'src/bin.js')

let folder: string
beforeEach(async () => {
  folder = newFolder()
  await put('package.json', '{"type":"module"}')
  await mkdir(join(folder, 'src'))
  await copyFile(launcher, join(folder, 'src/bin.js'))
})

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

/** A program that shows what it is run with. */
const PROGRAM = `console.log(JSON.stringify([process.argv[1], process.argv.slice(2)])); process.exitCode = 7`

/** Makes the folder a clone with a build. */
async function clone(): Promise<void> {
  await put('src/main.ts', '')
  await put('src/cli/main.ts', '')
  await put('dist/lanekeeper.js', PROGRAM)
}

const run = (path = join(folder, 'src/bin.js'), args = ['workspace', 'list']): Promise<[code: number, stdout: string, stderr: string]> =>
  new Promise((done) =>
    execFile(process.execPath, [path, ...args], { cwd: tmpdir() }, (error, stdout, stderr) =>
      done([Number(error?.code ?? 0), stdout, stderr]),
    ),
  )

const ran = () => `${JSON.stringify([join(folder, 'dist/lanekeeper.js'), ['workspace', 'list']])}\n`

test('a clone that is not built says what to run', async () => {
  await put('src/main.ts', '')
  expect(await run()).toEqual([1, '', 'lanekeeper is not built: run "npm ci && npm run build"\n'])
})

test.each(['src/cli/main.ts', 'src/cli'])(
  'a build that is older than %s runs with a warning, and stdout has only what the command prints',
  async (path) => {
    await clone()
    expect(await run()).toEqual([7, ran(), ''])
    const later = new Date(Date.now() + 60_000)
    await utimes(join(folder, path), later, later)
    expect(await run()).toEqual([7, ran(), 'warning: the sources have changed since the build: run "npm run build"\n'])
  },
)

test('the build of the tests is current', async () => {
  requireBuild()
  expect(await run(launcher, ['--version'])).toEqual([0, `${programVersion}\n`, ''])
})

test('the file can be run, because npm links it', async () => {
  await access(launcher, 1)
})
