import { randomUUID } from 'node:crypto'
import { Client, type BenchRequest } from './client.ts'
import { buildCommit } from './commit.ts'
import { showProgress, type BenchTable, type Effort, type Report, type RequestRounds } from './report.ts'
import { inTurns } from './rounds.ts'
import { ServerProcess } from './server-process.ts'
import { formatSpread, ratioOf, spreadOf, type Spread } from './statistics.ts'
import { DESCRIPTION, TITLE, Workspace } from './workspace.ts'

/** The scenarios, with the least ratio of the CPU time of h3 alone to ours that we want. */
const goals = {
  'GET account': 0.6,
  'GET card': 0.55,
  'list of 100 cards': 0.8,
  'PATCH card': 0.45,
  'PATCH card with a key': undefined,
  'POST card': 0.4,
} as const
type Scenario = keyof typeof goals
const scenarios = Object.keys(goals) as Scenario[]

/** What one kind of request costs on each server: CPU time of its process in microseconds. */
interface Cost {
  readonly scenario: Scenario
  readonly cpu: Readonly<Record<string, Spread>>
  /** of two servers, of each round */
  readonly ratio: Spread
}

const sizes: Readonly<Record<Effort, RequestRounds>> = {
  tiny: { rounds: 1, requests: 20 },
  quick: { rounds: 3, requests: 1000 },
  default: { rounds: 9, requests: 2000 },
  full: { rounds: 15, requests: 3000 },
}

/** The rounds before those that count. A process that has answered a few thousand requests of a kind still compiles code for them. */
const WARM_UP_ROUNDS = 6

/** A server with the requests of each scenario. */
interface Measured {
  readonly name: string
  readonly client: Client
  readonly server: ServerProcess
  readonly next: Partial<Readonly<Record<Scenario, () => BenchRequest>>>
  /** of a service: what its requests are about */
  readonly workspace?: Workspace
}

/** The CPU time of each server for a request, of each round. */
type Samples = Readonly<Record<string, readonly number[]>>

const RAW = 'node:http'
const H3 = 'h3'
const OURS = 'Lanekeeper'

export const requests: BenchTable = {
  name: 'requests',
  summary: 'CPU time of a request on memory: node:http, h3 (for writes with zod), Lanekeeper',
  async measure(effort, against) {
    if (against !== undefined) return compareWith(against, sizes[effort])
    const costs = await measureRequests(sizes[effort])
    return {
      title:
        'CPU time of the server for one request, in µs (median ± half of the distance of the quartiles). h3 has no authentication, ' +
        'authorization and storage; for writes, it reads the JSON of the same body and validates it with zod. A key: each request has an ' +
        'Idempotency-Key, and its response is stored for a day, which h3 does not do. The ratio is the median of the ratios of the rounds.',
      head: ['request', RAW, H3, OURS, 'h3 ÷ Lanekeeper', 'goal'],
      rows: costs.map(({ scenario, cpu, ratio }) => [
        scenario,
        ...[RAW, H3, OURS].map((name) => (cpu[name] === undefined ? '' : formatSpread(cpu[name]))),
        formatSpread(ratio, 2),
        goals[scenario] === undefined ? '' : `≥ ${goals[scenario].toFixed(2)}`,
      ]),
    }
  },
}

/** The service beside the one of a commit. A ratio to another program differs from machine to machine. */
async function compareWith(commit: string, size: RequestRounds): Promise<Report> {
  showProgress(`builds ${commit}`)
  const before = await startOurs(commit, buildCommit(commit))
  const costs = await measureOn([before, await startOurs()], size, (samples) => ratioOf(samples[OURS]!, samples[commit]!))
  return {
    title: `CPU time of the service for one request, in µs (median ± half of the distance of the quartiles), beside ${commit}.`,
    head: ['request', commit, OURS, `Lanekeeper ÷ ${commit}`],
    rows: costs.map(({ scenario, cpu, ratio }) => [
      scenario,
      ...[commit, OURS].map((name) => formatSpread(cpu[name]!)),
      formatSpread(ratio, 2),
    ]),
  }
}

/** Measures each scenario on each server. */
async function measureRequests(size: RequestRounds): Promise<Cost[]> {
  const servers = [...(await startBaselines()), await startOurs()]
  for (const scenario of scenarios)
    await requireSameBodies(
      scenario,
      servers.filter(({ next }) => next[scenario] !== undefined),
    )
  return measureOn(servers, size, (samples) => ratioOf(samples[H3]!, samples[OURS]!))
}

async function measureOn(servers: readonly Measured[], size: RequestRounds, ratio: (samples: Samples) => Spread): Promise<Cost[]> {
  try {
    const costs: Cost[] = []
    for (const scenario of scenarios) {
      const compared = servers.filter(({ next }) => next[scenario] !== undefined)
      const samples = await measureScenario(scenario, compared, size)
      const cpu = Object.fromEntries(Object.entries(samples).map(([name, values]) => [name, spreadOf(values)]))
      costs.push({ scenario, cpu, ratio: ratio(samples) })
    }
    return costs
  } finally {
    for (const { client, server } of servers) {
      client.close()
      await server.stop()
    }
  }
}

async function measureScenario(
  scenario: Scenario,
  servers: readonly Measured[],
  { rounds, requests: count }: RequestRounds,
): Promise<Samples> {
  const byName = new Map(servers.map((server) => [server.name, server]))
  return inTurns([...byName.keys()], { rounds, warmUp: WARM_UP_ROUNDS, what: scenario }, async (name) => {
    const { server, client, next, workspace } = byName.get(name)!
    await workspace?.rotate(count)
    return (await server.cpuOf(() => client.sendAll(count, next[scenario]!))) / count
  })
}

/** @throws {Error} if the servers send bodies with other members, which would make the comparison worthless */
async function requireSameBodies(scenario: Scenario, servers: readonly Measured[]): Promise<void> {
  const outlines = new Map<string, string>()
  for (const { name, client, next } of servers)
    outlines.set(JSON.stringify(outlineOf(JSON.parse(await client.send(next[scenario]!())))), name)
  if (outlines.size > 1) throw new Error(`${scenario}: ${[...outlines].map(([outline, name]) => `${name} sends ${outline}`).join(', ')}`)
}

/** The names of all members, and the lengths of lists. */
function outlineOf(value: unknown): unknown {
  if (Array.isArray(value)) return [value.length, value.length > 0 && outlineOf(value[0])]
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([name, member]) => [name, outlineOf(member)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** @param folder where it was built; default: here */
async function startOurs(name = OURS, folder?: string): Promise<Measured> {
  const server = await ServerProcess.startService('memory', { args: ['--demo'], ...(folder !== undefined && { folder }) })
  const client = new Client(server.url, server.adminToken)
  const workspace = await Workspace.create(client)
  return { name, server, client, workspace, next: requestsIn(workspace) }
}

/** The requests of each scenario. */
function requestsIn(workspace: Workspace): Record<Scenario, () => BenchRequest> {
  return {
    'GET account': get('/v1/account'),
    'GET card': get(`/v1/cards/${workspace.cards[0]}`),
    'list of 100 cards': get(`/v1/boards/${workspace.board}/cards?limit=100`),
    'PATCH card': () => workspace.changeCard(),
    'PATCH card with a key': () => ({ ...workspace.changeCard(), headers: { 'idempotency-key': `"${randomUUID()}"` } }),
    'POST card': () => workspace.newCard(),
  }
}

async function startBaselines(): Promise<Measured[]> {
  const reads = { 'GET account': get('/account'), 'GET card': get('/card'), 'list of 100 cards': get('/cards') }
  const body = { title: TITLE, description: DESCRIPTION }
  let changed = 0
  const changeCard = () => ({ method: 'PATCH', path: '/card', body: { ...body, title: `${TITLE} ${++changed}` } })
  const writes = {
    'PATCH card': changeCard,
    'PATCH card with a key': changeCard,
    'POST card': () => ({ method: 'POST', path: '/card', body: { column_id: 'col_00000000000000000000', ...body } }),
  }
  return [await startBaseline(RAW, 'raw', reads), await startBaseline(H3, 'h3', { ...reads, ...writes })]
}

async function startBaseline(name: string, file: string, next: Measured['next']): Promise<Measured> {
  const server = await ServerProcess.start(file)
  return { name, server, client: new Client(server.url, 'none'), next }
}

function get(path: string) {
  return (): BenchRequest => ({ method: 'GET', path })
}
