import { sha256Hex } from '../auth/secrets.ts'
import { isId } from '../model/ids.ts'
import { restoreProgress } from '../resources/webhooks/deliveries.ts'
import { keys } from '../store/keys.ts'
import { bringForward } from '../store/migrations/list.ts'
import type { Value } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import type { BackupSummary } from './backup.ts'
import { AdminError, type AdminDeps, type CommandIo } from './deps.ts'
import { readExport, readHeader, type ExportLine } from './export-format.ts'
import { readRecord } from './records.ts'
import { RestoreRun } from './restore-run.ts'
import { TransferCounter } from './transfer-summary.ts'
import { WorkspaceImport } from './workspace-import.ts'

/**
 * Restores a backup to an empty storage, with all ids. Nothing of it is accessible before the whole backup was read and its
 * checksum verified, and the service does not start on a storage whose restore has not finished. A failed restore can be
 * repeated. If two overlap, the one that began later continues and the other fails. Webhooks are disabled until somebody enables them.
 * @throws {AdminError} `conflict` if the storage is not empty or a later restore has begun; `invalid` if the lines are not a
 *   complete backup
 */
export async function restore(deps: AdminDeps, io: CommandIo): Promise<BackupSummary> {
  const lines = readExport(io.lines, 'backup')
  const { schema } = await readHeader(lines, 'backup')
  const run = await RestoreRun.begin(deps)
  try {
    const reader = new BackupReader(deps, run, schema, io)
    for await (const line of lines) await reader.take(line, lines)
    return await reader.publish()
  } catch (error) {
    // If this fails too, the next restore removes the rest.
    await run.abandon().catch(() => undefined)
    throw error
  }
}

/** What the keys of records begin with that say how far a webhook is. */
const PROGRESS = keys.webhookProgress('')

/** Writes the lines of a backup. What gives access is kept until all lines were read: tokens, memberships and accounts. */
class BackupReader {
  readonly #deps: AdminDeps
  readonly #run: RestoreRun
  readonly #schema: number
  readonly #progress: CommandIo['progress']
  readonly #counter = new TransferCounter()
  readonly #workspaces = new Map<string, WorkspaceImport>()
  readonly #lostWorkspaces: string[] = []
  /** by the keys of their e-mail addresses */
  readonly #accounts = new Map<string, readonly [key: string, account: Value]>()
  readonly #deferred: (readonly [string, Value])[] = []
  readonly #webhooks: (readonly [workspaceId: string, webhookId: string])[] = []
  #current: WorkspaceImport | 'installation' | undefined
  #users = 0

  constructor(deps: AdminDeps, run: RestoreRun, schema: number, io: CommandIo) {
    this.#deps = deps
    this.#run = run
    this.#schema = schema
    this.#progress = (text) => io.progress(text)
  }

  async take(line: ExportLine, lines: AsyncGenerator<ExportLine>): Promise<void> {
    if ('workspace' in line) await this.#beginWorkspace(line.workspace)
    else if ('omitted_workspace' in line) this.#lostWorkspaces.push(line.omitted_workspace)
    else if ('installation' in line) await this.#beginInstallation()
    else if (this.#current === 'installation') await this.#takeGlobal(line)
    else if (this.#current === undefined) throw new AdminError('invalid', 'the backup has a line that belongs to no section')
    else {
      if ('key' in line && line.key.startsWith(PROGRESS)) this.#webhooks.push([this.#current.workspaceId, line.key.slice(PROGRESS.length)])
      if (await this.#current.take(line, lines)) this.#reportProgress()
    }
  }

  /** Makes the installation accessible. All lines were read. */
  async publish(): Promise<BackupSummary> {
    if (this.#current !== 'installation') throw new AdminError('invalid', 'the backup has no users')
    await this.#run.write.flush()
    for (const workspace of this.#workspaces.values()) {
      await workspace.publish()
      this.#reportProgress()
    }
    const { store, random } = this.#deps
    let disabled = 0
    for (const [workspaceId, id] of this.#webhooks)
      if (await transact(store, workspaceId, random, (tx) => restoreProgress(tx, id))) disabled++
    await this.#run.write.put(this.#deferred)
    for (const [emailKey, [key, account]] of this.#accounts) {
      await this.#run.write.put([
        [key, account],
        [emailKey, { user_id: account['user_id'] }],
      ])
    }
    await this.#run.finish()
    return {
      workspaces: this.#workspaces.size,
      users: this.#users,
      ...this.#counter,
      lost_workspaces: this.#lostWorkspaces,
      ...(disabled > 0 && { disabled_webhooks: disabled }),
    }
  }

  async #beginWorkspace(id: string): Promise<void> {
    await this.#endWorkspace()
    if (!isId('workspace', id)) throw new AdminError('invalid', `${id} is not the id of a workspace`)
    if (this.#workspaces.has(id)) throw new AdminError('invalid', `${id} is in the backup twice`)
    await this.#run.write.put([[keys.restoredWorkspace(id), { workspace_id: id }]])
    this.#current = await WorkspaceImport.begin(this.#deps, id, { schema: this.#schema, records: 'backedUp' }, this.#counter)
    this.#workspaces.set(id, this.#current)
  }

  async #beginInstallation(): Promise<void> {
    await this.#endWorkspace()
    this.#current = 'installation'
  }

  async #endWorkspace(): Promise<void> {
    if (this.#current === 'installation') throw new AdminError('invalid', 'a section follows the users, which are the last one')
    await this.#current?.complete()
    this.#reportProgress()
  }

  async #takeGlobal(line: ExportLine): Promise<void> {
    if (!('key' in line)) throw new AdminError('invalid', `${JSON.stringify(line)} is not a record`)
    for (const [key, value] of bringForward(line.key, line.value, this.#schema))
      await this.#addGlobal(key, readRecord('global', key, value))
  }

  async #addGlobal(key: string, value: Value): Promise<void> {
    this.#counter.records++
    if (key.startsWith('account:')) return this.#addAccount(key, value)
    if (key.startsWith('demo:')) return void this.#deferred.push([key, value])
    if (key.startsWith('user:')) this.#users++
    if (await this.#run.write.add(key, value)) this.#reportProgress()
  }

  #addAccount(key: string, account: Value): void {
    const emailKey = keys.accountEmail(sha256Hex(String(account['email'])))
    if (this.#accounts.has(emailKey)) throw new AdminError('invalid', `${key}: another account has the same e-mail address`)
    this.#accounts.set(emailKey, [key, account])
  }

  #reportProgress(): void {
    this.#progress(`${this.#workspaces.size} workspaces, ${this.#counter.progress}`)
  }
}
