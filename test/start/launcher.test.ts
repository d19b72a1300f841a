import { execFile } from 'node:child_process'
import { access, copyFile, mkdir, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { programVersion } from '../../src/model/package-files.ts'
import { requireBuild } from '../support/process.ts'
import { newFolder } from '../support/run.ts'

const root = resolve(import.meta.dirname, '../..')
const launcher = join(root, '.lanekeeper.js')

let folder: string
beforeEach(async () => {
  folder = newFolder()
  await copyFile(launcher, join(folder, '.lanekeeper.js'))
  await put('package.json', '{"type":"module"}')
})

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

/** A program that shows what it is run with. */
const PROGRAM = `console.log(JSON.stringify([process.argv[1], process.argv.slice(2)])); process.exitCode = 7`

/** Makes the folder a clone whose build writes the program. */
async function clone({
  isInstalled = true,
  build = `fs.mkdirSync('dist', { recursive: true }); fs.writeFileSync('dist/lanekeeper.js', ${JSON.stringify(PROGRAM)})`,
} = {}): Promise<void> {
  await put('src/main.ts', '')
  await put('src/cli/main.ts', '')
  await put('.bundle.js', `import fs from 'node:fs'\nconsole.log('noise of the build')\n${build}\n`)
  await put('package-lock.json', '{}')
  if (isInstalled) await put('node_modules/rolldown/package.json', '{}')
}

const run = (
  path = join(folder, '.lanekeeper.js'),
  args = ['workspace', 'list'],
): Promise<[code: number, stdout: string, stderr: string]> =>
  new Promise((done) =>
    execFile(process.execPath, [path, ...args], { cwd: tmpdir() }, (error, stdout, stderr) =>
      done([Number(error?.code ?? 0), stdout, stderr]),
    ),
  )

const ran = () => `${JSON.stringify([join(folder, 'dist/lanekeeper.js'), ['workspace', 'list']])}\n`

test('a clone that is not built is built once, which one line says, and stdout has what the command prints', async () => {
  await clone()
  expect(await run()).toEqual([7, ran(), 'not built yet: building with "node .bundle.js"\nnoise of the build\n'])
  expect(await run()).toEqual([7, ran(), ''])
})

test.each(['src/cli/main.ts', 'src/cli', '.bundle.js', 'package-lock.json'])('a clone is built again when %s has changed', async (path) => {
  await clone()
  await run()
  const later = new Date(Date.now() + 60_000)
  await utimes(join(folder, path), later, later)
  expect(await run()).toEqual([7, ran(), expect.stringContaining('the sources have changed: building with "node .bundle.js"\n')])
})

test('a clone without its dependencies says what to run, unless it was built before', async () => {
  await clone({ isInstalled: false })
  expect(await run()).toEqual([1, '', 'lanekeeper is not built: run "npm ci && npm run build"\n'])
  await put('dist/lanekeeper.js', PROGRAM)
  const later = new Date(Date.now() + 60_000)
  await utimes(join(folder, 'src'), later, later)
  expect(await run()).toEqual([7, ran(), ''])
})

test('a build that fails runs nothing', async () => {
  await clone({ build: `throw new Error('it is broken')` })
  await put('dist/lanekeeper.js', PROGRAM)
  await utimes(join(folder, 'dist/lanekeeper.js'), 0, 0)
  expect(await run()).toEqual([1, '', expect.stringContaining('it is broken')])
})

test('what the tests have built is current', async () => {
  requireBuild()
  expect(await run(launcher, ['--version'])).toEqual([0, `${programVersion}\n`, ''])
})

test('the file can be run, because npm links it', async () => {
  await access(launcher, 1)
})
