import cluster from 'node:cluster'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { ConfigError, type Config } from '../config.ts'
import { logFileSystem, FileSink } from '../decision-log/file.ts'
import { NoDecisionLog } from '../decision-log/line.ts'
import { DecisionLog } from '../decision-log/log.ts'
import { streamSink, type Sink } from '../decision-log/sink.ts'
import { LogSpace, spaceOf } from '../decision-log/space.ts'
import { systemClock } from '../model/time.ts'
import { FolderInUse, lockFolder, type FolderLock } from '../store/fs/lock.ts'

/** The size in bytes at which the log continues in a new file. */
const FULL_FILE = 100 * 1024 * 1024

type Settings = Pick<Config, 'decisionLog' | 'decisionLogSync' | 'decisionLogFull'>

/**
 * Opens the decision log of this process, and begins a chain in it.
 * @param policy the hash of the policy
 * @throws {ConfigError} if the file is something else
 * @throws {FolderInUse} if another process writes to it
 */
export async function openDecisionLog(settings: Settings, policy: string, log: Logger): Promise<DecisionLog> {
  return DecisionLog.open(await openSink(settings, log), {
    sync: settings.decisionLogSync,
    onFull: settings.decisionLogFull,
    policy,
    clock: systemClock,
    space: settings.decisionLog === 'stdout' ? undefined : spaceOfLog(pathOf(settings.decisionLog!), log),
    onState: (failure) =>
      failure === undefined
        ? log.info({ event: 'decision_log.written' }, 'the decision log can be written again')
        : log.error({ event: 'decision_log.failed', err: failure }, 'the decision log cannot be written'),
  })
}

/** Warns before the disk of the log is full. */
function spaceOfLog(path: string, log: Logger): LogSpace {
  return new LogSpace({
    read: () => spaceOf(dirname(path)),
    now: () => performance.now(),
    onWarning: (warning, { free, total }) =>
      log[warning === 'low' ? 'warn' : 'error'](
        { event: `decision_log.disk_${warning}`, free_bytes: free, total_bytes: total },
        'the disk of the decision log has little space left; when it is full, requests are refused',
      ),
  })
}

async function openSink({ decisionLog }: Settings, log: Logger): Promise<Sink> {
  if (decisionLog === 'stdout') return streamSink(process.stdout)
  const path = pathOf(decisionLog!)
  const onFailedRotation = (error: unknown) =>
    log.warn({ event: 'decision_log.rotation_failed', err: error }, 'the full file of the decision log could not be renamed')
  const lock = await lockLog(path)
  const sink = await FileSink.open(logFileSystem, path, {
    maxBytes: FULL_FILE,
    now: () => performance.now(),
    clock: systemClock,
    onFailedRotation,
  }).catch(async (error: unknown) => {
    await lock.release()
    throw error instanceof NoDecisionLog ? new ConfigError(`decision-log: ${error.message}`) : error
  })
  const close = sink.close.bind(sink)
  return Object.assign(sink, { close: () => close().finally(() => lock.release()) })
}

/** Two processes with one file would break its chain. The folder stays: only the lock on it ends with the process. */
async function lockLog(path: string): Promise<FolderLock> {
  const folder = `${path}.lock`
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return lockFolder(folder, (socket) => socket.end()).catch((error: unknown) => {
    if (!(error instanceof FolderInUse) || error.socket === undefined) throw error
    throw new FolderInUse(`decision-log: ${path}`, error.socket, error.holder)
  })
}

/** Each worker has its own file and its own chain. */
function pathOf(path: string): string {
  const slot = Number(process.env['WORKER_SLOT'] ?? 1)
  return cluster.worker === undefined || slot === 1 ? path : `${path}.worker-${slot}`
}
