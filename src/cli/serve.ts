import { setTimeout as delay } from 'node:timers/promises'
import { pino, type Logger } from 'pino'
import type { AdminDeps } from '../admin/deps.ts'
import { GarbageCollector } from '../admin/garbage-collection.ts'
import { requireNoRestore } from '../admin/restore-run.ts'
import { RpcServer } from '../admin/rpc-server.ts'
import { adoptSecretKeys } from '../admin/secret-keys.ts'
import { createApp, type App } from '../app.ts'
import { readPolicyFiles } from '../authz/shipped-policy.ts'
import { AuditRecorder } from '../audit/recorder.ts'
import { checkShippedRows } from '../authz/shipped-rows.ts'
import type { SecretKeys } from '../auth/secret-keys.ts'
import { readConfig, type Config } from '../config.ts'
import type { Flags } from '../settings.ts'
import { createAccessLog } from '../http/access-log.ts'
import { createPolicyAnswers } from './policy/stored-answers.ts'
import { requestsOfOperators } from '../http/member-requests.ts'
import { sampleLog } from '../http/sampled-log.ts'
import { startListener } from '../listener/listener.ts'
import { createMailer } from '../mail/mailer.ts'
import { systemRandom } from '../model/ids.ts'
import { connectionLimit, descriptorLimit, FEW_DESCRIPTORS } from '../model/descriptors.ts'
import { lazy, loadLazy } from '../model/lazy.ts'
import { defaultRates, limits } from '../model/limits.ts'
import { DAY, systemClock } from '../model/time.ts'
import { loadEngine } from '../policy/engine.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL } from '../store/keys.ts'
import { createDerivations } from '../resources/derived.ts'
import { openCounters, openStorage, type StorageHandle } from '../store/open.ts'
import { listAll } from '../store/transact.ts'
import { banner, proofLine, type Contents } from './banner.ts'
import { exitCodes } from './exit.ts'
import { ReloadSignal } from './reload.ts'
import { openProvider } from './identity-provider.ts'
import { openSecretKeys } from './secret-keys.ts'
import { announceWorker, isFirstProcess, isSupervisor, supervise } from './workers.ts'

/** How long a process that has lost its storage takes to end, in milliseconds. */
const LONGEST_END = 10_000

const alertsModule = lazy(() => import('../web/alerts.ts'))

/** Runs the service until a signal ends it. Logs go to stderr, because stdout is for the result. */
export async function serve(flags: Flags): Promise<void> {
  const config = readConfig(flags, process.env)
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }))
  if (isSupervisor(config)) return supervise(config, log)
  const stopSteps: (() => Promise<unknown>)[] = []
  let stopped: Promise<void> | undefined
  const runStopSteps = async (): Promise<void> => {
    for (const step of stopSteps.toReversed()) await step()
  }
  // A second signal, or a failed start after a signal, must not end the process before the first shutdown has finished.
  const stop = (): Promise<void> => (stopped ??= runStopSteps())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      log.info(`${signal}: finishing requests in flight`)
      void stop().then(
        () => process.exit(0),
        (error: unknown) => (log.error({ err: error }, 'the shutdown failed'), process.exit(1)),
      )
    })
  }
  try {
    const endLost = (reason: Error): void => {
      log.fatal(
        { event: 'storage.lost', reason: reason.message },
        'another process may have the storage: nothing is answered any more, and the process ends',
      )
      const end = (): never => process.exit(exitCodes.storage)
      setTimeout(end, LONGEST_END).unref()
      void stop().then(end, end)
    }
    await start(config, log, (step) => void stopSteps.push(step), endLost)
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * @param onStop registers a step of the shutdown; the steps run in reverse order
 * @param onLost ends the process: one that starts in its place takes the storage, if no other process has it
 */
async function start(
  config: Config,
  log: Logger,
  onStop: (step: () => Promise<unknown>) => void,
  onLost: (reason: Error) => void,
): Promise<void> {
  const rpcServer = new RpcServer((command, input) => {
    // E-mail addresses are in no log.
    const { email: _email, ...rest } = input as { readonly email?: string }
    log.info({ event: `operator.${command}`, ...rest }, 'administration command')
  })
  const storage = await openStorage(config.storage, {
    log: sampleLog(log, systemClock),
    derived: createDerivations(),
    bytes: config.bytes,
    cacheBytes: config.cache && config.cache * 1024 * 1024,
    serve: rpcServer.serve,
    onLost,
  })
  onStop(() => storage.close())
  if (storage.sqlite !== undefined)
    log.info({ event: 'storage.opened', storage: storage.kind, sqlite: storage.sqlite }, `the folder is used with SQLite ${storage.sqlite}`)
  const own = { store: storage.store, clock: systemClock, random: systemRandom }
  await requireNoRestore(own)
  const secretKeys = await openSecretKeys(config, own)
  await adoptSecretKeys({ ...own, secretKeys }, log)
  const counters = await openCounters(config.storage, log)
  if (counters !== undefined) onStop(() => counters.close())
  // Loaded only when it is used, and not when the first metrics are read: a start fails if it cannot be loaded.
  const metering = config.metrics && (await import('../metrics.ts'))
  const metrics = metering && new metering.Metrics()
  const measured = metrics?.measure(storage.store) ?? storage.store
  const changes = { age: config.changeDays * DAY, count: limits.changesPerBoard }
  const auditAge = config.auditDays * DAY
  const unwatched = { ...own, store: measured, blobs: storage.blobs, changes, auditAge, secretKeys }
  const garbageCollector = new GarbageCollector(unwatched, log)
  const deps = { ...unwatched, store: garbageCollector.watch(measured) }
  // Without a policy folder, a terminal that is closed ends the service, as usual.
  const reloadSignal = config.policies === undefined ? undefined : new ReloadSignal()
  const policyFiles = readPolicyFiles(config.policies)
  const engine = loadEngine(policyFiles, checkShippedRows)
  metrics?.statePolicy(engine.hash)
  const decisionLog =
    config.decisionLog === undefined ? undefined : await (await import('./decision-log.ts')).openDecisionLog(config, engine.hash, log)
  if (decisionLog !== undefined) {
    onStop(() => decisionLog.close())
    metrics?.watchLog(
      () => decisionLog.counts,
      () => decisionLog.space(),
    )
  }
  const audit = new AuditRecorder(deps, log)
  metrics?.watchAudit(() => audit.counts)
  // The requests that create the demo data are neither counted nor logged.
  let serving = false
  const mailer = mailerOf(config, log)
  // Notices are marked as mailed before their mails are sent: what a process has begun, no other one sends.
  if (mailer !== undefined) onStop(() => mailer.settled())
  const logAccess = config.accessLog ? createAccessLog(log) : undefined
  const app = createApp({
    ...deps,
    log,
    engine,
    url: config.url,
    host: config.host,
    proxies: config.proxies,
    legacyPrefixes: config.legacyPrefixes,
    uploadBytes: config.uploadBytes,
    workspaceBytes: config.workspaceBytes,
    policyPage: config.policyPage,
    rateLimits: config.rateLimits ? { quotas: { ...defaultRates, token: config.tokenRate, workspace: config.workspaceRate } } : undefined,
    counters,
    mail: mailer?.send,
    provider: openProvider(config),
    hasPasswords: config.passwords,
    sessions: { idle: config.sessionIdle, max: config.sessionMax },
    webhookTargets: config.webhookTargets,
    decisionLog,
    audit,
    sinks: [
      (record) => {
        if (!serving) return
        metrics?.observe(record)
        logAccess?.(record)
      },
    ],
  })
  metrics?.watchDeliveries(() => app.deliverer.counts)
  onStop(() => Promise.all([app.services.usage.flush(), audit.flush()]))
  onStop(() => rpcServer.close())
  let url: string | undefined
  rpcServer.open({
    ...deps,
    serviceUrl: () => config.url ?? url,
    policyAnswers: createPolicyAnswers(app.services),
    ...requestsOfOperators(() => app.services),
    mailAlert: async (to, alert) => {
      const { mailAlert } = await alertsModule()
      mailAlert(app.mail, config.url ?? url ?? '', to, alert)
    },
  })

  const contents = await populate(config, deps, app)
  // What the requests for the demo data have left is there before anyone can look.
  await audit.flush()
  if (config.metrics !== undefined && metering !== undefined && config.workers === 1) {
    const server = await metering.serveMetrics(config.metrics, () => metrics!.read())
    onStop(() => server.close())
    log.info(`metrics are served at ${server.url}/metrics`)
  }
  onStop(() => Promise.all([garbageCollector.stop(), app.deliverer.stop(), app.reminders.stop(), app.noticeMailer.stop()]))
  const ofConnections = sampleLog(log, systemClock)
  const maxConnections = connectionLimit(descriptorLimit())
  const onRefused = (): void =>
    ofConnections.warn(
      { event: 'connections.refused', open: maxConnections },
      'no more connections are accepted: the rest of the descriptors is for files',
    )
  const listener = await startListener(app.h3, { ...config, maxConnections, onRefused })
  onStop(() => listener.close())
  onStop(async () => app.stop())
  onStop(() => (app.drain(), delay(config.drain * 1000)))
  url = listener.url
  if (config.policies !== undefined) await reloadSignal?.serve(app, { folder: config.policies, files: policyFiles }, log, metrics)
  void garbageCollector.start()
  app.deliverer.start()
  app.reminders.start()
  app.noticeMailer.start()
  serving = true
  announceWorker(listener.port, metrics)
  if (isFirstProcess()) announce({ config, url: listener.url, storage, app, contents, secretKeys }, log)
  // After the start, and not when it is used for the first time: a failure must not be found only then.
  await loadLazy({
    onFailure: (error) =>
      log.error(
        { event: 'service.not_loaded', reason: error.message, err: error.cause },
        'a part of the service is missing; it is tried again',
      ),
  })
  log.info({ event: 'service.loaded' }, 'everything is loaded: the files of the program are not read any more')
}

/** Sends alerts to people, if there is a mail server. */
function mailerOf({ smtp: url, mailFrom: from }: Config, log: Logger): ReturnType<typeof createMailer> | undefined {
  return url === undefined || from === undefined ? undefined : createMailer({ url, from, log })
}

/** A service that has started. */
interface Started {
  readonly config: Config
  readonly url: string
  readonly storage: StorageHandle
  readonly app: App
  readonly contents: Contents
  readonly secretKeys: SecretKeys
}

/** Prints what the operator has to know. */
function announce({ config, url, storage, app, contents, secretKeys }: Started, log: Logger): void {
  const descriptors = descriptorLimit()
  if (descriptors !== undefined && descriptors < FEW_DESCRIPTORS)
    log.warn(
      { event: 'descriptors.few', limit: descriptors },
      `only ${descriptors} files and connections may be open at once: set the limit (\`ulimit -n\`, LimitNOFILE=) to ${FEW_DESCRIPTORS} or more`,
    )
  if (!config.url?.startsWith('https:') && !/^(localhost|127\..*|::1)$/.test(config.host))
    log.warn('passwords and tokens are sent unencrypted: put an HTTPS proxy in front and set LANEKEEPER_URL to its URL')
  if (secretKeys.ids.length === 0)
    log.warn(
      'LANEKEEPER_SECRET_KEY is not set: nobody can add an authenticator app or a webhook, and apps of earlier versions are stored unencrypted',
    )
  // A decision log on stdout is alone there.
  const print = config.decisionLog === 'stdout' ? console.error : console.log
  if (config.json) {
    log.info(proofLine(app.proof))
    print(JSON.stringify({ url, storage: storage.kind, sqlite: storage.sqlite, ...contents }))
  } else print(banner(url, app.proof, config, contents))
}

/** Creates the demo data if it is wanted and does not exist. Returns what the storage contains. */
async function populate(config: Config, deps: AdminDeps, app: App): Promise<Contents> {
  const demo = config.demo ? await (await import('../demo/seed.ts')).beginDemo(deps) : 'none'
  if (demo === 'begun') {
    const [{ finishDemo, seedDemo, uncounted }, { readWorld }] = await Promise.all([import('../demo/seed.ts'), import('../demo/world.ts')])
    const created = await seedDemo(
      { ...deps, passwords: app.passwords },
      uncounted(() => app.services),
      readWorld(),
    )
    await finishDemo(deps)
    return { demo: 'made', ...created }
  }
  const workspaces = (await listAll(deps, GLOBAL, indexes.workspaces())).map(({ id }) => ({ id }))
  return { demo, workspaces, people: [], tokens: [], boards: [] }
}
