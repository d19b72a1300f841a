import type { ApiError } from '../model/errors.ts'
import { decisionPointRows } from '../resources/access/authzen.ts'
import type { Call } from './call.ts'
import type { AttemptRecord } from './decision-record.ts'
import { challenge, jsonResponse } from './envelope.ts'
import type { Done } from './outcome.ts'
import { API, type Form } from './pipeline.ts'
import { sharedHeaders } from './render.ts'
import { createRouteTable } from './routes.ts'

// The HTTPS binding of the OpenID AuthZEN Authorization API 1.0 (§10.1): the bodies of the specification, and its error responses.

/** Where its endpoints are: the default paths of the specification. */
export const DECISION_POINT_PATH = '/access/v1'

/** What a body that does not fit is called there: the specification has 400 alone. */
const BAD_REQUESTS: ReadonlySet<number> = new Set([415, 422])
const TEXT = 'text/plain; charset=utf-8'

/** The decision point: the operations of `/v1/access` with the bodies of the specification. Their only answer is `done`. */
export const DECISION_POINT_FORM: Form = {
  surface: { ...API, route: createRouteTable(decisionPointRows) },
  answer: (_services, call, answer, record) =>
    jsonResponse(idOf(call), 200, JSON.stringify((answer as Done).data), headersOf(call, record)),
  refuse(call, error, record) {
    const status = BAD_REQUESTS.has(error.status) ? 400 : error.status
    const headers = { ...headersOf(call, record), ...challenge(error), ...error.details.headers, 'content-type': TEXT }
    return jsonResponse(idOf(call), status, textOf(error), headers)
  },
}

/** The response has the id that the client has given to its request (§10.1.3). */
function idOf({ headers, requestId }: Call): string {
  return headers.get('x-request-id') ?? requestId
}

/** The id of the request in the audit trail and in the logs: a client may have given it another one. */
function headersOf(call: Call, record: AttemptRecord): Readonly<Record<string, string>> {
  return { ...sharedHeaders(call, record), 'lanekeeper-request-id': call.requestId }
}

/** An error response has a text (§10.1.2): the code of the error, and why. */
function textOf({ code, message, details: { members } }: ApiError): string {
  return `${code}: ${(members?.['reason'] as string | undefined) ?? message}`
}
