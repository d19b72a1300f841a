import { createClient, type Client, type ClientOptions } from '../../src/client/client.ts'

/** A request that a client has sent. */
export interface SentRequest {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: unknown
  /** the bytes of the body as text, and its type. The boundary of a form, which is new each time, is `boundary`. */
  readonly content: string
  readonly contentType: string | null
}

/** What a fake service does with a request: it responds, the connection fails, or it never responds. */
export type Step = Response | 'cut' | 'cut in the body' | 'silent'

/** A service that responds by a list, one step for each request, and the last one again from then on. */
export class FakeService {
  readonly sent: SentRequest[] = []
  /** how long the client has waited between attempts, in milliseconds */
  readonly waits: number[] = []
  readonly #steps: readonly Step[]
  now = Date.parse('2026-11-20T12:00:00Z')

  constructor(...steps: readonly Step[]) {
    this.#steps = steps
  }

  /** A client of this service, whose time passes only when it waits. Each attempt ends at once if it gets no response. */
  client(options: Partial<ClientOptions> = {}): Client {
    return createClient({
      url: 'http://service.test',
      token: 'lk_pat_test',
      fetch: this.#fetch,
      random: () => 1,
      now: () => this.now,
      timeout: 1_000_000,
      timers: {
        setTimeout: (callback, milliseconds) => {
          if (milliseconds >= 1_000_000) return this.#step() === 'silent' ? void queueMicrotask(callback) : undefined
          this.waits.push(milliseconds)
          this.now += milliseconds
          queueMicrotask(callback)
          return undefined
        },
        clearTimeout: () => undefined,
      },
      ...options,
    })
  }

  #step(): Step {
    return this.#steps[Math.min(this.sent.length, this.#steps.length - 1)]!
  }

  readonly #fetch: typeof fetch = async (url, init) => {
    const step = this.#step()
    const { method = 'GET', headers, body, signal } = init!
    const sent = { url: String(url), method, headers: new Headers(headers), body }
    const at = this.sent.push({ ...sent, content: '', contentType: null }) - 1
    // As fetch does it. A body that can be read only once is empty afterwards.
    if (body != null)
      this.sent[at] = { ...sent, ...(await contentOf(new Request(url, { method, headers, body, duplex: 'half' } as RequestInit))) }
    if (step === 'silent')
      return new Promise((_resolve, reject) => {
        const end = () => reject(signal!.reason as Error)
        if (signal!.aborted) end()
        else signal!.addEventListener('abort', end)
      })
    if (step === 'cut') throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
    if (step === 'cut in the body') return cutInBody()
    return step.clone()
  }
}

async function contentOf(request: Request): Promise<Pick<SentRequest, 'content' | 'contentType'>> {
  const contentType = request.headers.get('content-type')
  const boundary = /boundary=(.*)/.exec(contentType ?? '')?.[1]
  const text = await request.text()
  return boundary === undefined
    ? { content: text, contentType }
    : { content: text.replaceAll(boundary, 'boundary'), contentType: contentType!.replace(boundary, 'boundary') }
}

/** A response of success. */
export function success(
  data: unknown,
  { status = 200, headers = {}, page }: { status?: number; headers?: Record<string, string>; page?: unknown } = {},
): Response {
  return Response.json({ data, ...(page === undefined ? {} : { page }) }, { status, headers: { 'x-request-id': 'request', ...headers } })
}

/** A refusal of the service. */
export function refused(status: number, code: string, members: object = {}, headers: Record<string, string> = {}): Response {
  return Response.json({ error: { code, message: `It is ${code}.`, request_id: 'request', ...members } }, { status, headers })
}

function cutInBody(): Response {
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"data":'))
      controller.error(new TypeError('terminated'))
    },
  })
  return new Response(body, { status: 200 })
}
