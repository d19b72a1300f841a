import type { Command } from 'commander'
import { pino, type Logger } from 'pino'
import { createApp, type App } from '../app.ts'
import { ConfigError, readConfig, type Config, type Flags } from '../config.ts'
import { beginDemo, finishDemo } from '../demo/marker.ts'
import { seedDemo } from '../demo/seed.ts'
import { readWorld } from '../demo/world.ts'
import { Metrics } from '../http/metrics.ts'
import { startListener } from '../http/server.ts'
import type { DecisionRecord } from '../http/services.ts'
import { systemRandom } from '../model/ids.ts'
import { systemClock } from '../model/time.ts'
import { RpcServer } from '../admin/rpc-server.ts'
import { GarbageCollector } from '../admin/garbage-collector.ts'
import type { AdminDeps } from '../admin/deps.ts'
import { listWorkspaces } from '../admin/workspaces.ts'
import { openStorage } from '../store/open.ts'
import { banner, proofLine, type Present } from './banner.ts'

/** How long the operator's commands that are under way are waited for at the end, in milliseconds. */
const GRACE = 10_000

/** `lanekeeper serve`, which is also what it does when nothing is said. */
export function addServeCommand(program: Command): void {
  program
    .command('serve', { isDefault: true })
    .description('start the service')
    .option('--storage <address>', 'memory, fs:PATH, redis://…, redis-cluster://… (or LANEKEEPER_STORAGE)')
    .option('--bytes <address>', 'where bytes of files are, if not beside the records (or LANEKEEPER_BYTES)')
    .option('--demo', 'make the demo world, unless it is there; in memory it always is made')
    .option('--host <host>', 'where it listens (or HOST)')
    .option('--port <port>', '0 takes any that is free (or PORT)')
    .option('--url <url>', 'where people find it, as https://kanban.example (or LANEKEEPER_URL)')
    .option('--metrics <address>', '[HOST:]PORT for Prometheus (or LANEKEEPER_METRICS)')
    .option('--json', 'say what is said as one line of JSON')
    .allowExcessArguments()
    .action((flags: Flags, command: Command) => {
      // Whatever is no command comes here, as what is served by default.
      if (command.args.length > 0) throw new ConfigError(`there is no command "${command.args[0]}"; --help says which there are`)
      return serve(flags)
    })
}

/** Runs the service until a signal ends it. Logs go to stderr: stdout is for what was asked for. */
async function serve(flags: Flags): Promise<void> {
  const config = readConfig(flags, process.env)
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }))
  const started: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const step of started.splice(0).toReversed()) await step()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      log.info(`${signal}: finishing what is in flight`)
      void stop().then(
        () => process.exit(0),
        (error: unknown) => (log.error({ err: error }, 'the end was not clean'), process.exit(1)),
      )
    })
  }
  try {
    await start(config, log, (step) => void started.push(step))
  } catch (error) {
    await stop()
    throw error
  }
}

/** @param onStop told, in the order of starting, how each thing is ended */
async function start(config: Config, log: Logger, onStop: (step: () => Promise<unknown>) => void): Promise<void> {
  const operator = new RpcServer((command, input) =>
    log.info({ event: `operator.${command}`, ...(input as object) }, 'done for the operator'),
  )
  const storage = await openStorage(config.storage, { log, bytes: config.bytes, serve: operator.serve })
  onStop(() => storage.close())
  const metrics = config.metrics && new Metrics()
  const store = metrics?.measure(storage.store) ?? storage.store
  const tools: AdminDeps = { store, blobs: storage.blobs, clock: systemClock, random: systemRandom }
  const sweeper = new GarbageCollector(tools, log)
  // The demo world is made by requests of its own, which nobody sent.
  let serving = false
  const app = createApp({
    ...tools,
    log,
    origin: config.origin,
    proxies: config.proxies,
    legacyPrefixes: config.legacyPrefixes,
    uploadBytes: config.uploadBytes,
    observe: (trace) => {
      if (serving) metrics?.observe(trace)
      noteDeletion(sweeper, trace)
    },
  })
  onStop(() => app.services.usage.settled())
  onStop(() => operator.close(GRACE))
  let url: string | undefined
  operator.open({ ...tools, foundAt: () => config.origin ?? url })

  const present = await populate(config, tools, app)
  if (config.metrics !== undefined && metrics !== undefined) {
    const server = await metrics.listen(config.metrics.host, config.metrics.port)
    onStop(() => server.close())
    log.info(`metrics are at ${server.url}/metrics`)
  }
  onStop(() => sweeper.stop())
  const listener = await startListener(app.h3, config)
  onStop(() => listener.close())
  url = listener.url
  sweeper.start()
  serving = true

  if (!config.origin?.startsWith('https:') && !/^(localhost|127\..*|::1)$/.test(config.host))
    log.warn('passwords and tokens travel in the clear: serve it over HTTPS, and say where with LANEKEEPER_URL')
  if (config.json) {
    log.info(proofLine(app.proof))
    console.log(JSON.stringify({ url: listener.url, storage: storage.kind, ...present }))
  } else console.log(banner(listener.url, app.proof, config, present))
}

/** Makes the demo world where it was asked for and is not there; tells what there is. */
async function populate(config: Config, tools: AdminDeps, app: App): Promise<Present> {
  const demo = config.demo ? await beginDemo(tools) : 'none'
  if (demo === 'begun') {
    const made = await seedDemo({ ...tools, passwords: app.passwords }, app.fetch, readWorld())
    await finishDemo(tools)
    return { demo: 'made', ...made }
  }
  const workspaces = (await listWorkspaces(tools)).map(({ id, name }) => ({ id, name }))
  return { demo, workspaces, people: [], tokens: [], boards: [] }
}

function noteDeletion(sweeper: GarbageCollector, { operation, status, workspaceId }: DecisionRecord): void {
  if (status < 300 && operation?.endsWith('.delete') && workspaceId !== undefined) sweeper.note(workspaceId)
}
