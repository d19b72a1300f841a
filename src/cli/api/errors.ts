import { ApiError, InvalidInput, NoResponse } from '../../client/client.ts'
import { ConfigError } from '../../config.ts'
import { CallFailed, exitCodes } from '../exit.ts'
import { cell } from '../text.ts'

/** What is wrong with the request itself. */
const INVALID = new Set([400, 413, 415, 416, 422, 431])
/** The service, its storage or a proxy cannot do it now. */
const UNAVAILABLE = new Set([408, 429, 502, 503, 504])

/** The failure of a call with its text and its exit code; any other error as it is. */
export function toFailure(error: unknown, json: boolean): unknown {
  if (error instanceof InvalidInput) return new ConfigError(error.message)
  if (error instanceof NoResponse) return new CallFailed(describe(json, 'no_response', error), exitCodes.storage)
  if (!(error instanceof ApiError)) return error
  const { code, status, requestId, members } = error
  return new CallFailed(describe(json, code, error, { status, request_id: requestId, ...members }), exitCodeOf(status))
}

function exitCodeOf(status: number): number {
  if (INVALID.has(status)) return exitCodes.usage
  if (UNAVAILABLE.has(status)) return exitCodes.storage
  return status >= 500 ? exitCodes.internal : exitCodes.refused
}

/** One line of JSON, or a sentence with a line for each further member. A write names its key, with which it can be repeated. */
function describe(
  json: boolean,
  code: string,
  { message, idempotencyKey }: ApiError | NoResponse,
  further: Readonly<Record<string, unknown>> = {},
): string {
  const members = { ...further, ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }) }
  if (json) return JSON.stringify({ error: { code, message, ...members } })
  const lines = Object.entries(members).map(([name, value]) => `  ${name}: ${cell(isNested(value) ? JSON.stringify(value) : value)}`)
  return [`${code}: ${cell(message)}`, ...lines].join('\n')
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isNested) : typeof value === 'object' && value !== null
}
