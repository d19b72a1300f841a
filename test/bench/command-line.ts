import { once } from 'node:events'
import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { startReaper } from '../setup/global-setup.ts'
import { createRunFolder } from '../support/run.ts'
import { showProgress, toMarkdown, type BenchTable, type Effort } from './report.ts'
import { folder } from './folder.ts'
import { pages } from './pages.ts'
import { processes } from './processes.ts'
import { redis } from './redis.ts'
import { requests } from './requests.ts'
import { scale } from './scale.ts'
import { pinning } from './server-process.ts'
import { start } from './start.ts'
import { watchers } from './watchers.ts'
import { webhooks } from './webhooks.ts'

/** All tables, in the order of the output. */
export const tables: readonly BenchTable[] = [requests, folder, redis, processes, scale, start, watchers, webhooks, pages]

const USAGE = `npm run bench -- [options] [tables]

Measures the built service beside what it is compared with. Without names: all tables.

${tables.map(({ name, summary }) => `  ${name.padEnd(11)} ${summary}`).join('\n')}

  --quick     fewer rounds
  --full      more rounds, and scale with a million cards
  --tiny      only shows that everything works; the figures mean nothing
  --against COMMIT  "requests" beside the service of a commit, which is built in a folder of its own
`

interface Options {
  readonly effort: Effort
  readonly chosen: readonly BenchTable[]
  readonly against: string | undefined
}

/** Runs the benchmark. @returns the exit code: 1 if a table could not be measured, 2 if the arguments are wrong */
export async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args)
  if (options === 'help') return (console.log(USAGE), 0)
  if (typeof options === 'string') return (console.error(options), 2)
  const { effort, chosen, against } = options
  // Ends all processes and removes all files, also when this process is interrupted.
  const reaper = startReaper(createRunFolder())
  const reports: string[] = []
  for (const table of chosen) {
    const startedAt = performance.now()
    const outcome = await table.measure(effort, against).catch((error: Error) => error)
    if (!(outcome instanceof Error)) reports.push(toMarkdown(table, outcome))
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
    showProgress('')
    console.error(`${table.name}: ${outcome instanceof Error ? outcome.message : `measured in ${seconds} s`}`)
  }
  console.log([machine(), ...reports].join('\n\n'))
  reaper.ref()
  reaper.stdin!.end()
  await once(reaper, 'exit')
  return reports.length < chosen.length ? 1 : 0
}

/** @returns `help`, or what is wrong with the arguments */
function readArguments(args: readonly string[]): Options | string {
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { quick: flag, full: flag, tiny: flag, help: flag, against: { type: 'string' } },
    })
    const unknown = positionals.filter((name) => !tables.some((table) => table.name === name))
    if (values.help) return 'help'
    if (unknown.length > 0) return `There is no table "${unknown[0]}".\n\n${USAGE}`
    const { against } = values
    if (against !== undefined && positionals.join() !== 'requests') return `Only the table "requests" has --against.\n\n${USAGE}`
    const effort = (['tiny', 'quick', 'full'] as const).find((name) => values[name]) ?? 'default'
    const chosen = tables.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    return { effort, chosen, against }
  } catch (error) {
    return `${(error as Error).message}\n\n${USAGE}`
  }
}

function machine(): string {
  const all = cpus()
  const memory = (totalmem() / 2 ** 30).toFixed(0)
  return `${all[0]?.model.trim()}, ${all.length} cores, ${memory} GiB, ${process.platform}, Node ${process.version}; ${pinning}`
}
