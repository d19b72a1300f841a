import type { ApiError } from '../model/errors.ts'
import { isList } from '../resources/operation.ts'
import type { Route } from './routes.ts'

/** How many attempts of an operation read first, at most, after one that was wrong. */
const LONGEST_PAUSE = 64

/**
 * Which operations begin with what this process remembers (see `Transaction.recall`). That saves a request one access to the storage, and costs
 * one if another process has changed something. So after an attempt that was wrong, some attempts of its operation read first: twice as many
 * after each, until one was right.
 */
export class Recalls {
  readonly #pauses = new Map<string, { readonly length: number; left: number }>()

  /** Whether the next attempt of an operation may begin with what is remembered. */
  mayNext(operation: string): boolean {
    const pause = this.#pauses.get(operation)
    if (pause === undefined || pause.left === 0) return true
    pause.left--
    return false
  }

  /** Notes whether it was right to begin so. */
  note(operation: string, wasRight: boolean): void {
    if (wasRight) return void this.#pauses.delete(operation)
    const length = Math.min(2 * (this.#pauses.get(operation)?.length ?? 1), LONGEST_PAUSE)
    this.#pauses.set(operation, { length, left: length })
  }
}

/** Whether a request accesses the storage after it has read its target. Otherwise nothing would find out whether what is remembered is true. */
export function accessesFurther(route: Route | ApiError): boolean {
  return 'operation' in route && (!route.operation.isRead || isList(route.operation))
}
