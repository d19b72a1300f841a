import { pino, type Logger } from 'pino'
import { runCommand } from '../admin/commands.ts'
import { AdminError, type AdminDeps, type CommandIo, type PolicyAnswers } from '../admin/deps.ts'
import { callRpcServer, RpcServerGone } from '../admin/rpc-client.ts'
import { RpcServer } from '../admin/rpc-server.ts'
import { ConfigError, readFileLimits, readStorage, type StorageConfig } from '../config.ts'
import type { Flags } from '../settings.ts'
import { systemRandom } from '../model/ids.ts'
import { systemClock } from '../model/time.ts'
import { checkFolder } from '../store/fs/folder.ts'
import { FolderInUse } from '../store/fs/lock.ts'
import { createDerivations } from '../resources/derived.ts'
import { folderOf, kindOf, openStorage } from '../store/open.ts'
import { openSecretKeys } from './secret-keys.ts'

const MAX_ATTEMPTS = 5

/** Commands that may create the storage. The others require that it exists. */
const CREATES_STORAGE = new Set(['init', 'workspace.create', 'user.add', 'import', 'restore'])

/** Commands that can run on a folder that cannot be written to, for example on a failing disk. */
const ONLY_READS = new Set(
  'export backup check workspace.list user.list member.list token.list audit policy.explain policy.who-can policy.what-can'.split(' '),
)

/** Commands that make requests as a member. */
const MAKES_REQUESTS = new Set(['import.board', 'import.limits', 'import.target'])

/** Commands that read secrets, and the one that makes the key of a folder. */
const NEEDS_KEYS = new Set(['check', 'init'])

/**
 * Runs an administration command on the storage: in this process or, if another process holds the folder, over RPC in
 * that process.
 * @throws {ConfigError} {@link AdminError} and the errors of `openStorage`
 */
export async function runOnStorage(
  flags: Pick<Flags, 'storage' | 'bytes'>,
  command: string,
  input: unknown,
  io: CommandIo,
): Promise<unknown> {
  const addresses = readStorage(flags, process.env)
  const kind = kindOf(addresses.storage)
  if (kind === 'memory')
    throw new ConfigError(
      'storage: this command cannot reach the memory of another process; use --storage fs:PATH or redis://…, or set LANEKEEPER_STORAGE',
    )
  if (kind === 'fs' && !CREATES_STORAGE.has(command) && !(await checkFolder(folderOf(addresses.storage))))
    throw new AdminError('not_found', `there is no Lanekeeper data in ${folderOf(addresses.storage)}`)
  for (let attempt = 1; ; attempt++) {
    try {
      return await runLocally(addresses, command, input, io)
    } catch (error) {
      if (!(error instanceof FolderInUse) || error.socket === undefined) throw error
      try {
        return await callRpcServer(error.socket, command, input, io)
      } catch (rpcError) {
        // That process has just ended, so the folder may be free.
        if (!(rpcError instanceof RpcServerGone) || attempt === MAX_ATTEMPTS) throw rpcError
      }
    }
  }
}

/** Runs a command in this process. While this process holds a folder, it serves the commands of other processes too. */
async function runLocally(config: StorageConfig, command: string, input: unknown, io: CommandIo): Promise<unknown> {
  const { storage: address, bytes } = config
  const rpcServer = new RpcServer()
  const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }))
  const storage = await openStorage(address, {
    log,
    derived: createDerivations(),
    bytes,
    serve: rpcServer.serve,
    allowOutdated: command === 'migrate',
    onReadOnly: ONLY_READS.has(command) ? reportReadOnly : undefined,
  })
  try {
    const policyAnswers = command.startsWith('policy.') ? await loadPolicyAnswers() : undefined
    const own = { store: storage.store, blobs: storage.blobs, clock: systemClock, random: systemRandom }
    const secretKeys = NEEDS_KEYS.has(command) ? await openSecretKeys(config, own, command === 'init') : undefined
    const deps: AdminDeps = { ...own, policyAnswers, secretKeys }
    const service = MAKES_REQUESTS.has(command) ? await loadService(deps, log) : undefined
    rpcServer.open({ ...deps, ...service?.requests })
    try {
      return await runCommand({ ...deps, ...service?.requests }, command, input, io)
    } finally {
      await service?.end()
    }
  } finally {
    await rpcServer.close()
    await storage.close()
  }
}

/** Loads what decides requests: with the policy that a service with the same environment has. Other commands start faster without it. */
async function loadPolicyAnswers(): Promise<PolicyAnswers> {
  const [{ loadPolicy }, { createPolicyAnswers }, { operations }] = await Promise.all([
    import('../authz/shipped-policy.ts'),
    import('./policy/stored-answers.ts'),
    import('../resources/table.ts'),
  ])
  return createPolicyAnswers({ engine: loadPolicy(process.env['LANEKEEPER_POLICIES'] || undefined), operations })
}

/** Loads the service, for requests of operators: with the policy and the limits that a service with the same environment has. */
async function loadService(deps: AdminDeps, log: Logger) {
  const [{ createApp }, { AuditRecorder }, { loadPolicy }, { requestsOfOperators }] = await Promise.all([
    import('../app.ts'),
    import('../audit/recorder.ts'),
    import('../authz/shipped-policy.ts'),
    import('../http/member-requests.ts'),
  ])
  const audit = new AuditRecorder(deps, log)
  const engine = loadPolicy(process.env['LANEKEEPER_POLICIES'] || undefined)
  const app = createApp({ ...deps, ...readFileLimits(process.env), log, audit, engine })
  return { requests: requestsOfOperators(() => app.services), end: () => audit.flush() }
}

function reportReadOnly({ message }: Error): void {
  console.error(`the storage cannot be written to, and is opened for reading only (${message})`)
}
