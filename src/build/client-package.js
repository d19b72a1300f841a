// Packs `lanekeeper-client`, the client alone: `npm pack` runs this file after it has made the package of the service. So one command
// makes both, and the files of the client are compiled once.
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(import.meta.dirname, '../..')

/** What the package has beside `dist/client`: file → text. */
export function clientPackageFiles() {
  const [service, page, licenseText] = ['package.json', 'src/client/README.md', 'LICENSE'].map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  )
  const { version, license, private: isPrivate, engines } = JSON.parse(service)
  const manifest = {
    name: 'lanekeeper-client',
    version,
    description: 'The typed client of Lanekeeper, a kanban service for agents.',
    license,
    type: 'module',
    private: isPrivate,
    engines,
    exports: { '.': { types: './client.d.ts', default: './client.js' }, './package.json': './package.json' },
  }
  return {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    // The package has no other page: of the links to them, the text stays.
    'README.md': page.replaceAll(/\[([^\]]+)\]\((?!#)[^)]+\)/g, '$1'),
    LICENSE: licenseText,
  }
}

/** Writes the package. @param folder for it */
export function writeClientPackage(folder) {
  cpSync(join(ROOT, 'dist/client'), folder, { recursive: true })
  for (const [file, text] of Object.entries(clientPackageFiles())) writeFileSync(join(folder, file), text)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(ROOT, 'dist/lanekeeper-client')
  writeClientPackage(folder)
  const { npm_execpath: npm, INIT_CWD: cwd } = process.env
  // From where the other package was packed, so that both are in one folder. Stdout has the name of the other one only, or its JSON.
  execFileSync(process.execPath, [npm, 'pack', folder], { cwd, stdio: ['ignore', 2, 2] })
}
