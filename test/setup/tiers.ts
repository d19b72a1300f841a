import { filesBelow } from '../lint/syntax.ts'
import type { Tier } from '../support/tier.ts'
import { importedBy } from './needs.ts'

/** Suites that need nothing but Node.js, and whose searches take long. By the beginnings of their paths. Those with a sample are quick. */
const LONG = ['test/stress/', 'test/setup/interrupted/', 'test/http/bounded-answers']
/** A suite that imports one of these is not in the quick tier: it starts processes, a Redis, a browser or Python. */
const NOT_QUICK = ['process.ts', 'redis.ts', 'chromium.ts', 'python.ts'].map((name) => `test/support/${name}`)

/** These suites are in no tier: they need packages that the project does not depend on. `npm run test:compatibility` runs them. */
export const COMPATIBILITY = 'test/compatibility/'

/** Which suites each tier runs, by paths relative to the root of the repository. */
export function suitesOfTiers(): Readonly<Record<Tier, readonly string[]>> {
  const all = filesBelow('test').filter((path) => path.endsWith('.test.ts') && !path.startsWith(COMPATIBILITY))
  const imported = importedBy(all)
  const imports = (suite: string, path: string) => imported.get(suite)!.has(path)
  const isSampled = (suite: string) => imports(suite, 'test/support/sample.ts')
  const isLong = (suite: string) => LONG.some((prefix) => suite.startsWith(prefix)) && !isSampled(suite)
  const quick = all.filter((suite) => !NOT_QUICK.some((path) => imports(suite, path)) && !isLong(suite))
  return {
    quick,
    drivers: quick.filter((suite) => imports(suite, 'test/support/drivers.ts') && !isSampled(suite)),
    full: all.filter((suite) => !quick.includes(suite) || isSampled(suite)),
  }
}
