import { TTL, withCrew, type Crew, type CrewOptions } from './crew.ts'
import type { Worker } from './fleet.ts'
import type { Run, WorkerEvent } from './oracle.ts'

/** Each of these happens once for so many cards that were taken. */
const PERIOD = 80
/** How far from the next card one is blocked at most. */
const NEAR = 8

/** What happened in a run. */
export interface Happened extends Run {
  readonly restarts: number
  readonly kills: number
  /** what a holder that was stopped until its claim had run out was answered, for each of its writes */
  readonly ofStopped: readonly (readonly number[])[]
}

/** Lets eight workers do all cards of a board, and disturbs them: what happens depends on how many cards were taken, not on time. */
export function runDrill({ cardCount, ...options }: CrewOptions & { readonly cardCount: number }): Promise<Happened> {
  return withCrew(options, async (crew) => {
    const board = (await crew.create('/boards', { name: 'Board' })).id as string
    // However often the holders of a card are killed, it goes on: that a card is stuck is the other drill's.
    const column = await crew.create(`/boards/${board}/columns`, { name: 'Column', max_attempts: null })
    const cards = await crew.createCards(
      board,
      Array.from({ length: cardCount }, () => column.id as string),
    )
    return new Drill(crew, board, cards).run()
  })
}

class Drill {
  readonly board: string
  readonly #crew: Crew
  readonly #cards: readonly string[]
  readonly #blockers = new Map<string, string>()
  readonly #given = new Set<string>()
  readonly #stopped = new Map<Worker, { readonly card: string; readonly epoch: number; readonly isTakenOver: boolean }>()
  readonly #ofStopped: (readonly number[])[] = []
  #taken = 0

  constructor(crew: Crew, board: string, cards: readonly string[]) {
    this.board = board
    this.#crew = crew
    this.#cards = cards
  }

  async run(): Promise<Happened> {
    await this.#crew.work(this)
    return {
      ...(await this.#crew.happened(this.board)),
      cards: this.#cards,
      others: this.#crew.others.id,
      blocking: this.#crew.second.id,
      blockers: this.#blockers,
      given: this.#given,
      ofStopped: this.#ofStopped,
    }
  }

  onEvent(worker: Worker, { event, card, epoch, statuses }: WorkerEvent): void {
    if (event === 'taken') this.#onTaken(worker, card, epoch)
    const stopped = this.#stopped.get(worker)
    if (event !== 'ended' || stopped?.epoch !== epoch || stopped.card !== card) return
    this.#stopped.delete(worker)
    this.#ofStopped.push(statuses)
    if (stopped.isTakenOver) this.#crew.beside(() => this.#crew.complete(worker.token, card, { if_claim: epoch + 1 }, epoch + 1))
  }

  /** When all workers wait, the claims of those that were killed run out. */
  async isDone(): Promise<boolean> {
    this.#crew.advance(3_600_000)
    const { body } = await this.#crew.send(this.#crew.others, 'GET', `/boards/${this.board}/cards?completed=false&limit=1`)
    return body.data.length === 0
  }

  #onTaken(worker: Worker, card: string, epoch: number): void {
    const crew = this.#crew
    const turn = this.#taken++ % PERIOD
    if (turn === 5) return crew.kill(worker)
    if (turn === 15 || turn === 35) return crew.beside(() => this.#stopHolder(worker, card, epoch, turn === 15))
    worker.goOn()
    const another = crew.working.find((one) => one !== worker && !this.#stopped.has(one))!
    if (turn === 10) crew.kill(another)
    if (turn === 20) crew.advance(TTL)
    if (turn === 25) crew.beside(() => crew.completeByOthers(card))
    if (turn === 30) crew.beside(() => crew.completeByOthers(this.#cards[Math.floor(Math.random() * this.#cards.length)]!))
    if (turn % 4 === 0) crew.beside(() => this.#block())
    if (turn === 0 && this.#taken > 1 && crew.options.restarts) crew.restart()
  }

  /** Stops a holder until its claim has run out, and in half of the cases until its own token has taken the card anew. */
  async #stopHolder(worker: Worker, card: string, epoch: number, byItsToken: boolean): Promise<void> {
    const crew = this.#crew
    worker.signal('SIGSTOP')
    // For every process, also if the claim was taken from the one whose clock is ahead most.
    crew.advance(TTL + crew.skew)
    const taken = byItsToken ? await crew.send(worker.token, 'PUT', `/cards/${card}/claim`, { ttl: 3600 }) : undefined
    const isTakenOver = taken?.status === 200 && taken.body.data.epoch === epoch + 1
    if (isTakenOver) this.#given.add(`${card} ${epoch + 1}`)
    this.#stopped.set(worker, { card, epoch, isTakenOver })
    worker.goOn()
    worker.signal('SIGCONT')
  }

  /** Adds a blocker from the end of the board to a card that is about to be taken. */
  async #block(): Promise<void> {
    const place = this.#taken + this.#blockers.size + Math.floor(Math.random() * NEAR)
    const [card, blocker] = [this.#cards[place], this.#cards[this.#cards.length - 1 - this.#blockers.size]]
    if (place >= this.#cards.length / 2 || this.#blockers.has(card!)) return
    this.#blockers.set(card!, blocker!)
    await this.#crew.send(this.#crew.second, 'PUT', `/cards/${card}/blockers/${blocker}`)
  }
}
