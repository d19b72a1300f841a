import { inTime } from './in-time.ts'

/** An event of a stream. */
export interface ReceivedEvent {
  readonly id: string
  readonly event: string
  readonly data: any
}

/** Reads a stream of server-sent events. No read waits for good. */
export class EventReader {
  readonly response: Response
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #received: ReceivedEvent[] = []
  #text = ''

  constructor(response: Response) {
    this.response = response
    if (response.status === 200) this.#reader = response.body!.getReader()
  }

  /** The next events. */
  async take(count: number): Promise<ReceivedEvent[]> {
    const what = () => `the stream has sent ${this.#received.length} of ${count} events, and has not ended`
    await inTime(
      this.#readUntil(() => this.#received.length >= count),
      what,
    )
    if (this.#received.length < count) throw new Error(`the stream has ended after ${JSON.stringify(this.#received)}`)
    return this.#received.splice(0, count)
  }

  /** All events until the stream ends. */
  async rest(): Promise<ReceivedEvent[]> {
    await inTime(this.#readUntil(), () => `the stream has not ended; it has sent ${JSON.stringify(this.#received)}`)
    return this.#received.splice(0)
  }

  async close(): Promise<void> {
    await this.#reader?.cancel()
  }

  async #readUntil(isEnough = () => false): Promise<void> {
    while (!isEnough() && (await this.#read()));
  }

  async #read(): Promise<boolean> {
    const { done, value } = await this.#reader!.read()
    if (done) return false
    const parts = (this.#text + Buffer.from(value).toString()).split('\n\n')
    this.#text = parts.pop()!
    this.#received.push(...parts.filter((part) => !part.startsWith(':')).map(parse))
    return true
  }
}

function parse(part: string): ReceivedEvent {
  const fields = Object.fromEntries(part.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
  return { id: fields['id'] ?? '', event: fields['event'] ?? '', data: JSON.parse(fields['data'] ?? 'null') }
}
