import { pino, type Logger } from 'pino'

/** A logger without output. */
export const quiet = pino({ level: 'silent' })

/** Creates a logger at the level `debug` that collects its output in memory. */
export function captureLog(): { log: Logger; lines: any[]; text(): string } {
  const written: string[] = []
  return {
    log: pino({ level: 'debug' }, { write: (line: string) => void written.push(line) }),
    get lines() {
      return written.map((line) => JSON.parse(line))
    },
    text: () => written.join(''),
  }
}
