import { setMaxListeners } from 'node:events'
import type { H3 } from 'h3'
import { createAbilities } from './http/abilities.ts'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import memoryDriver from 'unstorage/drivers/memory'
import { createPasswords, type Passwords } from './auth/accounts/passwords.ts'
import type { IdentityProvider } from './auth/provider/identity-provider.ts'
import { sealIn, SecretKeys } from './auth/secret-keys.ts'
import type { AuditRecorder } from './audit/recorder.ts'
import type { DecisionLog } from './decision-log/log.ts'
import { auditObserver, usageObserver } from './http/audit-observer.ts'
import { RequestLog } from './http/decision-log.ts'
import { PublicUrl } from './http/public-url.ts'
import { DeliveryBudget } from './governor/delivery-budget.ts'
import { RateLimits, type RateLimitOptions } from './governor/quotas.ts'
import type { Sink } from './http/decision-record.ts'
import { Recalls } from './http/recalls.ts'
import { createRouteTable } from './http/routes.ts'
import { sampleLog } from './http/sampled-log.ts'
import type { Services } from './http/services.ts'
import type { SendMail } from './mail/mailer.ts'
import { AlertMails } from './mail/alert-mails.ts'
import { NoticeMailer } from './mail/notice-mails.ts'
import type { SessionLifetimes } from './model/durations.ts'
import { systemRandom, type RandomSource } from './model/ids.ts'
import { threadReader, type BoardReader } from './importers/board-reader.ts'
import { limits } from './model/limits.ts'
import { systemClock, type Clock } from './model/time.ts'
import { loadPolicy } from './authz/shipped-policy.ts'
import type { Operation } from './resources/operation.ts'
import { Reminders } from './reminders/reminders.ts'
import { requireProof } from './resources/policy-proof.ts'
import { Turns } from './governor/turns.ts'
import { operations } from './resources/table.ts'
import type { Engine } from './policy/engine.ts'
import { PolicyInvariantError } from './policy/folder.ts'
import type { Proof } from './policy/prove.ts'
import { createBlobs, type Blobs } from './store/blobs.ts'
import type { SharedCounters } from './store/counters.ts'
import type { Store } from './store/port.ts'
import { UsageRecorder } from './auth/tokens/usage.ts'
import { createSurfaces } from './surfaces.ts'
import { webhookAbilities } from './webhooks/abilities.ts'
import { Deliverer, webhookObserver } from './webhooks/deliverer.ts'
import type { send } from './webhooks/send.ts'
import { Targets } from './webhooks/targets.ts'

/** How many tokens one process remembers: about 200 bytes each. */
const SEEN_TOKENS = 50_000

/** The options of an app. */
export interface AppOptions {
  readonly store: Store
  readonly log: Logger
  /** the bytes of files; default: in memory */
  readonly blobs?: Blobs
  /** the maximum size of an upload in bytes; default: 25 MiB */
  readonly uploadBytes?: number
  /** the bytes that the files of a workspace may have, 0 without a limit; default: 10 GiB */
  readonly workspaceBytes?: number
  /** default: the tables in `policies/` */
  readonly engine?: Engine
  /** default: the operations table */
  readonly operations?: readonly Operation[]
  /** prefixes of tokens issued before a rename, without `_pat_` */
  readonly legacyPrefixes?: readonly string[]
  /** the URL where users reach the service, such as `https://example.org/kanban`; default: the Host of each request */
  readonly url?: string | undefined
  /** the host name or address that the service listens on, which a request to /mcp may name */
  readonly host?: string | undefined
  /** the number of trusted proxies that append to X-Forwarded-For; default: 0 */
  readonly proxies?: number
  /** default: requests are not limited */
  readonly rateLimits?: RateLimitOptions | undefined
  /** shared by all processes that count together, for rate limits and sign-ins; default: this process counts alone */
  readonly counters?: SharedCounters | undefined
  /** whether the report of the policy is served at /policies; default: true */
  readonly policyPage?: boolean
  /** how cards are examined one by one; default: without delaying other requests */
  readonly turns?: Turns | undefined
  readonly passwords?: Passwords
  /** what secrets are sealed with; default: a key that ends with the app */
  readonly secretKeys?: SecretKeys | undefined
  /** lets people sign in; default: none */
  readonly provider?: IdentityProvider | undefined
  /** whether people have passwords, passkeys and codes; default: true */
  readonly hasPasswords?: boolean
  /** how long sessions of the web app last; default: seven days unused, 30 in any case */
  readonly sessions?: SessionLifetimes | undefined
  /** reads the files of other programs; default: in threads */
  readonly readBoardFile?: BoardReader | undefined
  /** sends alerts to people; default: no mail is sent */
  readonly mail?: SendMail | undefined
  /** where webhooks may send to; default: public addresses, with https */
  readonly webhookTargets?: Targets | undefined
  /** sends a delivery; another function is for tests only */
  readonly sendDelivery?: typeof send | undefined
  /** what deliveries of webhooks may cost; default: by the rate limits. Another one is for tests only */
  readonly deliveryBudget?: DeliveryBudget | undefined
  /** how long webhooks wait after a delivery, in milliseconds: for tests only */
  readonly deliveryPause?: number | undefined
  /** the number of records that one commit of a cascade may change; the tests use small ones */
  readonly batch?: number | undefined
  readonly clock?: Clock
  readonly random?: RandomSource
  /** gets the record of every request below /v1; default: records are not stored */
  readonly decisionLog?: DecisionLog | undefined
  /** gets the audit trail; default: no audit trail */
  readonly audit?: AuditRecorder | undefined
  /** get the record of every request below /v1 after it was answered, beside the usage of tokens and the audit trail */
  readonly sinks?: readonly Sink[]
}

/** The service without a listener. */
export interface App {
  readonly h3: H3
  /** what was proved at start */
  readonly proof: Proof
  readonly services: Services
  readonly passwords: Passwords
  /** delivers webhooks after its start, which whoever serves the app begins and ends */
  readonly deliverer: Deliverer
  /** tells of what time causes after its start, which whoever serves the app begins and ends */
  readonly reminders: Reminders
  /** mails notices after its start, which whoever serves the app begins and ends */
  readonly noticeMailer: NoticeMailer
  /** sends alerts by mail; undefined: no mail is sent */
  readonly mail: AlertMails | undefined
  fetch(request: globalThis.Request): Promise<Response>
  /**
   * Uses another policy for every request that arrives from now on. Requests in flight end under the policy they began with.
   * @param proved what another thread has proved; without it, the policy is proved here, which takes part of a second
   * @throws {PolicyInvariantError} if the policy does not hold, or is not the one that was proved; it is not replaced
   */
  replacePolicy(engine: Engine, proved?: ProvedPolicy): void
  /** From now on `/readyz` answers 503, so that load balancers send no more requests. All requests are still answered. */
  drain(): void
  /** Requests that wait for something are answered now, and streams end. */
  stop(): void
}

/** What was proved, and the policy it was proved for. */
export interface ProvedPolicy {
  /** the hash of the policy */
  readonly hash: string
  readonly proof: Proof
}

/**
 * Proves the policy and builds the service on a store.
 * @throws {PolicyError} if a policy file is refused
 * @throws {PolicyInvariantError} if an invariant of the policy does not hold
 */
export function createApp(options: AppOptions): App {
  const { store, clock = systemClock, random = systemRandom } = options
  const log = sampleLog(options.log, clock)
  const engine = options.engine ?? loadPolicy()
  const rows = options.operations ?? operations
  let proof = requireProof(engine, rows)

  const { audit, proxies = 0, passwords = createPasswords(), counters, url } = options
  const mail = options.mail && new AlertMails({ send: options.mail, clock, counters, log })
  const site = new PublicUrl(url)
  const { secretKeys = SecretKeys.random(), webhookTargets: targets = Targets.from(undefined) } = options
  const stopping = new AbortController()
  // All that waits listens to it.
  setMaxListeners(0, stopping.signal)
  const usage = new UsageRecorder({ store, clock, random })
  const deliverer = new Deliverer({
    services: () => services,
    random,
    targets,
    open: (sealed, owner) => secretKeys.open(sealed, owner),
    budget: options.deliveryBudget ?? (options.rateLimits && new DeliveryBudget(options.rateLimits.quotas)),
    send: options.sendDelivery,
    pause: options.deliveryPause,
  })
  const reminders = new Reminders({ services: () => services, random })
  const noticeMailer = new NoticeMailer({ services: () => services, store, clock, random, log, counters, url, send: options.mail })
  const webhooks = webhookAbilities({
    attempts: deliverer.attempts,
    targets,
    seal: (tx, text, owner) => sealIn(tx, secretKeys, text, owner),
  })
  let services: Services = {
    engine,
    current: () => services,
    store,
    apiPath: `${site.base}/v1`,
    route: createRouteTable(rows),
    operations: rows,
    abilities: createAbilities(webhooks),
    legacyPrefixes: options.legacyPrefixes ?? [],
    blobs: options.blobs ?? createBlobs(memoryDriver()),
    uploadBytes: options.uploadBytes ?? limits.uploadBytes,
    workspaceBytes: (options.workspaceBytes ?? limits.workspaceBytes) || Infinity,
    usage,
    audit,
    // With `max`, the memory of all entries would be allocated now, which takes longer than the rest of a start.
    seenTokens: new LRUCache({ maxSize: SEEN_TOKENS, sizeCalculation: () => 1 }),
    rateLimits: options.rateLimits && new RateLimits({ shared: counters, ...options.rateLimits }, clock),
    clock,
    random,
    batch: options.batch,
    log,
    turns: options.turns ?? new Turns(),
    runningKeys: new Set(),
    recalls: new Recalls(),
    stopping: stopping.signal,
    decisionLog: options.decisionLog && new RequestLog(options.decisionLog, clock),
    sinks: [
      usageObserver(usage),
      webhookObserver(deliverer),
      reminders.observe,
      noticeMailer.observe,
      ...(audit === undefined ? [] : [auditObserver(audit)]),
      ...(options.sinks ?? []),
    ],
    proxies,
  }
  let draining = false
  const h3 = createSurfaces({
    store,
    clock,
    random,
    audit,
    log,
    passwords,
    secretKeys,
    provider: options.provider,
    hasPasswords: options.hasPasswords !== false,
    readBoardFile: options.readBoardFile ?? threadReader(),
    sessions: options.sessions,
    mail,
    counters,
    site,
    host: options.host,
    proxies,
    quotas: options.rateLimits?.quotas,
    hasPolicyPage: options.policyPage !== false,
    services: () => services,
    isDraining: () => draining,
  })
  return {
    h3,
    get proof() {
      return proof
    },
    get services() {
      return services
    },
    passwords,
    deliverer,
    reminders,
    noticeMailer,
    mail,
    replacePolicy(next, proved = { hash: next.hash, proof: requireProof(next, rows) }) {
      if (proved.hash !== next.hash || proved.proof.failures.length > 0)
        throw new PolicyInvariantError(`the policy ${next.hash} is not the one that was proved`)
      proof = proved.proof
      services = { ...services, engine: next }
    },
    fetch: async (request) => h3.fetch(request),
    drain: () => void (draining = true),
    stop: () => {
      stopping.abort()
      void deliverer.stop()
      void reminders.stop()
      void noticeMailer.stop()
    },
  }
}
