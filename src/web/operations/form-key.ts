import { hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { newSecret } from '../../auth/secrets.ts'
import type { Done } from '../../http/outcome.ts'
import { ApiError } from '../../model/errors.ts'
import type { Operation } from '../../resources/operation.ts'
import type { Asked, Reader } from '../reader.ts'
import type { PageContext } from '../page-context.ts'

// A form that creates something has a key: sent twice, it creates one. It becomes the Idempotency-Key of the operation.

/** The field of a form that has its key. */
export const FORM_KEY = 'form_key'

/**
 * Whether an operation makes something that was not there, such as a secret. Others change nothing when they are repeated, or say what has
 * changed since.
 */
function isCreation({ method, status, needs }: Operation): boolean {
  return method === 'POST' && (status === 201 || needs[0] === 'rotate_secret')
}

/** The one type that the script of a page accepts. Browsers accept several. */
const OF_SCRIPT = /^(?:text\/html|text\/event-stream|application\/json)$/

/**
 * The key of a form that is made now; undefined: it needs none. It is empty in a page that a script fetches: the script makes the keys of
 * what it sends, and versions of a page that show the same are equal.
 */
export function newFormKey({ web, request }: PageContext, operation: Operation): string | undefined {
  if (!isCreation(operation)) return undefined
  return OF_SCRIPT.test(request.headers.get('accept') ?? '') ? '' : newSecret(web.random)
}

/** The Idempotency-Key of a form that was sent; undefined: it has none. The same page with other content is another request. */
export function idempotencyKeyOf(form: URLSearchParams, operation: Operation): string | undefined {
  if (!isCreation(operation) || !form.get(FORM_KEY)) return undefined
  // A form that is sent once more after signing in again has another one.
  const own = new URLSearchParams([...form].filter(([name]) => name !== 'form_token'))
  return hash('sha256', `${operation.id}?${own}`)
}

/** The first of two sendings may not be answered yet: how often and after how many milliseconds the second one looks again. */
const [LOOKS, PAUSE] = [50, 100]

/**
 * Performs an operation, or finds what the same request has done before.
 * @returns its data
 */
export async function performOnce(reader: Reader, id: string, asked: Asked): Promise<unknown> {
  for (let look = 1; ; look++) {
    try {
      const answer = await reader.answer(id, asked)
      return answer.kind === 'replayed' ? answer.first.data : (answer as Done).data
    } catch (error) {
      // A file can be read only once.
      const isRunning = error instanceof ApiError && error.code === 'idempotency_key_in_use' && asked.upload === undefined
      if (!isRunning || look === LOOKS) throw error
      await pause(PAUSE)
    }
  }
}
