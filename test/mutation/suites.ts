import { suitesOfTiers } from '../setup/tiers.ts'

/** What runs against the mutants of a part of `src`, besides the suites of the same name: those that use it most, by folders of `test`. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  policy: ['authz'],
  authz: ['http', 'policy'],
  http: ['resources', 'auth/tokens'],
  resources: ['http'],
  listing: ['http', 'resources'],
  store: ['http', 'resources', 'admin'],
  auth: ['http', 'web'],
  'decision-log': ['http', 'cli'],
}

/**
 * The suites of the quick tier that judge mutants of the files. Stryker finds by coverage which of their tests reach a mutant, so a folder too
 * many costs time only. For a part that is not listed: the whole tier. For a driver: all suites of the storage.
 */
export function judgingSuites(files: readonly string[]): string[] {
  const parts = new Set(files.map((path) => path.split('/')[1]!))
  const { quick, full } = suitesOfTiers()
  // Most suites of a driver start processes or a Redis.
  if (files.every((path) => /^src\/store\/(fs|redis)\//.test(path)))
    return [...new Set([...quick, ...full])].filter((suite) => suite.startsWith('test/store/'))
  if ([...parts].some((part) => FURTHER[part] === undefined)) return [...quick]
  const folders = [...parts].flatMap((part) => [part, ...FURTHER[part]!])
  return quick.filter((suite) => folders.some((folder) => suite.startsWith(`test/${folder}/`)))
}
