import { fencingViolationsOf, stepIn, type FeedEntry, type Run, type WorkerEvent } from './oracle.ts'

/** What was done on a board whose cards can fail. */
export interface WorkRun extends Run {
  /** the token that moves cards to the next column */
  readonly moving: string
  /** how many attempts the columns allow, in their order */
  readonly maxima: readonly (number | null)[]
  /** the column where each card was created */
  readonly places: ReadonlyMap<string, number>
  /** the cards whose questions nobody answers */
  readonly unanswered: ReadonlySet<string>
  /** what the service says of the work on each card at the end */
  readonly works: ReadonlyMap<string, { readonly state: string; readonly attempts: number }>
}

/** The violations of a run, from the feed and the log of the workers: nothing here knows how attempts are stored or counted. */
export function workViolationsOf(run: WorkRun): string[] {
  const ends = endsIn(run.log)
  const cards = new Map(run.cards.map((id) => [id, new WorkedCard(id, run, ends)]))
  const found: string[] = []
  const asked = new Map<string, string>()
  for (const commit of commitsOf(run.feed)) {
    for (const id of cardsIn(commit, asked)) {
      const card = cards.get(id)!
      card.apply(commit)
      if (card.question !== undefined) asked.set(card.question, id)
    }
  }
  for (const card of cards.values()) found.push(...card.violations())
  return [...fencingViolationsOf(run), ...found]
}

/** How often something happened, to see that a run has it. */
export function countsOf({ feed }: WorkRun): Record<string, number> {
  const counts: Record<string, number> = { lost: 0 }
  for (const { kind, action, reason } of feed) {
    if (kind !== 'work') continue
    const name = action === 'failed' && reason === null ? 'lost' : action
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** What the log says of how a claim has ended. */
interface End {
  /** at least so long the claim lasted */
  until?: string
  /** what its holder has tried. undefined: nothing */
  way?: WorkerEvent['way']
  /** undefined: it does not know */
  status?: number
  notBefore?: string | null
}

/** By the card and the epoch. */
function endsIn(log: readonly WorkerEvent[]): ReadonlyMap<string, End> {
  const ends = new Map<string, End>()
  for (const { event, card, epoch, until, way, statuses, not_before } of log) {
    const key = `${card} ${epoch}`
    const end = ends.get(key) ?? {}
    ends.set(key, end)
    if (event === 'taken' || event === 'renewed') end.until = until
    if (event === 'ending') end.way = way === 'hang' ? 'complete' : way
    if (event === 'ended') Object.assign(end, { status: statuses[2]!, notBefore: not_before })
  }
  return ends
}

/** Entries of one commit stand together, and have the id of their request. */
function commitsOf(feed: readonly FeedEntry[]): FeedEntry[][] {
  const commits: FeedEntry[][] = []
  for (const entry of feed) {
    const last = commits.at(-1)
    if (last?.[0]!.request_id === entry.request_id) last!.push(entry)
    else commits.push([entry])
  }
  return commits
}

/** @param asked the cards of questions */
function cardsIn(commit: readonly FeedEntry[], asked: ReadonlyMap<string, string>): Set<string> {
  const ofCards = commit.filter(({ kind }) => ['card', 'claim', 'work'].includes(kind)).map(({ id }) => id)
  const withdrawn = commit.filter(({ kind, action }) => kind === 'comment' && action === 'deleted').map(({ id }) => asked.get(id)!)
  return new Set([...ofCards, ...withdrawn])
}

/** A card as the feed tells its work, commit by commit. */
class WorkedCard {
  /** the comment that waits for an answer */
  question: string | undefined
  readonly #found: string[] = []
  readonly #history: string[] = []
  readonly #id: string
  readonly #run: WorkRun
  readonly #ends: ReadonlyMap<string, End>
  #column: number
  #attempts = 0
  #epoch = 0
  /** whether the last claim has not ended, by the feed, and whether the card was moved under it */
  #isClaimed = false
  #wasMoved = false
  #isStuck = false
  #isDone = false
  #notBefore: string | null | undefined
  /** what holders have said in the feed: the way and the epoch */
  readonly #said = new Set<string>()

  constructor(id: string, run: WorkRun, ends: ReadonlyMap<string, End>) {
    this.#id = id
    this.#run = run
    this.#ends = ends
    this.#column = run.places.get(id)!
  }

  apply(commit: readonly FeedEntry[]): void {
    const own = commit.filter(({ kind, id }) => kind !== 'comment' && id === this.#id)
    const has = (action: string) => own.some((entry) => entry.action === action)
    const isDone = commit.some(({ kind, action, data }) => kind === 'comment' && action === 'created' && stepIn(data) === 'done')
    const isMoved = own.some(({ kind, action, token_id }) => kind === 'card' && action === 'updated' && token_id === this.#run.moving)
    for (const entry of own) {
      this.#history.push([entry.kind, entry.action, entry.epoch ?? entry.attempts].join(' ').trimEnd())
      if (entry.action === 'claimed') this.#claim(entry)
      if (entry.action === 'released') {
        this.#demand(this.#isClaimed && entry.epoch === this.#epoch, `${entry.epoch} was released, and nobody had it`)
        this.#demand(isDone || has('asked') || has('failed'), `${entry.epoch} was released by nobody`)
        this.#isClaimed = false
      }
      if (entry.action === 'failed') this.#fail(entry)
      if (entry.action === 'asked') this.#ask(commit)
      if (entry.action === 'answered') {
        this.#demand(this.question !== undefined && entry.token_id === this.#run.others, 'an answer to no question')
        this.question = undefined
      }
      if (entry.action === 'retried') this.#forget()
    }
    if (commit.some(({ action, id }) => action === 'deleted' && id === this.question)) this.question = undefined
    // What forgets the attempts in the same commit keeps the card from being stuck.
    const isAtMost = has('failed') && this.#attempts === this.#maximum && !isDone && !isMoved
    this.#demand(has('stuck') === isAtMost && !(has('stuck') && this.#isStuck), `stuck: ${has('stuck')} after ${this.#attempts} attempts`)
    this.#isStuck ||= has('stuck')
    if (isDone || isMoved) this.#forget()
    if (isDone) this.#complete(own)
    if (isMoved) this.#column = (this.#column + 1) % this.#run.maxima.length
    if (isMoved) this.#wasMoved = this.#isClaimed
  }

  violations(): string[] {
    for (const [key, { way, status = 0 }] of this.#ends) {
      const [card, epoch] = key.split(' ')
      if (card === this.#id && way !== undefined && [200, 201].includes(status))
        this.#demand(this.#said.has(`${way} ${epoch}`), `"${way}" with epoch ${epoch} was answered ${status}, and is not in the feed`)
    }
    this.#demand(!this.#isClaimed || this.#wasMoved, `${this.#epoch} has no end`)
    const isWaiting = this.question !== undefined && this.#run.unanswered.has(this.#id)
    const states = { done: this.#isDone, waiting: isWaiting, stuck: this.#isStuck && this.#attempts === this.#maximum }
    const [state] = Object.entries(states).find(([, holds]) => holds) ?? ['unfinished']
    const work = this.#run.works.get(this.#id)
    this.#demand(
      work?.state === state && work.attempts === this.#attempts,
      `${state} after ${this.#attempts} attempts, and the service says ${work?.state} after ${work?.attempts}`,
    )
    this.#demand(state !== 'unfinished', 'it is neither done nor stuck, and nobody was to leave it without an answer')
    if (this.#found.length === 0) return []
    return [...this.#found, `${this.#id} has the history ${this.#history.join(', ')}`]
  }

  get #maximum(): number | null {
    return this.#run.maxima[this.#column]!
  }

  #demand(holds: boolean, otherwise: string): void {
    if (!holds) this.#found.push(`${this.#id}: ${otherwise}`)
  }

  #forget(): void {
    this.#attempts = 0
    this.#isStuck = false
    this.#notBefore = undefined
  }

  #claim({ epoch, at }: FeedEntry): void {
    this.#demand(!this.#isStuck, `${epoch} was taken while it was stuck`)
    this.#demand(this.question === undefined, `${epoch} was taken while it waited for an answer`)
    this.#demand(!this.#isClaimed || this.#wasMoved, `${this.#epoch} was lost, and that is not in the feed`)
    this.#demand(this.#notBefore == null || at >= this.#notBefore, `${epoch} was taken at ${at}, before ${this.#notBefore}`)
    this.#epoch = epoch!
    this.#isClaimed = true
    this.#wasMoved = false
    this.#notBefore = undefined
  }

  #fail({ at, attempts, reason }: FeedEntry): void {
    this.#demand(attempts === this.#attempts + 1, `attempt ${attempts} after ${this.#attempts}`)
    this.#attempts = attempts!
    const { until, way, status = 0, notBefore } = this.#ends.get(`${this.#id} ${this.#epoch}`) ?? {}
    if (reason === null) {
      this.#demand(this.#isClaimed && !this.#wasMoved, `attempt ${attempts} was counted for no lost claim`)
      this.#demand(![200, 201].includes(status), `attempt ${attempts} was counted, and "${way}" was answered ${status}`)
      this.#demand(until === undefined || at >= until, `${this.#epoch} was lost at ${at}, before it ran out: ${until}`)
    } else {
      this.#demand(reason === `${this.#id} ${this.#epoch}` && way === 'fail', `"${reason}" is the reason of nobody`)
      this.#say('fail')
      this.#notBefore = notBefore
    }
    this.#isClaimed = false
  }

  #ask(commit: readonly FeedEntry[]): void {
    this.#demand(this.#ends.get(`${this.#id} ${this.#epoch}`)?.way === 'ask', `nobody has asked with epoch ${this.#epoch}`)
    this.#say('ask')
    this.question = commit.find(({ kind, action }) => kind === 'comment' && action === 'created')?.id
    this.#isClaimed = false
  }

  #complete(own: readonly FeedEntry[]): void {
    this.#demand(!this.#isDone, 'it was completed twice')
    if (own[0]!.token_id !== this.#run.others) this.#say('complete')
    this.#isDone = true
    this.#isClaimed = false
  }

  /** The holder of the last claim has said how its attempt ended. */
  #say(way: WorkerEvent['way']): void {
    const said = `${way} ${this.#epoch}`
    this.#demand(!this.#said.has(said), `"${said}" is in the feed twice`)
    this.#said.add(said)
  }
}
