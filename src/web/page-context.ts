import type { Logger } from 'pino'
import type { VNode } from 'preact'
import type { ServerRequest } from 'srvx'
import type { AuditRecorder } from '../audit/recorder.ts'
import type { Passwords } from '../auth/accounts/passwords.ts'
import type { SecondStep } from '../auth/accounts/second-step.ts'
import type { SignIn } from '../auth/accounts/sign-in.ts'
import type { IdentityProvider } from '../auth/provider/identity-provider.ts'
import type { SecretDeps } from '../auth/secret-keys.ts'
import type { Throttle } from '../auth/accounts/throttle.ts'
import type { PublicUrl } from '../http/public-url.ts'
import type { Services } from '../http/services.ts'
import type { BoardReader } from '../importers/board-reader.ts'
import type { AlertMails } from '../mail/alert-mails.ts'
import type { Session } from '../model/account.ts'
import type { AuditOutcome } from '../model/audit.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { Alert } from '../model/second-factor.ts'
import type { SharedCounters } from '../store/counters.ts'
import type { Layout } from './document.ts'
import type { PageWork } from './page-work.ts'
import type { Presence } from './presence.ts'

/** The services that the web app uses. */
export interface WebServices extends WebOptions {
  readonly signIn: SignIn
  readonly secondStep: SecondStep
  /** limits sign-ins that begin at the provider, by network */
  readonly providerSignIns: Throttle
  /** limits sign-up attempts by network and by code */
  readonly signUps: Throttle
  /** limits imports of boards, by person */
  readonly imports: Throttle
  /** who is editing what on the boards */
  readonly presence: Presence
}

/** What the services of the web app are made of. */
export interface WebOptions extends SecretDeps {
  /** gets what people do in the web app; undefined: there is no audit trail */
  readonly audit?: AuditRecorder | undefined
  readonly log: Logger
  readonly passwords: Passwords
  /** lets people sign in; undefined: no identity provider */
  readonly provider?: IdentityProvider | undefined
  /** whether people have passwords, passkeys and codes here */
  readonly hasPasswords: boolean
  /** sends mail to the people of the service; undefined: no mail is sent */
  readonly mail: AlertMails | undefined
  /** lets all processes count sign-ins and sign-ups together; undefined: this process counts alone */
  readonly counters: SharedCounters | undefined
  /** reads the files of other programs */
  readonly readBoardFile: BoardReader
  /** where people reach the service */
  readonly site: PublicUrl
  /** the number of trusted proxies that append to X-Forwarded-For */
  readonly proxies: number
  /** the pipeline's, with the policy that is in use now */
  readonly services: () => Services
  /** whether the report of the policy is served at /policies */
  readonly hasPolicyPage: boolean
}

/** The session of a request, with the members of the account that its pages show. */
export interface Visit {
  readonly session: Session
  /** the account's protection beyond the password: whether a code of an authenticator app is asked for, and the number of passkeys */
  readonly protection: { readonly hasAuthenticator: boolean; readonly passkeys: number }
  /** the alerts that the person has not dismissed, except about this session's own acts */
  readonly alerts: readonly Alert[]
  /**
   * Whether this session may dismiss them. One that began in an unknown browser may not, until another session has seen that: otherwise
   * two sessions of a thief could dismiss the alerts of each other.
   */
  readonly mayDismiss: boolean
}

/** A form with a file, from the file on: it is not read. */
export interface FormRest {
  /** with its boundary */
  readonly type: string
  readonly body: ReadableStream
  /** Reads and discards what was not read, so that the connection can be used for the answer. */
  discard(): Promise<unknown>
}

/** A request for a page. */
export interface PageContext {
  readonly web: WebServices
  readonly request: ServerRequest
  /** the path of the address, without the public URL's, as in all addresses in pages: {@link addBase} adds it when a page is sent */
  readonly path: string
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  /** the fields of the form of the page that may be in an address */
  readonly keeps: readonly string[]
  readonly query: URLSearchParams
  /** empty unless the request is a POST */
  readonly form: URLSearchParams
  /** the file of a form with one, and what follows it; undefined: the form has none */
  readonly upload?: FormRest | undefined
  readonly cookies: ReadonlyMap<string, string>
  /**
   * Set-Cookie headers that are sent with every response, an error page included: if the cookie of a new session got
   * lost, its person would be signed out.
   */
  readonly pendingCookies: string[]
  /** the public origin of the service, which browsers compare */
  readonly origin: string
  /** the public URL of the service, without a slash at its end: what is shown to people and sent to other programs begins with it */
  readonly url: string
  /** the client's address, for throttling and the log */
  readonly address: string
  /** the browser in a few words */
  readonly agent: string
  readonly session?: Session | undefined
  /** undefined: nobody is signed in */
  readonly work?: PageWork | undefined
}

/** A request of a person who is signed in. */
export interface SignedInContext extends PageContext, Visit {
  readonly session: Session
  readonly work: PageWork
}

/** What all responses can have. */
interface ResponseParts {
  readonly headers?: Record<string, string>
  /** what the audit trail says of it, if that does not follow from the address: one entry, several or none */
  readonly audit?: PageAudit | readonly PageAudit[] | false
}

/** The response to a request for a page: a page, a redirect, data for the script of a page, or a response of the pipeline. */
export type PageResponse =
  | PageView
  | (ResponseParts & { readonly raw: Response })
  | (ResponseParts & { readonly json: unknown; readonly status?: number })
  | (ResponseParts & { readonly redirect: string })

/** A page to render. */
export interface PageView extends ResponseParts {
  readonly title: string
  readonly body: VNode
  /** its ETag: whoever has this version already gets 304 */
  readonly version?: string | undefined
  /** the content of its holes, in their order */
  readonly parts?: readonly (readonly Buffer[])[] | undefined
  /** default: page */
  readonly layout?: Layout
  /** the paths of further scripts of the page, apart from the script of every page */
  readonly scripts?: readonly string[]
  /** replaces the session of the request */
  readonly session?: Session
  /** default: 200 */
  readonly status?: number
}

/** A page: its path, and its handlers of GET and POST. An anonymous page needs no session. */
export type Page = {
  /** with `{name}` for its parameters */
  readonly path: string
  /**
   * The fields of its form that are not lost if the session ends before the form is sent. After the person has signed in, GET finds
   * them in the query. Never a secret.
   */
  readonly keeps?: readonly string[]
  /** whether its forms call operations: they may have a file */
  readonly callsOperations?: true
  /** whether its forms take access away, or prove who wants to: they are limited for each session, all others for each person */
  readonly endsAccess?: true
  /** whether its GET changes something: HEAD is refused */
  readonly getChanges?: true
  /** whether its address is signed, so that its form needs neither a token nor a body */
  readonly isSigned?: true
  /** whether it is a part of a page, such as an image */
  readonly isPart?: true
} & (
  | { readonly anonymous: true; get?(context: PageContext): Awaitable<PageResponse>; post?(context: PageContext): Awaitable<PageResponse> }
  | {
      readonly anonymous?: false
      get?(context: SignedInContext): Awaitable<PageResponse>
      post?(context: SignedInContext): Awaitable<PageResponse>
      /** shows a form once more, with what was written: it was made in an earlier session of its person, and nothing is done */
      showAgain?(context: SignedInContext): Awaitable<PageResponse>
    }
)

/** What a page states about what it did, if that does not follow from its address. */
export interface PageAudit {
  /** begins with `web.` */
  readonly operation?: string
  /** the workspace that it belongs to; undefined: none */
  readonly workspaceId?: string | undefined
  readonly ids?: readonly string[]
  readonly rows?: readonly string[]
  /** who did it, if there is no session */
  readonly userId?: string | undefined
  readonly subjectId?: string | undefined
  readonly outcome?: AuditOutcome
}
