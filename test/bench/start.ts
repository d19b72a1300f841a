import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fill } from './filled-storage.ts'
import { showProgress, type BenchTable, type Effort, type Rounds } from './report.ts'
import { inTurns } from './rounds.ts'
import { ServerProcess } from './server-process.ts'
import { formatSpread, spreadOf, type Spread } from './statistics.ts'

interface Size extends Rounds {
  /** in the folder with many */
  readonly workspaces: number
}

const sizes: Readonly<Record<Effort, Size>> = {
  tiny: { rounds: 1, workspaces: 2 },
  quick: { rounds: 3, workspaces: 100 },
  default: { rounds: 5, workspaces: 1000 },
  full: { rounds: 9, workspaces: 1000 },
}

/** What a process takes until it listens. */
interface Cost {
  readonly process: string
  /** CPU time in ms */
  readonly cpu: Spread
  /** in ms */
  readonly wall: Spread
  /** resident memory in MiB */
  readonly memory: Spread
}

export const start: BenchTable = {
  name: 'start',
  summary: 'CPU time, time and memory until the service listens: Node.js alone, fs with 1,000 workspaces',
  async measure(effort) {
    const size = sizes[effort]
    const costs = await measureStarts(size)
    const [node] = costs
    return {
      title:
        'Until the process listens: CPU time and time in ms, and resident memory in MiB. The CPU time beyond Node.js alone should ' +
        `be ≤ 500 ms. Each of the ${size.workspaces} workspaces has a board with 10 cards.`,
      head: ['process', 'CPU', 'over Node.js', 'time', 'memory'],
      rows: costs.map(({ process, cpu, wall, memory }) => [
        process,
        formatSpread(cpu),
        process === node!.process ? '' : (cpu.median - node!.cpu.median).toFixed(0),
        formatSpread(wall),
        formatSpread(memory),
      ]),
    }
  },
}

async function measureStarts({ rounds, workspaces }: Size): Promise<Cost[]> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-bench-'))
  try {
    const [empty, many] = ['empty', 'many'].map((name) => `fs:${join(folder, name)}`) as [string, string]
    showProgress(`${workspaces} workspaces`)
    await fill(many, { workspaces, boards: 1, cardsPerBoard: 10 })
    const processes: Readonly<Record<string, () => Promise<ServerProcess>>> = {
      'Node.js alone': () => ServerProcess.start('nothing'),
      [`fs, ${workspaces} workspaces`]: () => ServerProcess.startService(many),
      'fs, empty': () => ServerProcess.startService(empty),
      'memory, with the demo data': () => ServerProcess.startService('memory'),
    }
    const samples = await inTurns(Object.keys(processes), { rounds, what: 'start' }, async (name) => {
      const startedAt = performance.now()
      const server = await processes[name]!()
      const wall = performance.now() - startedAt
      const { cpu, rss } = await server.usage()
      await server.stop()
      return { cpu: cpu / 1000, wall, memory: rss / 2 ** 20 }
    })
    return Object.entries(samples).map(([process, of]) => {
      const [cpu, wall, memory] = (['cpu', 'wall', 'memory'] as const).map((figure) => spreadOf(of.map((sample) => sample[figure])))
      return { process, cpu: cpu!, wall: wall!, memory: memory! }
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
