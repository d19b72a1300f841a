import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { startRedis } from '../support/redis.ts'
import { Client } from './client.ts'
import type { BenchTable, Effort, Report, RequestRounds } from './report.ts'
import { inTurns } from './rounds.ts'
import { ServerProcess } from './server-process.ts'
import { formatSpread, ratioOf, spreadOf, type Spread } from './statistics.ts'
import { Workspace } from './workspace.ts'

const sizes: Readonly<Record<Effort, RequestRounds>> = {
  tiny: { rounds: 1, requests: 20 },
  quick: { rounds: 5, requests: 1000 },
  default: { rounds: 9, requests: 2000 },
  full: { rounds: 15, requests: 3000 },
}
/** The rounds before those that count: a process still compiles code in them. */
const WARM_UP_ROUNDS = 5
const WEBHOOKS = 5
const [PLAIN, FOLLOWED] = ['no webhooks', 'five webhooks']

export const webhooks: BenchTable = { name: 'webhooks', summary: 'what a write costs on a board with five webhooks', measure }

/** CPU time of a write in µs, of each kind of board. */
type Cost = Readonly<Record<'plain' | 'followed' | 'ratio', Spread>>

async function measure(effort: Effort): Promise<Report> {
  const size = sizes[effort]
  const rows: (readonly [string, Cost, goal?: string])[] = [
    ['memory, it delivers', await onStorage('memory', size)],
    ['redis, it delivers', await onRedis((url) => onStorage(url, size))],
    ['redis, another process delivers', await onRedis((url) => onStorage(url, size, true)), '≤ 1.05'],
  ]
  return {
    title:
      'PATCH of a card, 8 connections: CPU time of the process that answers, in µs. If it delivers too, that is until everything was ' +
      'delivered to receivers that answer at once. The ratio is the median of the ratios of the rounds.',
    head: ['process', PLAIN, FOLLOWED, 'ratio', 'goal'],
    rows: rows.map(([what, { plain, followed, ratio }, goal = '']) => [
      what,
      formatSpread(plain),
      formatSpread(followed),
      formatSpread(ratio, 2),
      goal,
    ]),
  }
}

async function onRedis<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const redis = await startRedis()
  try {
    return await work(redis.url)
  } finally {
    await redis.stop()
  }
}

/** @param isElsewhere whether another process on the same storage delivers */
async function onStorage(storage: string, { rounds, requests }: RequestRounds, isElsewhere = false): Promise<Cost> {
  const receiver = await Receiver.start()
  const settings = { LANEKEEPER_WEBHOOK_TARGETS: 'http://127.0.0.1:*', ...KEY }
  const start = () => ServerProcess.startService(storage, { args: ['--demo'], settings })
  const deliverer = await start()
  const measured = isElsewhere ? await start() : deliverer
  if (isElsewhere) deliverer.unpin()
  const [client, other] = [measured, deliverer].map(({ url }) => new Client(url, deliverer.adminToken)) as [Client, Client]
  try {
    const boards = { plain: await Workspace.create(client), followed: await Workspace.create(client) }
    // The process that creates the first one delivers.
    const path = `/v1/boards/${boards.followed.board}/webhooks`
    for (let i = 0; i < WEBHOOKS; i++) await other.send({ method: 'POST', path, body: { url: receiver.url } })
    const turns = { rounds, warmUp: WARM_UP_ROUNDS, what: storage }
    const samples = await inTurns(['plain', 'followed'], turns, async (name) => {
      const before = receiver.entries
      const write = () => client.sendAll(requests, () => boards[name].changeCard())
      const delivered = async () => name === 'plain' || receiver.hasGot(before + WEBHOOKS * requests)
      const cpu = await measured.cpuOf(async () => {
        await write()
        if (!isElsewhere) await delivered()
      })
      await delivered()
      return cpu / requests
    })
    const { plain, followed } = samples
    return { plain: spreadOf(plain), followed: spreadOf(followed), ratio: ratioOf(followed, plain) }
  } finally {
    for (const one of [client, other, receiver]) one.close()
    await measured.stop()
    await deliverer.stop()
  }
}

const KEY = { LANEKEEPER_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') }

/** Counts the entries of all deliveries. */
class Receiver {
  entries = 0
  #waiting: { readonly count: number; readonly resolve: () => void } | undefined
  readonly #server = createServer(async (request, response) => {
    const { data } = (await json(request)) as { data: { entries: readonly unknown[] } }
    response.writeHead(204).end()
    this.entries += data.entries.length
    if (this.#waiting !== undefined && this.entries >= this.#waiting.count) this.#waiting.resolve()
  })

  static async start(): Promise<Receiver> {
    const receiver = new Receiver()
    await once(receiver.#server.listen(0, '127.0.0.1'), 'listening')
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  hasGot(count: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.entries >= count) resolve()
      else this.#waiting = { count, resolve }
    })
  }

  close(): void {
    this.#server.close()
  }
}
