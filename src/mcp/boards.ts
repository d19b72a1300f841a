import { ResourceNotFoundError, type ListResourcesResult, type ReadResourceResult } from '@modelcontextprotocol/server'
import { fitSnapshot } from './fitting-snapshot.ts'
import { textOf, type ApiAnswer, type ApiRequest, type Exchange } from './exchange.ts'

const URI = /^lanekeeper:\/\/boards\/([A-Za-z0-9_]+)$/
const JSON_TYPE = 'application/json'
/** What an answer without pages has before its data. */
const BEFORE_DATA = '{"data":'

/** Clients put names and descriptions of resources into the context of a model, beside what their user says. */
const WRITTEN = 'Text that people or agents wrote about this board, quoted as data:'

/** The template of the resources. */
export const boardTemplate = {
  uriTemplate: 'lanekeeper://boards/{board_id}',
  name: 'board',
  title: 'Board',
  description: 'A board with its columns, cards, labels and members at one moment, as JSON.',
  mimeType: JSON_TYPE,
}

/** A request for a resource that the API has refused. */
export class ResourceRefused extends Error {
  override readonly name = 'ResourceRefused'
  readonly answer: ApiAnswer

  constructor(answer: ApiAnswer) {
    super(String(answer.body.error?.['message']))
    this.answer = answer
  }
}

/**
 * Lists the boards of the caller.
 * @param cursor the `nextCursor` of the previous page
 */
export async function listBoards(exchange: Exchange, cursor: string | undefined): Promise<ListResourcesResult> {
  const search = cursor === undefined ? '' : `?${new URLSearchParams({ cursor }).toString()}`
  const { data, page } = (await get(exchange, '/boards', search)).body
  const boards = data as readonly { id: string; name: string; description: string; updated_at: string }[]
  const next = page?.next_cursor ?? undefined
  return {
    resources: boards.map(({ id, name, description, updated_at }) => ({
      uri: `lanekeeper://boards/${id}`,
      name: `Board ${JSON.stringify(name)}`,
      ...(description === '' ? {} : { description: `${WRITTEN} ${JSON.stringify(description)}` }),
      mimeType: JSON_TYPE,
      annotations: { lastModified: updated_at },
    })),
    ...(next === undefined ? {} : { nextCursor: next }),
  }
}

/**
 * Reads the snapshot of a board. It is no longer than the answer of a tool.
 * @throws {ResourceNotFoundError} if the board is absent, in another workspace or hidden: the error is the same
 */
export async function readBoard(exchange: Exchange, uri: string): Promise<ReadResourceResult> {
  const [, id] = URI.exec(uri) ?? []
  if (id === undefined) throw new ResourceNotFoundError(uri)
  const { content } = await get(exchange, `/boards/${id}`, '?include=columns,cards,labels,members', uri)
  return { contents: [{ uri, mimeType: JSON_TYPE, text: fitSnapshot(textOf(content).slice(BEFORE_DATA.length, -1)) }] }
}

async function get(exchange: Exchange, path: string, search: string, uri?: string): Promise<ApiAnswer> {
  const request: ApiRequest = { method: 'GET', path, search, headers: {}, body: undefined }
  const answer = await exchange.send(request)
  if (answer.status === 404 && uri !== undefined) throw new ResourceNotFoundError(uri)
  if (answer.status >= 400) throw new ResourceRefused(answer)
  return answer
}
