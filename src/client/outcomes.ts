import { checkOptions, failureRules } from './options.ts'

/** Thrown by a handler of `claims.work`: the card waits for an answer to this question, and the worker goes on with the next card. */
export class Question extends Error {
  override readonly name = 'Question'
}

/** How the card of a {@link Failure} goes on. */
export interface FailureOptions {
  /** the seconds before the card is tried again, 0 to 86,400; default: 30, twice as many after each further attempt, and at most 3,600 */
  readonly retryAfter?: number
  readonly cause?: unknown
}

/** Thrown by a handler of `claims.work`: the attempt has failed, as with any other error, and this says when the card is tried again. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly retryAfter: number | undefined

  /** @throws {InvalidInput} if an option is unknown or not valid */
  constructor(message: string, options: FailureOptions = {}) {
    checkOptions('Failure', options, failureRules)
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.retryAfter = options.retryAfter
  }
}

/** The most characters that the service takes. */
const LONGEST = 2_000
/** What the service does not take, and the colors that test runners put into their messages. */
const UNPRINTABLE = /\p{Cc}\[[\d;]*m|(?![\t\n\r])\p{Cc}/gu
const LONE_SURROGATE = /\p{Cs}/gu
/** What follows the prefix of an access token. An error of `fetch` can quote the header that it refuses. */
const SECRET = /(?<=_pat_)[\w-]+/g

/** What is told of something that was thrown: its message, or else its name. The service takes it, it has no stack and no access token. */
export function textOf(thrown: unknown): string {
  // An error of another realm is no instance of `Error` here.
  const { message, name } = Object(thrown) as { readonly message?: unknown; readonly name?: unknown }
  const candidates = [typeof thrown === 'object' ? message : String(thrown), name, 'Error']
  return candidates.map(clean).find((text) => text !== '')!
}

function clean(text: unknown): string {
  if (typeof text !== 'string') return ''
  // The first cut is for messages of megabytes: no character has more than two units.
  const printable = text
    .slice(0, 2 * LONGEST)
    .replaceAll(UNPRINTABLE, '')
    .replaceAll(SECRET, '…')
    .trim()
  return [...printable].slice(0, LONGEST).join('').replaceAll(LONE_SURROGATE, '\ufffd')
}
