import { limits } from './model/limits.ts'
import { BadAddress, kindOf } from './store/open.ts'

/** How the service is started. */
export interface Config {
  readonly host: string
  readonly port: number
  /** the address of the storage */
  readonly storage: string
  /** where bytes of files are, if not beside the records */
  readonly bytes: string | undefined
  /** whether an empty storage gets the demo world */
  readonly demo: boolean
  /** one JSON line on stdout instead of a text for people */
  readonly json: boolean
  /** where figures for Prometheus are served, if anywhere: never on the public port */
  readonly metrics: { readonly host: string; readonly port: number } | undefined
  /** where people find the service, if that is not where it listens */
  readonly origin: string | undefined
  /** how many proxies in front add to X-Forwarded-For */
  readonly proxies: number
  readonly legacyPrefixes: readonly string[]
  readonly logLevel: string
  /** bytes of an upload, at most */
  readonly uploadBytes: number
}

/** What the command line says; what it leaves out the environment may say. */
export interface Flags {
  readonly host?: string | undefined
  readonly port?: string | undefined
  readonly storage?: string | undefined
  readonly bytes?: string | undefined
  readonly demo?: boolean | undefined
  readonly json?: boolean | undefined
  readonly metrics?: string | undefined
  readonly url?: string | undefined
}

/** A setting that cannot be used. Its message says which, and what it takes. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

type Env = Readonly<Record<string, string | undefined>>
const LEVELS = ['silent', 'error', 'warn', 'info', 'debug']

/**
 * Reads the settings of the service; the command line wins over the environment.
 * @throws {ConfigError}
 */
export function readConfig(flags: Flags, env: Env): Config {
  const storage = readStorage(flags, env)
  return {
    host: readHost('host', flags.host ?? env['HOST'] ?? '127.0.0.1'),
    port: readPort('port', flags.port ?? env['PORT'] ?? '3000'),
    storage,
    bytes: flags.bytes ?? env['LANEKEEPER_BYTES'],
    // In memory there is no other way to have anybody who could ask.
    demo: flags.demo ?? kindOf(storage) === 'memory',
    json: flags.json ?? false,
    metrics: readMetrics(flags.metrics ?? env['LANEKEEPER_METRICS']),
    origin: readOrigin(flags, env),
    proxies: readProxies(env['LANEKEEPER_PROXIES'] ?? '0'),
    legacyPrefixes: readPrefixes(env['LANEKEEPER_LEGACY_PREFIXES'] ?? ''),
    logLevel: readLevel(env['LANEKEEPER_LOG'] ?? 'info'),
    uploadBytes: readBytes(env['LANEKEEPER_UPLOAD_BYTES'] ?? String(limits.uploadBytes)),
  }
}

/**
 * The address of the storage, by the command line, else the environment, else memory.
 * @throws {ConfigError}
 */
export function readStorage(flags: Pick<Flags, 'storage'>, env: Env): string {
  const address = flags.storage ?? env['LANEKEEPER_STORAGE'] ?? 'memory'
  try {
    kindOf(address)
    return address
  } catch (error) {
    // Not the address itself: it may hold a password.
    throw new ConfigError(`storage: ${error instanceof BadAddress ? error.message : 'it cannot be read'}`)
  }
}

/**
 * Where people find the service, by the command line, else the environment.
 * @throws {ConfigError}
 */
export function readOrigin(flags: Pick<Flags, 'url'>, env: Env): string | undefined {
  const text = flags.url ?? env['LANEKEEPER_URL']
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || `${url.origin}/` !== url.href)
    throw new ConfigError('url: it is none like https://kanban.example, without a path')
  return url.origin
}

function readProxies(text: string): number {
  const proxies = Number(text)
  if (text === '' || !Number.isInteger(proxies) || proxies < 0 || proxies > 10)
    throw new ConfigError(`LANEKEEPER_PROXIES: "${text}" is no number of proxies, from 0 to 10`)
  return proxies
}

function readHost(name: string, host: string): string {
  if (!/^(?!-)[a-zA-Z0-9.:-]{1,63}(?<!-)$/.test(host)) throw new ConfigError(`${name}: "${host}" is no name or address`)
  return host
}

function readPort(name: string, text: string): number {
  const port = text === '' ? NaN : Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new ConfigError(`${name}: "${text}" is no port, which is a whole number from 0 to 65535`)
  return port
}

function readMetrics(text: string | undefined): Config['metrics'] {
  if (text === undefined) return undefined
  const colon = text.lastIndexOf(':')
  const host = colon === -1 ? '127.0.0.1' : text.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  return { host: readHost('metrics', host), port: readPort('metrics', text.slice(colon + 1)) }
}

function readPrefixes(text: string): readonly string[] {
  const prefixes = text
    .split(',')
    .map((prefix) => prefix.trim())
    .filter((prefix) => prefix !== '')
  const wrong = prefixes.find((prefix) => !/^[a-z0-9]{1,20}$/.test(prefix))
  if (wrong !== undefined)
    throw new ConfigError(`LANEKEEPER_LEGACY_PREFIXES: "${wrong}" is no prefix, which is 1 to 20 lower-case letters and digits`)
  return prefixes
}

function readLevel(level: string): string {
  if (!LEVELS.includes(level)) throw new ConfigError(`LANEKEEPER_LOG: "${level}" is none of ${LEVELS.join(', ')}`)
  return level
}

function readBytes(text: string): number {
  const bytes = Number(text)
  if (!Number.isSafeInteger(bytes) || bytes < 1024)
    throw new ConfigError(`LANEKEEPER_UPLOAD_BYTES: "${text}" is no number of bytes, of at least 1024`)
  return bytes
}
