import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { insistOn, Services, Worker, type FleetToken } from './fleet.ts'
import type { FeedEntry, Run, WorkerEvent } from './oracle.ts'

const WORKERS = 8
/** The time of a claim, in milliseconds. */
const TTL = 10_000
/** Each of these happens once for so many cards that were taken. */
const PERIOD = 80

/** What happened in a run. */
export interface Happened extends Run {
  readonly restarts: number
  readonly kills: number
  /** what a holder that was stopped until its claim had run out was answered, for each of its writes */
  readonly ofStopped: readonly (readonly number[])[]
}

interface DrillOptions {
  /** of the storage, as in LANEKEEPER_STORAGE; `fs` is a new folder */
  readonly address: string
  readonly cardCount: number
  /** of the clocks of the processes of the service, in milliseconds */
  readonly skews?: readonly number[]
  /** whether the processes of the service are killed */
  readonly restarts: boolean
}

/** Lets eight workers do all cards of a board, and disturbs them: what happens depends on how many cards were taken, not on time. */
export async function runDrill(options: DrillOptions): Promise<Happened> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-claims-'))
  const { address, skews = [0] } = options
  const started = await Services.start(address === 'fs' ? `fs:${join(folder, 'storage')}` : address, folder, skews, WORKERS + 2)
  const drill = new Drill(options, folder, started.services, started.tokens)
  try {
    return await drill.run()
  } finally {
    await drill.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

class Drill {
  readonly #options: DrillOptions
  readonly #folder: string
  readonly #services: Services
  readonly #others: FleetToken
  readonly #blocking: FleetToken
  readonly #tokens: readonly FleetToken[]
  #board = ''
  #cards: string[] = []
  /** those that work, and whether their last answer was that no card is ready */
  readonly #working = new Map<Worker, boolean>()
  readonly #all: Worker[] = []
  readonly #blockers = new Map<string, string>()
  readonly #given = new Set<string>()
  readonly #stopped = new Map<Worker, { readonly card: string; readonly epoch: number; readonly isTakenOver: boolean }>()
  readonly #ofStopped: (readonly number[])[] = []
  readonly #tasks = new Set<Promise<unknown>>()
  #failure: unknown
  #restarting: Promise<void> = Promise.resolve()
  #taken = 0
  #kills = 0
  #restarts = 0
  #isOver = false

  constructor(options: DrillOptions, folder: string, services: Services, tokens: readonly FleetToken[]) {
    this.#options = options
    this.#folder = folder
    this.#services = services
    ;[this.#others, this.#blocking, ...this.#tokens] = tokens as [FleetToken, FleetToken, ...FleetToken[]]
  }

  async run(): Promise<Happened> {
    await this.#createCards()
    for (const token of this.#tokens) this.#hire(token)
    await expect.poll(() => this.#isDone(), { timeout: 480_000, interval: 200 }).toBe(true)
    this.#isOver = true
    for (const worker of this.#working.keys()) await worker.kill()
    await this.#restarting
    while (this.#tasks.size > 0) await Promise.all(this.#tasks)
    if (this.#failure !== undefined) throw this.#failure
    return {
      cards: this.#cards,
      others: this.#others.id,
      blocking: this.#blocking.id,
      blockers: this.#blockers,
      given: this.#given,
      feed: await this.#feed(),
      log: this.#all.flatMap((worker) => worker.log()),
      restarts: this.#restarts,
      kills: this.#kills,
      hasOneClock: (this.#options.skews ?? []).length <= 1,
      ofStopped: this.#ofStopped,
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#all.map((worker) => worker.kill()))
    await this.#restarting.catch(() => undefined)
    await this.#services.stop()
  }

  #send(token: FleetToken, ...request: Parameters<ReturnType<typeof insistOn>>) {
    return insistOn(this.#services.urls, token)(...request)
  }

  async #createCards(): Promise<void> {
    const create = async (path: string, body: object) => (await this.#send(this.#others, 'POST', path, body)).body.data
    this.#board = (await create('/boards', { name: 'Board' })).id
    const column_id = (await create(`/boards/${this.#board}/columns`, { name: 'Column' })).id
    while (this.#cards.length < this.#options.cardCount) {
      const operations = Array.from({ length: 50 }, () => ({ operation: 'cards.create', body: { column_id, title: 'Card' } }))
      const { results } = await create(`/boards/${this.#board}/batch`, { operations })
      this.#cards.push(...results.map(({ data }: any) => data.id as string))
    }
  }

  #hire(token: FleetToken): void {
    const at = { urls: this.#services.urls, board: this.#board }
    const worker = new Worker(this.#all.length, token, this.#folder, at, (...event) => this.#onEvent(...event))
    this.#all.push(worker)
    this.#working.set(worker, false)
  }

  /** Runs beside the workers. Its failure is that of the run. */
  #beside(task: () => Promise<unknown>): void {
    const running = task()
      .catch((error: unknown) => (this.#failure ??= error))
      .finally(() => this.#tasks.delete(running))
    this.#tasks.add(running)
  }

  #onEvent(worker: Worker, { event, card, epoch, statuses }: WorkerEvent): void {
    if (this.#isOver) return
    if (this.#working.has(worker)) this.#working.set(worker, event === 'idle')
    if (event === 'taken') this.#onTaken(worker, card, epoch)
    const stopped = this.#stopped.get(worker)
    if (event !== 'ended' || stopped?.epoch !== epoch || stopped.card !== card) return
    this.#stopped.delete(worker)
    this.#ofStopped.push(statuses)
    if (stopped.isTakenOver) this.#beside(() => this.#complete(worker.token, card, { if_claim: epoch + 1 }, epoch + 1))
  }

  #onTaken(worker: Worker, card: string, epoch: number): void {
    const turn = this.#taken++ % PERIOD
    if (turn === 5) return this.#beside(() => this.#killHolder(worker))
    if (turn === 15 || turn === 35) return this.#beside(() => this.#stopHolder(worker, card, epoch, turn === 15))
    worker.goOn()
    const another = [...this.#working.keys()].find((one) => one !== worker && !this.#stopped.has(one))!
    if (turn === 10) this.#beside(() => this.#killHolder(another))
    if (turn === 20) this.#services.advance(TTL)
    if (turn === 25) this.#beside(() => this.#completeByOthers(card))
    if (turn === 30) this.#beside(() => this.#completeByOthers(this.#cards[Math.floor(Math.random() * this.#cards.length)]!))
    if (turn % 4 === 0) this.#beside(() => this.#block())
    if (turn === 0 && this.#taken > 1 && this.#options.restarts) this.#restart()
  }

  /** Another worker with the same token takes its place. */
  async #killHolder(worker: Worker): Promise<void> {
    this.#working.delete(worker)
    await worker.kill()
    this.#kills++
    if (!this.#isOver) this.#hire(worker.token)
  }

  /** Stops a holder until its claim has run out, and in half of the cases until its own token has taken the card anew. */
  async #stopHolder(worker: Worker, card: string, epoch: number, byItsToken: boolean): Promise<void> {
    worker.signal('SIGSTOP')
    // For every process, also if the claim was taken from the one whose clock is ahead most.
    this.#services.advance(TTL + Math.max(...(this.#options.skews ?? [0])))
    const taken = byItsToken ? await this.#send(worker.token, 'PUT', `/cards/${card}/claim`, { ttl: 3600 }) : undefined
    const isTakenOver = taken?.status === 200 && taken.body.data.epoch === epoch + 1
    if (isTakenOver) this.#given.add(`${card} ${epoch + 1}`)
    this.#stopped.set(worker, { card, epoch, isTakenOver })
    worker.goOn()
    worker.signal('SIGCONT')
  }

  #restart(): void {
    const i = this.#restarts++ % this.#services.urls.length
    this.#restarting = this.#restarting.then(() => this.#services.restart(i))
    this.#beside(() => this.#restarting)
  }

  async #complete(token: FleetToken, card_id: string, condition: object, epoch?: number): Promise<void> {
    const params = { card_id }
    const claim = epoch === undefined ? {} : { if_claim: epoch }
    await this.#send(token, 'POST', `/boards/${this.#board}/batch`, {
      operations: [
        { operation: 'comments.create', params, body: { body: JSON.stringify({ step: 'done', epoch }) }, ...claim },
        { operation: 'cards.complete', params, body: { completed: true }, ...condition },
      ],
    })
  }

  /** Completes a card without a claim, unless it is completed. */
  async #completeByOthers(card: string): Promise<void> {
    const { etag, body } = await this.#send(this.#others, 'GET', `/cards/${card}`)
    if (body.data.completed_at === null) await this.#complete(this.#others, card, { if_match: etag })
  }

  /** Adds a blocker from the end of the board to a card that is about to be taken. */
  async #block(): Promise<void> {
    const place = this.#taken + this.#blockers.size + Math.floor(Math.random() * WORKERS)
    const [card, blocker] = [this.#cards[place], this.#cards[this.#cards.length - 1 - this.#blockers.size]]
    if (place >= this.#cards.length / 2 || this.#blockers.has(card!)) return
    this.#blockers.set(card!, blocker!)
    await this.#send(this.#blocking, 'PUT', `/cards/${card}/blockers/${blocker}`)
  }

  /** Whether all cards are completed. When all workers wait, the claims of those that were killed run out. */
  async #isDone(): Promise<boolean> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#tasks.size > 0 || [...this.#working.values()].includes(false)) return false
    this.#services.advance(3_600_000)
    const { body } = await this.#send(this.#others, 'GET', `/boards/${this.#board}/cards?completed=false&limit=1`)
    return body.data.length === 0
  }

  async #feed(): Promise<FeedEntry[]> {
    const feed: FeedEntry[] = []
    for (let cursor = ''; ;) {
      const { body } = await this.#send(this.#others, 'GET', `/boards/${this.#board}/changes?limit=100${cursor}`)
      if (body.data.length === 0) return feed
      feed.push(...body.data)
      cursor = `&after=${encodeURIComponent(body.page.next_cursor)}`
    }
  }
}
