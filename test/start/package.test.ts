import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { filesBelow, importsOf, parse, readText } from '../lint/syntax.ts'
import { requireBuild } from '../support/process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { files, bin, exports } = JSON.parse(readText('package.json')) as {
  files: string[]
  bin: Record<string, string>
  exports: Record<string, string | { types: string; default: string }>
}

// `.ci/run` builds the package, installs it in an empty folder, starts the service and calls it. This is what can be checked quickly.

test('the package contains what runs and its documents, and nothing else', () => {
  requireBuild()
  const pack = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  const [{ files: packed }] = JSON.parse(pack) as [{ files: { path: string }[] }]
  expect(packed.flatMap(({ path }) => (path.startsWith('dist/') ? [] : path)).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'fixtures/openapi-examples.json',
    'fixtures/world.yaml',
    'package.json',
    'policies/README.md',
    'policies/decisions/README.md',
    'policies/decisions/grids.yaml',
    'policies/decisions/operations.yaml',
    'policies/matrix.md',
    'policies/permissions.yaml',
    'policies/scopes.yaml',
    'policies/specification.yaml',
    'policies/vocabulary.yaml',
  ])
})

test('every file of src is in the package, except the generators, which nothing that runs imports', () => {
  const sourceOf = (path: string) => path.replace('dist/', 'src/').replace(/\.js$/, '.ts')
  const generators = new Set(files.filter((path) => path.startsWith('!dist/')).map((path) => sourceOf(path.slice(1))))
  const entries = [bin['lanekeeper']!, (exports['./client'] as { default: string }).default.slice(2)].map(sourceOf)
  const reached = new Set(entries)
  for (const path of reached) {
    for (const { path: target } of importsOf(parse(path))) if (target?.endsWith('.ts')) reached.add(target)
    // A thread is started with the path of its module.
    for (const [, name] of readText(path).matchAll(/new URL\(`\.\/([a-z-]+)\$\{extname\(/g)) reached.add(join(dirname(path), `${name}.ts`))
  }
  expect([...generators].filter((path) => reached.has(path))).toEqual([])
  const sources = filesBelow('src').filter((path) => path.endsWith('.ts'))
  // A file that is in the package and that nothing reaches is unused.
  expect(sources.filter((path) => !reached.has(path)).toSorted()).toEqual([...generators].toSorted())
})

test('every file that the code reads beside itself is in the package', () => {
  const read = filesBelow('src')
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) =>
      [...readText(path).matchAll(/new URL\(\s*[`'"]((?:\.\.\/)+[^`'"$]*)/g)].map(([, target]) => target!.replace(/^(\.\.\/)+/, '')),
    )
  expect(read.length).toBeGreaterThan(3)
  const isPacked = (path: string) =>
    path === '' || path === 'package.json' || files.some((entry) => path === entry || path.startsWith(`${entry}/`))
  expect(read.filter((path) => !isPacked(path))).toEqual([])
})
