import { Client } from './client.ts'
import type { BenchTable, Effort } from './report.ts'
import { requestsIn } from './requests.ts'
import { ServerProcess } from './server-process.ts'
import { stagesOf, STAGES } from './cpu-profile.ts'
import { Workspace } from './workspace.ts'

/** How many requests are measured without the profiler, and as many with it. */
const sizes: Readonly<Record<Effort, number>> = { tiny: 40, quick: 5_000, default: 20_000, full: 50_000 }

export const stages: BenchTable = {
  name: 'stages',
  summary: 'where the CPU time of a request goes: the shares of a CPU profile',
  async measure(effort, progress) {
    const server = await ServerProcess.startService('memory', { args: ['--demo'], modules: true })
    const client = new Client(server.url, server.adminToken)
    try {
      const workspace = await Workspace.create(client)
      const requests = Object.entries(requestsIn(workspace))
      const costs: { scenario: string; cpu: number; stages: Record<string, number> }[] = []
      for (const [scenario, next] of requests) {
        const count = Math.min(sizes[effort], scenario === 'POST card' ? 3_000 : Infinity)
        progress(`${scenario}, warming up`)
        await workspace.rotate(count)
        await client.sendAll(count, next)
        await workspace.rotate(count)
        progress(`${scenario}, without the profiler`)
        const cpu = (await server.cpuOf(() => client.sendAll(count, next))) / count
        await workspace.rotate(count)
        progress(`${scenario}, with the profiler`)
        await server.profile('begin')
        await client.sendAll(count, next)
        costs.push({ scenario, cpu, stages: stagesOf(await server.profile('end'), cpu) })
      }
      return {
        title:
          'CPU time of Lanekeeper for one request on memory, in µs, by stages: the shares that a CPU profile has, of the CPU time that was ' +
          'measured without the profiler. What Node.js itself does belongs to the stage that called it.',
        head: ['stage', ...costs.map(({ scenario }) => scenario)],
        rows: [
          ...STAGES.map((stage) => [stage, ...costs.map((cost) => cost.stages[stage]!.toFixed(1))]),
          ['all', ...costs.map(({ cpu }) => cpu.toFixed(1))],
        ],
        values: costs,
      }
    } finally {
      client.close()
      await server.stop()
    }
  },
}
