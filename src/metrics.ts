import { once } from 'node:events'
import { createServer } from 'node:http'
import { isIPv6, type AddressInfo } from 'node:net'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { AuditCounts } from './audit/recorder.ts'
import type { LogCounts } from './decision-log/log.ts'
import type { DiskSpace } from './decision-log/space.ts'
import type { Awaitable } from './model/awaitable.ts'
import { decorateStore, type Store, type StoreMetrics } from './store/port.ts'
import type { DecisionRecord } from './http/decision-record.ts'
import { CannotListen } from './listener/listener.ts'

/** A metric of something whose state is read, by the member of that state. */
type StateMetric<Member extends string> = readonly [
  member: Member,
  Kind: typeof Counter | typeof Gauge,
  name: string,
  help: string,
  /** what the metrics of several workers become; default: their sum */
  aggregator?: 'min' | 'max',
]
/** Numbers, or several with a name each. What does not apply has no value. */
type State<Member extends string> = { readonly [Name in Member]?: number | Readonly<Record<string, number>> | undefined }

const STORE_METRICS: readonly StateMetric<keyof StoreMetrics>[] = [
  ['databaseBytes', Gauge, 'lanekeeper_database_bytes', 'Size of the database of the folder'],
  ['logBytes', Gauge, 'lanekeeper_database_log_bytes', 'Size of its log (WAL)'],
  [
    'transactions',
    Counter,
    'lanekeeper_database_transactions_total',
    'Transactions that were written to the folder, with one or more commits',
  ],
  ['rowsWritten', Counter, 'lanekeeper_database_rows_total', 'Rows that were written to the folder'],
  ['checkpoints', Counter, 'lanekeeper_checkpoints_total', 'How often the log was written to the database'],
  ['checkpointFailures', Counter, 'lanekeeper_checkpoint_failures_total', 'How often it could not be, so that the log grows'],
  ['checkpointSeconds', Gauge, 'lanekeeper_checkpoint_seconds', 'How long that took the last time'],
  ['freeBytes', Gauge, 'lanekeeper_disk_free_bytes', 'Space that is left on the disk of the folder'],
  ['loadedPartitions', Gauge, 'lanekeeper_loaded_workspaces', 'Workspaces of the folder that are in memory'],
  ['loadedBytes', Gauge, 'lanekeeper_loaded_bytes', 'Memory that they take, roughly, or records that were read from Redis'],
  ['partitionLoads', Counter, 'lanekeeper_workspace_loads_total', 'How often a workspace was loaded from the folder'],
  ['partitionReleases', Counter, 'lanekeeper_workspace_releases_total', 'How often a workspace was released from memory'],
  ['connections', Gauge, 'lanekeeper_redis_connections', 'Connections to Redis by their state'],
]

const LOG_METRICS: readonly StateMetric<keyof LogCounts>[] = [
  ['written', Counter, 'lanekeeper_decision_log_records_total', 'Records that the decision log has taken'],
  ['dropped', Counter, 'lanekeeper_decision_log_dropped_total', 'Records that the decision log could not take, and that were left out'],
  [
    'refused',
    Counter,
    'lanekeeper_decision_log_refused_total',
    'Requests that were refused because the decision log could not take their records',
  ],
]

const SPACE_METRICS: readonly StateMetric<'free'>[] = [
  ['free', Gauge, 'lanekeeper_decision_log_free_bytes', 'Space that is left on the disk of the decision log', 'min'],
]

const AUDIT_METRICS: readonly StateMetric<keyof AuditCounts>[] = [
  ['written', Counter, 'lanekeeper_audit_entries_total', 'Entries that the audit trail has taken'],
  ['dropped', Counter, 'lanekeeper_audit_dropped_total', 'Entries that it could not take, and that are lost'],
]

const DELIVERY_METRICS: readonly StateMetric<'delivered' | 'failed' | 'waiting'>[] = [
  ['delivered', Counter, 'lanekeeper_webhook_deliveries_total', 'Deliveries of webhooks that a receiver has taken'],
  ['failed', Counter, 'lanekeeper_webhook_failures_total', 'Attempts at deliveries of webhooks that have failed'],
  [
    'waiting',
    Gauge,
    'lanekeeper_webhook_waiting_seconds',
    'Age of the oldest change that a webhook has not delivered; 0: none waits',
    'max',
  ],
]

/** The metrics of one process, as values. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** Metrics for Prometheus: requests, policy decisions, storage and the process. */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests = this.#counter('lanekeeper_requests_total', 'Requests below /v1 by operation and status', 'operation', 'status')
  readonly #durations = new Histogram({
    name: 'lanekeeper_request_seconds',
    help: 'Duration of requests below /v1 by operation and status, from their arrival to their response',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  })
  readonly #decisions = this.#counter('lanekeeper_decisions_total', 'Policy decisions by stage, row and outcome', 'stage', 'row', 'outcome')
  readonly #conflicts = this.#counter(
    'lanekeeper_commit_conflicts_total',
    'Commits that failed because a concurrent commit changed what they read',
  )
  readonly #retries = this.#counter(
    'lanekeeper_request_retries_total',
    'Attempts after the first, caused by concurrent writes',
    'operation',
  )
  readonly #leases = this.#counter('lanekeeper_commit_leases_total', 'CommitLeases in a workspace that were taken after several conflicts')
  readonly #refusals = this.#counter(
    'lanekeeper_rate_limited_total',
    'Requests below /v1 that were refused, by the rate limit that they exceeded',
    'limit',
  )
  readonly #claims = this.#counter(
    'lanekeeper_claims_total',
    'Claims of cards: taken, renewed, run out (found when the card was taken again), and lost (writes that were refused by If-Claim)',
    'event',
  )
  readonly #work = this.#counter(
    'lanekeeper_work_total',
    'Work on cards: failed, stuck, asked, answered, and retried (failures forgotten)',
    'event',
  )
  readonly #questions = new Histogram({
    name: 'lanekeeper_question_seconds',
    help: 'How long questions about cards have waited for their answers',
    buckets: [60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86_400, 3 * 86_400, 7 * 86_400],
    registers: [this.registry],
  })
  readonly #policy = new Gauge({
    name: 'lanekeeper_policy_info',
    help: 'Always 1, with the hash of the policy in use',
    labelNames: ['policy'],
    registers: [this.registry],
  })
  readonly #reloads = this.#counter(
    'lanekeeper_policy_reloads_total',
    'Times that the policy was to be loaded again, by outcome: replaced or refused',
    'outcome',
  )
  readonly #storage = new Histogram({
    name: 'lanekeeper_storage_seconds',
    help: 'Duration of storage calls, by step and outcome',
    labelNames: ['step', 'outcome'],
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers: [this.registry],
  })

  /** read the states that have metrics */
  readonly #states: (() => Promise<void>)[] = []

  constructor() {
    // Processor time, memory, V8's garbage collection, file descriptors and the lag of the event loop.
    collectDefaultMetrics({ register: this.registry })
  }

  #counter(name: string, help: string, ...labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] })
  }

  /**
   * States the policy in use.
   * @param hash its hash
   */
  statePolicy(hash: string): void {
    this.#policy.reset()
    this.#policy.set({ policy: hash }, 1)
  }

  /** Counts an attempt to replace the policy. */
  countReload(isReplaced: boolean): void {
    this.#reloads.inc({ outcome: isReplaced ? 'replaced' : 'refused' })
  }

  /** Counts an answered request. */
  observe(record: DecisionRecord): void {
    const { operation = 'none', status, scope, decision, hidden, listed, attempts, exceeded, arrivedAt } = record
    this.#requests.inc({ operation, status })
    this.#durations.observe({ operation, status }, (performance.now() - arrivedAt) / 1000)
    if (scope !== undefined)
      this.#decisions.inc({ stage: 'scope', row: scope.row, outcome: scope.allowed ? 'allowed' : 'insufficient_scope' })
    if (decision !== undefined) this.#decisions.inc({ stage: 'permission', row: decision.row, outcome: decision.outcome })
    if (hidden !== undefined) this.#decisions.inc({ stage: 'permission', row: hidden.definition, outcome: 'not_found' })
    if (listed !== undefined) {
      this.#decisions.inc({ stage: 'list', row: listed.permission, outcome: 'allowed' }, listed.allowed)
      this.#decisions.inc({ stage: 'list', row: listed.permission, outcome: 'not_found' }, listed.asked - listed.allowed)
    }
    if (exceeded !== undefined) this.#refusals.inc({ limit: exceeded })
    if (attempts > 1) this.#retries.inc({ operation }, attempts - 1)
    this.#countClaims(record)
    this.#countWork(record)
  }

  #countClaims({ claimed = [], status, effect }: DecisionRecord): void {
    for (const event of claimed) {
      if (event === 'lost' && status === 412) this.#claims.inc({ event })
      if (event === 'lost' || effect !== 'done') continue
      this.#claims.inc({ event: event === 'renewed' ? 'renewed' : 'taken' })
      if (event === 'taken_over') this.#claims.inc({ event: 'run_out' })
    }
  }

  #countWork({ work = [], effect }: DecisionRecord): void {
    if (effect !== 'done') return
    for (const done of work) {
      this.#work.inc({ event: done.event })
      if (done.event === 'answered') this.#questions.observe(done.seconds)
    }
  }

  /** Returns a store whose calls are measured. Its state is read whenever the metrics are. */
  measure(store: Store): Store {
    // A disk that cannot be examined must not hide the other metrics.
    this.#watch(STORE_METRICS, () => store.metrics().catch(() => ({})))
    const timed = <T>(step: string, outcomeOf: (result: T) => string, work: () => Awaitable<T>): Awaitable<T> => {
      const stop = this.#storage.startTimer({ step })
      const count = (result: T): T => (stop({ outcome: outcomeOf(result) }), result)
      const failed = (error: unknown): never => {
        stop({ outcome: 'unavailable' })
        throw error
      }
      let result
      try {
        result = work()
      } catch (error) {
        return failed(error)
      }
      return result instanceof Promise ? result.then(count, failed) : count(result)
    }
    return decorateStore(store, {
      read: (partition, request) =>
        timed(
          'read',
          (snapshot) => (snapshot === null ? 'conflict' : 'done'),
          () => store.read(partition, request),
        ),
      commit: (partition, change) =>
        timed(
          'commit',
          (outcome) => {
            if (outcome === 'conflict') this.#conflicts.inc()
            return outcome
          },
          () => store.commit(partition, change),
        ),
      takeLease: (partition) => {
        this.#leases.inc()
        return store.takeLease(partition)
      },
    })
  }

  /**
   * Adds what a decision log has counted.
   * @param space of its disk, if it has one
   */
  watchLog(counts: () => LogCounts, space?: () => Promise<DiskSpace | undefined>): void {
    this.#watch(LOG_METRICS, counts)
    if (space !== undefined) this.#watch(SPACE_METRICS, async () => ({ free: (await space())?.free }))
  }

  /** Adds what the audit trail has counted. */
  watchAudit(counts: () => AuditCounts): void {
    this.#watch(AUDIT_METRICS, counts)
  }

  /** Adds what was delivered to webhooks. */
  watchDeliveries(counts: () => Record<'delivered' | 'failed' | 'waiting', number>): void {
    this.#watch(DELIVERY_METRICS, counts)
  }

  /** All metrics in the format of Prometheus. */
  async read(): Promise<string> {
    for (const read of this.#states) await read()
    return this.registry.metrics()
  }

  /** All metrics as values, to be added to the values of other processes. */
  async readValues(): Promise<MetricValues> {
    for (const read of this.#states) await read()
    return this.registry.getMetricsAsJSON()
  }

  /** Adds the metrics of a state. It is read whenever they are. */
  #watch<Member extends string>(table: readonly StateMetric<Member>[], read: () => Awaitable<State<Member>>): void {
    this.#states.push(async () => {
      const state: State<Member> = await read()
      for (const [member, Kind, name, help, aggregator = 'sum'] of table) {
        const value = state[member]
        if (value === undefined) continue
        const labelNames = typeof value === 'number' ? [] : ['state']
        const metric = this.registry.getSingleMetric(name) ?? new Kind({ name, help, labelNames, registers: [this.registry], aggregator })
        metric.reset()
        if (typeof value === 'number') (metric as Counter).inc(value)
        else for (const [label, count] of Object.entries<number>(value)) (metric as Counter).inc({ state: label }, count)
      }
    })
  }
}

/**
 * Serves `GET /metrics` on a separate address.
 * @param read returns all metrics in the format of Prometheus
 * @throws {CannotListen}
 */
export async function serveMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  read: () => Promise<string>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end()
    void read().then((text) => response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text))
  })
  server.listen(port, host)
  await once(server, 'listening').catch((error: Error) => {
    throw new CannotListen(`cannot serve metrics on ${host}, port ${port}: ${error.message}`)
  })
  const address = server.address() as AddressInfo
  return {
    url: `http://${isIPv6(address.address) ? `[${address.address}]` : address.address}:${address.port}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
