import type { VNode } from 'preact'
import type { Logger } from 'pino'
import type { ServerRequest } from 'srvx'
import type { AccountDeps } from '../auth/accounts/deps.ts'
import type { Passwords } from '../auth/accounts/passwords.ts'
import type { SignIn } from '../auth/accounts/sign-in.ts'
import type { Throttle } from '../auth/accounts/throttle.ts'
import type { Session } from '../model/account.ts'
import type { Engine } from '../policy/engine.ts'

/** What the web app works with. */
export interface WebServices extends AccountDeps {
  readonly engine: Engine
  readonly log: Logger
  readonly passwords: Passwords
  readonly signIn: SignIn
  /** how often a sign-up form is taken, by network and by code */
  readonly signUps: Throttle
  /** where people find it, as `https://kanban.example`; undefined: wherever a request says that it is */
  readonly origin: string | undefined
  /** how many proxies in front add to X-Forwarded-For */
  readonly proxies: number
}

/** A request for a page. */
export interface PageContext {
  readonly web: WebServices
  readonly request: ServerRequest
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** empty unless it is a POST */
  readonly form: URLSearchParams
  readonly cookies: ReadonlyMap<string, string>
  /** Set-Cookie headers of the answer, whatever becomes of the rest: a session that began must not get lost with it */
  readonly setAnyway: string[]
  /** where people find the service */
  readonly origin: string
  /** where the request came from, as far as it counts for throttling */
  readonly address: string
  readonly session?: Session | undefined
}

/** A request of somebody who is signed in. */
export interface SignedInContext extends PageContext {
  readonly session: Session
}

/** What a request is answered with. */
export type PageResponse =
  | PageView
  | { readonly redirect: string; readonly cookies?: readonly string[]; readonly headers?: Record<string, string> }

/** A page that is shown. */
export interface PageView {
  readonly title: string
  readonly body: VNode
  /** where it is another one now than the request came with */
  readonly session?: Session
  readonly status?: number
  readonly cookies?: readonly string[]
  readonly headers?: Record<string, string>
}

/** A page: one path, and what a GET and a POST of it do. */
export type Page = {
  /** with `{name}` for its parameters */
  readonly path: string
} & (
  | { readonly open: true; get?(visit: PageContext): Promise<PageResponse>; post?(visit: PageContext): Promise<PageResponse> }
  | { readonly open: false; get?(visit: SignedInContext): Promise<PageResponse>; post?(visit: SignedInContext): Promise<PageResponse> }
)
