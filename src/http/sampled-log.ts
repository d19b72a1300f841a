import type { Logger } from 'pino'
import type { Clock } from '../model/time.ts'

/** The number of lines of one kind in a window, and the length of the window in milliseconds. */
const LINES = 10
const WINDOW = 1000

/** Lines about changes, which are never left out. */
const CHANGES: ReadonlySet<unknown> = new Set(['token.revoked'])

interface Sample {
  /** when its window began */
  begin: number
  lines: number
  leftOut: number
}

/**
 * Returns a log that writes at most ten warnings and errors of each kind in a second, so that no client can fill the disk with them.
 * The next line of the kind has the number of those that were left out, as `left_out`. The kind is the message, which must not
 * contain anything variable. Lines of other levels are all written: strangers cannot cause them.
 */
export function sampleLog(log: Logger, clock: Clock): Logger {
  const samples = new Map<string, Sample>()
  const sampled = (level: 'warn' | 'error') => (first: object | string, last?: string) => {
    // Both forms of a line: a message, or members and a message.
    const [members, message] = typeof first === 'string' ? [{}, first] : [first, last!]
    if ('event' in members && CHANGES.has(members.event)) return log[level](members, message)
    const now = clock()
    let sample = samples.get(message)
    if (sample === undefined) samples.set(message, (sample = { begin: now, lines: 0, leftOut: 0 }))
    if (now - sample.begin >= WINDOW || now < sample.begin) Object.assign(sample, { begin: now, lines: 0 })
    if (sample.lines >= LINES) return void sample.leftOut++
    sample.lines++
    log[level](sample.leftOut > 0 ? { ...members, left_out: sample.leftOut } : members, message)
    sample.leftOut = 0
  }
  return Object.assign(Object.create(log) as Logger, { warn: sampled('warn'), error: sampled('error') })
}
