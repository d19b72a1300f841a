/** The methods of the API. `Request` treats others in its own way. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** The parts of a request other than its address. */
interface LocalRequestInit {
  readonly method: string
  readonly headers: Headers
  readonly body?: string
}

/**
 * A request to a service in the same process, with the members that the service reads. `Request` and `Response` of Node.js 20 make streams
 * and signals that are not read, which takes a fifth of the CPU time of a suite in memory. Every other member of `Request` throws here.
 */
class LocalRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: AsyncIterable<Uint8Array> | null
  #signal: AbortSignal | undefined

  constructor(url: string, { method, headers, body }: LocalRequestInit) {
    this.method = method
    this.url = url
    this.headers = headers
    this.body = body === undefined ? null : oneChunk(body)
  }

  get signal(): AbortSignal {
    return (this.#signal ??= new AbortController().signal)
  }
}
Object.setPrototypeOf(LocalRequest.prototype, Request.prototype)

function oneChunk(text: string): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text)
    },
  }
}

/** Makes a request. @param url absolute */
export function localRequest(url: string, init: LocalRequestInit): Request {
  const { method, headers, body } = init
  const isPlain = METHODS.has(method) && (body === undefined ? true : method !== 'GET' && method !== 'HEAD' && headers.has('content-type'))
  return isPlain
    ? (new LocalRequest(new URL(url).href, init) as unknown as Request)
    : new Request(url, { method, headers, ...(body === undefined ? {} : { body }) })
}

/** The method of srvx's responses that the listener calls to send one. */
const SEND = '_toNodeResponse'

/** Reads the body of a response: if it is one of srvx, as the listener does. */
export async function readText(response: Response): Promise<string> {
  const sendable = response as { [SEND]?(): { readonly body: unknown } }
  if (sendable[SEND] === undefined) return response.text()
  const { body } = sendable[SEND]()
  if (typeof body === 'string') return body
  return body === null || body === undefined ? '' : new Response(body as BodyInit).text()
}
