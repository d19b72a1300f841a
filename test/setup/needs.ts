import { parse, importsOf, isFile } from '../lint/syntax.ts'

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

/**
 * The files of `test` that each test file imports, directly or through others. Types are not counted. Suites on several drivers need
 * Redis only for one of these, so what `drivers.ts` imports is not counted either.
 */
export function importedBy(testFiles: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const imports = new Map<string, readonly string[]>()
  const reachedFrom = (file: string) => {
    const reached = new Set([file])
    for (const path of reached) {
      if (path === DRIVERS) continue
      if (!imports.has(path)) imports.set(path, importedTestFiles(path))
      // A file that is missing is reported by the suite that imports it.
      for (const imported of imports.get(path)!) if (isFile(imported)) reached.add(imported)
    }
    return reached
  }
  return new Map(testFiles.map((file) => [file, reachedFrom(file)]))
}

function importedTestFiles(path: string): string[] {
  return importsOf(parse(path)).flatMap(({ typeOnly, path: imported }) =>
    !typeOnly && imported?.startsWith('test/') === true && imported.endsWith('.ts') ? [imported] : [],
  )
}
