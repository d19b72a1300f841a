import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'
import { addMember } from '../../../src/admin/memberships.ts'
import { addUser } from '../../../src/admin/users.ts'
import { createWorkspace } from '../../../src/admin/workspaces.ts'
import { issueToken } from '../../../src/auth/tokens/issue.ts'
import { systemRandom as random } from '../../../src/model/ids.ts'
import { systemClock as clock } from '../../../src/model/time.ts'
import { createDerivations } from '../../../src/resources/derived.ts'
import { openStorage } from '../../../src/store/open.ts'
import { transact } from '../../../src/store/transact.ts'
import { quiet } from '../../support/log.ts'
import { startService, type StartedService } from '../../support/process.ts'
import { freePort } from '../../support/ports.ts'
import { insistOn } from '../claims/fleet.ts'
import { violationsOf, type Post } from './oracle.ts'

/** How long something is waited for, in milliseconds: 8 s after each kill nobody delivers, and a failure is repeated after 5 s. */
const POLL = { timeout: 300_000, interval: 100 }
const CARDS = 10

/** Processes of the service on one storage, whose ports stay the same, and a board. */
export class Services {
  readonly all: StartedService[] = []
  readonly send: ReturnType<typeof insistOn>
  readonly #env: Record<string, string>
  readonly #ports: readonly number[]
  board = ''
  #cards: readonly string[] = []

  private constructor(address: string, ports: readonly number[], plaintext: string) {
    const urls = ports.map((port) => `http://127.0.0.1:${port}`)
    this.#ports = ports
    this.send = insistOn(urls, { id: '', plaintext })
    this.#env = {
      LANEKEEPER_STORAGE: address,
      LANEKEEPER_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      LANEKEEPER_WEBHOOK_TARGETS: 'http://127.0.0.1:*',
      LANEKEEPER_METRICS: '127.0.0.1:0',
    }
  }

  static async start(address: string, count: number): Promise<Services> {
    const ports: number[] = []
    while (ports.length < count) ports.push(await freePort())
    const services = new Services(address, ports, await makeToken(address))
    for (let i = 0; i < count; i++) await services.start(i)
    services.board = await services.#create('/boards', { name: 'Board' })
    const column_id = await services.#create(`/boards/${services.board}/columns`, { name: 'Column' })
    const cards: string[] = []
    while (cards.length < CARDS) cards.push(await services.#create(`/boards/${services.board}/cards`, { column_id, title: 'Card' }))
    services.#cards = cards
    return services
  }

  async start(i: number): Promise<void> {
    this.all[i] = await startService([], { ...this.#env, PORT: String(this.#ports[i]) }, { underLoad: true })
  }

  async kill(i: number): Promise<void> {
    await this.all[i]!.stop('SIGKILL')
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((service) => service.stop('SIGKILL')))
  }

  /** Makes ten changes in one commit: nine of cards, and a comment. */
  async change(): Promise<void> {
    const operations = this.#cards.map((card_id, i) => {
      const params = { card_id }
      return i === 0
        ? { operation: 'comments.create', params, body: { body: 'Comment' } }
        : { operation: 'cards.update', params, body: { title: `Card ${Math.random()}` } }
    })
    const { status } = await this.send('POST', `/boards/${this.board}/batch`, { operations })
    expect(status).toBe(200)
  }

  /** The feed after a cursor, and its last cursor. */
  async feed(after: string): Promise<{ readonly feed: readonly any[]; readonly end: string }> {
    const feed: any[] = []
    for (let end = after; ;) {
      const { body } = await this.send('GET', `/boards/${this.board}/changes?limit=100&after=${end}`)
      if (body.data.length === 0) return { feed, end }
      feed.push(...body.data)
      end = body.page.next_cursor
    }
  }

  /** How many deliveries a process has made since its start. */
  async delivered(i: number): Promise<number> {
    const found = () => /metrics are served at (http:[^"]+)/.exec(this.all[i]!.stderr())?.[1]
    await expect.poll(found).toBeDefined()
    const metrics = await (await fetch(found()!)).text()
    return Number(/^lanekeeper_webhook_deliveries_total (\d+)/m.exec(metrics)![1])
  }

  async #create(path: string, body: object): Promise<string> {
    return (await this.send('POST', path, body)).body.data.id
  }
}

/** The token of an owner of a new workspace, in a storage that no process uses. */
async function makeToken(address: string): Promise<string> {
  const { store, close } = await openStorage(address, { log: quiet, derived: createDerivations() })
  const deps = { store, clock, random }
  const user = await addUser(deps, { display_name: 'Ann' })
  const { id } = await createWorkspace(deps, 'Acme')
  await addMember(deps, id, user, 'owner')
  const request = { userId: user.id, name: 'test', scopes: ['kanban:admin'] }
  const { plaintext } = await transact(store, id, random, (tx) => issueToken(tx, request, deps))
  await close()
  return plaintext
}

/** What a receiver does with a delivery. */
export type Reaction = 'accept' | 'fail' | 'reset' | 'hang'

/** The receiver of a webhook, an HTTP server. */
export class Receiver {
  readonly posts: Post[] = []
  /** what it does with a delivery, by its number */
  react: (number: number) => Reaction | Promise<Reaction> = () => 'accept'
  readonly #services: Services
  readonly #server: Server
  #webhook: any

  private constructor(services: Services) {
    this.#services = services
    this.#server = createServer(async (request, response) => {
      const body = await text(request).catch(() => undefined)
      if (body === undefined) return
      const { data } = JSON.parse(body)
      const headers = request.headers as Record<string, string>
      this.posts.push({ id: headers['webhook-id']!, data, isGenuine: isGenuine(this.#webhook.secret, body, headers) })
      const reaction = await this.react(this.posts.length)
      if (reaction === 'reset') request.socket.destroy()
      else if (reaction !== 'hang') response.writeHead(reaction === 'accept' ? 204 : 500).end()
    })
  }

  /** Starts a receiver, and creates its webhook. */
  static async start(services: Services, kinds: readonly string[] | null = null): Promise<Receiver> {
    const receiver = new Receiver(services)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    const url = `http://127.0.0.1:${(receiver.#server.address() as AddressInfo).port}/hook`
    const { status, body } = await services.send('POST', `/boards/${services.board}/webhooks`, { url, kinds })
    expect(status).toBe(201)
    receiver.#webhook = body.data
    return receiver
  }

  /** Waits until the whole feed was delivered. @returns the violations */
  async violations(): Promise<string[]> {
    const { cursor: begin, kinds, id } = this.#webhook
    const { feed, end } = await this.#services.feed(begin)
    await expect.poll(async () => (await this.#services.send('GET', `/webhooks/${id}`)).body.data.cursor, POLL).toBe(end)
    expect(feed.length).toBeGreaterThan(0)
    return violationsOf(this.posts, { begin, kinds, feed })
  }

  /** Waits until it has got so many deliveries. */
  async got(count: number): Promise<void> {
    await expect.poll(() => this.posts.length, POLL).toBeGreaterThanOrEqual(count)
  }

  /** How many deliveries were repetitions. */
  get repetitions(): number {
    return this.posts.length - new Set(this.posts.map(({ id }) => id)).size
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

function isGenuine(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}
