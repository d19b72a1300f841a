import { filesBelow } from '../lint/syntax.ts'

/** A source file that is mutated. */
export interface Subject {
  readonly path: string
  /** the suites that must notice, the quickest and most specific first */
  readonly suites: readonly string[]
  /** what these suites run on: the value of LANEKEEPER_DRIVERS */
  readonly drivers: string
}

/** Suites by a short form of their paths, separated by spaces. */
const suites = (names: string) => names.split(' ').map((name) => `test/${name}.test.ts`)

/** All suites of a folder, the one of the file itself first. */
const folder = (path: string, first: string) => [
  ...suites(`${path}/${first}`),
  ...filesBelow(`test/${path}`).filter((name) => name.endsWith('.test.ts')),
]
const tokens = (first: string) => folder('auth/tokens', first)
const accounts = (first: string) => folder('auth/accounts', first)
const DECISIONS = suites('http/refusal-members http/pipeline http/not-found http/credentials http/matrix')
const FILES = suites('resources/files resources/attachments http/limits listener/listener')
const LISTS = suites('resources/batch-placements resources/cards http/paging http/order resources/cards-list')
const TRANSACTIONS = suites('store/transaction store/contract http/round-trips admin/garbage-collection')
const FOLDER = suites('store/fs-journal store/fs-manifest store/contract store/contract-dump stress/fs-crash')
const REDIS = suites('store/contract store/contract-dump store/redis-commit-leases store/redis-commit store/redis-network store/open')

const PIPELINE = suites(
  'http/pipeline http/round-trips http/refusal-members http/etags http/revocation resources/attachments http/paging http/not-found http/credentials http/observability auth/tokens/usage http/rate-limits http/headers http/changed-facts http/matrix',
)

/** Which suites must notice a mistake in which file. Without `drivers`, they run on memory. */
const MAP: Readonly<Record<string, { readonly drivers?: string; readonly suites: readonly string[] }>> = {
  'src/http/principal.ts': {
    suites: [...tokens('rotation'), ...suites('http/refusal-members http/pipeline http/revocation http/credentials')],
  },
  'src/http/prefetch.ts': {
    suites: suites('http/round-trips http/input http/not-found http/credentials http/changed-facts'),
  },
  'src/http/permission.ts': { suites: [...DECISIONS, ...suites('http/changed-facts')] },
  'src/http/pipeline.ts': { suites: PIPELINE },
  'src/http/render.ts': { suites: [...PIPELINE, ...suites('http/list-etags http/fields http/headers')] },
  'src/http/preconditions.ts': { suites: suites('http/preconditions http/etags resources/files http/round-trips') },
  'src/http/request-target.ts': { suites: suites('listener/listener') },
  'src/http/body.ts': { suites: suites('http/body http/input listener/listener resources/attachments') },
  'src/http/json.ts': { suites: suites('http/json http/input http/limits') },
  'src/http/upload.ts': { suites: [...suites('http/upload'), ...FILES] },
  'src/http/download.ts': { suites: [...suites('http/download'), ...FILES, ...suites('http/headers')] },

  'src/listener/listener.ts': { suites: suites('listener/slow-clients http/bounded-answers') },
  'src/http/evaluation.ts': { suites: suites('http/evaluation http/not-found http/pipeline http/matrix') },
  'src/http/question.ts': { suites: suites('http/evaluation http/not-found http/access-search http/input') },
  'src/http/access-search.ts': { suites: suites('http/access-search http/input') },
  'src/http/body-members.ts': { suites: suites('http/evaluation resources/batch http/openapi/document') },
  'src/http/batch.ts': { suites: suites('resources/batch resources/batch-cost http/pipeline http/matrix') },
  'src/http/event-stream.ts': { suites: suites('http/event-stream resources/changes') },
  'src/http/long-poll.ts': { suites: suites('resources/changes store/contract-append') },
  'src/http/idempotency.ts': { suites: suites('http/idempotency http/stored-responses resources/attachments') },
  'src/http/response-texts.ts': { suites: suites('http/response-texts http/stored-responses') },
  'src/http/compression.ts': { suites: suites('http/compression mcp/compression') },
  'src/http/fields.ts': { suites: suites('http/fields http/input') },

  'src/auth/tokens/format.ts': { suites: [...tokens('format'), ...suites('http/credentials')] },
  'src/auth/tokens/issue.ts': { suites: tokens('rotation') },
  'src/auth/tokens/lifecycle.ts': { suites: tokens('lifecycle') },
  'src/auth/tokens/usage.ts': { suites: tokens('usage') },
  'src/auth/accounts/passwords.ts': { suites: accounts('passwords') },
  'src/auth/accounts/challenges.ts': { suites: [...accounts('second-factor'), ...suites('web/passkey-replays')] },
  'src/auth/accounts/change-password.ts': { suites: suites('web/account') },
  'src/auth/accounts/entry.ts': { suites: [...accounts('sign-in'), ...suites('web/account web/second-step')] },
  'src/auth/accounts/new-password.ts': { suites: accounts('new-password') },
  'src/auth/accounts/notices.ts': { suites: [...accounts('second-factor'), ...suites('web/account')] },
  'src/auth/accounts/passkeys.ts': { suites: suites('web/passkey-replays web/second-step web/forms') },
  'src/auth/accounts/second-factor.ts': { suites: [...accounts('second-factor'), ...suites('web/second-step')] },
  'src/auth/accounts/second-step.ts': { suites: suites('web/passkey-replays web/second-step web/forms') },
  'src/auth/accounts/sessions.ts': { suites: [...accounts('sessions'), ...suites('web/sign-in web/token-lifecycle')] },
  'src/auth/accounts/sign-in.ts': { suites: [...accounts('sign-in'), ...suites('web/sign-in web/token-lifecycle')] },
  'src/auth/accounts/sign-up.ts': { suites: [...accounts('sign-up'), ...suites('web/sign-up web/sign-in')] },
  'src/auth/accounts/throttle.ts': { suites: accounts('throttle') },
  'src/store/counters.ts': { suites: [...suites('store/counters http/rate-limits'), ...accounts('throttle')] },

  'src/store/transaction.ts': {
    suites: [...suites('store/transaction-reads store/transaction-parts'), ...TRANSACTIONS, ...suites('http/changed-facts')],
  },
  'src/store/read-set.ts': {
    suites: suites('store/transaction-parts store/transaction-reads store/transaction http/round-trips http/changed-facts'),
  },
  'src/store/references.ts': { suites: suites('store/contract store/transaction-parts store/redis-store-reads') },
  'src/store/transact.ts': { suites: [...suites('store/transact'), ...TRANSACTIONS] },
  'src/store/commit-leases.ts': { suites: suites('store/commit-leases store/contract http/contention') },
  'src/store/writes.ts': { suites: suites('store/only-removes store/transaction-own-writes store/transaction') },
  'src/store/index-check.ts': { suites: suites('admin/check admin/check-concurrency store/migrations') },
  'src/store/migrations/run.ts': { suites: suites('store/migrations') },
  'src/store/migrations/list.ts': { suites: suites('store/migrations admin/imports') },
  'src/store/fs/blob-driver.ts': { drivers: 'fs', suites: suites('store/fs-blob-driver store/fs-blobs resources/attachments') },
  'src/store/fs/checkpoint.ts': {
    drivers: 'fs',
    suites: [...suites('store/fs-checkpoint store/fs-journal-memory store/fs-store'), ...FOLDER],
  },
  'src/store/fs/compaction.ts': {
    drivers: 'fs',
    suites: [...suites('store/fs-store-compaction store/fs-release store/fs-memory stress/fs-crash-release metrics'), ...FOLDER],
  },
  'src/store/fs/disk.ts': { drivers: 'fs', suites: [...suites('store/fs-disk'), ...FOLDER] },
  'src/store/fs/folder.ts': { drivers: 'fs', suites: [...suites('store/fs-folder'), ...FOLDER] },
  'src/store/fs/journal.ts': { drivers: 'fs', suites: [...suites('store/fs-journal-files'), ...FOLDER] },
  'src/store/fs/loaded-partitions.ts': {
    drivers: 'fs',
    suites: [...suites('store/fs-release store/fs-memory metrics stress/fs-crash-release'), ...FOLDER],
  },
  'src/store/pending-changes.ts': { drivers: 'fs', suites: [...suites('store/pending-changes'), ...FOLDER] },
  'src/store/fs/lock.ts': {
    drivers: 'fs',
    suites: suites('store/fs-lock-sockets store/fs-lock store/fs-socket-address store/fs-owner store/fs-read-only'),
  },
  'src/store/fs/socket-address.ts': { drivers: 'fs', suites: suites('store/fs-socket-address store/fs-lock-sockets store/fs-lock') },
  'src/store/fs/manifest.ts': { drivers: 'fs', suites: [...suites('store/fs-manifest store/fs-copies'), ...FOLDER] },
  'src/store/fs/partitions.ts': {
    drivers: 'fs',
    suites: [
      ...suites('store/fs-release store/fs-memory store/fs-first-tombstones store/fs-manifest store/fs-damaged store/fs-store'),
      ...suites('store/fs-store-compaction admin/garbage-collector'),
      ...FOLDER,
    ],
  },
  'src/store/fs/reserve.ts': { drivers: 'fs', suites: suites('store/fs-full') },
  'src/store/semaphore.ts': { drivers: 'fs', suites: suites('store/fs-memory') },
  'src/store/fs/store.ts': {
    drivers: 'fs',
    suites: [...suites('store/fs-store store/fs-store-compaction store/fs-release store/fs-memory store/fs-read-only'), ...FOLDER],
  },
  'src/store/fs/writer.ts': { drivers: 'fs', suites: [...suites('store/fs-writer store/fs-owner store/fs-full'), ...FOLDER] },
  'src/store/redis/blob-driver.ts': {
    drivers: 'redis',
    suites: suites('store/redis-blob-driver store/redis-replication resources/attachments store/open'),
  },
  'src/store/redis/client.ts': {
    drivers: 'redis',
    suites: [...suites('store/redis-client store/redis-credentials store/redis-replication'), ...REDIS],
  },
  'src/store/redis/counters.ts': { drivers: 'redis', suites: suites('store/redis-counters') },
  'src/store/redis/commits.ts': {
    drivers: 'redis',
    suites: [...suites('store/redis-store store/redis-replication store/contract-append resources/changes'), ...REDIS],
  },
  'src/store/redis/codec.ts': { drivers: 'redis', suites: [...suites('store/redis-store store/redis-store-reads'), ...REDIS] },
  'src/store/redis/dump.ts': { drivers: 'redis', suites: suites('store/redis-dump-faults store/redis-dump store/contract-dump') },
  'src/store/redis/identity.ts': { drivers: 'redis', suites: suites('store/redis-identity store/redis-connections store/redis-cluster') },
  'src/store/redis/slots.ts': { drivers: 'redis', suites: suites('store/redis-identity store/redis-pool store/redis-cluster') },
  'src/store/redis/long-reads.ts': { drivers: 'redis', suites: suites('store/redis-long-reads store/contract store/redis-store-reads') },
  'src/store/redis/pool.ts': {
    drivers: 'redis',
    suites: [...suites('store/redis-pool store/redis-repeated-reads store/redis-connections store/redis-credentials'), ...REDIS],
  },
  'src/store/redis/scan.ts': { drivers: 'redis', suites: suites('store/redis-scan admin/check-drivers store/contract') },
  'src/store/redis/scripts.ts': {
    drivers: 'redis',
    suites: [
      ...suites('store/redis-scripts store/redis-full store/redis-long-reads store/redis-dump store/redis-dump-faults'),
      ...suites('store/contract-dump'),
      ...REDIS,
    ],
  },
  'src/store/redis/store.ts': {
    drivers: 'redis',
    suites: [
      ...suites('store/redis-store store/redis-store-reads store/redis-identity store/redis-connections store/redis-credentials'),
      ...suites('store/contract store/transaction-parts http/round-trips'),
      ...REDIS,
    ],
  },

  'src/authz/facts.ts': { suites: [...suites('authz/facts'), ...DECISIONS, ...suites('http/changed-facts')] },
  'src/resources/targets.ts': {
    suites: suites('http/not-found http/round-trips resources/claims resources/cascades http/matrix'),
  },
  'src/resources/cascades.ts': {
    suites: suites(
      'resources/cascades-records resources/cascades resources/pending-removals resources/cards resources/files admin/garbage-collection http/updated-at',
    ),
  },
  'src/resources/cards/schema.ts': { suites: suites('resources/filters') },
  'src/listing/pages.ts': { suites: [...suites('listing/pages http/snapshots listing/ranked-pages'), ...LISTS] },
  'src/listing/placement.ts': { suites: [...suites('listing/ranks'), ...LISTS, ...suites('http/input http/evaluation-related')] },
  'src/listing/ranks.ts': { suites: [...suites('listing/ranks'), ...LISTS] },

  'src/web/forms.ts': { suites: suites('web/form-verification web/forms web/sign-in web/token-lifecycle') },
  'src/web/account/re-authentication.ts': { suites: suites('web/token-lifecycle web/second-step web/account') },
}

export const subjects: readonly Subject[] = Object.entries(MAP).map(([path, { drivers = 'memory', suites: mapped }]) => ({
  path,
  drivers,
  suites: [...new Set(mapped)],
}))
