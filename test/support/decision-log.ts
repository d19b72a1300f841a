import { createHash } from 'node:crypto'
import { FileSink, type FileOptions } from '../../src/decision-log/file.ts'
import { DecisionLog, type LogOptions } from '../../src/decision-log/log.ts'
import { verifyLog, type Finding, type VerifiedLog } from '../../src/decision-log/verify.ts'
import { RequestLog } from '../../src/http/decision-log.ts'
import type { Disk } from '../../src/store/fs/disk.ts'
import { FaultyDisk } from './faulty-disk.ts'
import type { Service } from './service.ts'

export const FOLDER = '/logs'
export const PATH = `${FOLDER}/decisions.jsonl`

/** A disk in memory with the folder of a log. */
export async function logDisk(seed = 1): Promise<FaultyDisk> {
  const disk = new FaultyDisk(seed)
  await disk.makeFolder(FOLDER)
  await disk.syncFolder('/')
  return disk
}

/** Opens a log on a disk. */
export async function openLog(disk: Disk, options: Partial<LogOptions & FileOptions> = {}): Promise<DecisionLog> {
  const clock = () => Date.parse('2026-11-20T12:00:00.000Z')
  const file = { maxBytes: Infinity, now: () => 0, clock, onFailedRotation: () => undefined, ...options }
  return DecisionLog.open(await FileSink.open(disk, PATH, file), { sync: 'never', onFull: 'fail', policy: 'p', clock, ...options })
}

/** The lines of a file as JSON. Incomplete ones are left out. */
export async function linesOf(disk: Pick<Disk, 'read'>, path = PATH): Promise<any[]> {
  const text = ((await disk.read(path)) ?? Buffer.alloc(0)).toString()
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        return [JSON.parse(line)]
      } catch {
        return []
      }
    })
}

/** Verifies texts as the files of a log. */
export async function verify(
  texts: readonly (string | Buffer)[],
  anchors: readonly string[] = [],
  from?: string,
): Promise<VerifiedLog & { readonly found: Finding[] }> {
  const found: Finding[] = []
  const files = texts.map((text, i) => ({ name: `file ${i}`, parts: [Buffer.from(text)] }))
  const summary = await verifyLog(files, anchors, (finding) => found.push(finding), from)
  return { ...summary, found }
}

/**
 * Verifies a log by its definition alone: each line ends with the SHA-256 of what comes before, and begins with the hash of the line before
 * it. It shares no code with the service.
 */
export function isChain(text: string, before: string | null = null): boolean {
  let prev = before
  for (const line of text.split('\n').slice(0, -1)) {
    const at = line.lastIndexOf(',"hash":"')
    const stated = JSON.parse(line) as { prev: string | null; hash: string }
    if (stated.prev !== prev || createHash('sha256').update(line.slice(0, at)).digest('hex') !== stated.hash) return false
    prev = stated.hash
  }
  return text.endsWith('\n')
}

/** A service whose requests are recorded in a log on a disk. */
export async function recordRequests(service: Service, disk: Disk, options: Partial<LogOptions & FileOptions> = {}): Promise<DecisionLog> {
  const log = await openLog(disk, { policy: service.app.services.engine.hash, ...options })
  Object.assign(service.app.services, { decisionLog: new RequestLog(log, service.deps.clock) })
  return log
}
