import { shortAgent } from '../../model/audit.ts'
import { DAY, MINUTE } from '../../model/time.ts'
import type { TokenUse } from '../../model/token.ts'
import { type Deps, transact } from '../../store/transact.ts'
import { keys } from '../../store/keys.ts'

/** Minimum time between two writes for the same token, in milliseconds. */
const WRITE_INTERVAL = 10 * MINUTE
const MAX_REMEMBERED_TOKENS = 10_000
/** The days that a record has. */
const DAYS = 30

/** One request with a token. */
export interface Use {
  readonly address?: string | null
  /** the header User-Agent */
  readonly agent?: string | null
  readonly isDenied?: boolean
}

/** What this process knows of a token. */
interface Known {
  readonly workspaceId: string
  /** when this process last wrote, in milliseconds since 1970 */
  written: number
  /** the uses that it has not written yet */
  unwritten: Counted | undefined
}

/** The uses that are not written yet. They are counted in place: each request is one. */
interface Counted {
  /** the last use, in milliseconds since 1970 */
  at: number
  address: string | null
  agent: string | null
  /** days since 1970 → how often it was used */
  readonly days: Map<number, { calls: number; refusals: number }>
}

/**
 * Records when and how often tokens are used, with a precision of ten minutes. It writes in the background: a request does not wait
 * for the write, and does not fail or conflict because of it. The counts of several processes add up. What was not written when a process
 * is killed is lost.
 */
export class UsageRecorder {
  readonly #deps: Deps
  readonly #most: number
  readonly #tokens = new Map<string, Known>()
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  /** @param most how many tokens are remembered; the tests use a small number */
  constructor(deps: Deps, most = MAX_REMEMBERED_TOKENS) {
    this.#deps = deps
    this.#most = most
  }

  /** Records that a token is used now. Never throws. */
  record(workspaceId: string, hash: string, { address = null, agent = null, isDenied = false }: Use = {}): void {
    const now = this.#deps.clock()
    let token = this.#tokens.get(hash)
    if (token === undefined) {
      if (this.#tokens.size >= this.#most) this.#forgetOldest()
      this.#tokens.set(hash, (token = { workspaceId, written: -Infinity, unwritten: undefined }))
    }
    const day = Math.floor(now / DAY)
    token.unwritten = sumOf(token.unwritten, { at: now, address, agent }, day, 1, isDenied ? 1 : 0)
    // A denied request alone causes no write, however often it is sent.
    if (!isDenied && now - token.written >= WRITE_INTERVAL) this.#write(hash, token)
    else if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#writeAll(), WRITE_INTERVAL)
      this.#timer.unref()
    }
  }

  /** Waits for the pending writes. */
  async settled(): Promise<void> {
    await this.#writing
  }

  /** Writes everything that is not written yet. */
  async flush(): Promise<void> {
    this.#writeAll()
    await this.settled()
  }

  #writeAll(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [hash, token] of this.#tokens) this.#write(hash, token)
  }

  #forgetOldest(): void {
    const [hash, token] = this.#tokens.entries().next().value!
    this.#tokens.delete(hash)
    this.#write(hash, token)
  }

  /** Writes what is not written yet. What cannot be written is counted with the next use. */
  #write(hash: string, token: Known): void {
    const { workspaceId, unwritten: counted } = token
    if (counted === undefined) return
    token.written = counted.at
    token.unwritten = undefined
    const { store, random } = this.#deps
    const write = transact(store, workspaceId, random, async (tx) => {
      // Another process may have written a later use.
      const stored = await tx.get(keys.tokenUse(hash))
      tx.put(keys.tokenUse(hash), withCounted(stored, counted))
    }).catch(() => {
      for (const [day, { calls, refusals }] of counted.days) token.unwritten = sumOf(token.unwritten, counted, day, calls, refusals)
    })
    this.#writing = this.#writing.then(() => write)
  }
}

/** Adds uses of a day: the client of the later uses wins. */
function sumOf(
  known: Counted | undefined,
  { at, address, agent }: Pick<Counted, 'at' | 'address' | 'agent'>,
  day: number,
  calls: number,
  refusals: number,
): Counted {
  if (known === undefined) return { at, address, agent, days: new Map([[day, { calls, refusals }]]) }
  if (at >= known.at) {
    known.at = at
    known.address = address
    known.agent = agent
  }
  const counted = known.days.get(day)
  if (counted === undefined) known.days.set(day, { calls, refusals })
  else {
    counted.calls += calls
    counted.refusals += refusals
  }
  return known
}

/** A record with further uses: the client of the later one, and the sums of each day. */
function withCounted(stored: TokenUse | undefined, counted: Counted): TokenUse {
  const own = { at: new Date(counted.at).toISOString(), address: counted.address, agent: shortAgent(counted.agent) }
  const { at, address, agent } = stored !== undefined && stored.at > own.at ? stored : own
  const days = new Map(stored?.days?.map((day) => [day.day, day]))
  for (const [number, { calls, refusals }] of counted.days) {
    const day = new Date(number * DAY).toISOString().slice(0, 10)
    const known = days.get(day)
    days.set(day, { day, calls: calls + (known?.calls ?? 0), refusals: refusals + (known?.refusals ?? 0) })
  }
  return { at, address, agent, days: [...days.values()].toSorted((a, b) => (a.day < b.day ? -1 : 1)).slice(-DAYS) }
}
