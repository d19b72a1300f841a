// Patterns of refused requests, for `toMatchObject`.

/** 404 */
export const notFound = { status: 404, body: { error: { code: 'not_found' } } }

/** 404 for a resource that the body names, or the second id of the path. */
export function notFoundBy(parameter: string) {
  return { status: 404, body: { error: { code: 'not_found', parameter } } }
}

/** 409 with this message. */
export function conflict(message: string) {
  return { status: 409, body: { error: { code: 'conflict', message } } }
}

/** 422 with one issue. @param path the invalid member; empty for the whole body or query */
export function invalid(path: string) {
  return { status: 422, body: { error: { code: 'validation_failed', issues: [{ path }] } } }
}
