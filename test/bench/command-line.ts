import { cpus } from 'node:os'
import { measureRequests, scenarios, type Cost } from './requests.ts'
import { pinning } from './server-process.ts'
import { markdown } from './statistics.ts'

/** The least ratio of the CPU time of h3 alone to ours that we want. */
const goals: Readonly<Record<(typeof scenarios)[number], number>> = {
  'GET account': 0.6,
  'GET card': 0.55,
  'list of 100 cards': 0.8,
  'PATCH card': 0.45,
  'POST card': 0.4,
}

/** Runs the benchmark. @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  const json = args.includes('--json')
  const quick = args.includes('--quick')
  const progress = (text: string): void => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[K${text}`))
  const costs = await measureRequests({ rounds: quick ? 3 : 9, requests: quick ? 1000 : 3000, progress })
  progress('')
  if (json) console.log(JSON.stringify({ machine: machine(), requests: costs }, undefined, 2))
  else
    console.log(
      `${machine()}\n\nCPU time of the server for one request, in µs (median ± half the distance of the quartiles)\n\n${table(costs)}`,
    )
  return 0
}

function machine(): string {
  const all = cpus()
  return `${all[0]?.model.trim()}, ${all.length} cores, Node ${process.version}, ${pinning}`
}

function table(costs: readonly Cost[]): string {
  const servers = [...new Set(costs.map(({ server }) => server))]
  const cost = (scenario: string, server: string) => costs.find((one) => one.scenario === scenario && one.server === server)?.cpu
  const rows = scenarios.map((scenario) => {
    const cells = servers.map((server) => {
      const found = cost(scenario, server)
      return found === undefined ? '' : `${found.median.toFixed(0)} ± ${found.spread.toFixed(0)}`
    })
    const ratio = cost(scenario, 'h3')!.median / cost(scenario, 'Lanekeeper')!.median
    return [scenario, ...cells, ratio.toFixed(2), `≥ ${goals[scenario].toFixed(2)}`]
  })
  return markdown(['request', ...servers, 'h3 ÷ Lanekeeper', 'goal'], rows)
}
