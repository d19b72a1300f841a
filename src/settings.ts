import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { authMethods } from './auth/provider/identity-provider.ts'
import { SecretKeys } from './auth/secret-keys.ts'
import { parsePublicUrl } from './http/public-url.ts'
import { durations } from './model/durations.ts'
import { defaultRates, limits } from './model/limits.ts'
import { DAY, MINUTE, readDuration } from './model/time.ts'
import { BadAddress, kindOf } from './store/open.ts'
import { Targets } from './webhooks/targets.ts'

// The values of settings, as text from the command line or the environment.

const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const

const quoted =
  (expected: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    `"${String(input)}" is not ${expected}`

/** One of several words, in any case of letters, with or without spaces around it. */
const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words, expected: string) =>
  z.string().transform((text, context): Words[number] => {
    const word = text.trim().toLowerCase()
    if (words.includes(word)) return word
    context.addIssue(quoted(expected)({ input: text }))
    return z.NEVER
  })

const onOrOff = (byDefault: 'on' | 'off') =>
  oneOf(['on', 'off'], 'on or off')
    .default(byDefault)
    .transform((value) => value === 'on')

const wholeNumber = (min: number, max: number, expected: string) =>
  z
    .string()
    .refine((text) => /^\s*\d{1,16}\s*$/.test(text) && Number(text) >= min && Number(text) <= max, { error: quoted(expected) })
    .transform(Number)

/** Words that mean "nothing" or "everything" elsewhere. As the name of a file or a prefix they are accepted by mistake alone. */
const SWITCH = /^\s*(?:on|off|yes|no|true|false|none|null|nil|undefined|enabled?|disabled?|[01]?)\s*$/i

// The message does not repeat the address, which may contain a password.
const storageAddress = z.string().superRefine((address, context) => {
  try {
    kindOf(address)
  } catch (error) {
    context.addIssue(error instanceof BadAddress ? error.message : 'the address is invalid')
  }
})
const hostName = z.string().regex(/^(?!-)[a-zA-Z0-9.:-]{1,63}(?<!-)$/, { error: quoted('a host name or an IP address') })
const rate = wholeNumber(1, 1_000_000_000, 'a whole number, 1 or more')
const port = wholeNumber(0, 65_535, 'a port number from 0 to 65535')
// The message does not repeat the URL, which may contain a password.
const smtpUrl = z.string().refine((text) => URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol), {
  error: 'it must be a URL like smtp://mail.example:587 or smtps://name:password@mail.example',
})
const mailSender = z.string().regex(/^[^\r\n]{0,100}@[^\s<>]{1,200}>?$/, { error: quoted('an e-mail address') })
// The message does not repeat the URL, which may contain a password.
const issuer = z
  .string()
  .refine((text) => isIssuer(text), {
    error: 'it must be a URL like https://login.example/realms/acme, as the provider states it; http is accepted for a loopback address',
  })
  .transform((text) => new URL(text))
/** Text that a function turns into a value. Its error has the message. */
const parsed = <Value>(parse: (text: string) => Value) =>
  z.string().transform((text, context) => {
    try {
      return parse(text)
    } catch (error) {
      context.addIssue((error as Error).message)
      return z.NEVER
    }
  })
const publicUrl = parsed(parsePublicUrl)
const webhookTargets = parsed((text) => Targets.from(text))
// Nobody can read the keys in the returned value. The message repeats no key.
// An empty variable is how a file of Docker Compose leaves one out.
const secretKeys = parsed((text) => (text === '' ? undefined : SecretKeys.parse(text)))
const hostAndPort = z
  .string()
  .transform(splitHostAndPort)
  .pipe(z.object({ host: hostName, port }))
const prefixes = z
  .string()
  .transform((text) => text.split(',').flatMap((prefix) => prefix.trim() || []))
  .pipe(
    z.array(
      z
        .string()
        .regex(/^[a-z0-9]{1,20}$/, { error: quoted('a prefix of 1 to 20 lower-case letters and digits') })
        .refine((prefix) => !SWITCH.test(prefix), { error: quoted('a prefix; without earlier prefixes, leave the setting out') }),
    ),
  )
const logFile = z
  .string()
  .trim()
  .min(1, { error: 'the file name is empty' })
  .refine((name) => !SWITCH.test(name), {
    error: ({ input }) =>
      `"${String(input)}" is taken for a switch; without a decision log, leave the setting out; a file of this name is "./${String(input)}"`,
  })
  .transform((name) => (name.toLowerCase() === 'stdout' ? 'stdout' : name))

/** A number without a unit would be taken for minutes by one person and for days by another. */
const SESSION_TIME = quoted('a time from 5m to 365d, such as 30m, 12h or 7d')
const sessionTime = (byDefault: string) =>
  z
    .string()
    .transform((text, context): number => {
      const time = readDuration(text)
      if (time !== undefined && time >= 5 * MINUTE && time <= 365 * DAY) return time
      context.addIssue(SESSION_TIME({ input: text }))
      return z.NEVER
    })
    .prefault(byDefault)

const workers = z
  .string()
  .transform((text) => (text.trim().toLowerCase() === 'auto' ? String(availableParallelism()) : text))
  .pipe(wholeNumber(1, 256, 'auto, or a number of processes from 1 to 256'))

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, pathname, username, password } = new URL(text)
  if (/[?#]/.test(text) || `${username}${password}` !== '' || pathname.includes('/.well-known/')) return false
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
}

function splitHostAndPort(text: string): { host: string; port: string } {
  const colon = text.lastIndexOf(':')
  const host = colon === -1 ? '127.0.0.1' : text.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  return { host, port: text.slice(colon + 1) }
}

/** The settings on the command line, as commander parses them. A setting that is missing here is read from the environment. */
export type Flags = { readonly [Name in TextFlag]?: string | undefined } & { readonly [Name in 'demo' | 'json']?: boolean | undefined }
type TextFlag =
  | 'storage'
  | 'bytes'
  | 'policies'
  | 'host'
  | 'port'
  | 'url'
  | 'metrics'
  | 'workers'
  | `decisionLog${'' | 'Sync' | 'Full'}`
  | 'policyPage'

/** Where a setting is read from, and how its value is written in the help text. */
export interface SettingSource {
  readonly flag?: keyof Flags
  /** the placeholder of the value after the flag; none if the flag is a switch */
  readonly placeholder?: string
  /** the environment variable, which the flag overrides */
  readonly env?: string
  readonly description: string
}

/** Where each setting is read from. */
export const sources = z.registry<SettingSource>()

/** All settings, each registered with its source. The input is text, as it comes from the environment. */
export const settings = z.object({
  storage: storageAddress.default('memory').register(sources, {
    flag: 'storage',
    placeholder: '<address>',
    env: 'LANEKEEPER_STORAGE',
    description: 'where records are stored: memory, fs:PATH, redis[s]://…, unix:///PATH, redis-cluster://… or redis-sentinel://…',
  }),
  bytes: z.string().optional().register(sources, {
    flag: 'bytes',
    placeholder: '<address>',
    env: 'LANEKEEPER_BYTES',
    description: 'where the bytes of files are stored, if not with the records',
  }),
  cache: wholeNumber(0, 1_000_000, 'a number of MiB, 0 or more').optional().register(sources, {
    env: 'LANEKEEPER_CACHE',
    description:
      'the memory for the workspaces of a folder, in MiB, by default half of the heap; or for what was read from Redis, an eighth of it',
  }),
  changeDays: wholeNumber(1, 365, 'a number of days from 1 to 365')
    .default(durations.changes / DAY)
    .register(sources, {
      env: 'LANEKEEPER_CHANGE_DAYS',
      description: 'how many days the changes of a board are kept',
    }),
  auditDays: wholeNumber(1, 3650, 'a number of days from 1 to 3650')
    .default(durations.audit / DAY)
    .register(sources, {
      env: 'LANEKEEPER_AUDIT_DAYS',
      description: 'how many days the audit trail is kept',
    }),
  demo: z.boolean().optional().register(sources, {
    flag: 'demo',
    description: 'create the demo data, unless it exists; always on with the memory storage',
  }),
  policies: z.string().min(1, { error: 'the name of the folder is empty' }).optional().register(sources, {
    flag: 'policies',
    placeholder: '<folder>',
    env: 'LANEKEEPER_POLICIES',
    description: 'the folder of a policy; default: the one that is shipped. The signal SIGHUP loads it again',
  }),
  host: hostName.default('127.0.0.1').register(sources, {
    flag: 'host',
    placeholder: '<host>',
    env: 'HOST',
    description: 'the address to listen on',
  }),
  port: port.default(3000).register(sources, {
    flag: 'port',
    placeholder: '<port>',
    env: 'PORT',
    description: 'the port to listen on; 0 takes any free port',
  }),
  url: publicUrl.optional().register(sources, {
    flag: 'url',
    placeholder: '<url>',
    env: 'LANEKEEPER_URL',
    description: 'the public URL of the service, such as https://kanban.example, or with a path such as https://example.org/kanban',
  }),
  metrics: hostAndPort.optional().register(sources, {
    flag: 'metrics',
    placeholder: '<address>',
    env: 'LANEKEEPER_METRICS',
    description: '[HOST:]PORT to serve Prometheus metrics on, separate from the public port',
  }),
  json: z.boolean().default(false).register(sources, {
    flag: 'json',
    description: 'print the result as one line of JSON',
  }),
  proxies: wholeNumber(0, 10, 'a number of proxies from 0 to 10').default(0).register(sources, {
    env: 'LANEKEEPER_PROXIES',
    description: 'the number of reverse proxies that append to X-Forwarded-For',
  }),
  legacyPrefixes: prefixes.default([]).register(sources, {
    env: 'LANEKEEPER_LEGACY_PREFIXES',
    description: 'comma-separated prefixes of tokens that were issued before a rename, without _pat_',
  }),
  logLevel: oneOf(logLevels, `one of ${logLevels.join(', ')}`)
    .default('info')
    .register(sources, { env: 'LANEKEEPER_LOG', description: `the log level: ${logLevels.join(', ')}` }),
  drain: wholeNumber(0, 3600, 'a number of seconds from 0 to 3600').default(0).register(sources, {
    env: 'LANEKEEPER_DRAIN',
    description: 'the time in seconds between the signal that ends the service and the closing of its port; meanwhile /readyz answers 503',
  }),
  accessLog: onOrOff('off').register(sources, {
    env: 'LANEKEEPER_ACCESS_LOG',
    description: 'on or off: one log line for each request, at the level info',
  }),
  smtp: smtpUrl.optional().register(sources, {
    env: 'LANEKEEPER_SMTP',
    description: 'the mail server that sends alerts to people, such as smtps://name:password@mail.example; default: no mail is sent',
  }),
  mailFrom: mailSender.optional().register(sources, {
    env: 'LANEKEEPER_MAIL_FROM',
    description: 'the sender of the mails, such as kanban@example.org',
  }),
  secretKey: secretKeys.optional().register(sources, {
    env: 'LANEKEEPER_SECRET_KEY',
    description:
      'the key that encrypts secrets, for example of authenticator apps: 32 bytes in base64 or hex; several with commas, newest first; default: the key in the file secret.key of the folder',
  }),
  secretKeyFile: z.string().min(1, { error: 'the file name is empty' }).optional().register(sources, {
    env: 'LANEKEEPER_SECRET_KEY_FILE',
    description: 'a file with such keys instead, which only the service may read',
  }),
  oidcIssuer: issuer.optional().register(sources, {
    env: 'LANEKEEPER_OIDC_ISSUER',
    description: 'the identity provider that people sign in to the web app with (OpenID Connect); needs LANEKEEPER_URL',
  }),
  oidcClientId: z.string().trim().min(1, { error: 'it is empty' }).optional().register(sources, {
    env: 'LANEKEEPER_OIDC_CLIENT_ID',
    description: 'the id of this service at the identity provider',
  }),
  oidcClientSecret: z.string().trim().min(1, { error: 'it is empty' }).optional().register(sources, {
    env: 'LANEKEEPER_OIDC_CLIENT_SECRET',
    description: 'the secret of this service at the identity provider',
  }),
  oidcClientSecretFile: z.string().min(1, { error: 'the file name is empty' }).optional().register(sources, {
    env: 'LANEKEEPER_OIDC_CLIENT_SECRET_FILE',
    description: 'a file with this secret instead, which only the service may read',
  }),
  oidcAuthMethod: z
    .enum(authMethods, { error: quoted(`one of ${authMethods.join(', ')}`) })
    .optional()
    .register(sources, {
      env: 'LANEKEEPER_OIDC_AUTH_METHOD',
      description: `how the secret is sent to the identity provider: ${authMethods.join(' or ')}; default: the first one that it offers`,
    }),
  oidcName: z
    .string()
    .trim()
    .min(1, { error: 'it is empty' })
    .max(60, { error: 'it has more than 60 characters' })
    .default('your identity provider')
    .register(sources, {
      env: 'LANEKEEPER_OIDC_NAME',
      description: 'what people call the identity provider: the button is "Sign in with" it',
    }),
  passwords: onOrOff('on').register(sources, {
    env: 'LANEKEEPER_PASSWORDS',
    description: 'on or off: whether people have passwords, passkeys and authenticator apps here; off needs an identity provider',
  }),
  sessionIdle: sessionTime(`${durations.sessionIdle / DAY}d`).register(sources, {
    env: 'LANEKEEPER_SESSION_IDLE',
    description: 'when a session of the web app ends that nobody uses, such as 30m, 12h or 7d',
  }),
  sessionMax: sessionTime(`${durations.session / DAY}d`).register(sources, {
    env: 'LANEKEEPER_SESSION_MAX',
    description: 'when a session of the web app ends in any case, such as 12h or 30d',
  }),
  webhookTargets: webhookTargets.optional().register(sources, {
    env: 'LANEKEEPER_WEBHOOK_TARGETS',
    description:
      'where webhooks may send beside public addresses with https: host names, networks and origins with commas, such as ci.internal, 10.1.0.0/16, http://127.0.0.1:*; off: nowhere',
  }),
  decisionLog: logFile.optional().register(sources, {
    flag: 'decisionLog',
    placeholder: '<file>',
    env: 'LANEKEEPER_DECISION_LOG',
    description: 'a file, or stdout, that gets a record of every request and the decision about it',
  }),
  decisionLogSync: oneOf(['always', 'interval', 'never'], 'always, interval or never').default('interval').register(sources, {
    flag: 'decisionLogSync',
    placeholder: '<when>',
    env: 'LANEKEEPER_DECISION_LOG_SYNC',
    description: 'when records are synced: always (before the response), interval (every second) or never',
  }),
  decisionLogFull: oneOf(['fail', 'drop'], 'fail or drop').default('fail').register(sources, {
    flag: 'decisionLogFull',
    placeholder: '<what>',
    env: 'LANEKEEPER_DECISION_LOG_FULL',
    description: 'what happens when a record cannot be written: fail (503, and nothing is done) or drop (the record is counted)',
  }),
  policyPage: onOrOff('on').register(sources, {
    flag: 'policyPage',
    placeholder: '<on|off>',
    env: 'LANEKEEPER_POLICY_PAGE',
    description: 'on or off: the report of the policy at /policies, which shows no stored data',
  }),
  rateLimits: onOrOff('on').register(sources, {
    env: 'LANEKEEPER_RATE_LIMITS',
    description: 'on or off: the limits of the next two settings, and of failed credentials',
  }),
  tokenRate: rate
    .default(defaultRates.token)
    .register(sources, { env: 'LANEKEEPER_TOKEN_RATE', description: 'the units of requests of one token in a minute' }),
  workspaceRate: rate
    .default(defaultRates.workspace)
    .register(sources, { env: 'LANEKEEPER_WORKSPACE_RATE', description: 'the units of requests in one workspace in a minute' }),
  workers: workers.default(1).register(sources, {
    flag: 'workers',
    placeholder: '<count>',
    env: 'LANEKEEPER_WORKERS',
    description: 'the number of processes that serve the port together, or auto for one per core; more than 1 needs Redis',
  }),
  workspaceBytes: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a number of bytes, 0 or more').default(limits.workspaceBytes).register(sources, {
    env: 'LANEKEEPER_WORKSPACE_BYTES',
    description: 'the bytes that the files of a workspace may have together; 0: no limit',
  }),
  uploadBytes: wholeNumber(1024, Number.MAX_SAFE_INTEGER, 'a number of bytes, 1024 or more')
    .default(limits.uploadBytes)
    .register(sources, { env: 'LANEKEEPER_UPLOAD_BYTES', description: 'the maximum size of an upload in bytes' }),
})
