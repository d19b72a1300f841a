import { TTL, withCrew, WORKERS, type Crew, type CrewOptions } from './crew.ts'
import type { Order, Worker } from './fleet.ts'
import type { WorkerEvent } from './oracle.ts'
import type { WorkRun } from './work-oracle.ts'

const HOUR = 3_600_000
/** How many attempts the columns allow. A card is always moved to the next of them. */
const MAXIMA = [2, 5, null]
/** After so many rounds without a card for any worker, the remaining cards are left for ever. */
const ROUNDS = 10
/** So many workers hang before their claims run out. */
const HUNG = 3

const complete: Order = { way: 'complete' }
const again: Order = { way: 'fail', retry_after: 0 }
const later: Order = { way: 'fail', retry_after: 60 }
const fail: Order = { way: 'fail' }
const [ask, hang, die]: Order[] = [{ way: 'ask' }, { way: 'hang' }, { way: 'die' }]
const dying = (order: Order): Order => ({ ...order, dies: true })
const times = (count: number, ...orders: Order[]) => Array.from({ length: count }, (_, i) => orders[i % orders.length]!)

/**
 * What happens to a card when it is taken for the first time, the second time, …: after that, it is completed. Card by card the next one.
 */
const STORIES: readonly (readonly Order[])[] = [
  times(7, again),
  times(7, die!),
  times(7, hang!),
  times(7, fail, die!, hang!),
  [later],
  [ask!],
  // Nobody answers this one.
  [ask!],
  // This one is withdrawn.
  [ask!],
  times(6, again, ask!),
  times(4, dying(again), dying(ask!), dying(complete)),
  [],
  [],
]
const [UNANSWERED, WITHDRAWN] = [6, 7]

/** What happened in a run. */
export interface WorkHappened extends WorkRun {
  readonly restarts: number
  readonly kills: number
  /** what workers that hung until their claims had run out were answered at last */
  readonly ofHung: readonly number[]
}

/**
 * Lets workers fail, hang, die and ask, while people answer, try again and move cards: what happens depends on how many cards were taken,
 * not on time.
 */
export function runWorkDrill({ cardCount, ...options }: CrewOptions & { readonly cardCount: number }): Promise<WorkHappened> {
  return withCrew(options, async (crew) => {
    const board = (await crew.create('/boards', { name: 'Board' })).id as string
    const columns: string[] = []
    for (const max_attempts of MAXIMA) columns.push((await crew.create(`/boards/${board}/columns`, { name: 'Column', max_attempts })).id)
    const places = Array.from({ length: cardCount }, (_, i) => Math.floor(i / STORIES.length) % MAXIMA.length)
    const cards = await crew.createCards(
      board,
      places.map((i) => columns[i]!),
    )
    return new WorkDrill(crew, board, columns, new Map(cards.map((id, i) => [id, places[i]!]))).run()
  })
}

class WorkDrill {
  readonly board: string
  readonly #crew: Crew
  readonly #columns: readonly string[]
  readonly #places: ReadonlyMap<string, number>
  readonly #cards: readonly string[]
  /** how often each card was taken */
  readonly #takes = new Map<string, number>()
  readonly #hung: Worker[] = []
  readonly #ofHung: number[] = []
  /** the stuck cards that somebody has looked at */
  readonly #seen = new Set<string>()
  /** the columns that have cards now */
  readonly #moved: Map<string, number>
  #taken = 0
  /** how often workers got no card since the last round, and the rounds in a row when nobody got one */
  #idle = 0
  #rounds = 0

  /** @param places for each card, the number of its column */
  constructor(crew: Crew, board: string, columns: readonly string[], places: ReadonlyMap<string, number>) {
    this.board = board
    this.#crew = crew
    this.#columns = columns
    this.#places = places
    this.#moved = new Map(places)
    this.#cards = [...places.keys()]
  }

  async run(): Promise<WorkHappened> {
    const crew = this.#crew
    await crew.work(this)
    // A claim that was lost is in the feed with the next write to its card.
    for (const { id } of await this.#list('completed=false')) await this.#touch(id)
    const works = await this.#list('include=work')
    return {
      ...(await crew.happened(this.board)),
      cards: this.#cards,
      others: crew.others.id,
      blocking: '',
      blockers: new Map(),
      given: new Set(),
      moving: crew.second.id,
      maxima: MAXIMA,
      places: this.#places,
      unanswered: new Set(this.#cards.filter((id) => this.#storyOf(id) === UNANSWERED)),
      works: new Map(works.map(({ id, work }) => [id, work])),
      ofHung: this.#ofHung,
    }
  }

  onEvent(worker: Worker, { event, card, way, statuses }: WorkerEvent): void {
    if (event === 'taken') this.#onTaken(worker, card)
    if (event === 'idle') this.#idle++
    if (event === 'hung' && this.#hung.push(worker) >= HUNG) this.#wake()
    if (event === 'ended' && way === 'hang') this.#ofHung.push(statuses[2]!)
  }

  /** When all workers wait, claims run out, cards can be tried again, and people look at all that waits for them. */
  async isDone(): Promise<boolean> {
    this.#crew.advance(HOUR)
    this.#wake()
    await this.#attend(Infinity)
    const open = await this.#list('completed=false&include=work')
    const isOver = ({ id, work: { state } }: any) => (state === 'waiting' ? this.#storyOf(id) === UNANSWERED : state === 'stuck')
    const left = open.filter((card) => !isOver(card))
    if (this.#idle >= WORKERS) {
      this.#idle = 0
      this.#rounds++
    }
    if (left.length > 0 && this.#rounds > ROUNDS)
      throw new Error(`nobody gets ${left.map(({ id, work }) => `${id}: ${work.state}`).join()}`)
    return left.length === 0
  }

  #storyOf(card: string): number {
    return this.#cards.indexOf(card) % STORIES.length
  }

  #onTaken(worker: Worker, card: string): void {
    const crew = this.#crew
    const take = this.#takes.get(card) ?? 0
    this.#takes.set(card, take + 1)
    worker.goOn(STORIES[this.#storyOf(card)]![take] ?? complete)
    const turn = ++this.#taken
    this.#rounds = 0
    if (turn % 10 === 0) crew.beside(() => this.#attend(2))
    if (turn % 7 === 0) crew.beside(() => this.#touch(this.#cards[Math.floor(Math.random() * this.#cards.length)]!))
    if (turn % 23 === 0) crew.beside(() => crew.send(crew.others, 'POST', `/cards/${card}/retry`))
    if (turn % 29 === 0) crew.beside(() => this.#move(card))
    if (turn % 31 === 0) crew.beside(() => crew.completeByOthers(card))
    if (turn % 30 === 0 && crew.options.restarts) crew.restart()
  }

  /** Lets the claims of those that hang run out, for each process of the service, and then lets them go on. */
  #wake(): void {
    if (this.#hung.length === 0) return
    this.#crew.advance(TTL + this.#crew.skew)
    for (const worker of this.#hung.splice(0)) worker.goOn()
  }

  /**
   * Looks at what waits for people, at most at so many questions and stuck cards. A stuck card is looked at once: it is tried again, moved,
   * or left.
   */
  async #attend(most: number): Promise<void> {
    const { others } = this.#crew
    const questions = (await this.#list('work_state=waiting&include=work')).filter(({ id }) => this.#storyOf(id) !== UNANSWERED)
    for (const { id, work } of questions.slice(0, most)) {
      if (this.#storyOf(id) === WITHDRAWN) await this.#crew.send(others, 'DELETE', `/comments/${work.question_id}`)
      else await this.#crew.send(others, 'POST', `/cards/${id}/answer`, { body: JSON.stringify({ step: 'answer' }) })
    }
    const stuck = (await this.#list('work_state=stuck')).filter(({ id }) => !this.#seen.has(id))
    for (const { id } of stuck.slice(0, most)) {
      this.#seen.add(id)
      const turn = this.#seen.size % 3
      if (turn === 0) await this.#crew.send(others, 'POST', `/cards/${id}/retry`)
      if (turn === 1) await this.#move(id)
    }
  }

  async #touch(card: string): Promise<void> {
    await this.#crew.send(this.#crew.others, 'PATCH', `/cards/${card}`, { title: `Card ${Math.random()}` })
  }

  /** Moves a card to the next column, once: a repetition of the request changes nothing. */
  async #move(card: string): Promise<void> {
    const column = (this.#moved.get(card)! + 1) % MAXIMA.length
    this.#moved.set(card, column)
    const body = { column_id: this.#columns[column], to: 'last' }
    const headers = { 'idempotency-key': `move ${card} ${Math.random()}` }
    await this.#crew.send(this.#crew.second, 'POST', `/cards/${card}/move`, body, headers)
  }

  async #list(query: string): Promise<any[]> {
    const all: any[] = []
    for (let cursor = ''; ;) {
      const { body } = await this.#crew.send(this.#crew.others, 'GET', `/boards/${this.board}/cards?limit=100&${query}${cursor}`)
      all.push(...body.data)
      if (body.page.next_cursor === null) return all
      cursor = `&cursor=${encodeURIComponent(body.page.next_cursor)}`
    }
  }
}
