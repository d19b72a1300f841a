import type { Caller } from '../../authz/context.ts'
import { Call, type Surface } from '../../http/call.ts'
import type { Answer } from '../../http/outcome.ts'
import { conclude } from '../../http/pipeline.ts'
import { SessionPrincipal } from '../../http/principal.ts'
import { ApiError } from '../../model/errors.ts'
import type { SignedInContext } from '../page-context.ts'

type Texts = Readonly<Record<string, string | undefined>>

/** Reads what pages show, for the person who is signed in and in one workspace. */
export interface Reader {
  readonly workspaceId: string
  /**
   * Reads what an operation below /v1 returns, as the person may read it now.
   * @param query members that are undefined are left out
   * @throws {ApiError} as the operation; `not_found` for a workspace of which the person is no active member
   */
  read(
    operation: string,
    params?: Readonly<Record<string, string>>,
    query?: Texts,
  ): Promise<{ data: unknown; nextCursor: string | null | undefined }>
  /** the same, for what is no data */
  answer(operation: string, params?: Readonly<Record<string, string>>, query?: Texts): Promise<Answer>
  /** the person in this workspace. Something must have been read before. */
  caller(): Caller
}

export function readerOf(context: SignedInContext, workspaceId: string): Reader {
  let caller: Caller | undefined
  const answer: Reader['answer'] = async (operation, params = {}, query = {}) => {
    const found = await answerPerson(context, workspaceId, operation, params, query)
    caller = found.caller
    return found
  }
  return {
    workspaceId,
    answer,
    async read(...asked) {
      const found = await answer(...asked)
      if (found.kind !== 'done') throw new TypeError(`${asked[0]} has no data`)
      return found
    },
    caller() {
      if (caller === undefined) throw new TypeError('nothing was read yet')
      return caller
    },
  }
}

/** A request of a page to an operation: as below /v1, but for a person. */
async function answerPerson(
  { web, session, requestId, request }: SignedInContext,
  workspaceId: string,
  id: string,
  params: Readonly<Record<string, string>>,
  query: Texts,
): Promise<Answer> {
  const services = web.services()
  const row = services.operations.find((one) => one.id === id)
  // The account is that of a token.
  if (row?.method !== 'GET' || row.path === '/account') throw new TypeError('the web app cannot read this')
  const { path, status } = row
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const asked = {
    request,
    requestId,
    method: 'GET',
    path: path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name]!)),
    search: given.length === 0 ? '' : `?${new URLSearchParams(given)}`,
  }
  const surface: Surface = { name: 'web_app', isCounted: false, identify: () => new SessionPrincipal(session.user_id, workspaceId) }
  const result = await conclude<{ readonly status: number; readonly of: Answer | ApiError }>(services, new Call(services, asked, surface), {
    answer: (answer) => ({ status, of: answer }),
    refuse: (error) => ({ status: error.status, of: error }),
  })
  if (result.of instanceof ApiError) throw result.of
  return result.of
}

/** Reads the pages of a list one after another. @param maxPages after which it ends, complete or not */
export async function readAll<Item>(
  reader: Reader,
  [operation, params, query]: readonly [string, Readonly<Record<string, string>>?, Texts?],
  maxPages: number,
  isEnough: (items: readonly Item[]) => boolean = () => false,
): Promise<{ items: Item[]; cursor: string | undefined }> {
  const items: Item[] = []
  let cursor = query?.['cursor']
  for (let page = 0; page < maxPages; page++) {
    const { data, nextCursor } = await reader.read(operation, params, { ...query, limit: '100', cursor })
    items.push(...(data as Item[]))
    cursor = nextCursor ?? undefined
    if (cursor === undefined || isEnough(items)) break
  }
  return { items, cursor }
}
