import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Metrics, MetricValues } from '../metrics.ts'
import { isProgramReplaced } from '../model/package-files.ts'

/**
 * Several processes that serve one port, with node:cluster: each accepts connections, and the primary process replaces a worker
 * that ends. The first worker starts alone, so that it can create the demo data and print the banner.
 */

/** What a worker sends to the primary process. */
type FromWorker = { readonly port: number } | { readonly metrics: MetricValues }

/**
 * How long the primary process waits before it replaces a worker, in milliseconds: a worker that cannot start is not started all the time.
 */
const RESTART_DELAY = 1000
/** How long the metrics of a worker are waited for, in milliseconds. */
const METRICS_TIMEOUT = 5000

/** Whether this process is to start the workers and serve nothing itself. */
export function isSupervisor({ workers }: Config): boolean {
  return workers > 1 && cluster.isPrimary
}

/** Whether this process prints what the operator has to know: it serves alone, or is the first worker. */
export function isFirstProcess(): boolean {
  return cluster.worker === undefined || cluster.worker.id === 1
}

/** Tells the primary process, if there is one, that this one serves a port, and sends it metrics when it asks for them. */
export function announceWorker(port: number, metrics: Metrics | undefined): void {
  if (cluster.worker === undefined) return
  process.on('message', (message) => {
    if (message === 'metrics') void metrics?.readValues().then((values) => process.send!({ metrics: values } satisfies FromWorker))
  })
  process.send!({ port } satisfies FromWorker)
}

/** Starts the workers and replaces those that end, until a signal ends all of them. */
export async function supervise(config: Config, log: Logger): Promise<void> {
  const { workers: count, metrics } = config
  forwardReloads(config)
  let stopping = false
  // Each worker accepts connections itself. One that the primary process gives to a worker which is dying would never be answered.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const first = fork(1)
  stopOnSignal(() => (stopping = true), log)
  const port = await portOf(first)
  if (port === undefined) return
  // A free port that the first worker has found, for all others.
  cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(port)] })
  cluster.on('exit', (worker, code, signal) => {
    if (stopping) return
    const slot = slots.get(worker.id)!
    slots.delete(worker.id)
    // A worker of other files would fail, or decide requests in another way than those that run.
    if (isProgramReplaced()) return leaveUnreplaced(log, { pid: worker.process.pid, exit_code: code, signal })
    log.error({ pid: worker.process.pid, exit_code: code, signal }, 'a worker ended and is replaced')
    void delay(RESTART_DELAY).then(() => stopping || fork(slot))
  })
  for (let slot = 2; slot <= count; slot++) fork(slot)
  if (metrics === undefined) return
  const [{ serveMetrics }, { AggregatorRegistry }] = await Promise.all([import('../metrics.ts'), import('prom-client')])
  const { url } = await serveMetrics(metrics, async () => AggregatorRegistry.aggregate(await readAll()).metrics())
  log.info(`metrics are served at ${url}/metrics`)
}

/** Says that a worker is not replaced. Without any worker this process ends: what has started it can start the new program. */
function leaveUnreplaced(log: Logger, members: object): void {
  const event = 'worker.not_replaced'
  log.error(
    { event, ...members },
    'a worker ended and is not replaced: the files of the program were replaced or removed; restart the service',
  )
  if (running().length > 0) return
  log.error({ event }, 'the last worker has ended')
  process.exit(1)
}

/** The number of each worker, which the one that replaces it gets, too: it names the files that a worker has alone. */
const slots = new Map<number, number>()

function fork(slot: number): Worker {
  const worker = cluster.fork({ WORKER_SLOT: String(slot) })
  slots.set(worker.id, slot)
  return worker
}

/** @returns undefined if the worker cannot start. It has printed why, and this process ends with its exit code. */
async function portOf(worker: Worker): Promise<number | undefined> {
  const ended = once(worker, 'exit').then(([code]: (number | null)[]) => {
    process.exitCode = code ?? 1
    return undefined
  })
  const message = once(worker, 'message').then(([{ port }]) => port as number)
  return Promise.race([message, ended])
}

/**
 * Lets each worker load the policy again. Each proves it. The signal would end one that is starting: that one gets it when it serves,
 * because it may have read the policy before.
 */
function forwardReloads({ policies }: Config): void {
  if (policies === undefined) return
  const serving = new WeakSet<Worker>()
  const waiting = new WeakSet<Worker>()
  cluster.on('message', (worker, message: FromWorker) => {
    if (!('port' in message)) return
    serving.add(worker)
    if (waiting.delete(worker)) worker.process.kill('SIGHUP')
  })
  process.on('SIGHUP', () => {
    for (const worker of running())
      if (serving.has(worker)) worker.process.kill('SIGHUP')
      else waiting.add(worker)
  })
}

/** Lets the workers finish their requests when a signal comes, and then ends this process. */
function stopOnSignal(onStop: () => void, log: Logger): void {
  let stopped: Promise<unknown> | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stopped !== undefined) return
      log.info(`${signal}: the workers finish their requests in flight`)
      onStop()
      stopped = Promise.all(running().map((worker) => stopWorker(worker)))
      void stopped.then(() => process.exit(0))
    })
}

async function stopWorker(worker: Worker): Promise<void> {
  worker.process.kill('SIGTERM')
  if (!worker.isDead()) await once(worker, 'exit')
}

/** The metrics of all workers. */
async function readAll(): Promise<MetricValues[]> {
  const values = await Promise.all(running().map((worker) => readMetrics(worker)))
  return values.filter((value) => value !== undefined)
}

/** @returns undefined if the worker has just ended, or does not answer */
async function readMetrics(worker: Worker): Promise<MetricValues | undefined> {
  worker.send('metrics', () => undefined)
  const answer = once(worker, 'message', { signal: AbortSignal.timeout(METRICS_TIMEOUT) })
  return answer.then(
    ([message]) => (message as { metrics?: MetricValues }).metrics,
    () => undefined,
  )
}

function running(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
