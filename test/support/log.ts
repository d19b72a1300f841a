import { pino, type Logger } from 'pino'

/** A log that says nothing. */
export const quiet = pino({ level: 'silent' })

/** A log that is kept, at the level that says most. */
export function keptLog(): { log: Logger; lines: any[]; text(): string } {
  const written: string[] = []
  return {
    log: pino({ level: 'debug' }, { write: (line: string) => void written.push(line) }),
    get lines() {
      return written.map((line) => JSON.parse(line))
    },
    text: () => written.join(''),
  }
}
