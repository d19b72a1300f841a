import { basename, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { descendants, filesBelow, importsOf, list, parse, readText, stringValue, type SyntaxNode } from './lint/syntax.ts'

const isTypeScript = (path: string) => path.endsWith('.ts')
const sources = filesBelow('src').filter(isTypeScript)
const tests = filesBelow('test').filter(isTypeScript)
const parsed = new Map([...sources, ...tests].map((path) => [path, parse(path)]))
const textOf = (path: string) => parsed.get(path)!.text

/** A folder or file of `src` imports only from itself and from those before it. */
const ORDER = [
  'policy',
  'model',
  'store',
  'audit',
  'decision-log',
  'authz',
  'listing',
  'auth',
  'resources',
  'admin',
  'http',
  'mcp',
  'mail',
  'web',
  'demo',
  'app.ts',
  'setting-values.ts',
  'settings.ts',
  'config.ts',
  'client',
  'importers',
  'cli',
  'main.ts',
]
const layerOf = (path: string) => relative('src', path).split('/')[0]!
const importedFiles = (path: string) => importsOf(parsed.get(path)!).flatMap((one) => one.path ?? [])

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

/** Written by `npm run matrix`. */
const GENERATED = 'src/client/operations.ts'

describe('source files', () => {
  const linesOf = (path: string) => textOf(path).split('\n').length

  test('have at most 300 lines in src and 400 in test', () => {
    expect([
      ...sources.filter((path) => path !== GENERATED && linesOf(path) > 300),
      ...tests.filter((path) => linesOf(path) > 400),
    ]).toEqual([])
  })

  test('declare something: no file only re-exports', () => {
    const statementsOf = (path: string) => list(parsed.get(path)!.program, 'body')
    expect([...parsed.keys()].filter((path) => statementsOf(path).every(isImportOrReExport))).toEqual([])
  })

  test('are named after a concept, in standard terms', () => {
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

const REFUSED_NAMES = new Set(
  [
    // These say nothing of what is in a file.
    'util utils helper helpers misc common shared stuff lib',
    // These were replaced by standard terms. `src/README.md` has the glossary.
    'disguise ladder asks pair situation trace see seer each once failure failures fault problem problems proved follow hint room',
    'surely trash consequences sweep keeping tools belongings visit issuing leaked everything call remote wire anchor anchors place',
    'places house watching lives recipes stage ledger deed',
  ].flatMap((words) => words.split(' ')),
)

describe('the policy engine', () => {
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
      expect([path, /lk_pat_[0-9a-z]{20}[0-9A-Za-z]{33}|"resolved"|\/work\//.exec(readText(path))?.[0]]).toEqual([path, undefined])
    }
  })
})

/** Words that a reader stumbles over, with what to write instead. They are looked for in code, comments, messages and titles. */
const WORDING: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bstands? twice\b/i, 'is a duplicate'],
  [/\bat one stroke\b/i, 'atomically'],
  [/\bput away\b/i, 'archived'],
  [/\blet alone\b/i, 'ignored'],
  [/\bwhoever\b/i, 'name the person or client'],
  [/\bnobody\b(?![@:}])/i, '"no user", "no code" or the like'],
  [/\bas far as it goes\b/i, 'leave it out'],
  [/\b(a|an|no|some) \w+ of (its|their|his|our) own\b/i, 'its own …'],
  [/\bby the way\b/i, 'leave it out'],
  [/\b(is|are|was|were) told\b/i, 'is notified, receives'],
  [/\bso (many|long|often)\b/i, 'name the number and its unit'],
  [/(?<!\/)\bnowhere\b/i, 'is not stored, is not read'],
  [/\b(he|him|his|himself)\b/i, 'they, them, their'],
  [
    /\b(disguises?|situations?|consequences|belongings|seer|ledger|deeds?|NotProved|surely)\b/i,
    'the term of the glossary in src/README.md',
  ],
]

describe('the wording', () => {
  const hits = [...sources, ...tests]
    .filter((path) => path !== 'test/architecture.test.ts')
    .flatMap((path) =>
      textOf(path)
        .split('\n')
        .flatMap((line, i) =>
          WORDING.filter(([pattern]) => pattern.test(line)).map(([, instead]) => `${path}:${i + 1}  ${line.trim()}  → ${instead}`),
        ),
    )

  test('is plain technical English', () => {
    expect(hits).toEqual([])
  })
})
