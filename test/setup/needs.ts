import { parse, importsOf } from '../lint/syntax.ts'

/** What a suite can need besides Node.js: the built service in `dist`, a program, or the Redis that suites share. */
export type Need = 'build' | 'redis-server' | 'shared Redis' | 'chromium'
/** The test files that need something, by paths relative to the root of the repository. */
export type Needs = Readonly<Record<Need, readonly string[]>>

/** A suite needs what it imports, directly or through other files of `test`. */
const NEED_OF: Readonly<Record<string, Need>> = {
  'test/support/process.ts': 'build',
  'test/support/redis.ts': 'redis-server',
  'test/support/drivers.ts': 'shared Redis',
  'test/support/chromium.ts': 'chromium',
}

/** Finds what test files need. Types are not counted. */
export function findNeeds(testFiles: readonly string[]): Needs {
  const needs: Record<Need, string[]> = { build: [], 'redis-server': [], 'shared Redis': [], chromium: [] }
  const imports = new Map<string, string[]>()
  for (const file of testFiles) {
    const reached = new Set([file])
    for (const path of reached) {
      if (!imports.has(path)) imports.set(path, importedTestFiles(path))
      for (const imported of imports.get(path)!) reached.add(imported)
    }
    for (const [path, need] of Object.entries(NEED_OF)) if (reached.has(path)) needs[need].push(file)
  }
  return needs
}

function importedTestFiles(path: string): string[] {
  return importsOf(parse(path)).flatMap(({ typeOnly, path: imported }) =>
    !typeOnly && imported?.startsWith('test/') === true && imported.endsWith('.ts') ? [imported] : [],
  )
}
