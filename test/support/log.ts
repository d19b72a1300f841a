import { pino } from 'pino'

/** A log that says nothing. */
export const quiet = pino({ level: 'silent' })
