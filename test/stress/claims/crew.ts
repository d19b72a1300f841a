import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { timeLimit } from '../../support/effort.ts'
import { insistOn, Services, Worker, type FleetToken } from './fleet.ts'
import type { FeedEntry, WorkerEvent } from './oracle.ts'

export const WORKERS = 8
/** How long a drill goes on at most, in milliseconds: so that what it has started is stopped. */
const BOUND = timeLimit(480_000)
/** The time of a claim, in milliseconds. */
export const TTL = 10_000

export interface CrewOptions {
  /** of the storage, as in LANEKEEPER_STORAGE; `fs` is a new folder */
  readonly address: string
  /** of the clocks of the processes of the service, in milliseconds */
  readonly skews?: readonly number[]
  /** whether the processes of the service are killed */
  readonly restarts: boolean
}

/** What a drill does with its crew. */
interface Drill {
  readonly board: string
  onEvent(worker: Worker, event: WorkerEvent): void
  /** Whether its cards are done. Called when all workers wait. */
  isDone(): Promise<boolean>
}

/** Starts the service and lets a drill use it with eight workers. Stops all at the end. */
export async function withCrew<Result>(options: CrewOptions, drill: (crew: Crew) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-claims-'))
  const { address, skews = [0] } = options
  const started = await Services.start(address === 'fs' ? `fs:${join(folder, 'storage')}` : address, folder, skews, WORKERS + 2)
  const crew = new Crew(options, folder, started.services, started.tokens)
  try {
    return await drill(crew)
  } finally {
    await crew.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Eight workers on one board, and what disturbs them. */
export class Crew {
  readonly options: CrewOptions
  /** By how much the clocks of the processes of the service differ at most, in milliseconds. */
  readonly skew: number
  /** Tokens that the workers do not have. */
  readonly others: FleetToken
  readonly second: FleetToken
  readonly #folder: string
  readonly #services: Services
  readonly #tokens: readonly FleetToken[]
  /** those that work, and whether they wait: for a card, or for what they are told */
  readonly #working = new Map<Worker, boolean>()
  readonly #all: Worker[] = []
  readonly #tasks = new Set<Promise<unknown>>()
  #drill: Drill | undefined
  #failure: unknown
  #restarting: Promise<void> = Promise.resolve()
  #kills = 0
  #restarts = 0
  #isOver = false

  constructor(options: CrewOptions, folder: string, services: Services, tokens: readonly FleetToken[]) {
    this.options = options
    this.skew = Math.max(...(options.skews ?? [0]))
    this.#folder = folder
    this.#services = services
    ;[this.others, this.second, ...this.#tokens] = tokens as [FleetToken, FleetToken, ...FleetToken[]]
  }

  get working(): readonly Worker[] {
    return [...this.#working.keys()]
  }

  /** Lets the workers do the cards of a board. */
  async work(drill: Drill): Promise<void> {
    this.#drill = drill
    for (const token of this.#tokens) this.#hire(token)
    for (const end = performance.now() + BOUND; !(await this.#isDone()); await delay(200))
      if (performance.now() > end) throw new Error('the cards are not done in time')
    this.#isOver = true
    for (const worker of this.#working.keys()) await worker.kill()
    await this.#restarting
    while (this.#tasks.size > 0) await Promise.all(this.#tasks)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** What has happened on a board. */
  async happened(board: string) {
    const log = this.#all.flatMap((worker) => worker.log())
    const hasOneClock = (this.options.skews ?? []).length <= 1
    return { feed: await this.#feed(board), log, hasOneClock, kills: this.#kills, restarts: this.#restarts }
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#all.map((worker) => worker.kill()))
    await this.#restarting.catch(() => undefined)
    await this.#services.stop()
  }

  send(token: FleetToken, ...request: Parameters<ReturnType<typeof insistOn>>) {
    return insistOn(this.#services.urls, token)(...request)
  }

  async create(path: string, body: object): Promise<any> {
    return (await this.send(this.others, 'POST', path, body)).body.data
  }

  /** Creates one card in each of the given columns. @returns their ids */
  async createCards(board: string, columns: readonly string[]): Promise<string[]> {
    const ids: string[] = []
    while (ids.length < columns.length) {
      const some = columns.slice(ids.length, ids.length + 50)
      const operations = some.map((column_id) => ({ operation: 'cards.create', body: { column_id, title: 'Card' } }))
      const { results } = await this.create(`/boards/${board}/batch`, { operations })
      ids.push(...results.map(({ data }: any) => data.id as string))
    }
    return ids
  }

  /** Runs beside the workers. Its failure fails the run. */
  beside(task: () => Promise<unknown>): void {
    const running = task()
      .catch((error: unknown) => (this.#failure ??= error))
      .finally(() => this.#tasks.delete(running))
    this.#tasks.add(running)
  }

  advance(milliseconds: number): void {
    this.#services.advance(milliseconds)
  }

  /** Another worker with the same token takes its place. */
  kill(worker: Worker): void {
    this.#working.delete(worker)
    this.beside(() => worker.kill())
  }

  /** Kills a process of the service, and starts it again. They take turns. */
  restart(): void {
    const i = this.#restarts++ % this.#services.urls.length
    this.#restarting = this.#restarting.then(() => this.#services.restart(i))
    this.beside(() => this.#restarting)
  }

  /** Completes a card, with a comment that says so. @param epoch undefined: without a claim */
  async complete(token: FleetToken, card_id: string, condition: object, epoch?: number): Promise<void> {
    const params = { card_id }
    const claim = epoch === undefined ? {} : { if_claim: epoch }
    await this.send(token, 'POST', `/boards/${this.#drill!.board}/batch`, {
      operations: [
        { operation: 'comments.create', params, body: { body: JSON.stringify({ step: 'done', epoch }) }, ...claim },
        { operation: 'cards.complete', params, body: { completed: true }, ...condition },
      ],
    })
  }

  /** Completes a card without a claim, unless it is completed. */
  async completeByOthers(card: string): Promise<void> {
    const { etag, body } = await this.send(this.others, 'GET', `/cards/${card}`)
    if (body.data.completed_at === null) await this.complete(this.others, card, { if_match: etag })
  }

  #hire(token: FleetToken): void {
    const at = { urls: this.#services.urls, board: this.#drill!.board }
    const worker = new Worker(this.#all.length, token, this.#folder, at, {
      onEvent: (event) => this.#onEvent(worker, event),
      onExit: (signal) => this.#onExit(worker, signal),
    })
    this.#all.push(worker)
    this.#working.set(worker, false)
  }

  #onEvent(worker: Worker, event: WorkerEvent): void {
    if (this.#isOver) return
    if (this.#working.has(worker)) this.#working.set(worker, event.event === 'idle' || event.event === 'hung')
    this.#drill!.onEvent(worker, event)
  }

  #onExit(worker: Worker, signal: string | null): void {
    if (this.#isOver) return
    this.#working.delete(worker)
    if (signal !== 'SIGKILL') this.#failure ??= new Error('a worker has ended by itself')
    this.#kills++
    this.#hire(worker.token)
  }

  async #isDone(): Promise<boolean> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#tasks.size > 0 || [...this.#working.values()].includes(false)) return false
    return this.#drill!.isDone()
  }

  async #feed(board: string): Promise<FeedEntry[]> {
    const feed: FeedEntry[] = []
    for (let cursor = ''; ;) {
      const { body } = await this.send(this.others, 'GET', `/boards/${board}/changes?limit=100${cursor}`)
      if (body.data.length === 0) return feed
      feed.push(...body.data)
      cursor = `&after=${encodeURIComponent(body.page.next_cursor)}`
    }
  }
}
