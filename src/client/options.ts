import { InvalidInput } from './errors.ts'

/** What the value of an option must be, in words, and whether it is. */
type Rule = readonly [expected: string, holds: (value: unknown) => boolean]

/** The options that are known, with the rule of each. */
export type Rules = Readonly<Record<string, Rule>>

/** A timer of a longer time, in milliseconds, would end at once. */
export const LONGEST_TIME = 2 ** 31 - 1

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= LONGEST_TIME
const isCount = (value: unknown): boolean => value === Infinity || (Number.isInteger(value) && (value as number) >= 1)
const isWholeIn = (value: unknown, from: number, to: number): boolean =>
  Number.isInteger(value) && (value as number) >= from && (value as number) <= to

const time: Rule = [`a number of milliseconds, up to ${LONGEST_TIME}`, isTime]
const aFunction: Rule = ['a function', isFunction]

/** Headers that an option sets: a value among the further headers would be replaced in silence. */
const OWN_HEADERS: Readonly<Record<string, string>> = {
  authorization: 'token',
  'idempotency-key': 'idempotencyKey',
  'if-match': 'ifMatch',
  'if-none-match': 'ifNoneMatch',
  'if-claim': 'ifClaim',
}

const retryRules: Rules = {
  attempts: ['a number of attempts, 1 or more', isCount],
  delay: time,
  maxDelay: time,
  maxRetryAfter: time,
}

/** The options of `createClient`. What `url` and `token` must be in detail is checked where they are read. */
export const clientRules: Rules = {
  url: ['the URL of the service, such as "https://kanban.example"', isText],
  token: ['an access token', () => true],
  timeout: time,
  retries: [`an object with some of ${Object.keys(retryRules).join(', ')}`, isObject],
  fetch: aFunction,
  random: aFunction,
  now: aFunction,
  monotonic: aFunction,
  newKey: aFunction,
  timers: [
    'an object with setTimeout and clearTimeout',
    (value) => isObject(value) && isFunction(value['setTimeout']) && isFunction(value['clearTimeout']),
  ],
}

/** The options of every call. */
export const requestRules: Rules = {
  signal: ['an AbortSignal', (value) => isObject(value) && typeof value['aborted'] === 'boolean' && isFunction(value['addEventListener'])],
  timeout: time,
  // The members of a `Headers` are not its own: nothing of it would be sent.
  headers: ['an object with the values of headers', (value) => isObject(value) && !(Symbol.iterator in value)],
}
export const readRules: Rules = { ...requestRules, ifNoneMatch: ['an ETag', isText] }
export const writeRules: Rules = {
  ...requestRules,
  idempotencyKey: ['a key, or false', (value) => value === false || isText(value)],
  // A shell or a model may have dropped the quotes: nothing would match, as if the resource had changed.
  ifMatch: ['an ETag, with its double quotes', (value) => isText(value) && /"|^\*$/.test(value)],
  ifClaim: ['the epoch of a claim', (value) => Number.isSafeInteger(value) && (value as number) >= 1],
  dryRun: ['true or false', (value) => typeof value === 'boolean'],
}
export const changesRules: Rules = { ...requestRules, onRetry: aFunction }

/** The options of `claims.work`. */
export const workRules: Rules = {
  column_id: ['the id of a column', isText],
  label_id: ['the id of a label', isText],
  ttl: ['a whole number of seconds from 10 to 3600', (value) => isWholeIn(value, 10, 3600)],
  wait: ['a whole number of seconds from 1 to 30', (value) => isWholeIn(value, 1, 30)],
  signal: requestRules['signal']!,
  onRetry: aFunction,
  onFailure: aFunction,
}
/** The options of `Failure`. */
export const failureRules: Rules = {
  retryAfter: ['a whole number of seconds from 0 to 86400', (value) => isWholeIn(value, 0, 86_400)],
  cause: ['anything', () => true],
}

/** The input of `changes`. */
export const noticesInputRules: Rules = {
  unread: ['true or false', (value) => typeof value === 'boolean'],
  after: ['a cursor', isText],
  wait: ['a whole number of seconds from 0 to 30', (value) => isWholeIn(value, 0, 30)],
}
export const changesInputRules: Rules = {
  board_id: ['the id of a board', isText],
  after: ['a cursor', isText],
  wait: ['a whole number of seconds from 0 to 30', (value) => isWholeIn(value, 0, 30)],
}

/**
 * Checks options, so that a mistake is not ignored in silence. A member that is undefined counts as absent.
 * @param what what they belong to, such as `cards.create`
 * @throws {InvalidInput} names the option, and lists those that are known
 */
export function checkOptions(what: string, options: unknown, rules: Rules): void {
  if (options === undefined) return
  if (!isObject(options)) throw new InvalidInput(`${what}: the options must be an object with some of ${Object.keys(rules).join(', ')}`)
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule === undefined)
      throw new InvalidInput(`${what}: there is no option "${name}"; the options are ${Object.keys(rules).join(', ')}`)
    const [expected, holds] = rule
    // Without the value, which may be a secret.
    if (value !== undefined && !holds(value)) throw new InvalidInput(`${what}: the option "${name}" must be ${expected}`)
  }
  if (options['retries'] !== undefined) checkOptions(`${what}, retries`, options['retries'], retryRules)
  for (const name of Object.keys(options['headers'] ?? {})) {
    const option = OWN_HEADERS[name.toLowerCase()]
    // A write has no option for If-None-Match.
    if (option === undefined || (option === 'ifNoneMatch' && rules === writeRules)) continue
    throw new InvalidInput(`${what}: the header "${name}" is set by the option "${option}"`)
  }
}

/** @throws {InvalidInput} if it cannot be a token. The message does not contain it. */
export function requireToken(token: unknown): string {
  if (token === undefined || token === null || token === '')
    throw new InvalidInput('createClient: the option "token" is missing; it must be an access token, lk_pat_…')
  // The error of fetch would have the token in its message.
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new InvalidInput('createClient: the option "token" must be an access token, lk_pat_…; this has characters that no token has')
  return token
}

/**
 * The address below which operations are, with `/v1`, and without a slash at its end.
 * @throws {InvalidInput} if it is no URL of a service
 */
export function requireBase(url: unknown): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:')
    throw new InvalidInput('createClient: the option "url" must be the URL of the service, such as "https://kanban.example"')
  const path = parsed.pathname.replace(/\/+$/, '')
  return `${parsed.origin}${path.endsWith('/v1') ? path : `${path}/v1`}`
}
