import { Client, type BenchRequest } from './client.ts'
import { ServerProcess } from './server-process.ts'
import { spreadOf, type Spread } from './statistics.ts'

/** What one kind of request costs on one server: CPU time of its process in microseconds. */
export interface Cost {
  readonly scenario: string
  readonly server: string
  readonly cpu: Spread
}

export interface RequestOptions {
  readonly rounds: number
  /** requests of each round and server */
  readonly requests: number
  readonly progress: (text: string) => void
}

/** A server with the requests of each scenario. */
interface Measured {
  readonly name: string
  readonly client: Client
  readonly server: ServerProcess
  readonly next: Readonly<Record<string, () => BenchRequest>>
}

const TITLE = 'A card of the benchmark'
const DESCRIPTION = 'Each card has a description of one sentence, like this one.'
/** Cards that are created on a board before the next board is used: a full board would refuse them. */
const CARDS_PER_BOARD = 4000

/** The scenarios, in the order of the report. */
export const scenarios = ['GET account', 'GET card', 'list of 100 cards', 'PATCH card', 'POST card'] as const

/** The workspace of a service in which requests are sent: a board with 100 cards, and boards for new ones. */
class Workspace {
  readonly #client: Client
  #created = 0
  #column = ''
  #board = ''
  card = ''
  board = ''

  private constructor(client: Client) {
    this.#client = client
  }

  static async create(client: Client): Promise<Workspace> {
    const workspace = new Workspace(client)
    await workspace.#addBoard()
    workspace.board = workspace.#board
    for (let i = 0; i < 100; i++) workspace.card = await workspace.#post(workspace.newCard())
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

  /** Changes the board of new cards before it is full. */
  async rotate(coming: number): Promise<void> {
    if (this.#created + coming > CARDS_PER_BOARD) await this.#addBoard()
  }

  async #addBoard(): Promise<void> {
    this.#created = 0
    this.#board = await this.#post({ method: 'POST', path: '/v1/boards', body: { name: 'Benchmark' } })
    this.#column = await this.#post({ method: 'POST', path: `/v1/boards/${this.#board}/columns`, body: { name: 'To do' } })
  }

  async #post(request: BenchRequest): Promise<string> {
    return (JSON.parse(await this.#client.send(request)) as { data: { id: string } }).data.id
  }
}

/** Measures each scenario on each server, in turns, so that whatever else the machine does affects all of them. */
export async function measureRequests({ rounds, requests, progress }: RequestOptions): Promise<Cost[]> {
  const service = await ServerProcess.startService('memory', ['--demo'])
  const client = new Client(service.url, service.adminToken)
  const workspace = await Workspace.create(client)
  const ours: Measured = {
    name: 'Lanekeeper',
    server: service,
    client,
    next: {
      'GET account': () => ({ method: 'GET', path: '/v1/account' }),
      'GET card': () => ({ method: 'GET', path: `/v1/cards/${workspace.card}` }),
      'list of 100 cards': () => ({ method: 'GET', path: `/v1/boards/${workspace.board}/cards?limit=100` }),
      'PATCH card': () => ({ method: 'PATCH', path: `/v1/cards/${workspace.card}`, body: { title: TITLE, description: DESCRIPTION } }),
      'POST card': () => workspace.newCard(),
    },
  }
  const reads = { 'GET account': get('/account'), 'GET card': get('/card'), 'list of 100 cards': get('/cards') }
  const body = { title: TITLE, description: DESCRIPTION }
  const writes = {
    'PATCH card': () => ({ method: 'PATCH', path: '/card', body }),
    'POST card': () => ({ method: 'POST', path: '/card', body: { column_id: 'col_00000000000000000000', ...body } }),
  }
  const servers = [await baseline('node:http', 'raw', reads), await baseline('h3', 'h3', { ...reads, ...writes }), ours]
  const costs: Cost[] = []
  for (const scenario of scenarios) {
    const compared = servers.filter(({ next }) => next[scenario] !== undefined)
    const samples = new Map(compared.map(({ name }) => [name, [] as number[]]))
    // The first round warms up the code, and is not counted.
    for (let round = 0; round <= rounds; round++)
      for (const one of compared) {
        progress(`${scenario}: round ${round} of ${rounds}, ${one.name}`)
        await workspace.rotate(requests)
        const before = await one.server.usage()
        await one.client.sendAll(requests, one.next[scenario]!)
        const after = await one.server.usage()
        if (round > 0) samples.get(one.name)!.push((after.cpu - before.cpu) / requests)
      }
    for (const [server, values] of samples) costs.push({ scenario, server, cpu: spreadOf(values) })
  }
  for (const one of servers) {
    one.client.close()
    await one.server.stop()
  }
  return costs
}

function get(path: string) {
  return (): BenchRequest => ({ method: 'GET', path })
}

async function baseline(name: string, file: string, next: Measured['next']): Promise<Measured> {
  const server = await ServerProcess.start(file)
  return { name, server, client: new Client(server.url, 'none'), next }
}
