import type { z } from 'zod'
import { didYouMean } from './policy/diagnostic.ts'
import { settings, sources, type Flags, type SettingSource } from './settings.ts'
import { kindOf } from './store/open.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A setting has an invalid value. The message names the setting and what it accepts. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The settings of the service. */
export type Config = Readonly<z.output<typeof settings>> & { readonly demo: boolean }

/**
 * Reads the settings of the service. The command line overrides the environment.
 * @throws {ConfigError}
 */
export function readConfig(flags: Flags, env: Env): Config {
  const config = requireOneKey(read(settings, flags, env))
  const kind = kindOf(config.storage)
  if (config.workers > 1 && kind !== 'redis')
    throw new ConfigError(`workers: ${kind === 'fs' ? 'a folder' : 'the memory'} belongs to one process; more than one needs Redis`)
  if (config.workers > 1 && config.decisionLog === 'stdout')
    throw new ConfigError('decision-log: stdout belongs to one process; name a file, and each worker writes its own')
  if ((config.smtp === undefined) !== (config.mailFrom === undefined))
    throw new ConfigError('LANEKEEPER_SMTP: mail needs a server and a sender; set LANEKEEPER_MAIL_FROM too, or neither')
  requireProvider(config)
  // The memory storage starts empty, and no other process can add a user to it.
  return { ...config, demo: config.demo ?? kind === 'memory' }
}

/** @throws {ConfigError} unless a provider is stated as a whole, or not at all */
function requireProvider(config: Readonly<z.output<typeof settings>>): void {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcClientSecretFile, url, passwords } = config
  const secrets = [oidcClientSecret, oidcClientSecretFile].filter((one) => one !== undefined).length
  if (oidcIssuer === undefined) {
    if (oidcClientId !== undefined || secrets > 0) throw new ConfigError('LANEKEEPER_OIDC_CLIENT_ID: set LANEKEEPER_OIDC_ISSUER too')
    if (!passwords)
      throw new ConfigError('LANEKEEPER_PASSWORDS: without passwords, people need an identity provider; set LANEKEEPER_OIDC_ISSUER')
    return
  }
  if (oidcClientId === undefined) throw new ConfigError('LANEKEEPER_OIDC_ISSUER: set LANEKEEPER_OIDC_CLIENT_ID too')
  if (secrets !== 1)
    throw new ConfigError('LANEKEEPER_OIDC_ISSUER: set either LANEKEEPER_OIDC_CLIENT_SECRET or LANEKEEPER_OIDC_CLIENT_SECRET_FILE')
  if (url === undefined) throw new ConfigError('LANEKEEPER_OIDC_ISSUER: the provider sends people back to LANEKEEPER_URL; set it too')
}

/** What a process needs to use a storage. */
export type StorageConfig = Pick<Config, 'storage' | 'bytes' | 'secretKey' | 'secretKeyFile'>

/**
 * Reads the addresses of the records and of the bytes of files, and where the keys of secrets are.
 * @throws {ConfigError}
 */
export function readStorage(flags: Pick<Flags, 'storage' | 'bytes'>, env: Env): StorageConfig {
  return requireOneKey(read(settings.pick({ storage: true, bytes: true, secretKey: true, secretKeyFile: true }), flags, env))
}

function requireOneKey<Keys extends Pick<Config, 'secretKey' | 'secretKeyFile'>>(config: Keys): Keys {
  if (config.secretKey !== undefined && config.secretKeyFile !== undefined)
    throw new ConfigError('LANEKEEPER_SECRET_KEY: LANEKEEPER_SECRET_KEY_FILE is set too; set only one of them')
  return config
}

/**
 * Reads the public URL of the service.
 * @returns without a slash at its end
 * @throws {ConfigError}
 */
export function readUrl(flags: Pick<Flags, 'url'>, env: Env): string | undefined {
  return read(settings.pick({ url: true }), flags, env).url
}

/**
 * Reads how many bytes an upload, and the files of a workspace, may have.
 * @throws {ConfigError}
 */
export function readFileLimits(env: Env): Pick<Config, 'uploadBytes' | 'workspaceBytes'> {
  return read(settings.pick({ uploadBytes: true, workspaceBytes: true }), {}, env)
}

/** The names of all settings. */
export const settingNames = Object.keys(settings.shape) as readonly (keyof Config)[]

/** The default of a setting as text; undefined if it has no default, or if the default is described. */
export function defaultOf(name: keyof Config): string | undefined {
  let def = settings.shape[name].def as unknown as { type: string; in?: { def: never }; innerType?: { def: never }; defaultValue?: unknown }
  while (def.type !== 'default' && def.type !== 'prefault') {
    const inner = def.in ?? def.innerType
    if (inner === undefined) return undefined
    def = inner.def
  }
  const { defaultValue } = def
  return typeof defaultValue === 'string' || typeof defaultValue === 'number' ? String(defaultValue) : undefined
}

/** The option of a flag: `--decision-log` for `decisionLog`. */
export function optionOf(flag: keyof Flags): string {
  return `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** The source of a setting, for the help text. */
export function settingSource(name: keyof Config): SettingSource {
  return sources.get(settings.shape[name])!
}

function read<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, flags: Flags, env: Env): z.output<z.ZodObject<Shape>> {
  requireKnownVariables(env)
  const names = Object.keys(schema.shape) as (keyof Config)[]
  const result = schema.safeParse(Object.fromEntries(names.map((name) => [name, textOf(settingSource(name), flags, env)])))
  if (result.success) return result.data
  const { path, message } = result.error.issues[0]!
  const { flag, env: variable } = settingSource(path[0] as keyof Config)
  throw new ConfigError(`${flag === undefined ? variable : optionOf(flag).slice(2)}: ${message}`)
}

/** Environment variables of the command line that are no settings: the token of `lanekeeper api`. */
const OTHER_VARIABLES = ['LANEKEEPER_TOKEN']

/**
 * A mistyped name must not start a service with a default.
 * @throws {ConfigError}
 */
function requireKnownVariables(env: Env): void {
  const known = new Set([...settingNames.map((name) => settingSource(name).env), ...OTHER_VARIABLES])
  for (const name of Object.keys(env)) {
    if (!name.startsWith('LANEKEEPER_') || known.has(name)) continue
    const advice = didYouMean(
      name,
      [...known].filter((other) => other !== undefined),
    )
    throw new ConfigError(`${name}: there is no such setting${advice === undefined ? '' : `; ${advice}`}`)
  }
}

function textOf({ flag, env: variable }: SettingSource, flags: Flags, env: Env): string | boolean | undefined {
  return (flag && flags[flag]) ?? (variable && env[variable])
}
