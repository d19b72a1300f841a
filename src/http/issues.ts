import { ApiError } from '../model/errors.ts'

/** One thing of a request that does not fit. */
export interface ValidationIssue {
  readonly in: 'query' | 'body'
  /** the member, with dots between levels; empty: the whole */
  readonly path: string
  readonly message: string
}

/** The failure that names all of them, and the first one in its message. */
export function validationFailed(issues: readonly ValidationIssue[]): ApiError {
  const [first] = issues
  const where = first!.path === '' ? `the ${first!.in}` : `"${first!.path}"`
  return new ApiError('validation_failed', {
    message: `The request does not fit what this operation takes: ${where} ${first!.message}.`,
    members: { issues },
  })
}
