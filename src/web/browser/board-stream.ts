/** The updates of several boards over one connection. */
import { STREAM_BOARDS, type Editor, type StreamedUpdate } from '../boards/board-update.ts'

/** What a page is told about its board. */
export type Message =
  | { readonly state: 'live' | 'waiting' }
  | { readonly update: StreamedUpdate }
  /** who is editing something on the board, for a page that comes later */
  | { readonly editors: readonly Editor[] }
  /** the stream is further than the page */
  | { readonly isBehind: true }
  /** the service has ended the stream of the board, with the code of an error */
  | { readonly ended: string }
  /** there is no room for the board */
  | { readonly isFull: true }
export type Listener = (message: Message) => void

/** A board that somebody looks at, and how far its changes were received. */
interface Watched {
  after: string
  editors?: readonly Editor[]
  readonly listeners: Set<Listener>
}

/** Boards are often opened together: the connection is made once for them, after so many milliseconds. */
const GATHER = 20
const FIRST_RETRY = 1000
const LAST_RETRY = 30_000

export class BoardStream {
  readonly #base: string
  readonly #boards = new Map<string, Watched>()
  #source: EventSource | undefined
  #state: 'live' | 'waiting' = 'waiting'
  #timer: ReturnType<typeof setTimeout> | undefined
  #retry = FIRST_RETRY

  /** @param base the address of the workspace */
  constructor(base: string) {
    this.#base = base
  }

  /**
   * Tells a listener what changes on a board.
   * @param after the cursor of the change feed that the page is up to date with
   * @returns ends that
   */
  watch(board: string, after: string, listener: Listener): () => void {
    const known = this.#boards.get(board)
    if (known !== undefined) {
      known.listeners.add(listener)
      listener({ state: this.#state })
      if (known.editors !== undefined) listener({ editors: known.editors })
      if (known.after !== after) listener({ isBehind: true })
    } else if (this.#hasRoom()) {
      this.#boards.set(board, { after, listeners: new Set([listener]) })
      this.#openIn(GATHER)
    } else listener({ isFull: true })
    return () => this.#leave(board, listener)
  }

  #leave(board: string, listener: Listener): void {
    this.#boards.get(board)?.listeners.delete(listener)
    // The others go on over the connection that there is.
    if ([...this.#boards.values()].some(({ listeners }) => listeners.size > 0)) return
    this.#boards.clear()
    this.#close()
  }

  #hasRoom(): boolean {
    this.#forgetUnwatched()
    return this.#boards.size < STREAM_BOARDS
  }

  #forgetUnwatched(): void {
    for (const [board, { listeners }] of this.#boards) if (listeners.size === 0) this.#boards.delete(board)
  }

  #openIn(milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#open(), milliseconds)
  }

  #open(): void {
    this.#close()
    this.#forgetUnwatched()
    if (this.#boards.size === 0) return
    const query = new URLSearchParams(
      [...this.#boards].flatMap(([board, { after }]) => [
        ['board', board],
        ['after', after],
      ]),
    )
    const source = new EventSource(`${this.#base}/events?${query}`)
    this.#source = source
    source.addEventListener('open', () => {
      this.#retry = FIRST_RETRY
      this.#setState('live')
    })
    source.addEventListener('change', ({ data }) => {
      const { board, update } = JSON.parse(data as string) as { board: string; update: StreamedUpdate }
      const watched = this.#boards.get(board)
      if (watched === undefined) return
      watched.after = update.next
      if (update.editors !== undefined) watched.editors = update.editors
      for (const listener of watched.listeners) listener({ update })
    })
    source.addEventListener('error', (event) => {
      if (event instanceof MessageEvent) this.#end(event.data as string)
      else this.#openAgain()
    })
  }

  /** The service has ended the stream of a board, and says why. */
  #end(data: string): void {
    const { board, error } = JSON.parse(data) as { board: string; error: { code: string } }
    const watched = this.#boards.get(board)
    this.#boards.delete(board)
    if (this.#boards.size === 0) this.#close()
    for (const listener of watched?.listeners ?? []) listener({ ended: error.code })
  }

  /** The browser would connect again with the places where the stream began. */
  #openAgain(): void {
    this.#close()
    this.#setState('waiting')
    this.#openIn(this.#retry)
    this.#retry = Math.min(this.#retry * 2, LAST_RETRY)
  }

  #setState(state: 'live' | 'waiting'): void {
    this.#state = state
    for (const { listeners } of this.#boards.values()) for (const listener of listeners) listener({ state })
  }

  #close(): void {
    clearTimeout(this.#timer)
    this.#source?.close()
    this.#source = undefined
  }
}
