import type { SecretKeys } from '../auth/secret-keys.ts'
import type { Account } from '../model/account.ts'
import type { Alert } from '../model/second-factor.ts'
import type { Blobs } from '../store/blobs.ts'
import type { Deps } from '../store/transact.ts'

/**
 * What the administration commands run with. They have direct access to the storage and are not subject to the
 * policy, so none of them is reachable over HTTP.
 */
export interface AdminDeps extends Deps {
  readonly blobs: Blobs
  /** what secrets are sealed with; absent where no command needs it */
  readonly secretKeys?: SecretKeys | undefined
  /** how long changes of boards are kept, in milliseconds, and how many of each board; by default 7 days and 100,000 */
  readonly changes?: { readonly age: number; readonly count: number } | undefined
  /** how long the audit trail is kept, in milliseconds; by default 90 days */
  readonly auditAge?: number | undefined
  /** the URL where users reach the service, if this process knows it */
  readonly serviceUrl?: () => string | undefined
  /** sends an alert by mail, if this process does */
  readonly mailAlert?: ((to: Account, alert: Alert) => Promise<void>) | undefined
  /** explains the decisions about stored records; absent where the service is not loaded */
  readonly policyAnswers?: PolicyAnswers | undefined
  /** makes requests as a member of a workspace; absent where the service is not loaded */
  readonly sendAs?: ((workspaceId: string, userId: string) => SendRequest) | undefined
  /** the bytes that a file of such a request may have */
  readonly uploadLimit?: (() => number) | undefined
}

/**
 * Sends a request below /v1, which is decided as one of that member.
 * @param body JSON, or a form with a file
 * @returns the data of the response
 * @throws {ApiError}
 */
export type SendRequest = (method: string, path: string, body?: object | FormData) => Promise<unknown>

/** A question: who wants to do what, in a stored workspace. */
export interface StoredQuestion {
  readonly workspace: string
  readonly operation: string
  /** what the first parameter of its path names; undefined if the path has none */
  readonly resource?: string | undefined
  /** the further parameters of the path, and the ids that the body names: name → one or more */
  readonly named: Readonly<Record<string, readonly string[]>>
  /** the fields to change; by default all that the operation takes */
  readonly fields?: readonly string[] | undefined
}

/**
 * Answers questions about decisions with the functions that decide requests. They belong to a layer above this one, so the process that
 * runs the commands passes them.
 */
export interface PolicyAnswers {
  /**
   * Explains a decision.
   * @param question its scope is the token's; the web app's operations have none
   * @throws {AdminError}
   */
  explain(deps: Deps, question: StoredQuestion & { readonly user: string; readonly scope?: string | undefined }): Promise<unknown>
  /**
   * Lists the members who may do something.
   * @throws {AdminError}
   */
  whoCan(deps: Deps, question: StoredQuestion): Promise<unknown>
  /**
   * Lists what a member may do.
   * @throws {AdminError}
   */
  whatCan(
    deps: Deps,
    question: { readonly workspace: string; readonly user: string; readonly board?: string | undefined; readonly scope: string },
  ): Promise<unknown>
}

/** An administration command failed because of its input. The message says which part of it and why. */
export class AdminError extends Error {
  override readonly name = 'AdminError'
  readonly code: 'not_found' | 'conflict' | 'invalid'

  constructor(code: 'not_found' | 'conflict' | 'invalid', message: string) {
    super(message)
    this.code = code
  }
}

/** The input and output streams of a command, which belong to this process or to the RPC client. */
export interface CommandIo {
  /** Reports the progress of a long command. */
  progress(text: string): void
  /** Writes one line of output. Resolves when the next line can be written. */
  write(line: string): Promise<void>
  /** the lines of input */
  readonly lines: AsyncIterable<string>
}
