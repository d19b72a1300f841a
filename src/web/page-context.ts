import type { VNode } from 'preact'
import type { Logger } from 'pino'
import type { ServerRequest } from 'srvx'
import type { Passwords } from '../auth/accounts/passwords.ts'
import type { SignIn } from '../auth/accounts/sign-in.ts'
import type { Throttle } from '../auth/accounts/throttle.ts'
import type { Session } from '../model/account.ts'
import type { Engine } from '../policy/engine.ts'
import type { Deps } from '../store/deps.ts'

/** The services that the web app uses. */
export interface WebServices extends Deps {
  readonly engine: Engine
  readonly log: Logger
  readonly passwords: Passwords
  readonly signIn: SignIn
  /** limits sign-up attempts by network and by code */
  readonly signUps: Throttle
  /** the public origin of the service, such as `https://kanban.example`; undefined: the origin of each request */
  readonly origin: string | undefined
  /** the number of trusted proxies that append to X-Forwarded-For */
  readonly proxies: number
}

/** A request for a page. */
export interface PageContext {
  readonly web: WebServices
  readonly request: ServerRequest
  /** the path of the address */
  readonly path: string
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** empty unless the request is a POST */
  readonly form: URLSearchParams
  readonly cookies: ReadonlyMap<string, string>
  /**
   * Set-Cookie headers that are sent with every response, an error page included: if the cookie of a new session got
   * lost, its person would be signed out.
   */
  readonly pendingCookies: string[]
  /** the public origin of the service */
  readonly origin: string
  /** the client's address, for throttling and the log */
  readonly address: string
  readonly session?: Session | undefined
}

/** A request of a person who is signed in. */
export interface SignedInContext extends PageContext {
  readonly session: Session
}

/** The response to a request for a page: a page or a redirect. */
export type PageResponse =
  | PageView
  | { readonly redirect: string; readonly cookies?: readonly string[]; readonly headers?: Record<string, string> }

/** A page to render. */
export interface PageView {
  readonly title: string
  readonly body: VNode
  /** replaces the session of the request */
  readonly session?: Session
  /** default: 200 */
  readonly status?: number
  readonly cookies?: readonly string[]
  readonly headers?: Record<string, string>
}

/** A page: its path, and its handlers of GET and POST. An anonymous page needs no session. */
export type Page = {
  /** with `{name}` for its parameters */
  readonly path: string
} & (
  | { readonly anonymous: true; get?(context: PageContext): Promise<PageResponse>; post?(context: PageContext): Promise<PageResponse> }
  | {
      readonly anonymous: false
      get?(context: SignedInContext): Promise<PageResponse>
      post?(context: SignedInContext): Promise<PageResponse>
    }
)
