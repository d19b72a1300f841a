#!/usr/bin/env node
import { pino } from 'pino'
import memoryDriver from 'unstorage/drivers/memory'
import { createApp, NotProved } from './app.ts'
import { banner, proofLine } from './cli/banner.ts'
import { ConfigError, readConfig } from './config.ts'
import { seedDemo } from './demo/seed.ts'
import { readWorld } from './demo/world.ts'
import { CannotListen, startListener } from './http/server.ts'
import { systemRandom } from './model/ids.ts'
import { systemClock } from './model/time.ts'
import { PolicyError } from './policy/problem.ts'
import type { Trace } from './http/services.ts'
import { Sweeper } from './operator/sweeper.ts'
import { createBlobs } from './store/blobs.ts'
import { createMemoryStore } from './store/memory.ts'

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2), process.env)
  // Logs go to stderr: stdout is for what was asked for.
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }))
  const store = createMemoryStore()
  const blobs = createBlobs(memoryDriver())
  const sweeper = new Sweeper({ store, blobs, clock: systemClock, random: systemRandom }, log)
  const app = createApp({
    store,
    blobs,
    log,
    legacyPrefixes: config.legacyPrefixes,
    uploadBytes: config.uploadBytes,
    observe: (trace) => noteDeletion(sweeper, trace),
  })
  const demo = await seedDemo({ store, clock: systemClock, random: systemRandom }, app.fetch, readWorld())
  const listener = await startListener(app.h3, config)
  sweeper.start()

  if (config.json) {
    log.info(proofLine(app.proof))
    console.log(JSON.stringify({ url: listener.url, ...demo }))
  } else console.log(banner(listener.url, app.proof, demo))

  const stop = async (): Promise<void> => {
    await listener.close()
    await sweeper.stop()
    await app.services.usage.settled()
    await store.close()
    await blobs.close()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      log.info(`${signal}: finishing what is in flight`)
      void stop().then(() => process.exit(0))
    })
  }
}

function noteDeletion(sweeper: Sweeper, { operation, status, workspaceId }: Trace): void {
  if (status < 300 && operation?.endsWith('.delete') && workspaceId !== undefined) sweeper.note(workspaceId)
}

main().catch((error: unknown) => {
  const known = [ConfigError, PolicyError, NotProved, CannotListen].some((kind) => error instanceof kind)
  console.error(known ? (error as Error).message : error)
  process.exit(known ? 2 : 1)
})
