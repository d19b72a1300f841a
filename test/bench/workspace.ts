import type { BenchRequest, Client } from './client.ts'

export const TITLE = 'A card of the benchmark'
export const DESCRIPTION = 'Each card has a description of one sentence, like this one.'
/** Cards that are created on a board before the next board is used: a full board would refuse them. */
const CARDS_PER_BOARD = 4000

/** The workspace of a service that requests are sent to: a board with 100 cards, and boards for new ones. */
export class Workspace {
  readonly #client: Client
  #created = 0
  #column = ''
  #board = ''
  #changed = 0
  /** the board's */
  readonly cards: string[] = []
  board = ''

  private constructor(client: Client) {
    this.#client = client
  }

  static async create(client: Client): Promise<Workspace> {
    const workspace = new Workspace(client)
    await workspace.#addBoard()
    workspace.board = workspace.#board
    for (let i = 0; i < 100; i++) workspace.cards.push(await workspace.post(workspace.newCard()))
    await workspace.#addBoard()
    return workspace
  }

  /** A request that creates a card. */
  newCard(): BenchRequest {
    this.#created++
    return {
      method: 'POST',
      path: `/v1/boards/${this.#board}/cards`,
      body: { column_id: this.#column, title: TITLE, description: DESCRIPTION },
    }
  }

  /** A request that changes a card. Each has another title: one that changes nothing writes nothing. */
  changeCard(): BenchRequest {
    this.#changed++
    return {
      method: 'PATCH',
      path: `/v1/cards/${this.cards[this.#changed % this.cards.length]}`,
      body: { title: `${TITLE} ${this.#changed}`, description: DESCRIPTION },
    }
  }

  /** Changes the board of new cards before it is full. */
  async rotate(coming: number): Promise<void> {
    if (this.#created + coming > CARDS_PER_BOARD) await this.#addBoard()
  }

  /** @returns the id of what a request has created */
  async post(request: BenchRequest): Promise<string> {
    return (JSON.parse(await this.#client.send(request)) as { data: { id: string } }).data.id
  }

  async #addBoard(): Promise<void> {
    this.#created = 0
    this.#board = await this.post({ method: 'POST', path: '/v1/boards', body: { name: 'Benchmark' } })
    this.#column = await this.post({ method: 'POST', path: `/v1/boards/${this.#board}/columns`, body: { name: 'To do' } })
  }
}
