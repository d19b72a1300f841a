import { existsSync } from 'node:fs'
import { pino } from 'pino'
import { ConfigError, readStorage } from '../config.ts'
import { systemRandom } from '../model/ids.ts'
import { systemClock } from '../model/time.ts'
import { runCommand } from '../admin/commands.ts'
import { callRpcServer, RpcServerGone } from '../admin/rpc-client.ts'
import { RpcServer } from '../admin/rpc-server.ts'
import { AdminError, type CommandIo, type AdminDeps } from '../admin/deps.ts'
import { FolderInUse } from '../store/fs/lock.ts'
import { folderOf, kindOf, openStorage } from '../store/open.ts'

/** Where the operator's commands find the storage. */
export interface StorageOptions {
  readonly storage?: string | undefined
  readonly bytes?: string | undefined
}

/** How long others who are being served are waited for, in milliseconds. */
const GRACE = 10_000

/** Commands that begin something, so they may begin the storage too. */
const ATTEMPTS = 5
const FOUNDING = new Set(['workspace.create', 'user.add', 'import'])

/**
 * Has an operator's command done on the storage: by this process or, where another one has the folder, by that.
 * @throws {ConfigError} {@link AdminError} and what opening the storage throws
 */
export async function runOnStorage(place: StorageOptions, command: string, input: unknown, talk: CommandIo): Promise<unknown> {
  const address = readStorage(place, process.env)
  const kind = kindOf(address)
  if (kind === 'memory')
    throw new ConfigError(
      'storage: what is in the memory of a process can be reached by that process alone; say --storage fs:PATH or redis://…, or set LANEKEEPER_STORAGE',
    )
  if (kind === 'fs' && !FOUNDING.has(command) && !existsSync(`${folderOf(address)}/format.json`))
    throw new AdminError('not_found', `there is no Lanekeeper data in ${folderOf(address)}`)
  const bytes = place.bytes ?? process.env['LANEKEEPER_BYTES']
  for (let attempt = 1; ; attempt++) {
    try {
      return await runLocally(address, bytes, command, input, talk)
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error
      try {
        return await callRpcServer(error.socket, command, input, talk)
      } catch (gone) {
        // It ended just now, so the folder may be free.
        if (!(gone instanceof RpcServerGone) || attempt === ATTEMPTS) throw gone
      }
    }
  }
}

/** While it has the folder it does for others what a running service would. */
async function runLocally(address: string, bytes: string | undefined, command: string, input: unknown, talk: CommandIo): Promise<unknown> {
  const others = new RpcServer()
  const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }))
  const storage = await openStorage(address, { log, bytes, serve: others.serve })
  try {
    const tools: AdminDeps = { store: storage.store, blobs: storage.blobs, clock: systemClock, random: systemRandom }
    others.open(tools)
    return await runCommand(tools, command, input, talk)
  } finally {
    await others.close(GRACE)
    await storage.close()
  }
}
