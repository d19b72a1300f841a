import type { z } from 'zod'
import { ApiError } from './errors.ts'
import { limits } from './limits.ts'

/** One member of a request that is not valid. */
export interface ValidationIssue {
  readonly in: 'query' | 'body'
  /** the member, with dots between levels; empty for the whole */
  readonly path: string
  readonly message: string
}

/** The issues of a request. More than can be listed are only counted. */
export class Issues {
  readonly #listed: ValidationIssue[] = []
  #total = 0

  /** Adds what is wrong with a member of the body, or of the query. */
  readonly refuse = (path: string, message: string, place: ValidationIssue['in'] = 'body'): void => {
    if (++this.#total <= limits.issues) this.#listed.push({ in: place, path, message })
  }

  /** @throws {ApiError} `validation_failed` */
  throwIfAny(): void {
    if (this.error !== undefined) throw this.error
  }

  /** `validation_failed` with all of them; undefined: there are none */
  get error(): ApiError | undefined {
    return this.#total > 0 ? validationFailed(this.#listed, this.#total) : undefined
  }
}

/** What is wrong with a value that does not match a schema. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined && issue.message.endsWith('undefined')) return 'is missing'
  return issue.message.replace(/^(Invalid (input|option)|Too (big|small)): /, '')
}

/** Adds what is wrong with a member of the body. */
export type Refuse = (path: string, message: string) => void

/** The error of one member of the body. */
export function invalidMember(path: string, message: string): ApiError {
  return validationFailed([{ in: 'body', path, message }])
}

/**
 * The error that lists the issues, with the first one in its message.
 * @param total the number of all issues; more than can be listed are only counted
 */
export function validationFailed(all: readonly ValidationIssue[], total = all.length): ApiError {
  const issues = all.slice(0, limits.issues)
  const more = total - issues.length
  const [first] = issues
  const subject = first!.path === '' ? `the ${first!.in}` : `"${first!.path}"`
  return new ApiError('validation_failed', {
    message: `The request does not match what this operation accepts: ${subject} ${first!.message}.${more === 0 ? '' : ` There are ${more} more issues than are listed.`}`,
    members: { issues },
  })
}
