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

/** What this process knows of a token that it has not written yet. */
interface Pending {
  readonly workspaceId: string
  /** when this process last wrote, in milliseconds since 1970 */
  written: number
  /** of the last use; undefined: everything is written */
  at: number | undefined
  last: Use
  days: Days
}

/** day → what was counted */
type Days = Map<string, { calls: number; refusals: number }>

/**
 * Records when and how often tokens are used, with a precision of ten minutes. It writes in the background: a request does not wait
 * for the write, and does not fail or conflict because of it. The counts of several processes add up. What was not written when a process
 * is killed is lost.
 */
export class UsageRecorder {
  readonly #deps: Deps
  readonly #tokens = new Map<string, Pending>()
  readonly #writing = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Records that a token is used now. Never throws. */
  record(workspaceId: string, hash: string, use: Use = {}): void {
    const now = this.#deps.clock()
    let token = this.#tokens.get(hash)
    if (token === undefined) {
      if (this.#tokens.size >= MAX_REMEMBERED_TOKENS) this.#forgetOldest()
      this.#tokens.set(hash, (token = { workspaceId, written: -Infinity, at: undefined, last: use, days: new Map() }))
    }
    token.at = now
    token.last = use
    const day = timestamp(() => now).slice(0, 10)
    let counts = token.days.get(day)
    if (counts === undefined) token.days.set(day, (counts = { calls: 0, refusals: 0 }))
    counts.calls++
    if (use.isDenied === true) counts.refusals++
    // A denied request alone causes no write, however often it is sent.
    if (use.isDenied !== true && now - token.written >= WRITE_INTERVAL) this.#write(hash, token)
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
    for (const [hash, token] of this.#tokens) if (token.at !== undefined) this.#write(hash, token)
  }

  #forgetOldest(): void {
    const [hash, token] = this.#tokens.entries().next().value!
    this.#tokens.delete(hash)
    if (token.at !== undefined) this.#write(hash, token)
  }

  /** Writes what has been counted. What cannot be written is counted with the next use. */
  #write(hash: string, token: Pending): void {
    const { workspaceId, last, days } = token
    const at = token.at!
    token.written = at
    token.at = undefined
    token.days = new Map()
    const { store, random } = this.#deps
    const write = transact(store, workspaceId, random, async (tx) => {
      const stored = await tx.get(keys.tokenUse(hash))
      tx.put(keys.tokenUse(hash), addedUse(stored, at, last, days))
    }).catch(() => giveBack(token, at, days))
    this.#writing.add(write)
    void write.finally(() => this.#writing.delete(write))
  }
}

function giveBack(token: Pending, at: number, days: Days): void {
  token.at ??= at
  addCounts(token.days, days)
}

function addCounts(days: Days, added: Days): void {
  for (const [day, { calls, refusals }] of added) {
    const known = days.get(day)
    days.set(day, { calls: (known?.calls ?? 0) + calls, refusals: (known?.refusals ?? 0) + refusals })
  }
}

function addedUse(stored: TokenUse | undefined, at: number, { address = null, agent = null }: Use, added: Days): TokenUse {
  const days: Days = new Map((stored?.days ?? []).map(({ day, calls, refusals }) => [day, { calls, refusals }]))
  addCounts(days, added)
  const time = timestamp(() => at)
  const all = [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(-DAYS)
  // Another process may have written a later use.
  const isOlder = stored !== undefined && stored.at > time
  const last = isOlder ? { at: stored.at, address: stored.address, agent: stored.agent } : { at: time, address, agent: shortAgent(agent) }
  return { ...last, days: all.map(([day, counts]) => ({ day, ...counts })) }
}
