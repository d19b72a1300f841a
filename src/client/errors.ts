import type { ErrorMembers } from './operations.ts'

/** The machine-readable name of an error. Later versions of the service may add some. */
export type ErrorCode = keyof ErrorMembers

/** The service has refused a request. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ApiError'
  readonly code: Code
  readonly status: number
  /** the id of the request in the log of the service; empty if a proxy has answered */
  readonly requestId: string
  /** the further members of the error, such as `required_scope`, `issues` or `outcome` */
  readonly members: ErrorMembers[Code]
  /** how long the service asks to wait, in milliseconds */
  readonly retryAfter: number | undefined
  /** the key that the write was sent with: repeat it with the same one, if its outcome is unknown */
  readonly idempotencyKey: string | undefined

  constructor(
    code: Code,
    message: string,
    details: Pick<ApiError<Code>, 'status' | 'requestId' | 'members' | 'retryAfter' | 'idempotencyKey'>,
  ) {
    super(message)
    this.code = code
    this.status = details.status
    this.requestId = details.requestId
    this.members = details.members
    this.retryAfter = details.retryAfter
    this.idempotencyKey = details.idempotencyKey
  }

  /** Whether it has this code. The type of `members` is then known. */
  is<Other extends ErrorCode>(code: Other): this is ApiError<Other> {
    return (this.code as ErrorCode) === code
  }
}

/** An input cannot be sent: an id is missing, or would lead to another path, or a file is no Blob. */
export class InvalidInput extends TypeError {
  override readonly name = 'InvalidInput'
}

/** No attempt of a request got a response. It is not known whether the service has received it. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse'
  /** the key that the write was sent with: repeat it with the same one, and the change is made once */
  readonly idempotencyKey: string | undefined

  /** @param cause why the last attempt has failed */
  constructor(attempts: number, cause: unknown, idempotencyKey: string | undefined) {
    const reason = cause instanceof Error ? messageOf(cause) : String(cause)
    super(`there was no response in ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${reason}`, { cause })
    this.idempotencyKey = idempotencyKey
  }
}

/** Node.js says only "fetch failed", and has the reason in the cause. */
function messageOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message
}
