import { durations } from '../model/durations.ts'
import { keys } from '../store/keys.ts'
import { bringForward } from '../store/migrations/list.ts'
import type { Value } from '../store/port.ts'
import { AdminError, type AdminDeps } from './deps.ts'
import type { ExportLine } from './export-format.ts'
import { ReceivedBytes } from './import-bytes.ts'
import { BATCH_SIZE, ImportSession } from './import-session.ts'
import { readRecord } from './records.ts'
import type { TransferCounter } from './transfer-summary.ts'

/** Keys of records that make the workspace accessible. They are written last. */
const WRITTEN_LAST = /^(workspace|token|membership):/

/** Writes the lines of one workspace. Nothing of it is accessible before {@link WorkspaceImport.publish}. */
export class WorkspaceImport {
  readonly #deps: AdminDeps
  readonly #workspaceId: string
  readonly #session: ImportSession
  readonly #schema: number
  readonly #counter: TransferCounter
  readonly #bytes: ReceivedBytes
  readonly #deferred: [string, Value][] = []
  readonly #omitted: string[] = []
  #batch: [string, Value][] = []

  private constructor(deps: AdminDeps, workspaceId: string, session: ImportSession, schema: number, counter: TransferCounter) {
    this.#deps = deps
    this.#workspaceId = workspaceId
    this.#session = session
    this.#schema = schema
    this.#counter = counter
    this.#bytes = new ReceivedBytes(deps.random, counter)
  }

  /**
   * @param schema the version of the records
   * @throws {AdminError} `conflict` if the workspace exists
   */
  static async begin(deps: AdminDeps, workspaceId: string, schema: number, counter: TransferCounter): Promise<WorkspaceImport> {
    return new WorkspaceImport(deps, workspaceId, await ImportSession.begin(deps, workspaceId), schema, counter)
  }

  /**
   * Takes one line.
   * @param lines the lines after it; those that belong to it are consumed
   * @returns whether records were written
   * @throws {AdminError} `conflict` if a later import of the workspace has begun; `invalid` if it is not a line of a workspace
   */
  async take(line: ExportLine, lines: AsyncGenerator<ExportLine>): Promise<boolean> {
    if ('bytes' in line) this.#bytes.add(line.blob_id, await this.#session.writeBytes(line, lines))
    else if ('omitted' in line) this.#omit(line)
    else if ('key' in line)
      for (const [key, value] of bringForward(line.key, line.value, this.#schema)) this.#addRecord(key, readRecord('workspace', key, value))
    else throw new AdminError('invalid', `${JSON.stringify(line)} is not a line of a workspace`)
    if (this.#batch.length < BATCH_SIZE) return false
    await this.#flush()
    return true
  }

  /**
   * Ends the lines.
   * @throws {AdminError} `conflict`; `invalid` if the lines are not a whole workspace
   */
  async complete(): Promise<void> {
    await this.#flush()
    this.#bytes.requireAllUsed()
    const workspace = this.#deferred.find(([key]) => key === keys.workspace())?.[1]
    if (workspace?.['id'] !== this.#workspaceId) throw new AdminError('invalid', `the export has no record of ${this.#workspaceId}`)
    for (const fileId of this.#omitted) await this.#session.detach(fileId)
  }

  /** Makes the workspace accessible. @throws {AdminError} `conflict` */
  async publish(): Promise<void> {
    // Without a membership, a token gives no access.
    const tokens = this.#deferred.filter(([key]) => key.startsWith('token:'))
    for (let from = 0; from < tokens.length; from += BATCH_SIZE) await this.#session.put(tokens.slice(from, from + BATCH_SIZE))
    // The workspace and its members are one commit: no request can use a part of the workspace.
    await this.#session.finish(this.#deferred.filter(([key]) => !key.startsWith('token:')))
    this.#counter.records += this.#deferred.length
  }

  /** Removes everything that was written. @throws {AdminError} `conflict` */
  clear(): Promise<void> {
    return this.#session.clear()
  }

  #omit(line: Extract<ExportLine, { omitted: unknown }>): void {
    this.#omitted.push(line.omitted)
    this.#counter.omit(this.#workspaceId, line)
  }

  #addRecord(key: string, value: Value): void {
    const record = this.#bytes.withOwnBytes(key, value)
    if (record === undefined) return
    if (key.startsWith('token:')) requireIssued(record, this.#deps.clock())
    ;(WRITTEN_LAST.test(key) ? this.#deferred : this.#batch).push([key, record])
  }

  async #flush(): Promise<void> {
    await this.#session.put(this.#batch)
    this.#counter.records += this.#batch.length
    this.#batch = []
  }
}

/** A token that was issued in the future would live longer than 90 days. */
function requireIssued({ id, issued_at }: Value, now: number): void {
  if (Date.parse(String(issued_at)) > now + durations.clockSkew)
    throw new AdminError('invalid', `the token ${String(id)} was issued in the future, at ${String(issued_at)}`)
}
