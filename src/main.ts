#!/usr/bin/env node
import { pino } from 'pino'
import { createApp, NotProved } from './app.ts'
import { banner, proofLine } from './cli/banner.ts'
import { ConfigError, readConfig } from './config.ts'
import { seedDemo } from './demo/seed.ts'
import { readWorld } from './demo/world.ts'
import { CannotListen, startListener } from './http/server.ts'
import { systemRandom } from './model/ids.ts'
import { systemClock } from './model/time.ts'
import { PolicyError } from './policy/problem.ts'
import { createMemoryStore } from './store/memory.ts'

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2), process.env)
  // Logs go to stderr: stdout is for what was asked for.
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }))
  const store = createMemoryStore()
  const app = createApp({ store, log, legacyPrefixes: config.legacyPrefixes })
  const demo = await seedDemo({ store, clock: systemClock, random: systemRandom }, app.fetch, readWorld())
  const listener = await startListener(app.h3, config)

  if (config.json) {
    log.info(proofLine(app.proof))
    console.log(JSON.stringify({ url: listener.url, ...demo }))
  } else console.log(banner(listener.url, app.proof, demo))

  const stop = async (): Promise<void> => {
    await listener.close()
    await app.services.usage.settled()
    await store.close()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      log.info(`${signal}: finishing what is in flight`)
      void stop().then(() => process.exit(0))
    })
  }
}

main().catch((error: unknown) => {
  const known = [ConfigError, PolicyError, NotProved, CannotListen].some((kind) => error instanceof kind)
  console.error(known ? (error as Error).message : error)
  process.exit(known ? 2 : 1)
})
