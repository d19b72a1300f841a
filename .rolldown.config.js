// Bundles what runs: much of the CPU time of a start was spent on finding and loading modules. Names are not shortened, so that stack
// traces and the bundle can be read. The modules that `tsc` makes beside it are for the tests and for `npm run dev`.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

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

export default {
  input: { lanekeeper: 'src/main.ts', 'bundle/examination-thread': 'src/cli/policy/examination-thread.ts' },
  // A native module, and what is loaded by its path when it is first used.
  external: [/^@node-rs\//],
  platform: 'node',
  logLevel: 'warn',
  plugins: [licenses],
  output: { dir: 'dist', format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'bundle/[name].js' },
}
