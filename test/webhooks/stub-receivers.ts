import { expect } from 'vitest'
import { keys } from '../../src/store/keys.ts'
import type { WebhookProgress } from '../../src/model/webhook.ts'
import type { Answer, Delivery, SendError, send } from '../../src/webhooks/send.ts'
import type { TestBoard } from '../support/board.ts'
import { inTime } from '../support/in-time.ts'
import type { Person, Service } from '../support/service.ts'

/** What a receiver got. */
export interface Received {
  readonly url: string
  /** the `webhook-id` */
  readonly id: string
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: ReceivedData }
}

export interface ReceivedData {
  readonly webhook_id: string
  readonly board_id: string
  readonly after: string | null
  readonly next: string | null
  readonly entries: readonly any[]
}

type Answered = Answer | { readonly error: SendError }
/** What a receiver does with a delivery. `hang`: it does not answer until the attempt is ended, or the test answers. */
export type Behavior = Answered | 'hang'

/** Receivers of a service under test, one for each webhook: what is sent goes to them, and not to the network. */
export class StubReceivers {
  readonly #receivers = new Map<string, StubReceiver>()
  /** what is sent to the receiver of a webhook that no test knows yet */
  readonly send: typeof send = (delivery) => this.of((JSON.parse(delivery.body) as { data: ReceivedData }).data.webhook_id).take(delivery)

  of(webhookId: string): StubReceiver {
    const receiver = this.#receivers.get(webhookId) ?? new StubReceiver()
    this.#receivers.set(webhookId, receiver)
    return receiver
  }
}

/** The receiver of one webhook. */
export class StubReceiver {
  readonly received: Received[] = []
  /** what it does with the next deliveries, one after the other; then it does what it did last, at first 204 */
  readonly #behaviors: Behavior[] = []
  #last: Behavior = { status: 204 }
  readonly #waiting = new Set<() => void>()
  readonly #hanging: ((answer: Answered) => void)[] = []
  /** how many attempts are under way */
  underWay = 0
  /** how many were at the same time */
  atOnce = 0

  /** From now on it does this. */
  behave(...behaviors: readonly Behavior[]): void {
    this.#behaviors.splice(0, Infinity, ...behaviors)
  }

  /** Answers those that hang. */
  answerHanging(answer: Answered): void {
    for (const end of this.#hanging.splice(0)) end(answer)
  }

  async take({ url, body, headers, signal }: Delivery): Promise<Answered> {
    this.atOnce = Math.max(this.atOnce, ++this.underWay)
    this.received.push({ url, id: headers['webhook-id']!, text: body, headers, body: JSON.parse(body) })
    for (const check of this.#waiting) check()
    this.#last = this.#behaviors.shift() ?? this.#last
    const answer = this.#last === 'hang' ? await this.#hang(signal) : this.#last
    this.underWay--
    return answer
  }

  #hang(signal: AbortSignal | undefined): Promise<Answered> {
    return new Promise((resolve) => {
      const stop = (): void => resolve({ error: 'stopped' })
      this.#hanging.push(resolve)
      if (signal?.aborted === true) stop()
      signal?.addEventListener('abort', stop)
    })
  }

  /** Waits until it has got so many deliveries. @returns the last of these */
  async got(count: number): Promise<Received> {
    const change = new Promise<void>((resolve) => {
      const check = (): void => void (this.received.length >= count && (this.#waiting.delete(check), resolve()))
      this.#waiting.add(check)
      check()
    })
    await inTime(change, () => `${this.received.length} of ${count} deliveries have arrived`)
    return this.received[count - 1]!
  }

  /** All entries that it got, without the repetitions of a delivery. */
  get entries(): any[] {
    const byId = new Map(this.received.map(({ id, body }) => [id, body.data.entries]))
    return [...byId.values()].flat()
  }

  get seqs(): number[] {
    return this.entries.map(({ seq }) => seq as number)
  }
}

/** A webhook that was created by the API, with its receiver. */
export class Subscription {
  readonly service: Service
  readonly creator: Person
  readonly receiver: StubReceiver
  readonly id: string
  readonly secret: string
  /** where it begins */
  readonly begin: string

  private constructor(service: Service, creator: Person, receiver: StubReceiver, created: any) {
    this.service = service
    this.creator = creator
    this.receiver = receiver
    ;({ id: this.id, secret: this.secret, cursor: this.begin } = created)
  }

  static async create(
    receivers: StubReceivers,
    board: TestBoard,
    body: object = {},
    creator: Person = board.creator,
  ): Promise<Subscription> {
    const sent = { url: 'https://hooks.example/kanban', ...body }
    const reply = await board.service.send(creator.admin, 'POST', `/boards/${board.id}/webhooks`, sent)
    expect(reply).toMatchObject({ status: 201 })
    return new Subscription(board.service, creator, receivers.of(reply.body.data.id), reply.body.data)
  }

  /** The webhook as the API shows it to its creator. */
  async read(): Promise<any> {
    return (await this.#send('GET', '')).body.data
  }

  async patch(body: object): Promise<any> {
    return (await this.#send('PATCH', '', body)).body.data
  }

  async post(path: string): Promise<any> {
    return (await this.#send('POST', path)).body.data
  }

  async delete(): Promise<void> {
    await this.#send('DELETE', '')
  }

  async deliveries(): Promise<any[]> {
    return (await this.#send('GET', '/deliveries')).body.data
  }

  async #send(method: string, path: string, body?: object) {
    const reply = await this.service.send(this.creator.admin, method, `/webhooks/${this.id}${path}`, body)
    if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`)
    return reply
  }

  /** What is stored of its deliveries. */
  progress(): Promise<WebhookProgress> {
    return this.service.write(this.creator.workspaceId, async (tx) => (await tx.get(keys.webhookProgress(this.id)))!)
  }

  /** Waits until its progress is like this. */
  async until(expected: Partial<WebhookProgress>): Promise<WebhookProgress> {
    await expect.poll(() => this.progress(), { interval: 10 }).toMatchObject(expected)
    return this.progress()
  }

  /** Waits until everything was delivered. @param next the `next` of the last delivery */
  async delivered(count: number): Promise<Received> {
    const last = await this.receiver.got(count)
    await this.until({ state: 'active', begun: null, failures: 0, delivered_to: last.body.data.next! })
    return last
  }

  /** Lets the time come when it is tried again. */
  async due(): Promise<void> {
    const { next_at } = await this.progress()
    this.service.now = Date.parse(next_at!)
    this.service.app.deliverer.lookAgain(this.id)
  }
}
