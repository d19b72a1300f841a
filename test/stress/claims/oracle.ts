/** The judged members of a change in the feed of the board. */
export interface FeedEntry {
  readonly at: string
  readonly kind: string
  readonly id: string
  readonly action: string
  readonly epoch?: number
  /** of a failure */
  readonly attempts?: number
  readonly reason?: string | null
  readonly token_id: string | null
  readonly request_id: string | null
  readonly data: any
}

/**
 * What a worker does with a card that it has taken. `hang`: it stops renewing, waits until it is told to go on, and then tries to complete
 * the card.
 */
export type Way = 'complete' | 'fail' | 'ask' | 'hang' | 'die'

/** A line of the log of a worker. */
export interface WorkerEvent {
  readonly event: 'idle' | 'refused' | 'taken' | 'renewed' | 'hung' | 'ending' | 'ended'
  readonly card: string
  readonly epoch: number
  /** when a claim was taken, and until when it lasts, by the clock of the service that answered */
  readonly from: string
  readonly until: string
  /** of the end, and of what comes right before it */
  readonly way: Way
  /** of the first comment, of the renewal and of the end */
  readonly statuses: readonly number[]
  /** of a failure, as it was answered */
  readonly not_before?: string | null
}

/** What was done on the board. Cards are completed with a comment that says "done". */
export interface Run {
  readonly cards: readonly string[]
  /** the tokens that complete cards without a claim, and add blockers */
  readonly others: string
  readonly blocking: string
  /** the blocker that was added to a card */
  readonly blockers: ReadonlyMap<string, string>
  /** claims of a given card, which may be blocked: its id and the epoch */
  readonly given: ReadonlySet<string>
  readonly feed: readonly FeedEntry[]
  readonly log: readonly WorkerEvent[]
  /** Otherwise a claim that has run out for one process may still last for another one. */
  readonly hasOneClock: boolean
}

/** The violations of a run, from the feed and the log of the workers: nothing here knows how claims are stored or decided. */
export function violationsOf(run: Run): string[] {
  const done = new Map<string, number>(run.cards.map((id) => [id, 0]))
  for (const { kind, action, data } of run.feed)
    if (kind === 'comment' && action === 'created' && stepIn(data) === 'done') done.set(data.card_id, done.get(data.card_id)! + 1)
  const counts = [...done].filter(([, count]) => count !== 1).map(([card, count]) => `${card} was done ${count} times`)
  return [...fencingViolationsOf(run), ...counts]
}

/** The violations that do not concern the outcome of the cards. */
export function fencingViolationsOf(run: Run): string[] {
  return [...violationsInFeed(run), ...violationsInLog(run)]
}

/** What a comment says. undefined: it was deleted since */
export function stepIn(data: any): string | undefined {
  return data === null ? undefined : JSON.parse(data.body).step
}

/** Each write of a worker belongs to the last claim before it; nothing blocked is claimed; nothing is done after a card is done. */
function violationsInFeed({ cards, others, blocking, blockers, given, feed }: Run): string[] {
  const found: string[] = []
  const claims = new Map<string, { readonly epoch: number; readonly token: string | null }>()
  const blocked = new Set<string>()
  const done = new Map<string, number>(cards.map((id) => [id, 0]))
  for (const { kind, id, action, epoch = 0, token_id, data } of feed) {
    if (kind === 'card' && action === 'updated' && token_id === blocking && blockers.has(id)) blocked.add(id)
    if (kind === 'claim' && action === 'claimed') {
      const last = claims.get(id)
      if (last !== undefined && epoch <= last.epoch) found.push(`${id}: epoch ${epoch} after ${last.epoch}`)
      if (done.get(id) !== 0) found.push(`${id} was claimed after it was done`)
      if (blocked.has(id) && done.get(blockers.get(id)!) === 0 && !given.has(`${id} ${epoch}`))
        found.push(`${id} was claimed while it was blocked`)
      claims.set(id, { epoch, token: token_id })
    }
    // A question that was withdrawn has no text any more.
    if (kind !== 'comment' || action !== 'created' || data === null) continue
    const { step, epoch: stated } = JSON.parse(data.body)
    const card: string = data.card_id
    const holder = claims.get(card)
    if (token_id !== others && (holder?.epoch !== stated || holder?.token !== token_id))
      found.push(`${card}: "${step}" with epoch ${stated} landed while epoch ${holder?.epoch} was the last one`)
    // A person may answer while another one completes the card.
    if (step !== 'answer' && done.get(card) !== 0) found.push(`${card}: "${step}" landed after it was done`)
    if (step === 'done') done.set(card, done.get(card)! + 1)
  }
  return found
}

/**
 * A claim begins after the one before it was released or has run out, by the clock of the service that gives it; what is lost stays lost.
 */
function violationsInLog({ feed, log, hasOneClock }: Run): string[] {
  const found: string[] = []
  const released = new Set(feed.filter(({ action }) => action === 'released').map(({ id, epoch }) => `${id} ${epoch}`))
  const claims = new Map<string, { from: number; until: number }>()
  for (const { event, card, epoch, from, until, statuses } of log) {
    const key = `${card} ${epoch}`
    if (event === 'refused') found.push('a claim of the next card was refused')
    if (event === 'taken' && claims.has(key)) found.push(`${card}: epoch ${epoch} was given to two workers`)
    if (event === 'taken') claims.set(key, { from: Date.parse(from), until: Date.parse(until) })
    if (event === 'renewed') claims.get(key)!.until = Date.parse(until)
    if (
      event === 'ended' &&
      hasOneClock &&
      statuses.some((status, i) => status === 412 && statuses.slice(i).some((later) => later !== 412))
    )
      found.push(`${card}: epoch ${epoch} was lost and came back: ${statuses.join()}`)
    if (event === 'ended' && statuses.some((status) => ![200, 201, 412].includes(status)))
      found.push(`${card}: epoch ${epoch} was answered ${statuses.join()}`)
  }
  for (const [key, { from }] of claims) {
    const [card, epoch] = key.split(' ') as [string, string]
    for (const [other, { until }] of claims)
      if (!released.has(other) && other.startsWith(`${card} `) && Number(other.slice(card.length)) < Number(epoch) && from < until)
        found.push(`${card}: epoch ${epoch} began while ${other} lasted`)
  }
  return found
}
