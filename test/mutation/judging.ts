import { startReaper } from '../setup/global-setup.ts'
import { DATABASES, startRedis } from '../support/redis.ts'
import { createRunFolder } from '../support/run.ts'
import type { Explanation } from './explained.ts'
import { Judge, type Times, type Verdict } from './judge.ts'
import type { Subject } from './map.ts'
import type { Mutant } from './mutants.ts'

/** A mutant with the suites that must notice it. */
export interface Case {
  readonly subject: Subject
  readonly mutant: Mutant
  readonly explanation: Explanation | undefined
}

export interface Judged extends Case {
  readonly verdict: Verdict
}

/** What was judged until the end, or until SIGINT. */
export interface Results {
  readonly judged: readonly Judged[]
  /** files whose suites fail without a mutant, with the failure */
  readonly failures: ReadonlyMap<string, string>
  readonly isInterrupted: boolean
}

/**
 * Judges mutants until all are judged, or until SIGINT.
 * @param report receives each verdict, and the number of verdicts
 */
export async function judgeAll(
  root: string,
  cases: readonly Case[],
  workers: number,
  report: (judged: Judged, count: number) => void,
): Promise<Results> {
  if (cases.length === 0) return { judged: [], failures: new Map(), isInterrupted: false }
  // Killed tests leave processes and files behind.
  startReaper(createRunFolder())
  const redis = cases.some(({ subject }) => subject.drivers.includes('redis'))
    ? await startRedis(['--databases', String(DATABASES)])
    : undefined
  const judges = await Promise.all(Array.from({ length: Math.min(workers, cases.length) }, () => Judge.start(root, redis?.url)))
  // Each vitest listens for the end of the process.
  process.setMaxListeners(0)
  process.on('unhandledRejection', (error) => console.error('unhandled rejection:', String(error)))
  const judged: Judged[] = []
  const failures = new Map<string, string>()
  const queue = [...cases]
  const measured = new Map<string, Promise<number | Error>>()
  let isInterrupted = false
  let isOver = false
  const work = async (judge: Judge): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (failures.has(next.subject.path)) continue
      const limits = await limitsOf(next.subject, judge, measured)
      if (limits instanceof Error) {
        failures.set(next.subject.path, limits.message)
        continue
      }
      const verdict = await judge.judge(next.subject, next.mutant, limits)
      // A run that was interrupted has no verdict.
      if (isOver) return
      judged.push({ ...next, verdict })
      report({ ...next, verdict }, judged.length)
    }
  }
  try {
    await Promise.race([Promise.all(judges.map(work)), interruption().then(() => (isInterrupted = true))])
  } finally {
    isOver = true
    queue.length = 0
    for (const judge of judges) judge.kill()
    await redis?.stop()
  }
  return { judged, failures, isInterrupted }
}

function interruption(): Promise<void> {
  return new Promise((resolve) => process.once('SIGINT', () => resolve()))
}

/** A suite that takes much longer than without a mutant is in a loop, or waits for something that does not happen. */
async function limitsOf(
  { suites, drivers }: Subject,
  judge: Judge,
  measured: Map<string, Promise<number | Error>>,
): Promise<Times | Error> {
  const limits: Record<string, number> = {}
  for (const suite of suites) {
    const key = `${drivers} ${suite}`
    if (!measured.has(key)) measured.set(key, judge.measure(suite, drivers))
    const time = await measured.get(key)!
    if (time instanceof Error) return time
    limits[suite] = 20_000 + 5 * time
  }
  return limits
}
