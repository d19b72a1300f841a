import type { ServerRequest } from 'srvx'
import type { Caller } from '../authz/context.ts'
import { clientSignal } from '../http/answered.ts'
import { Call, type Surface } from '../http/call.ts'
import type { Answer, Done } from '../http/outcome.ts'
import { conclude } from '../http/pipeline.ts'
import { SessionPrincipal } from '../http/principal.ts'
import type { Awaitable } from '../model/awaitable.ts'
import { ApiError } from '../model/errors.ts'
import { isAnyId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { Operation } from '../resources/operation.ts'
import type { FormRest, Page, PageAudit, PageContext, PageResponse, SignedInContext } from './page-context.ts'
import { assetAddress } from './public-assets.ts'
import { errorPage, notFoundPage } from './error-pages.ts'
import { workspaceOf } from './memberships.ts'
import type { Transaction } from '../store/transaction.ts'
import { transact } from '../store/transact.ts'

type Texts = Readonly<Record<string, string | undefined>>

/** What a page asks of an operation. Members that are undefined are left out. */
export interface Asked {
  /** the parameters of its path */
  readonly params?: Texts
  readonly query?: Texts
  /** its JSON */
  readonly body?: unknown
  /** a form with a file, in place of JSON */
  readonly upload?: FormRest | undefined
  readonly ifMatch?: string | undefined
  /** the Idempotency-Key */
  readonly key?: string | undefined
}

/** The row of an operation. */
export function operationOf({ web }: PageContext, id: string): Operation | undefined {
  return web.services().operations.find((one) => one.id === id)
}

/** Makes requests of the person who is signed in, in one workspace: what pages show, and what their forms change. */
export interface Reader {
  readonly context: SignedInContext
  readonly workspaceId: string
  /** the path of the workspace */
  readonly base: string
  /**
   * Reads what an operation below /v1 returns, as the person may read it now.
   * @param query members that are undefined are left out
   * @throws {ApiError} as the operation; `not_found` for a workspace that the person is not an active member of
   */
  read(operation: string, params?: Readonly<Record<string, string>>, query?: Texts): Promise<Pick<Done, 'data' | 'nextCursor' | 'revision'>>
  /** the same for something that may be gone, or that the person may not see: undefined then */
  find<Data>(operation: string, params: Readonly<Record<string, string>>, query?: Texts): Promise<Data | undefined>
  /** the same for responses other than data and for writes, which get an entry in the audit trail and a line in the decision log */
  answer(operation: string, asked?: Asked): Promise<Answer>
  /**
   * The operations that the person may perform on a resource, as evaluations decide.
   * @param id of the resource; `me`: the workspace;
   * undefined: none
   */
  allowed(type: string, id: string | undefined): Promise<ReadonlySet<string>>
  /** Whether the person may do each of several things, as evaluations decide, at once. */
  allowedOf(questions: readonly Question[]): Promise<readonly boolean[]>
  /** the person in this workspace. Something must have been read before. */
  caller(): Caller
  /** Reads records of the workspace that no operation returns. */
  transact<Result>(read: (tx: Transaction) => Awaitable<Result>): Promise<Result>
}

/** An operation on a resource. The properties name what else it takes. */
export interface Question {
  readonly operation: string
  readonly type: string
  readonly id: string
  readonly properties?: Readonly<Record<string, string>>
}

/** @param workspaceId if the path of the page does not name it */
export function readerOf(context: SignedInContext, workspaceId = context.params['workspace']!): Reader {
  const { store, random } = context.web
  let caller: Caller | undefined
  const answer: Reader['answer'] = async (operation, asked = {}) => {
    const found = await answerPerson(context, workspaceId, operation, asked)
    caller = found.caller
    return found
  }
  const readData: Reader['read'] = async (operation, params = {}, query = {}) => {
    const found = await answer(operation, { params, query })
    if (found.kind !== 'done') throw new TypeError(`${operation} has no data`)
    return found
  }
  return {
    context,
    workspaceId,
    base: `/app/${workspaceId}`,
    answer,
    read: readData,
    async find<Data>(...asked: Parameters<Reader['find']>) {
      try {
        return (await readData(...asked)).data as Data
      } catch (error) {
        if (error instanceof ApiError && error.code === 'not_found') return undefined
        throw error
      }
    },
    async allowed(type, id) {
      if (id === undefined) return new Set()
      const found = await answer('access.search_action', { body: { resource: { type, id }, page: { limit: 100 } } })
      const { results } = (found as Done).data as { readonly results: readonly { readonly name: string }[] }
      return new Set(results.map(({ name }) => name))
    },
    async allowedOf(questions) {
      const decisions: boolean[] = []
      for (let at = 0; at < questions.length; at += limits.evaluations) {
        const evaluations = questions
          .slice(at, at + limits.evaluations)
          .map(({ operation, ...resource }) => ({ action: { name: operation }, resource }))
        const found = await answer('access.evaluate_all', { body: { subject: { type: 'user', id: 'me' }, evaluations } })
        const { evaluations: results } = (found as Done).data as { readonly evaluations: readonly { readonly decision: boolean }[] }
        decisions.push(...results.map(({ decision }) => decision))
      }
      return decisions
    },
    caller() {
      if (caller === undefined) throw new TypeError('nothing was read yet')
      return caller
    },
    transact: (read) => transact(store, workspaceId, random, async (tx) => read(tx)),
  }
}

/**
 * What decides about a board outside its own records, which its feed covers: the role of the person in the workspace, and the policy.
 * A page that was made with another one is fetched again.
 */
export function decidedBy({ context }: Reader, { membership }: Caller): string {
  return `${membership.role} ${context.web.services().engine.hash.slice(0, 16)}`
}

/** A request of a page to an operation: as below /v1, but for a person. */
async function answerPerson(context: SignedInContext, workspaceId: string, id: string, asked: Asked): Promise<Answer> {
  const { web, session, requestId, request, work } = context
  const services = web.services()
  const row = operationOf(context, id)
  // The account resource belongs to tokens.
  if (row === undefined || row.path === '/account') throw new TypeError('the web app cannot do this')
  const { path, status, method, isRead } = row
  const { params = {}, query = {} } = asked
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const call = {
    request: method === 'GET' ? request : requestOf(request, method, asked),
    requestId,
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? '')),
    search: given.length === 0 ? '' : `?${new URLSearchParams(given)}`,
    lent: work.turn,
  }
  const identify = () => new SessionPrincipal(session.user_id, workspaceId)
  const surface: Surface = { name: 'web_app', isCounted: !isRead, identify }
  const made = new Call(services, call, surface)
  // A change gets its answer and its entries even if nobody waits for them.
  if (context.request.method === 'GET') await work.turn.spent()
  const result = await conclude<{ readonly status: number; readonly of: Answer | ApiError }>(services, made, {
    answer: (answer) => ({ status, of: answer }),
    refuse: (error) => ({ status: error.status, of: error }),
  })
  const { units, uploaded } = made.cost
  work.read += units + (uploaded > 0 ? (services.rateLimits?.countUpload(session.user_id, uploaded) ?? 0) : 0)
  if (result.of instanceof ApiError) throw result.of
  return result.of
}

/** The headers of a form that say who has sent it. */
export function sentBy({ headers }: ServerRequest): Record<string, string> {
  const names = ['user-agent', 'x-forwarded-for'].filter((name) => headers.has(name))
  return Object.fromEntries(names.map((name) => [name, headers.get(name)!]))
}

/** The request to an operation that the form of a page becomes. */
function requestOf(request: ServerRequest, method: string, { body, upload, ifMatch, key }: Asked): ServerRequest {
  const headers = new Headers(sentBy(request))
  if (ifMatch !== undefined) headers.set('if-match', ifMatch)
  if (key !== undefined) headers.set('idempotency-key', key)
  const type = upload?.type ?? (body === undefined ? undefined : 'application/json')
  if (type !== undefined) headers.set('content-type', type)
  const content = upload?.body ?? (body === undefined ? null : JSON.stringify(body))
  const own = new Request(request.url, { method, headers, body: content, signal: clientSignal(request), duplex: 'half' } as RequestInit)
  return Object.defineProperty(own as ServerRequest, 'ip', { value: request.ip })
}

/**
 * Reads the pages of a list one after another.
 * @param maxPages it ends after so many pages, complete or not
 */
export async function readAll<Item>(
  reader: Reader,
  [operation, params, query]: readonly [string, Readonly<Record<string, string>>?, Texts?],
  maxPages: number,
): Promise<{ items: Item[]; cursor: string | undefined }> {
  const items: Item[] = []
  let cursor = query?.['cursor']
  for (let page = 0; page < maxPages; page++) {
    const { data, nextCursor } = await reader.read(operation, params, { ...query, limit: '100', cursor })
    items.push(...(data as Item[]))
    cursor = nextCursor ?? undefined
    if (cursor === undefined) break
  }
  return { items, cursor }
}

/** The script of the boards, in addition to the script of every page. */
export const BOARD_SCRIPTS: readonly string[] = [assetAddress('/settings/assets/boards.js')]

/**
 * A page in a workspace.
 * @param operation what the page is about, for the audit trail
 */
export function workspacePage(path: string, operation: string, respond: (reader: Reader) => Promise<PageResponse>): Page {
  return {
    path: `/app/{workspace}/${path}`,
    anonymous: false,
    get: (context) => ifFound(context, operation, () => respond(readerOf(context))),
  }
}

/**
 * Makes the response of a page. A resource that the person has no access to is answered like one that does not exist, as below /v1.
 * @param operation what the page is about, for the audit trail
 */
export async function ifFound(context: SignedInContext, operation: string, respond: () => Promise<PageResponse>): Promise<PageResponse> {
  try {
    return await respond()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'not_found') return { ...notFoundPage(), audit: await auditOf(context, operation) }
    if (error.code === 'forbidden')
      return { ...errorPage(403, 'You may not see this', error.message), audit: await auditOf(context, operation) }
    if (error.code === 'validation_failed')
      return errorPage(422, 'This link is not complete', 'Open the board again, and go on from there.')
    throw error
  }
}

/**
 * The entry of a denial. The trail of a workspace has only what its members did; the address can name any other one, and anything as an id.
 */
export async function auditOf({ web, session, params }: SignedInContext, operation: string, named?: readonly string[]): Promise<PageAudit> {
  const { workspace = '', ...others } = params
  const member = await workspaceOf(web, session.user_id, workspace)
  return { operation: `web.${operation}`, workspaceId: member?.id, ids: named ?? Object.values(others).filter(isAnyId), outcome: 'denied' }
}
