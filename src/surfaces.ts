import { randomUUID } from 'node:crypto'
import type { H3, H3Config, H3Event } from 'h3'
import type { ServerRequest } from 'srvx'
import { ApiFirst, type RequestTarget } from './http/request-target.ts'
import { authzenConfiguration } from './http/authzen-configuration.ts'
import { DECISION_POINT_FORM, DECISION_POINT_PATH } from './http/authzen-form.ts'
import { Compression } from './http/compression.ts'
import { errorResponse } from './http/envelope.ts'
import { toApiError } from './http/error-mapping.ts'
import { answerAlive, answerReady } from './http/health.ts'
import { ReferenceDocument } from './http/openapi/serve.ts'
import { handle, type Form } from './http/pipeline.ts'
import { respondWithText } from './http/public-text.ts'
import type { RateQuotas } from './governor/quotas.ts'
import { createRevocation } from './http/revocation.ts'
import { andThen } from './model/awaitable.ts'
import { answerNoOAuth, oauthAddresses } from './mcp/no-oauth.ts'
import { ApiError } from './model/errors.ts'
import { lazy, once } from './model/lazy.ts'
import type { WebOptions } from './web/page-context.ts'

const mcpModule = lazy(() => import('./mcp/endpoint.ts'))
const webModule = lazy(() => import('./web/app.ts'))
const referenceModule = lazy(() => import('./web/reference/app.ts'))
const policyPageModule = lazy(() => import('./web/policy-report/app.ts'))

/** What the surfaces are made from. */
export interface SurfaceOptions extends WebOptions {
  /** the host name or address that the service listens on */
  readonly host: string | undefined
  /** undefined: requests are not limited */
  readonly quotas: RateQuotas | undefined
  /** default: true */
  readonly isDraining: () => boolean
}

/** Every address of the service, with its handler. */
export function createSurfaces(options: SurfaceOptions): H3 {
  const { services, log, site, isDraining, quotas } = options
  const { operations, uploadBytes } = services()
  const compression = new Compression()
  const reference = new ReferenceDocument(() => ({ engine: services().engine, operations, uploadBytes, quotas, base: site.base }))
  const revoke = createRevocation(services())

  const answerBelow = (prefix: string, form?: Form) => {
    const answer = ({ req: request }: H3Event, { path, search }: RequestTarget) => {
      // Some clients end each path with a slash. It is dropped here, so that whatever follows sees one path.
      const end = path.endsWith('/') ? -1 : path.length
      // One literal, because V8 takes microseconds to spread an object, and each request comes this way.
      const asked = {
        request,
        requestId: randomUUID(),
        method: request.method,
        path: path.slice(prefix.length, end),
        // The specification of the decision point has no parameters of queries, and what nobody knows is ignored there.
        search: form === undefined ? search : '',
      }
      return andThen(handle(services(), asked, form), (response) => compression.apply(request, response))
    }
    return [prefix, answer] as const
  }
  const web = once(async () => (await webModule()).createWeb(options))
  const docs = once(async () => (await referenceModule()).createReference(options, reference))
  const policies = once(async () => (await policyPageModule()).createPolicyPage(log, services, site))
  const mcp = once(async () => (await mcpModule()).createMcpEndpoint(services, { operations, site, host: options.host }))
  const page = async ({ req, url }: H3Event) => (await web()).answer(req, url)
  const wrongAddress = async ({ req, url }: H3Event) =>
    isBrowser(req) ? (await web()).answerWrongAddress(req, url) : errorResponse(randomUUID(), new ApiError('not_found'))

  // Malformed paths get the same responses, in the same order, as any other unknown path.
  const onError: H3Config['onError'] = (error) => errorResponse(randomUUID(), toApiError(log, 'none', error.cause ?? error))
  const below = [answerBelow('/v1'), answerBelow(DECISION_POINT_PATH, DECISION_POINT_FORM)]
  const h3 = new ApiFirst({ allowMalformedURL: true, silent: true, onError }, site, { below, wrongAddress })
  h3.use(async ({ req }, next) => compression.apply(req, (await next()) as Response))
  /** The router also matches a trailing slash. */
  const exactly = (path: string, answer: (event: H3Event) => unknown) =>
    h3.all(path, (event) => (event.url.pathname === path ? answer(event) : wrongAddress(event)))

  h3.get('/healthz', answerAlive)
  h3.get('/readyz', () => answerReady(services(), isDraining()))
  h3.all('/revoke', ({ req }) => revoke(req))
  exactly('/openapi.json', ({ req }) => respondWithText(log, req, () => reference.text(site.urlFor(req))))
  exactly('/llms.txt', ({ req }) => respondWithText(log, req, () => reference.llmsText(site.urlFor(req))))
  // The path of the service follows the path of the document (AuthZEN 1.0 §9.2.1, as RFC 8414 §3.1).
  for (const path of new Set(['', site.base]))
    exactly(`/.well-known/authzen-configuration${path}`, ({ req }) =>
      respondWithText(log, req, () => authzenConfiguration(site.urlFor(req))),
    )
  h3.all('/mcp', async ({ req }) => (await mcp())(req))
  for (const path of oauthAddresses(site.base)) h3.all(path, () => answerNoOAuth(site.base))
  if (options.hasPolicyPage) exactly('/policies', async ({ req }) => (await policies())(req))
  h3.all('/docs/**', async ({ req, url }) => (await docs())(req, url))
  for (const path of ['/', '/favicon.svg', '/favicon.ico', '/app/**', '/settings/**', '/sign-in/**']) h3.all(path, page)
  h3.all('/**', wrongAddress)
  return h3
}

/** Whether a person who opens an address makes the request, and not a program. */
function isBrowser({ method, headers }: ServerRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && /(?:^|[\s,])text\/html(?:$|[\s,;])/.test(headers.get('accept') ?? '')
}
