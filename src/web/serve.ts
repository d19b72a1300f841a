import { randomUUID } from 'node:crypto'
import type { H3, H3Event } from 'h3'
import type { ServerRequest } from 'srvx'
import { Throttle } from '../auth/accounts/throttle.ts'
import type { Compression } from '../http/compression.ts'
import { errorResponse } from '../http/envelope.ts'
import type { ReferenceDocument } from '../http/openapi/serve.ts'
import { ApiError } from '../model/errors.ts'
import type { Web } from './app.ts'
import type { WebOptions, WebServices } from './page-context.ts'

/** What people open in a browser. */
interface Pages {
  readonly web: Web
  readonly docs: (request: ServerRequest, url: URL) => Promise<Response>
  readonly policies: (request: ServerRequest) => Promise<Response>
}

/** The pages, as the app starts and serves them. */
export interface ServedPages {
  /** Loads the code of the pages. No request below /v1 needs it, so a start need not wait for it. */
  load(): Promise<unknown>
  /** Answers a request for an address that does not exist: a browser gets a page. */
  answerWrongAddress(request: ServerRequest, url: URL): Promise<Response>
}

/**
 * Serves what people open in a browser: the front door, the web app, the reference and the report of the policy. Their code is
 * loaded with the first request for one of them.
 */
export function servePages(h3: H3, web: WebOptions, reference: ReferenceDocument, compression: Compression): ServedPages {
  let loaded: Promise<Pages> | undefined
  const load = () => (loaded ??= importPages(web, reference))
  const answerWrongAddress = async (request: ServerRequest, url: URL) => {
    if (!isBrowser(request)) return errorResponse(randomUUID(), new ApiError('not_found'))
    return compression.apply(request, await (await load()).web.answerWrongAddress(request, url))
  }
  const answer = async ({ req, url }: H3Event) => (await load()).web.answer(req, url)
  const docs = async ({ req, url }: H3Event) => compression.apply(req, await (await load()).docs(req, url))
  for (const path of ['/', '/favicon.svg', '/favicon.ico']) h3.all(path, answer)
  for (const path of ['/app', '/settings']) h3.all(path, answer).all(`${path}/**`, answer)
  h3.all('/docs', docs).all('/docs/**', docs)
  if (web.hasPolicyPage)
    // The router also matches a trailing slash.
    h3.all('/policies', async ({ req, url }) => {
      if (url.pathname !== '/policies') return answerWrongAddress(req, url)
      return compression.apply(req, await (await load()).policies(req))
    })
  return { load, answerWrongAddress }
}

/** Whether a request is that of a person who opens an address, and not that of a program. */
function isBrowser({ method, headers }: ServerRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && /(?:^|[\s,])text\/html(?:$|[\s,;])/.test(headers.get('accept') ?? '')
}

async function importPages(options: WebOptions, reference: ReferenceDocument): Promise<Pages> {
  const [{ createWeb }, { createReference }, { createPolicyPage }, { SignIn }, { SecondStep }] = await Promise.all([
    import('./app.ts'),
    import('./reference/app.ts'),
    import('./policy-report/app.ts'),
    import('../auth/accounts/sign-in.ts'),
    import('../auth/accounts/second-step.ts'),
  ])
  const { clock, counters, passwords } = options
  // Added to the same object: its policy changes when it is replaced.
  const web: WebServices = Object.assign(options, {
    signIn: new SignIn(options, passwords, counters),
    secondStep: new SecondStep(options, counters),
    signUps: new Throttle({ burst: 20, every: 30_000 }, clock, counters && { counters, name: 'sign-up' }),
  })
  return {
    web: createWeb(web),
    docs: createReference(web, reference),
    policies: createPolicyPage(web.log, web.services, web.origin),
  }
}
