import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { startProcess, type RunningProcess } from '../../support/process.ts'
import { plaintextIn, Visitor } from '../../support/visitor.ts'
import { ownProcess, runFolder } from '../../support/run.ts'

const attacker = fileURLToPath(new URL('attacker.js', import.meta.url))

/** A request of a client. */
export interface Sent {
  readonly method: string
  /** below /v1 */
  readonly path: string
  readonly body?: unknown
  /** in the place of JSON: a form with the boundary x */
  readonly form?: string
  /** an Idempotency-Key */
  readonly key?: string
}
interface Answer {
  readonly status: number
  readonly data: any
  /** what remains of the units of the token, and the seconds until its window ends; undefined without a token */
  readonly rate: { readonly rest: number; readonly seconds: number } | undefined
  /** milliseconds until the whole response was there */
  readonly duration: number
}

const KEY = { LANEKEEPER_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') }

/** The service in a separate process, with the demo data, and clients of two of its workspaces. */
export class Target {
  readonly url: string
  readonly #process: RunningProcess
  readonly #world: any
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 })

  private constructor(process: RunningProcess, world: any) {
    this.#process = process
    this.#world = world
    this.url = world.url
  }

  /** @param options further ones of the command */
  static async start(storage: string, ...options: readonly string[]): Promise<Target> {
    const args = ['serve', '--json', '--demo', '--metrics', '0', ...options]
    const settings = { LANEKEEPER_STORAGE: storage, LANEKEEPER_RATE_LIMITS: 'on', LANEKEEPER_WEBHOOK_TARGETS: 'http://127.0.0.1:*', ...KEY }
    const process = startProcess(args, settings, { underLoad: true })
    return new Target(process, JSON.parse(await process.until('\n')))
  }

  /** A token that may do everything, of one of two people in one of two workspaces. */
  token(workspace: 0 | 1, person: 0 | 1): string {
    const { id } = this.#world.workspaces[workspace]
    const isFull = ({ workspace_id, state, scopes }: any) => workspace_id === id && state === 'active' && scopes[0] === 'kanban:admin'
    return this.#world.tokens.filter(isFull)[person].token
  }

  /** Signs the person of {@link token} in. @returns the cookie of the session, and the id of the workspace */
  async signIn(workspace: 0 | 1, person: 0 | 1): Promise<{ readonly cookie: string; readonly workspace: string }> {
    const { visitor, id } = await this.#visit(workspace, person)
    return { cookie: visitor.cookie, workspace: id }
  }

  /** Claims a card with a new token of the person of {@link token}, and rotates that again and again. @returns the path of the claim */
  async rotatedClaim(workspace: 0 | 1, person: 0 | 1, card: string, times: number): Promise<string> {
    const { visitor, id } = await this.#visit(workspace, person)
    let token = await visitor.create(id, { scope: 'kanban:write' })
    const path = `/cards/${card}/claim`
    await this.send(token, { method: 'PUT', path, body: { ttl: 3600 } })
    const { formToken: form_token } = visitor
    for (let i = 0; i < times; i++) {
      const { data } = await this.send(token, { method: 'GET', path: '/account' })
      token = plaintextIn(await visitor.post(`/settings/tokens/${id}/${data.token.id}/rotate`, { form_token, days: '30' }))
    }
    const { data } = await this.send(token, { method: 'PUT', path, body: { ttl: 3600 } })
    if (data?.epoch !== 1) throw new Error('the claim was not handed on')
    return path
  }

  async #visit(workspace: 0 | 1, person: 0 | 1): Promise<{ readonly visitor: Visitor; readonly id: string }> {
    const { id } = this.#world.workspaces[workspace]
    const { data } = await this.send(this.token(workspace, person), { method: 'GET', path: '/account' })
    const { email, password } = this.#world.people.find(({ display_name }: any) => display_name === data.display_name)
    const fetchPage = (asked: Request) => fetch(asked, { redirect: 'manual' })
    const visitor = new Visitor({ app: { fetch: fetchPage } } as never, { origin: this.url })
    await visitor.signIn(email, password)
    return { visitor, id }
  }

  /** Sends a request below /v1 over one of a few connections. */
  send(token: string, { method, path, body, key }: Sent): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${token}`,
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    return new Promise((resolve, reject) => {
      const begin = performance.now()
      const sent = request(`${this.url}/v1${path}`, { method, agent: this.#agent, headers }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          const duration = performance.now() - begin
          const [, rest, seconds] = /"token";r=(\d+);t=(\d+)/.exec(String(response.headers['ratelimit'])) ?? []
          const rate = rest === undefined ? undefined : { rest: Number(rest), seconds: Number(seconds) }
          resolve({ status: response.statusCode!, data: JSON.parse(Buffer.concat(parts).toString()).data, rate, duration })
        })
      })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The service has closed a connection that was idle for a while, at the moment when it was used again.
        if (sent.reusedSocket && error.code === 'ECONNRESET')
          resolve(this.send(token, { method, path, body, ...(key !== undefined && { key }) }))
        else reject(error)
      })
      sent.end(text)
    })
  }

  /** Creates a resource. @returns its id @throws {Error} if it is refused */
  async create(token: string, path: string, body: object): Promise<string> {
    const { status, data } = await this.send(token, { method: 'POST', path, body })
    if (status !== 201) throw new Error(`POST ${path}: ${status}`)
    return data.id
  }

  /** Creates a board with one column and cards. */
  async board(token: string, cards: number, description: string): Promise<{ readonly board: string; readonly cards: readonly string[] }> {
    const board = await this.create(token, '/boards', { name: 'Board' })
    const column_id = await this.create(token, `/boards/${board}/columns`, { name: 'Column' })
    const ids: string[] = []
    const lane = async (): Promise<void> => {
      while (ids.length < cards) {
        const place = ids.push('') - 1
        ids[place] = await this.create(token, `/boards/${board}/cards`, { title: 'Card', column_id, description })
      }
    }
    await Promise.all(Array.from({ length: 8 }, lane))
    return { board, cards: ids }
  }

  /** Creates a board with ten webhooks, which send to a port of this machine. */
  async followedBoard(token: string, port: number): Promise<{ readonly cards: readonly string[]; readonly webhooks: readonly string[] }> {
    const { board, cards } = await this.board(token, 2, 'A card')
    const webhooks: string[] = []
    while (webhooks.length < 10) webhooks.push(await this.create(token, `/boards/${board}/webhooks`, { url: `http://127.0.0.1:${port}/` }))
    return { cards, webhooks }
  }

  /** 100 questions about the creation of a card, with 30 labels and 5 people each. */
  async longEvaluation(token: string, board: string): Promise<{ readonly evaluations: readonly object[] }> {
    const label_ids: string[] = []
    for (let i = 0; i < 30; i++) label_ids.push(await this.create(token, `/boards/${board}/labels`, { name: `${i}`, color: '#000000' }))
    const column_id = (await this.send(token, { method: 'GET', path: `/boards/${board}/columns` })).data[0].id
    const members = (await this.send(token, { method: 'GET', path: '/members' })).data as { user_id: string }[]
    const properties = { column_id, label_ids, assignee_ids: members.slice(0, 5).map(({ user_id }) => user_id) }
    const question = {
      subject: { type: 'user', id: 'me' },
      action: { name: 'cards.create' },
      resource: { type: 'board', id: board, properties },
    }
    return { evaluations: Array.from({ length: 100 }, () => question) }
  }

  /** What the process uses: memory in MiB, and the processor time since its start in seconds. */
  async usage(): Promise<{ readonly memory: number; readonly cpu: number }> {
    const url = /metrics are served at (http:\S+\/metrics)/.exec(this.#process.stderr())![1]!
    const text = await (await fetch(url)).text()
    const valueOf = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)![1])
    return { memory: valueOf('process_resident_memory_bytes') / 1024 / 1024, cpu: valueOf('process_cpu_seconds_total') }
  }

  async stop(): Promise<void> {
    this.#agent.destroy()
    await this.#process.stop()
  }
}

/**
 * How an attacker behaves: `hammer` sends one request after the other, `mcp` does so with calls of tools, and `ignore` sends many at once
 * and reads no response.
 */
export interface Attack {
  readonly kind: 'hammer' | 'mcp' | 'ignore' | 'follow' | 'page'
  /** the session of a page; undefined: nobody is signed in */
  readonly cookie?: string
  readonly token: string
  readonly connections: number
  readonly requests: readonly Sent[]
  /** a receiver of webhooks, which the attacker has */
  readonly receiver?: { readonly port: number; readonly does: 'floods' | 'accepts' }
}

/** Begins an attack. @returns a function that ends it, and returns the number of responses by status */
export async function begin(url: string, { requests, ...attack }: Attack): Promise<() => Promise<Record<string, number>>> {
  const texts = requests.map(({ body, form, ...rest }) => ({
    ...rest,
    body: form ?? (body === undefined ? undefined : JSON.stringify(body)),
    type: form === undefined ? 'application/json' : 'multipart/form-data; boundary=x',
  }))
  const child = ownProcess(fork(attacker, [], { cwd: runFolder(), execArgv: [] }))
  child.send({ url, ...attack, requests: texts })
  // The first response.
  await once(child, 'message')
  return async () => {
    const reply = once(child, 'message')
    child.send('end')
    const [statuses] = await reply
    return statuses
  }
}
