// Bundles what runs: much of the CPU time of a start was spent on finding and loading modules. Names are not shortened, so that stack
// traces and the bundle can be read. The modules that `tsc` makes beside it are for the tests and for `npm run dev`.
import { deepStrictEqual } from 'node:assert'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/** The licenses of what the bundle contains ask for their texts. */
const licenses = {
  name: 'licenses',
  generateBundle(_options, bundle) {
    const packages = new Set()
    for (const { moduleIds = [] } of Object.values(bundle))
      for (const id of moduleIds) {
        const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []
        if (folder !== undefined) packages.add(folder)
      }
    const source = [...packages].toSorted().map(licenseOf).join('\n')
    this.emitFile({ type: 'asset', fileName: 'bundle/THIRD-PARTY-LICENSES.txt', source })
  },
}

/** The name of a package, and its license. */
function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`
}

const PACKAGE = join(import.meta.dirname, '../..')

/**
 * Reads the YAML of the package with the reader of the sources, so that a start need not: SHA-256 of each text → its data as JSON.
 * A text that the reader refuses is left out. Then the start refuses it.
 * @param folder for the reader, within the package
 */
export async function readYaml(folder) {
  const reader = await rolldown({ cwd: PACKAGE, input: 'src/policy/source.ts', external: ['yaml'], platform: 'node' })
  await reader.write({ file: join(folder, 'reader.js'), format: 'esm' })
  const { readSource } = await import(pathToFileURL(join(folder, 'reader.js')).href)
  const policies = readdirSync(join(PACKAGE, 'policies'), { recursive: true }).filter(
    (path) => path.endsWith('.yaml') && !path.startsWith('examples'),
  )
  const known = new Map()
  for (const path of ['fixtures/world.yaml', ...policies.map((name) => join('policies', name))]) {
    const text = readFileSync(join(PACKAGE, path), 'utf8')
    try {
      const { data } = readSource({ path, text })
      deepStrictEqual(JSON.parse(JSON.stringify(data)), data)
      known.set(createHash('sha256').update(text).digest('hex'), JSON.stringify(data))
    } catch (error) {
      console.error(`${path} is read at each start: ${error.message}`)
    }
  }
  return known
}

/** Output file without its suffix → module. */
export const entries = {
  lanekeeper: 'src/main.ts',
  'bundle/examination-thread': 'src/cli/policy/examination-thread.ts',
  'bundle/reading-thread': 'src/importers/reading-thread.ts',
  'bundle/writer-thread': 'src/store/fs/writer-thread.ts',
}

/** What pages load, beside the style sheets of the same folder. Each script is whole: a page needs one file. */
const BROWSER = 'src/web/browser'
export const scripts = ['page', 'boards', 'unread-count', 'stream-worker', 'reference', 'theme', 'policy-report'].map(
  (name) => `${BROWSER}/${name}.ts`,
)

/** Writes the scripts and style sheets for browsers. */
async function writeAssets(folder) {
  mkdirSync(folder, { recursive: true })
  for (const input of scripts) {
    const script = await rolldown({ cwd: PACKAGE, input, platform: 'browser' })
    await script.write({ file: join(folder, `browser-${basename(input, '.ts')}.js`), format: 'iife', minify: true })
  }
  for (const file of readdirSync(BROWSER)) if (file.endsWith('.css')) copyFileSync(join(BROWSER, file), join(folder, `browser-${file}`))
}

/** What is moved last: with it, the bundle is complete. */
const PROGRAM = 'lanekeeper.js'

/** Writes what runs on the server. The command of rolldown would print the name of each file, at every start. */
async function writeProgram(folder) {
  const known = JSON.stringify([...(await readYaml(folder))])
  rmSync(folder, { recursive: true })
  /** Puts what was read into the bundle. */
  const readAtBuild = {
    name: 'read-at-build',
    load: (id) => (id === join(PACKAGE, 'src/policy/read-at-build.ts') ? `export const readAtBuild = new Map(${known})` : null),
  }
  const bundle = await rolldown({
    cwd: PACKAGE,
    input: entries,
    // Native modules. What is loaded by its path is not in the bundle either.
    external: [/^@node-rs\//, /^@photostructure\//],
    platform: 'node',
    plugins: [licenses, readAtBuild],
  })
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'bundle/[name].js' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const startedAt = new Date()
  // The tests run the modules of the sources, and need nothing else.
  const isForBrowsers = process.argv[2] === 'browser'
  // Next to the bundle and then moved, one file after the other: what starts meanwhile finds whole files, also beside another build.
  const folder = join(PACKAGE, `dist/.bundle-${process.pid}`)
  if (!isForBrowsers) {
    await writeProgram(folder)
    // A source that was changed since is newer than the bundle.
    utimesSync(join(folder, PROGRAM), startedAt, startedAt)
  }
  await writeAssets(join(folder, 'bundle'))
  mkdirSync('dist/bundle', { recursive: true })
  const files = readdirSync(join(folder, 'bundle'))
  for (const file of [...files.map((name) => `bundle/${name}`), ...(isForBrowsers ? [] : [PROGRAM])])
    renameSync(join(folder, file), join('dist', file))
  rmSync(folder, { recursive: true })
  // Parts of an earlier bundle.
  if (!isForBrowsers)
    for (const file of readdirSync('dist/bundle'))
      if (!files.includes(file)) rmSync(join('dist/bundle', file), { recursive: true, force: true })
}
