import { parseArgs } from 'node:util'
import { limits } from './model/limits.ts'

/** How the service is started. */
export interface Config {
  readonly host: string
  readonly port: number
  /** one JSON line on stdout instead of a text for people */
  readonly json: boolean
  readonly legacyPrefixes: readonly string[]
  readonly logLevel: string
  /** bytes of an upload, at most */
  readonly uploadBytes: number
}

/** A setting that cannot be used. Its message says which, and what it takes. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const LEVELS = ['silent', 'error', 'warn', 'info', 'debug']

/**
 * Reads the settings from the command line and the environment; the command line wins.
 * @throws {ConfigError}
 */
export function readConfig(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Config {
  const { values } = parse(args)
  const port = Number(values.port ?? env['PORT'] ?? 3000)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new ConfigError(`port: "${values.port ?? env['PORT']}" is no port, which is a whole number from 0 to 65535`)
  const host = values.host ?? env['HOST'] ?? '127.0.0.1'
  if (!/^(?!-)[a-zA-Z0-9.:-]{1,63}(?<!-)$/.test(host)) throw new ConfigError(`host: "${host}" is no name or address`)
  const legacyPrefixes = (env['LANEKEEPER_LEGACY_PREFIXES'] ?? '')
    .split(',')
    .map((prefix) => prefix.trim())
    .filter((prefix) => prefix !== '')
  for (const prefix of legacyPrefixes)
    if (!/^[a-z0-9]{1,20}$/.test(prefix))
      throw new ConfigError(`LANEKEEPER_LEGACY_PREFIXES: "${prefix}" is no prefix, which is 1 to 20 lower-case letters and digits`)
  const logLevel = env['LANEKEEPER_LOG'] ?? 'info'
  if (!LEVELS.includes(logLevel)) throw new ConfigError(`LANEKEEPER_LOG: "${logLevel}" is none of ${LEVELS.join(', ')}`)
  const uploadBytes = Number(env['LANEKEEPER_UPLOAD_BYTES'] ?? limits.uploadBytes)
  if (!Number.isSafeInteger(uploadBytes) || uploadBytes < 1024)
    throw new ConfigError(`LANEKEEPER_UPLOAD_BYTES: "${env['LANEKEEPER_UPLOAD_BYTES']}" is no number of bytes, of at least 1024`)
  return { host, port, json: values.json ?? false, legacyPrefixes, logLevel, uploadBytes }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { host: { type: 'string' }, port: { type: 'string' }, json: { type: 'boolean' } } })
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}
