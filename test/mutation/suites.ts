import { suitesOfTiers } from '../setup/tiers.ts'

/** What judges the mutants of a part of `src` in addition to the suites of the same name: beginnings of paths in `test`. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  policy: [],
  authz: [],
  governor: ['http/rate-limits', 'http/stream-costs', 'http/kept-bytes', 'http/evaluation', 'resources/batch-cost', 'mcp/units'],
  http: [
    'resources/batch',
    'resources/cards-search',
    'resources/changes',
    'resources/claims',
    'resources/files',
    'auth/tokens/',
    'metrics',
  ],
  resources: ['http/changed-facts', 'http/not-found', 'metrics'],
  listing: ['http/paging', 'resources/cards'],
  mail: ['resources/notices', 'web/inbox', 'auth/accounts/alerts'],
  reminders: ['resources/notices'],
  store: [
    'resources/webhooks',
    'resources/work',
    'resources/changes',
    'resources/cascades',
    'resources/pending-removals',
    'resources/boards-snapshot',
    'resources/lifecycle',
  ],
  auth: ['http/credentials', 'http/revocation', 'web/account', 'web/provider', 'web/sign', 'web/passkey', 'web/token', 'web/second-step'],
  'decision-log': ['http/decision-log', 'http/sampled-log'],
}

/** Suites of few and long tests: a mutant that only they notice deserves a test of its own. */
const EXHAUSTIVE = [
  'http/matrix',
  'http/fuzz',
  'resources/batch-placements',
  'resources/ready',
  'listing/rebalancing',
  'stress/',
  'admin/board-import',
  'admin/backup',
  'web/operations-matrix',
  'policy/second-domain',
]

/**
 * The suites of the quick tier that judge mutants of the files. Stryker finds by coverage which of their tests reach a mutant, so a folder
 * too many costs time only. For a part that is not listed: the whole tier. For a driver: all suites of the storage.
 */
export function judgingSuites(files: readonly string[]): string[] {
  const parts = new Set(files.map((path) => path.split('/')[1]!))
  const { quick: all, full } = suitesOfTiers()
  const quick = all.filter((suite) => !EXHAUSTIVE.some((prefix) => suite.startsWith(`test/${prefix}`)))
  // Most suites of a driver start processes or a Redis.
  if (files.every((path) => /^src\/store\/(fs|redis)\//.test(path)))
    return [...new Set([...all, ...full])].filter((suite) => suite.startsWith('test/store/'))
  if ([...parts].some((part) => FURTHER[part] === undefined)) return quick
  const prefixes = [...parts].flatMap((part) => [`${part}/`, ...FURTHER[part]!])
  return quick.filter((suite) => prefixes.some((prefix) => suite.startsWith(`test/${prefix}`)))
}
