import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
const text = (file: string) => readFileSync(join(root, file), 'utf8')
const sources = files('src').filter((file) => file.endsWith('.ts'))

/** Each folder imports only from those before it, and from itself. */
const ORDER = [
  'policy',
  'model',
  'store',
  'authz',
  'listing',
  'auth',
  'resources',
  'admin',
  'http',
  'web',
  'demo',
  'app.ts',
  'config.ts',
  'cli',
  'main.ts',
]
const roomOf = (file: string) => relative('src', file).split('/')[0]!
const imports = (file: string) =>
  [...text(file).matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)].map(([, path]) => join(dirname(file), path!))

describe('the house', () => {
  test('every room has its place', () => {
    expect([...new Set(sources.map(roomOf))].toSorted()).toEqual(ORDER.toSorted())
  })

  test.each(sources)('%s imports only from the rooms before its own', (file) => {
    const place = ORDER.indexOf(roomOf(file))
    expect(imports(file).filter((target) => ORDER.indexOf(roomOf(target)) > place)).toEqual([])
  })

  test('nothing goes in circles', () => {
    const graph = new Map(sources.map((file) => [file, imports(file)]))
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): string[] => {
      if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' → ')]
      if (done.has(file)) return []
      const found = (graph.get(file) ?? []).flatMap((target) => visit(target, [...path, file]))
      done.add(file)
      return found
    }
    expect(sources.flatMap((file) => visit(file, []))).toEqual([])
  })

  test.each(sources)('%s is of a size that one can read', (file) => {
    expect(text(file).split('\n').length).toBeLessThanOrEqual(300)
  })

  test('the policy engine knows nothing of kanban or HTTP', () => {
    for (const file of sources.filter((source) => roomOf(source) === 'policy'))
      expect([file, /\b(board|card|http|request|h3)\b/i.exec(text(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''))?.[0]]).toEqual([
        file,
        undefined,
      ])
  })

  test('nobody decides outside of it', () => {
    for (const file of sources.filter((source) => !['policy', 'demo', 'cli'].includes(roomOf(source))))
      expect([file, /\brole\s*[!=]==|[!=]==\s*'(owner|admin|member|private)'/.exec(text(file))?.[0]]).toEqual([file, undefined])
  })

  test('no token, host or path of a machine is written anywhere', () => {
    for (const file of [
      ...sources,
      ...files('fixtures'),
      ...files('policies'),
      ...files('test').filter((file) => file !== 'test/architecture.test.ts'),
      'README.md',
      'package.json',
      'package-lock.json',
    ]) {
      expect([file, /lk_pat_[0-9a-z]{20}[0-9A-Za-z]{33}|"resolved"|\/work\//.exec(text(file))?.[0]]).toEqual([file, undefined])
    }
  })
})
