import { basename, dirname, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { descendants, filesBelow, importsOf, list, parse, readText, stringValue, type SyntaxNode } from './lint/syntax.ts'
import { blockOf } from './support/documents.ts'

const isTypeScript = (path: string) => path.endsWith('.ts')
const sources = filesBelow('src').filter(isTypeScript)
const tests = filesBelow('test').filter(isTypeScript)
const parsed = new Map([...sources, ...tests].map((path) => [path, parse(path)]))

/** A folder or file of `src` imports only from itself and from those before it. */
const ORDER = [
  'policy',
  'model',
  'outgoing',
  'store',
  'audit',
  'decision-log',
  'authz',
  'listing',
  'auth',
  'governor',
  'resources',
  'admin',
  'importers',
  'http',
  'webhooks',
  'reminders',
  'listener',
  'metrics.ts',
  'mcp',
  'mail',
  'web',
  'policy-public.ts',
  'demo',
  'surfaces.ts',
  'app.ts',
  'settings.ts',
  'config.ts',
  'client',
  'cli',
  'main.ts',
]
const layerOf = (path: string) => relative('src', path).split('/')[0]!
const importedFiles = (path: string) => importsOf(parsed.get(path)!).flatMap((one) => one.path ?? [])

test('src/README.md shows the folders in this order', () => {
  const tree = blockOf('src/README.md', 'policies/').split('\n')
  expect(tree.flatMap((line) => /^  ([\w.-]+?)\/? {2,}\S/.exec(line)?.[1] ?? [])).toEqual(ORDER)
})

test('src/README.md says of each dependency what it is for, and each is pinned', () => {
  const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> }
  const rows = readText('src/README.md').matchAll(/^\| `(@?[\w./-]+)` \| [^|]+ \| [^|]+ \|$/gm)
  expect([...rows].map(([, name]) => name)).toEqual(Object.keys(dependencies))
  expect(Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
})

// V8 makes a hidden class for each such object, and the class keeps all that the getter refers to until a full garbage collection. Objects
// of requests are instances of classes. The objects of src/app.ts are made once.
test('no object literal of src has a getter', () => {
  const found = sources
    .filter((path) => path !== 'src/app.ts')
    .filter((path) =>
      [...descendants(parsed.get(path)!.program)].some(
        (node) => node.type === 'Property' && (node['kind'] === 'get' || node['kind'] === 'set'),
      ),
    )
  expect(found).toEqual([])
})

describe('the import order', () => {
  test('names every folder and file of src', () => {
    expect([...new Set(sources.map(layerOf))].toSorted()).toEqual(ORDER.toSorted())
  })

  test('lets a file import only from its own layer and those before it', () => {
    const upward = sources.flatMap((path) =>
      importedFiles(path)
        .filter((target) => !ORDER.slice(0, ORDER.indexOf(layerOf(path)) + 1).includes(layerOf(target)))
        .map((target) => `${path} → ${target}`),
    )
    expect(upward).toEqual([])
  })

  test('lets a file beside subfolders import from them only where it puts their exports together', () => {
    const composers = new Set(['src/resources/table.ts', 'src/resources/derived.ts', 'src/web/pages.ts'])
    const folders = new Set([...composers].map(dirname))
    const inward = sources
      .filter((path) => folders.has(dirname(path)) && !composers.has(path))
      .flatMap((path) => importedFiles(path).map((target) => [path, target] as const))
      .filter(([path, target]) => dirname(target).startsWith(`${dirname(path)}/`))
    expect(inward.map((one) => one.join(' → '))).toEqual([])
  })

  test('lets what every request consists of know no feature, which a row gets from src/http/abilities.ts', () => {
    const feature = /^src\/(resources\/[^/]+\/|http\/(abilities|access-search|batch|evaluation|upload)\.ts$)/
    const bases = ['src/http/attempt.ts', 'src/http/services.ts', 'src/http/unit.ts', 'src/resources/operation.ts']
    expect(bases.flatMap(importedFiles).filter((path) => feature.test(path))).toEqual([])
  })

  test('lets the client import nothing but its own files: it also runs in browsers', () => {
    const foreign = sources
      .filter((path) => layerOf(path) === 'client')
      .flatMap((path) => importsOf(parsed.get(path)!).map(({ path: target, specifier }) => `${path} → ${target ?? specifier}`))
      .filter((line) => !line.includes('→ src/client/'))
    expect(foreign).toEqual([])
  })

  test('is checkable: only the driver of unstorage that a setting names is imported by a computed name', () => {
    const computed = sources.flatMap((path) => importsOf(parsed.get(path)!).map(({ specifier }) => (specifier === undefined ? path : [])))
    expect(computed.flat()).toEqual(['src/store/open.ts'])
  })

  test('has no import cycle, in src and in test', () => {
    const visited = new Set<string>()
    const cyclesFrom = (path: string, trail: readonly string[]): string[] => {
      if (trail.includes(path)) return [[...trail.slice(trail.indexOf(path)), path].join(' → ')]
      if (visited.has(path) || !parsed.has(path)) return []
      const cycles = importedFiles(path).flatMap((target) => cyclesFrom(target, [...trail, path]))
      visited.add(path)
      return cycles
    }
    expect([...sources, ...tests].flatMap((path) => cyclesFrom(path, []))).toEqual([])
  })

  test('counts static, dynamic, type and re-exporting imports', () => {
    const text = `import a from './a.ts'
      import type { B } from './b.ts'
      import './c.ts'
      export { d } from './d.ts'
      export * from './e.ts'
      const f = await import('./f.ts')
      type G = import('./g.ts').G
      const h = await import(name)
      export { a }`
    expect(importsOf(parse('src/x/y.ts', text)).map(({ path, specifier }) => path ?? specifier)).toEqual([
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `src/x/${name}.ts`),
      undefined,
    ])
  })
})

/** The schema of what is stored: keys, index entries, and how earlier versions become the present one. */
const SCHEMA = /^src\/store\/(keys|indexes|indexing|migrations\/\w+)\.ts$/

// What follows from a card is derived by resources: see src/resources/derived.ts.
test('the store knows no cards, except for its schema', () => {
  const about = /\bkeys\.(card|claim|readiness)\b|['"`](card|claim|readiness):|model\/(card|claim|readiness)\.ts/
  const found = sources.filter((path) => layerOf(path) === 'store' && about.test(readText(path)))
  expect(found.filter((path) => !SCHEMA.test(path))).toEqual([])
  expect(found).not.toEqual([])
})

/** Files that are longer than they should be. The list may only get shorter. */
const LONG = new Set([
  'src/admin/record-kinds.ts',
  'src/decision-log/log.ts',
  'src/governor/quotas.ts',
  'src/metrics.ts',
  'src/resources/operation.ts',
  'src/resources/webhooks/operations.ts',
  'src/settings.ts',
  'src/store/fs/partitions.ts',
  'src/store/transaction.ts',
  'src/web/browser/live.ts',
  'test/client/work.test.ts',
  'test/decision-log/log.test.ts',
  'test/http/changed-facts.test.ts',
  'test/http/upload.test.ts',
  'test/resources/cards-search.test.ts',
  'test/resources/work.test.ts',
  'test/web/provider.test.ts',
  'test/web/webhooks.test.ts',
  'test/webhooks/send.test.ts',
  'test/webhooks/targets.test.ts',
])

describe('source files', () => {
  test('have at most 300 lines, and 400 in test, except for those that are listed', () => {
    const isLong = (path: string) => readText(path).split('\n').length - 1 > (path.startsWith('src/') ? 300 : 400)
    // The operations of the client are generated.
    expect([...parsed.keys()].filter((path) => isLong(path) && !LONG.has(path) && path !== 'src/client/operations.ts')).toEqual([])
  })

  test('are all reached by what runs: the bundle, the client and the engine', async () => {
    const { entries, scripts } = (await import(new URL('../src/build/bundle.js', import.meta.url).href)) as Record<string, object>
    const reached = new Set<string>([
      ...Object.values(entries!),
      ...Object.values(scripts!),
      'src/client/client.ts',
      'src/policy-public.ts',
    ])
    for (const path of reached) if (parsed.has(path)) for (const target of importedFiles(path)) reached.add(target)
    expect(sources.filter((path) => !reached.has(path))).toEqual([])
  })

  test('declare something: no file only re-exports', () => {
    const statementsOf = (path: string) => list(parsed.get(path)!.program, 'body')
    expect([...parsed.keys()].filter((path) => statementsOf(path).every(isImportOrReExport))).toEqual([])
  })

  test('are named after a concept', () => {
    expect([...parsed.keys()].filter((path) => wordsOf(basename(path)).some((word) => REFUSED_NAMES.has(word)))).toEqual([])
  })
})

function isImportOrReExport({ type, declaration }: SyntaxNode): boolean {
  return type === 'ImportDeclaration' || type === 'ExportAllDeclaration' || (type === 'ExportNamedDeclaration' && declaration === null)
}

/** `redis-faults.test.ts` and `redisFaults` are both "redis" and "faults". */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
}

/** These say nothing of what is in a file. */
const REFUSED_NAMES = new Set('util utils helper helpers misc common shared stuff lib'.split(' '))

describe('the policy engine', () => {
  test('has an export that imports nothing of kanban, HTTP or storage', () => {
    const reached = new Set(['src/policy-public.ts'])
    const packages = new Set<string>()
    for (const path of reached)
      for (const { path: target, specifier } of importsOf(parsed.get(path)!))
        if (target === undefined) packages.add(specifier!)
        else reached.add(target)
    const folders = new Set([...reached].map((path) => path.replace(/\/[^/]+$/, '')))
    expect([...folders].toSorted()).toEqual(['src', 'src/decision-log', 'src/model', 'src/policy', 'src/web', 'src/web/policy-report'])
    expect([...reached].filter((path) => /^src\/((web|model)\/)?[^/]+$/.test(path)).toSorted()).toEqual([
      'src/model/package-files.ts',
      'src/policy-public.ts',
      'src/web/assets.ts',
      'src/web/html.ts',
    ])
    const own = ['@casl/ability', 'htm/preact', 'preact', 'preact-render-to-string', 'yaml', 'zod']
    expect([...packages].filter((name) => !name.startsWith('node:')).toSorted()).toEqual(own)
    expect([...packages].filter((name) => /^node:(http|https|http2|net|tls|dgram|child_process|worker_threads)/.test(name))).toEqual([])
  })

  const code = (path: string) =>
    [...descendants(parsed.get(path)!.program)].map(
      (node) =>
        stringValue(node) ?? (node.type === 'TemplateElement' ? (node['value'] as { raw: string }).raw : String(node['name'] ?? '')),
    )

  test('knows neither kanban nor HTTP', () => {
    const foreign = new Set(['board', 'boards', 'card', 'cards', 'http', 'request', 'requests', 'h3'])
    const found = sources
      .filter((path) => layerOf(path) === 'policy')
      .flatMap((path) => code(path).flatMap((text) => (wordsOf(text).some((word) => foreign.has(word)) ? [`${path}: ${text}`] : [])))
    expect(found).toEqual([])
  })
})

describe('the repository', () => {
  test('names the oldest supported version of Node.js in .nvmrc', () => {
    const { engines } = JSON.parse(readText('package.json')) as { engines: { node: string } }
    expect(engines.node).toBe(`>=${readText('.nvmrc').trim()}`)
  })

  test('contains no token, host or path of a machine', () => {
    for (const path of [
      ...sources,
      ...filesBelow('fixtures'),
      ...filesBelow('policies'),
      ...filesBelow('.github'),
      ...filesBelow('test').filter((path) => path !== 'test/architecture.test.ts'),
      'README.md',
      'package.json',
      'package-lock.json',
    ]) {
      expect([path, /lk_pat_[0-9a-z]{20}[0-9A-Za-z]{33}|"resolved": "http|\/work\//.exec(readText(path))?.[0]]).toEqual([path, undefined])
    }
  })
})
