/** Milliseconds since 1970-01-01T00:00Z. Injected, so that a test can set it. */
export type Clock = () => number

/** In milliseconds. */
export const MINUTE = 60 * 1000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The machine's clock. */
export const systemClock: Clock = () => Date.now()

/** RFC 3339 in UTC with milliseconds: of one length, so that texts compare as times do. */
export function timestamp(clock: Clock): string {
  return new Date(clock()).toISOString()
}
