import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server'
import { ApiError } from '../model/errors.ts'
import { invalidMember } from '../model/validation.ts'
import { suggestion } from './argument-messages.ts'
import { OPERATION, type Callable, type CallableTool } from './callable.ts'
import type { ApiAnswer, ApiRequest, Exchange } from './exchange.ts'
import { sendFitting, type Expected } from './fitting-answer.ts'
import { readArguments } from './given-arguments.ts'
import { isList, OFFSET } from './input-schema.ts'
import { keptNote } from './operation-arguments.ts'
import type { ToolList } from './tool-list.ts'
import { selectOperation, toRequest, type CallArguments } from './tool-request.ts'
import { refusedResult, toResult } from './tool-result.ts'

/** The context of a tool call. */
export interface CallContext {
  readonly exchange: Exchange
  /** the effective scopes of the token */
  readonly scopes: readonly string[]
  /** the user of the token */
  readonly userId: string
}

/**
 * Calls a tool. Whatever the API answers is a result.
 * @throws {ProtocolError} if there is no such tool
 */
export async function callTool(list: ToolList, context: CallContext, name: string, args: CallArguments): Promise<CallToolResult> {
  const { exchange, scopes, userId } = context
  const tool = list.find(name)
  if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, noTool(list, name, scopes))
  try {
    const selected = selectOperation(tool, args)
    const refused = await findScopeRefusal(list, context, tool, selected)
    if (refused !== undefined) return toResult(refused, expectedOf(list, tool.callables[0]!))
    if (selected === undefined) throw noOperation(list, tool, args, scopes)
    const { values, offset, kept } = readArguments(list, tool, selected, args, userId)
    const request = toRequest(selected, values)
    const expected = expectedOf(list, selected, values, offset)
    const answer = await withCurrentState(exchange, request, await sendFitting(exchange, request, expected))
    const note = keptNote(kept)
    return toResult(answer, expected, note === undefined ? {} : { note })
  } catch (error) {
    if (error instanceof ApiError) return refusedResult(exchange.requestId, error)
    throw error
  }
}

/**
 * The refusal of a call that needs a greater scope than the token has. The API refuses it, as it refuses any request, and has read nothing
 * of it before. It is a result: a client that gets a 403 begins to look for OAuth.
 */
async function findScopeRefusal(
  list: ToolList,
  { exchange, scopes }: CallContext,
  { callables }: CallableTool,
  selected: Callable | undefined,
): Promise<ApiAnswer | undefined> {
  const asked = selected === undefined ? callables : [selected]
  if (asked.some(({ operation }) => list.isAllowed(operation, scopes))) return undefined
  const { method, path } = asked[0]!.operation
  return exchange.send({ method, path: path.replaceAll(/\{\w+\}/g, '-'), search: '', headers: {}, body: undefined })
}

/** What is known of the answer to a call before it is there. */
function expectedOf(list: ToolList, { operation, arguments: { query } }: Callable, values: CallArguments = {}, offset?: number): Expected {
  return {
    isList: isList(query),
    hasParts: query[OFFSET] !== undefined,
    hasFields: values['fields'] !== undefined,
    offset,
    wholeIn: wholeIn(list, operation.id),
  }
}

/** Which operation reads the whole of something in an answer. */
function wholeIn(list: ToolList, id: string): string {
  const [kind] = id.split('.')
  // A snapshot and the changes of a board have cards; a claim belongs to a card.
  const read = kind === 'comments' || id === 'boards.list' ? `${kind}.read` : 'cards.read'
  return id === 'boards.changes' ? 'The operation that reads it, such as cards.read,' : `${read} of ${list.toolOf(read)}`
}

function noTool(list: ToolList, name: string, scopes: readonly string[]): string {
  const known = list.visibleWith(scopes).map((tool) => tool.name)
  const owner = list.toolOf(name)
  const hint = owner === undefined ? suggestion(name, known) : `that is an operation of the tool ${owner}.`
  return `There is no tool of this name${hint === undefined ? '.' : `: ${hint}`} The tools are ${known.join(', ')}.`
}

function noOperation(list: ToolList, { callables }: CallableTool, args: CallArguments, scopes: readonly string[]): ApiError {
  const ids = callables.filter(({ operation }) => list.isAllowed(operation, scopes)).map(({ operation }) => operation.id)
  const given = args[OPERATION]
  const owner = list.toolOf(given)
  const near = typeof given === 'string' ? suggestion(given, ids) : undefined
  const hint = owner === undefined ? near : `the tool ${owner} has this operation`
  const wrong = given === undefined ? 'is missing: it selects what to do. It must be' : 'must be'
  const message = `${wrong} one of ${ids.join(', ')}${hint === undefined ? '' : ` (${hint})`}`
  return invalidMember(OPERATION, message)
}

/** The resource that a path begins with: an ETag belongs to it. */
const RESOURCE = /^\/\w+\/[^/]+/

/**
 * Adds to the refusal of a write with `if_match` what is there now. The ETag alone would help a client to overwrite a change that it has
 * not seen, and not to see it. It is one more request of the same token, which the pipeline decides.
 * @returns the answer with `current` and its `current_etag`; the answer itself if it is no such refusal, or if there is nothing to read
 */
async function withCurrentState(exchange: Exchange, { path }: ApiRequest, answer: ApiAnswer): Promise<ApiAnswer> {
  if (answer.status !== 412) return answer
  const { error } = answer.body
  // In a batch, an operation's `current_etag` does not belong to the resource of the path.
  if (error?.['current_etag'] === undefined || error['index'] !== undefined) return answer
  const [resource = path] = RESOURCE.exec(path) ?? []
  const { status, headers, body } = await exchange.send({ method: 'GET', path: resource, search: '', headers: {}, body: undefined })
  if (status !== 200) return answer
  const { content } = answer
  return {
    status: answer.status,
    headers: answer.headers,
    content,
    body: { error: { ...error, current_etag: headers.get('etag'), current: body.data } },
  }
}
