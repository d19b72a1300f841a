import { addRoute, createRouter } from 'rou3'
import { compileRouter } from 'rou3/compiler'
import { ApiError } from '../model/errors.ts'
import type { Operation } from '../resources/operation.ts'

/** The row of the operations table that a method and a path match. */
export interface Route {
  readonly operation: Operation
  readonly params: Readonly<Record<string, string>>
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * Returns a function that finds the operation of a method and a path. HEAD uses the row of GET. Paths must match exactly:
 * no trailing slash, no double slash, same case. It returns an {@link ApiError}, `not_found` or `method_not_allowed`, if
 * there is none: the token is checked before.
 */
export function createRouteTable(operations: readonly Operation[]): (method: string, path: string) => Route | ApiError {
  const router = createRouter<Operation>()
  for (const operation of operations) addRoute(router, operation.method, operation.path.replace(/\{(\w+)\}/g, ':$1'), operation)
  const find = compileRouter(router)

  return (method, path) => {
    const plain = !path.endsWith('/') && !path.includes('//')
    const found = plain ? find(method === 'HEAD' ? 'GET' : method, path) : undefined
    if (found !== undefined) return { operation: found.data, params: found.params ?? {} }
    const allowed = plain ? METHODS.filter((candidate) => find(candidate, path) !== undefined) : []
    if (allowed.length === 0) return new ApiError('not_found')
    const allow = allowed.flatMap((candidate) => (candidate === 'GET' ? ['GET', 'HEAD'] : [candidate])).join(', ')
    return new ApiError('method_not_allowed', { headers: { allow } })
  }
}
