import { addMember } from '../../src/admin/memberships.ts'
import { addUser } from '../../src/admin/users.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { createClient, type Client, type Result } from '../../src/client/client.ts'
import { type Deps, transact } from '../../src/store/transact.ts'
import { poll } from './in-time.ts'

/** Creates a user in a new workspace. @returns their token */
export async function createWriter(deps: Deps): Promise<string> {
  const workspace = await createWorkspace(deps, 'Acme')
  const user = await addUser(deps, { display_name: 'Ada' })
  await addMember(deps, workspace.id, user, 'member')
  const request = { userId: user.id, name: 'drill', scopes: ['kanban:write'] }
  const { plaintext } = await transact(deps.store, workspace.id, deps.random, (tx) => issueToken(tx, request, deps))
  return plaintext
}

/** What happens to requests on their way. */
interface Network {
  readonly urls: readonly string[]
  readonly token: string
  /** each attempt gets another key, as if the client had none */
  readonly bug?: boolean
}

/** Writers that create cards, each under its own key, and repeat each write until it succeeds. */
export class Writers {
  readonly #client: Client
  #board = ''
  #column = ''
  #stopped = false
  /** the titles of the cards whose creation was acknowledged */
  readonly acknowledged: string[] = []
  /** responses to a repetition of a write that was made before */
  replays = 0
  /** attempts without a success */
  failures = 0

  private constructor({ urls, token, bug = false }: Network) {
    let attempts = 0
    this.#client = createClient({
      url: urls[0]!,
      token,
      retries: { attempts: 500, delay: 50, maxDelay: 400 },
      // Each attempt goes to another process.
      fetch: async (url, init) => {
        const { pathname, search } = new URL(String(url))
        const headers = new Headers(init!.headers)
        if (bug && headers.has('idempotency-key')) headers.set('idempotency-key', `"attempt-${attempts}"`)
        const target = urls[attempts++ % urls.length]!
        try {
          const response = await fetch(`${target}${pathname}${search}`, { ...init, headers })
          if (!response.ok) this.failures++
          return response
        } catch (error) {
          this.failures++
          throw error
        }
      },
    })
  }

  static async start(network: Network): Promise<Writers> {
    const writers = new Writers(network)
    writers.#board = (await writers.#client.boards.create({ name: 'Drill' })).data.id
    writers.#column = (await writers.#client.columns.create({ board_id: writers.#board, name: 'To do' })).data.id
    return writers
  }

  /** Creates a card. @param title also its key */
  async create(title: string): Promise<Result<{ id: string }>> {
    const input = { board_id: this.#board, column_id: this.#column, title }
    const result = await this.#client.cards.create(input, { idempotencyKey: title })
    if (result.replayed) this.replays++
    return result
  }

  /** Creates cards in several lanes, until {@link stop}. */
  run(lanes: number): Promise<unknown> {
    const lane = async (name: number): Promise<void> => {
      for (let i = 0; !this.#stopped; i++) {
        await this.create(`card ${name} of ${i}`)
        this.acknowledged.push(`card ${name} of ${i}`)
      }
    }
    return Promise.all(Array.from({ length: lanes }, (_, i) => lane(i)))
  }

  stop(): void {
    this.#stopped = true
  }

  /** Waits until writes succeed or fail. */
  async more(what: 'acknowledged' | 'failures', count: number): Promise<void> {
    const number = () => (what === 'failures' ? this.failures : this.acknowledged.length)
    const until = number() + count
    await poll(`fewer than ${count} further writes are ${what}`, () => number() >= until, 5)
  }

  summary(): string {
    return `${this.acknowledged.length} cards, ${this.failures} failed attempts, ${this.replays} replays`
  }

  /** The titles of all cards that exist. */
  async titles(): Promise<string[]> {
    const found: string[] = []
    for await (const { title } of this.#client.cards.list.all({ board_id: this.#board })) found.push(title)
    return found.toSorted()
  }
}
