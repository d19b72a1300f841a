import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { filesBelow, readText } from '../lint/syntax.ts'
import { pages } from '../support/documents.ts'
import { requireBuild } from '../support/process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { files } = JSON.parse(readText('package.json')) as { files: string[] }

// `.ci/run` builds the package, installs it in an empty folder, starts the service and calls it. This is what can be checked quickly.

test('the package contains what runs, its documents and the examples of a deployment, and nothing else', () => {
  requireBuild()
  const pack = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  const [{ files: packed }] = JSON.parse(pack) as [{ files: { path: string }[] }]
  const paths = packed.flatMap(({ path }) => (path.startsWith('dist/') ? [] : path)).toSorted()
  expect(paths.filter((path) => path.startsWith('src/'))).toEqual(
    ['src/bin.js', ...pages.filter((path) => path.startsWith('src/'))].toSorted(),
  )
  expect(paths.filter((path) => !path.startsWith('src/'))).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'fixtures/common-passwords.txt',
    ...filesBelow('fixtures/deployment').filter((path) => !path.includes('/docker/')),
    ...filesBelow('fixtures/gateway'),
    'fixtures/openapi-examples.json',
    ...filesBelow('fixtures/webhook-receivers'),
    'fixtures/world.yaml',
    'package.json',
    'policies/README.md',
    'policies/decisions/README.md',
    'policies/decisions/cases.yaml',
    'policies/decisions/operations.yaml',
    ...[
      'README.md',
      'decisions/cases.yaml',
      'decisions/operations.yaml',
      'permissions.yaml',
      'scopes.yaml',
      'specification.yaml',
      'vocabulary.yaml',
    ].map((file) => `policies/examples/four-eyes/${file}`),
    'policies/matrix.md',
    'policies/permissions.yaml',
    'policies/scopes.yaml',
    'policies/specification.yaml',
    'policies/vocabulary.yaml',
  ])
})

test('the licenses of all packages in the bundle are beside it', () => {
  requireBuild()
  const text = readText('dist/bundle/THIRD-PARTY-LICENSES.txt')
  const bundled = new Set(
    filesBelow('dist/bundle')
      .filter((path) => path.endsWith('.js'))
      .flatMap((path) =>
        [...readText(path).matchAll(/^\/\/ node_modules\/(?:.*\/node_modules\/)?((?:@[^/\n]+\/)?[^/\n]+)\//gm)].map(([, name]) => name!),
      ),
  )
  expect(bundled.size).toBeGreaterThan(50)
  expect([...bundled].filter((name) => !text.includes(`\n${name} `))).toEqual([])
})

test('every file that the code reads beside itself is in the package', () => {
  const texts = filesBelow('src').flatMap((path) => (path.endsWith('.ts') ? [[path, readText(path)] as const] : []))
  const read = texts.flatMap(([, text]) => [...text.matchAll(/packageFile\('([^']+)'\)/g)].map(([, target]) => target!))
  expect(read.length).toBeGreaterThan(3)
  const isPacked = (path: string) => path === 'package.json' || files.some((entry) => path === entry || path.startsWith(`${entry}/`))
  expect(read.filter((path) => !isPacked(path) && path !== 'README.md' && !path.startsWith('src/'))).toEqual([])
  // Another path beside a module would be wrong in the bundle. A thread is an entry of the bundle.
  expect(texts.flatMap(([path, text]) => (/new URL\([^)]*import\.meta\.url/.test(text) ? [path] : []))).toEqual([
    'src/cli/policy/examiner.ts',
    'src/importers/board-reader.ts',
    'src/model/package-files.ts',
    'src/store/fs/writer.ts',
  ])
})
