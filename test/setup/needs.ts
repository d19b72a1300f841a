import { dirname, join } from 'node:path'
import { parseSync } from 'rolldown/utils'
import { isFile, readText } from '../lint/syntax.ts'

/** What a suite can need in addition to Node.js: the built service in `dist`, a program, or the Redis that suites share. */
export type Need = 'build' | 'redis-server' | 'shared Redis' | 'chromium' | 'proxies'
/** The test files that need something, by paths relative to the root of the repository. */
export type Needs = Readonly<Record<Need, readonly string[]>>

/** Suites on several drivers import it. */
const DRIVERS = 'test/support/drivers.ts'
/** A suite needs what it imports, directly or through other files of `test`. */
const FILES_OF: Readonly<Record<Need, readonly string[]>> = {
  build: ['test/support/process.ts'],
  'redis-server': ['test/support/redis.ts'],
  'shared Redis': [DRIVERS, 'test/support/redis-driver.ts'],
  chromium: ['test/support/chromium.ts', 'test/bench/pages.ts'],
  proxies: ['test/support/path-proxy.ts'],
}

/** Finds what test files need. */
export function findNeeds(testFiles: readonly string[]): Needs {
  const imported = importedBy(testFiles)
  return Object.fromEntries(
    Object.entries(FILES_OF).map(([need, paths]) => [
      need,
      testFiles.filter((file) => paths.some((path) => imported.get(file)!.has(path))),
    ]),
  ) as unknown as Needs
}

/** What each file imports. It is read once: the tiers and the needs ask for the same files. */
const importsOfFiles = new Map<string, readonly string[]>()

/**
 * The files of `test` that each test file imports, directly or through others. Types are not counted. Suites on several drivers need
 * Redis only for one of these, so what `drivers.ts` imports is not counted either.
 */
export function importedBy(testFiles: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const reachedFrom = (file: string) => {
    const reached = new Set([file])
    for (const path of reached) {
      if (path === DRIVERS) continue
      if (!importsOfFiles.has(path)) importsOfFiles.set(path, importedTestFiles(path))
      // A file that is missing is reported by the suite that imports it.
      for (const imported of importsOfFiles.get(path)!) if (isFile(imported)) reached.add(imported)
    }
    return reached
  }
  return new Map(testFiles.map((file) => [file, reachedFrom(file)]))
}

/** Only the list of imports is taken from the parser: the syntax trees of all suites would take seconds of each run. */
function importedTestFiles(path: string): string[] {
  const text = readText(path)
  const { staticImports, staticExports, dynamicImports } = parseSync(path, text).module
  const specifiers = [
    ...staticImports.flatMap(({ start, moduleRequest }) => (text.startsWith('import type', start) ? [] : [moduleRequest.value])),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ isType, moduleRequest }) => (isType || moduleRequest === null ? [] : [moduleRequest.value])),
    ),
    // The quotes are part of the request. Without them it is not a name.
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ]
  return specifiers
    .filter((specifier) => specifier.startsWith('.') && specifier.endsWith('.ts'))
    .map((specifier) => join(dirname(path), specifier))
    .filter((imported) => imported.startsWith('test/'))
}
