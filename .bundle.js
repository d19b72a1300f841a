// Bundles what runs: much of the CPU time of a start was spent on finding and loading modules. Names are not shortened, so that stack
// traces and the bundle can be read. The modules that `tsc` makes beside it are for the tests and for `npm run dev`.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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

/** Output file without its suffix → module. */
export const entries = { lanekeeper: 'src/main.ts', 'bundle/examination-thread': 'src/cli/policy/examination-thread.ts' }

/** What is moved last: with it, the bundle is complete. */
const PROGRAM = 'lanekeeper.js'

// The command of rolldown would print the name of each file, at every start.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const startedAt = new Date()
  const bundle = await rolldown({
    cwd: import.meta.dirname,
    input: entries,
    // A native module. What is loaded by its path is not in the bundle either.
    external: [/^@node-rs\//],
    platform: 'node',
    plugins: [licenses],
  })
  // Next to the bundle and then moved, one file after the other: what starts meanwhile finds whole files, also beside another build.
  const folder = `dist/.bundle-${process.pid}`
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'bundle/[name].js' })
  // A source that was changed since is newer than the bundle.
  utimesSync(join(folder, PROGRAM), startedAt, startedAt)
  mkdirSync('dist/bundle', { recursive: true })
  const files = readdirSync(join(folder, 'bundle'))
  for (const file of [...files.map((name) => `bundle/${name}`), PROGRAM]) renameSync(join(folder, file), join('dist', file))
  rmSync(folder, { recursive: true })
  // Parts of an earlier bundle.
  for (const file of readdirSync('dist/bundle')) if (!files.includes(file)) rmSync(join('dist/bundle', file), { recursive: true, force: true })
}
