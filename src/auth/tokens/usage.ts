import { shortAgent } from '../../model/audit.ts'
import { MINUTE, timestamp } from '../../model/time.ts'
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

/** A use with its days, which a record of an earlier version lacks. */
type CountedUse = TokenUse & { readonly days: NonNullable<TokenUse['days']> }

/** What this process knows of a token. */
interface Known {
  readonly workspaceId: string
  /** when this process last wrote, in milliseconds since 1970 */
  written: number
  /** what it has not written yet */
  unwritten: CountedUse | undefined
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
  readonly #writing = new Set<Promise<void>>()
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
    const at = timestamp(() => now)
    token.unwritten = sumOf(token.unwritten, { at, address, agent, days: [{ day: at.slice(0, 10), calls: 1, refusals: isDenied ? 1 : 0 }] })
    // A denied request alone causes no write, however often it is sent.
    if (!isDenied && now - token.written >= WRITE_INTERVAL) this.#write(hash, token)
    else if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#writeAll(), WRITE_INTERVAL)
      this.#timer.unref()
    }
  }

  /** Waits for the pending writes. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing)
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
    const { workspaceId, unwritten: use } = token
    if (use === undefined) return
    token.written = Date.parse(use.at)
    token.unwritten = undefined
    const { store, random } = this.#deps
    const write = transact(store, workspaceId, random, async (tx) => {
      // Another process may have written a later use.
      const stored = await tx.get(keys.tokenUse(hash))
      tx.put(keys.tokenUse(hash), sumOf(stored, { ...use, agent: shortAgent(use.agent ?? null) }))
    }).catch(() => void (token.unwritten = sumOf(token.unwritten, use)))
    this.#writing.add(write)
    void write.finally(() => this.#writing.delete(write))
  }
}

/** Two uses of a token as one: the client of the later one, and the sums of each day. */
function sumOf(known: TokenUse | undefined, use: CountedUse): CountedUse {
  const { at, address, agent } = known !== undefined && known.at > use.at ? known : use
  const days = new Map(known?.days?.map((day) => [day.day, day]))
  for (const { day, calls, refusals } of use.days) {
    const counted = days.get(day)
    days.set(day, { day, calls: calls + (counted?.calls ?? 0), refusals: refusals + (counted?.refusals ?? 0) })
  }
  return { at, address, agent, days: [...days.values()].toSorted((a, b) => (a.day < b.day ? -1 : 1)).slice(-DAYS) }
}
