import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from './client.ts'
import { fill } from './filled-storage.ts'
import { showProgress, type BenchTable, type Effort, type RequestRounds } from './report.ts'
import { inTurns } from './rounds.ts'
import { ServerProcess } from './server-process.ts'
import { formatSpread, ratioOf, spreadOf } from './statistics.ts'
import { Workspace } from './workspace.ts'

/** Requests at the same time: what waits for the disk together is one transaction. */
const CONNECTIONS = 32
/** How many times the CPU time on memory a write may take. */
const GOAL = 1.3

interface Size extends RequestRounds {
  /** of the workspace whose first card is read after a start */
  readonly boards: number
  readonly starts: number
}

const sizes: Readonly<Record<Effort, Size>> = {
  tiny: { rounds: 1, requests: 10, boards: 1, starts: 1 },
  quick: { rounds: 5, requests: 1000, boards: 100, starts: 3 },
  default: { rounds: 9, requests: 2000, boards: 1000, starts: 5 },
  full: { rounds: 15, requests: 2000, boards: 1000, starts: 9 },
}

export const folder: BenchTable = {
  name: 'folder',
  summary: 'CPU time of writes on fs and on memory; the first card after a start with 100,000 cards',
  async measure(effort) {
    const size = sizes[effort]
    const root = await mkdtemp(join(tmpdir(), 'lanekeeper-bench-'))
    try {
      const writes = await measureWrites(`fs:${join(root, 'writes')}`, size)
      return {
        title:
          `CPU time of the whole process in µs for one write, with ${CONNECTIONS} connections, on memory and in a folder, and the ratio. ` +
          'Then the time in ms from a start to the answer with the first card.',
        head: ['what', 'memory, or empty', 'folder', 'ratio, or difference', 'goal'],
        rows: [...writes, await measureFirstCard(join(root, 'many'), size)],
      }
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  },
}

async function measureWrites(address: string, { rounds, requests }: Size): Promise<string[][]> {
  const services = {
    memory: await ServerProcess.startService('memory', { args: ['--demo'] }),
    fs: await ServerProcess.startService(address, { args: ['--demo'] }),
  }
  const names = ['memory', 'fs'] as const
  const lanes = {} as Record<(typeof names)[number], { readonly client: Client; readonly workspace: Workspace }>
  for (const name of names) {
    const client = new Client(services[name].url, services[name].adminToken, CONNECTIONS)
    lanes[name] = { client, workspace: await Workspace.create(client) }
  }
  const rows: string[][] = []
  for (const [what, next] of [
    ['POST card', (workspace: Workspace) => workspace.newCard()],
    ['PATCH card', (workspace: Workspace) => workspace.changeCard()],
  ] as const) {
    const { memory, fs } = await inTurns(names, { rounds, what, warmUp: 2 }, async (name) => {
      const { client, workspace } = lanes[name]
      await workspace.rotate(requests)
      return (await services[name].cpuOf(() => client.sendAll(requests, () => next(workspace)))) / requests
    })
    rows.push([what, formatSpread(spreadOf(memory)), formatSpread(spreadOf(fs)), formatSpread(ratioOf(fs, memory), 2), `≤ ${GOAL}`])
  }
  for (const name of names) {
    lanes[name].client.close()
    await services[name].stop()
  }
  return rows
}

/** From the start of the process until the first card of the workspace has come, and the same until a refusal in an empty folder. */
async function measureFirstCard(path: string, { starts, boards }: Size): Promise<string[]> {
  showProgress(`${boards * 100} cards`)
  const { cards, token } = await fill(`fs:${path}`, { workspaces: 1, boards, cardsPerBoard: 100 })
  const { empty, many } = await inTurns(['empty', 'many'], { rounds: starts, what: 'first card' }, async (name) => {
    const startedAt = performance.now()
    const service = await ServerProcess.startService(`fs:${name === 'many' ? path : `${path}-empty`}`)
    const headers = { authorization: `Bearer ${token}` }
    const { status } = await fetch(`${service.url}/v1/cards/${cards[0]}`, { headers })
    if (status !== (name === 'many' ? 200 : 401)) throw new Error(`the first card: ${status}`)
    const time = performance.now() - startedAt
    await service.stop()
    return time
  })
  const [one, other] = [spreadOf(empty), spreadOf(many)]
  const difference = `+${(other.median - one.median).toFixed(0)}`
  return [`first card of ${(boards * 100).toLocaleString('en')}`, formatSpread(one), formatSpread(other), difference, '≤ +1000']
}
