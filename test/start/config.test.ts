import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import { readConfig, readUrl, readStorage, settingSource, type Config } from '../../src/config.ts'
import { limits } from '../../src/model/limits.ts'

const redis = { LANEKEEPER_STORAGE: 'redis://127.0.0.1:6379' }

describe('settings', () => {
  test('without flags and environment, every setting has its default', () => {
    expect(readConfig({}, {})).toEqual({
      storage: 'memory',
      bytes: undefined,
      cache: undefined,
      changeDays: 7,
      auditDays: 90,
      smtp: undefined,
      mailFrom: undefined,
      demo: true,
      policies: undefined,
      host: '127.0.0.1',
      port: 3000,
      url: undefined,
      metrics: undefined,
      json: false,
      proxies: 0,
      legacyPrefixes: [],
      secretKey: undefined,
      webhookTargets: undefined,
      secretKeyFile: undefined,
      decisionLog: undefined,
      decisionLogSync: 'interval',
      decisionLogFull: 'fail',
      logLevel: 'info',
      uploadBytes: limits.uploadBytes,
      workspaceBytes: limits.workspaceBytes,
      drain: 0,
      accessLog: false,
      rateLimits: true,
      tokenRate: 1200,
      policyPage: true,
      oidcIssuer: undefined,
      oidcClientId: undefined,
      oidcClientSecret: undefined,
      oidcClientSecretFile: undefined,
      oidcAuthMethod: undefined,
      oidcName: 'your identity provider',
      passwords: true,
      sessionIdle: 7 * 24 * 3_600_000,
      sessionMax: 30 * 24 * 3_600_000,
      workspaceRate: 12_000,
      workers: 1,
    } satisfies Record<keyof Config, unknown>)
  })

  test.each([
    ['LANEKEEPER_STORGE', 'LANEKEEPER_STORGE: there is no such setting; did you mean "LANEKEEPER_STORAGE"?'],
    ['LANEKEEPER_PORT', 'LANEKEEPER_PORT: there is no such setting'],
  ])('the unknown variable %s is refused', (name, message) => {
    for (const readSettings of [readConfig, readStorage]) expect(() => readSettings({}, { [name]: 'x' })).toThrow(message)
    expect(readStorage({}, { LANEKEEPE_STORAGE: 'x', STORAGE: 'x', LANEKEEPER_URL: 'not read here' })).toMatchObject({ storage: 'memory' })
  })

  const provider = {
    LANEKEEPER_URL: 'https://kanban.example',
    LANEKEEPER_OIDC_ISSUER: 'https://login.example',
    LANEKEEPER_OIDC_CLIENT_ID: 'x',
  }
  test.each<[what: string, env: Record<string, string>, message: string]>([
    [
      'no client',
      { ...provider, LANEKEEPER_OIDC_CLIENT_ID: undefined as never },
      'LANEKEEPER_OIDC_ISSUER: set LANEKEEPER_OIDC_CLIENT_ID too',
    ],
    ['no secret', provider, 'set either LANEKEEPER_OIDC_CLIENT_SECRET or LANEKEEPER_OIDC_CLIENT_SECRET_FILE'],
    ['two secrets', { ...provider, LANEKEEPER_OIDC_CLIENT_SECRET: 'x', LANEKEEPER_OIDC_CLIENT_SECRET_FILE: 'y' }, 'set either'],
    ['no URL', { ...provider, LANEKEEPER_URL: undefined as never, LANEKEEPER_OIDC_CLIENT_SECRET: 'x' }, 'set it too'],
    ['a blank client', { ...provider, LANEKEEPER_OIDC_CLIENT_ID: ' ' }, 'LANEKEEPER_OIDC_CLIENT_ID: it is empty'],
    ['a blank secret', { ...provider, LANEKEEPER_OIDC_CLIENT_SECRET: ' ' }, 'LANEKEEPER_OIDC_CLIENT_SECRET: it is empty'],
    ['a blank name', { ...provider, LANEKEEPER_OIDC_NAME: ' ' }, 'LANEKEEPER_OIDC_NAME: it is empty'],
    ['no issuer', { LANEKEEPER_OIDC_CLIENT_SECRET: 'x' }, 'set LANEKEEPER_OIDC_ISSUER too'],
    ['neither passwords nor a provider', { LANEKEEPER_PASSWORDS: 'off' }, 'people need an identity provider'],
    ...[
      'http://login.example',
      'https://a:b@login.example',
      'https://login.example/?x',
      'https://login.example?',
      'https://login.example#',
      'login.example',
    ].map((issuer): [string, Record<string, string>, string] => [
      issuer,
      { LANEKEEPER_OIDC_ISSUER: issuer },
      'LANEKEEPER_OIDC_ISSUER: it must be a URL',
    ]),
  ])('an identity provider is refused with %s', (_what, env, message) => {
    expect(() => readConfig({}, env)).toThrow(message)
  })

  test('settings are read from the environment', () => {
    const env = {
      LANEKEEPER_STORAGE: 'fs:/data',
      LANEKEEPER_BYTES: 'fs:/bytes',
      LANEKEEPER_CACHE: '0',
      LANEKEEPER_CHANGE_DAYS: '1',
      LANEKEEPER_AUDIT_DAYS: '30',
      LANEKEEPER_SMTP: 'smtps://kanban:secret@mail.example',
      LANEKEEPER_MAIL_FROM: 'Lanekeeper <kanban@example.org>',
      HOST: '::1',
      PORT: '8080',
      LANEKEEPER_URL: 'https://kanban.example/',
      LANEKEEPER_METRICS: '[::1]:9090',
      LANEKEEPER_PROXIES: '2',
      LANEKEEPER_LEGACY_PREFIXES: 'old, older,',
      LANEKEEPER_DECISION_LOG: 'decisions.jsonl',
      LANEKEEPER_DECISION_LOG_SYNC: 'always',
      LANEKEEPER_DECISION_LOG_FULL: 'drop',
      LANEKEEPER_LOG: 'debug',
      LANEKEEPER_UPLOAD_BYTES: '2048',
      LANEKEEPER_WORKSPACE_BYTES: '0',
      LANEKEEPER_DRAIN: '10',
      LANEKEEPER_ACCESS_LOG: 'on',
      LANEKEEPER_POLICY_PAGE: 'off',
      LANEKEEPER_RATE_LIMITS: 'off',
      LANEKEEPER_TOKEN_RATE: '1',
      LANEKEEPER_WORKSPACE_RATE: '2',
      LANEKEEPER_WORKERS: '1',
      LANEKEEPER_OIDC_ISSUER: 'https://login.example/realms/acme',
      LANEKEEPER_OIDC_CLIENT_ID: 'lanekeeper',
      LANEKEEPER_OIDC_CLIENT_SECRET: 'a secret',
      LANEKEEPER_OIDC_AUTH_METHOD: 'client_secret_post',
      LANEKEEPER_OIDC_NAME: 'Acme SSO',
      LANEKEEPER_PASSWORDS: 'off',
      LANEKEEPER_SESSION_IDLE: '30m',
      LANEKEEPER_SESSION_MAX: ' 12H ',
    }
    expect(readConfig({}, env)).toEqual({
      storage: 'fs:/data',
      bytes: 'fs:/bytes',
      cache: 0,
      changeDays: 1,
      auditDays: 30,
      smtp: 'smtps://kanban:secret@mail.example',
      mailFrom: 'Lanekeeper <kanban@example.org>',
      demo: false,
      host: '::1',
      port: 8080,
      url: 'https://kanban.example',
      metrics: { host: '::1', port: 9090 },
      json: false,
      proxies: 2,
      legacyPrefixes: ['old', 'older'],
      decisionLog: 'decisions.jsonl',
      decisionLogSync: 'always',
      decisionLogFull: 'drop',
      logLevel: 'debug',
      uploadBytes: 2048,
      workspaceBytes: 0,
      drain: 10,
      accessLog: true,
      rateLimits: false,
      policyPage: false,
      tokenRate: 1,
      workspaceRate: 2,
      workers: 1,
      oidcIssuer: new URL('https://login.example/realms/acme'),
      oidcClientId: 'lanekeeper',
      oidcClientSecret: 'a secret',
      oidcAuthMethod: 'client_secret_post',
      oidcName: 'Acme SSO',
      passwords: false,
      sessionIdle: 1_800_000,
      sessionMax: 12 * 3_600_000,
    })
  })

  test('words and numbers are read in any case of letters, and with spaces around them', () => {
    const env = {
      LANEKEEPER_STORAGE: 'redis://127.0.0.1:6379',
      LANEKEEPER_WEBHOOK_TARGETS: ' OFF',
      LANEKEEPER_ACCESS_LOG: 'On ',
      LANEKEEPER_RATE_LIMITS: 'OFF',
      LANEKEEPER_LOG: 'Warn',
      LANEKEEPER_DECISION_LOG: ' Stdout',
      LANEKEEPER_DECISION_LOG_SYNC: 'NEVER',
      LANEKEEPER_DECISION_LOG_FULL: 'Drop',
      PORT: ' 8080 ',
      LANEKEEPER_WORKERS: ' 1',
    }
    const { webhookTargets, ...read } = readConfig({ policyPage: 'OFF' }, env)
    expect(webhookTargets?.isOff).toBe(true)
    const words = {
      accessLog: true,
      rateLimits: false,
      logLevel: 'warn',
      decisionLog: 'stdout',
      decisionLogSync: 'never',
      decisionLogFull: 'drop',
    }
    expect(read).toMatchObject({ ...words, policyPage: false, port: 8080, workers: 1 })
    expect(readConfig({ workers: 'Auto' }, redis).workers).toBe(availableParallelism())
  })

  test('a flag overrides the environment', () => {
    const env = { PORT: 'many', HOST: 'a b', LANEKEEPER_STORAGE: 'nonsense', LANEKEEPER_URL: 'nonsense', LANEKEEPER_METRICS: 'nonsense' }
    const flags = { port: '0', host: 'localhost', storage: 'fs:data', url: 'http://localhost:3000', metrics: '9090', demo: true }
    expect(readConfig(flags, env)).toMatchObject({
      port: 0,
      host: 'localhost',
      storage: 'fs:data',
      url: 'http://localhost:3000',
      metrics: { host: '127.0.0.1', port: 9090 },
      demo: true,
    })
  })

  test.each([
    ['3', 3],
    ['auto', availableParallelism()],
  ])('on Redis, --workers %s starts as many: %i', (workers, count) => {
    expect(readConfig({ workers }, redis).workers).toBe(count)
  })

  test.each<[Record<string, string>, string]>([
    [{ PORT: '' }, 'port: "" is not a port number from 0 to 65535'],
    [{ PORT: '65536' }, 'port: "65536" is not a port number from 0 to 65535'],
    [{ HOST: '-a' }, 'host: "-a" is not a host name or an IP address'],
    [{ LANEKEEPER_METRICS: 'a b:1' }, 'metrics: "a b" is not a host name or an IP address'],
    [{ LANEKEEPER_METRICS: 'localhost' }, 'metrics: "localhost" is not a port number from 0 to 65535'],
    [{ LANEKEEPER_PROXIES: '11' }, 'LANEKEEPER_PROXIES: "11" is not a number of proxies from 0 to 10'],
    [{ LANEKEEPER_UPLOAD_BYTES: '1023' }, 'LANEKEEPER_UPLOAD_BYTES: "1023" is not a number of bytes, 1024 or more'],
    [{ LANEKEEPER_POLICY_PAGE: 'no' }, 'policy-page: "no" is not on or off'],
    [
      { LANEKEEPER_OIDC_AUTH_METHOD: 'private_key_jwt' },
      'LANEKEEPER_OIDC_AUTH_METHOD: "private_key_jwt" is not one of client_secret_basic, client_secret_post',
    ],
    [{ LANEKEEPER_TOKEN_RATE: '0' }, 'LANEKEEPER_TOKEN_RATE: "0" is not a whole number, 1 or more'],
    [{ LANEKEEPER_DECISION_LOG: '' }, 'decision-log: the file name is empty'],
    [{ LANEKEEPER_DECISION_LOG_FULL: 'on' }, 'decision-log-full: "on" is not fail or drop'],
    [
      { LANEKEEPER_DECISION_LOG: 'stdout', LANEKEEPER_WORKERS: '2', LANEKEEPER_STORAGE: 'redis://x' },
      'decision-log: stdout belongs to one process; name a file, and each worker writes its own',
    ],
    ...['off', 'None', 'FALSE', 'no', '0', 'on', '1', 'disabled'].flatMap((word): [Record<string, string>, string][] => [
      [
        { LANEKEEPER_DECISION_LOG: word },
        `decision-log: "${word}" is taken for a switch; without a decision log, leave the setting out; a file of this name is "./${word}"`,
      ],
    ]),
    [
      { LANEKEEPER_LEGACY_PREFIXES: 'old, none' },
      'LANEKEEPER_LEGACY_PREFIXES: "none" is not a prefix; without earlier prefixes, leave the setting out',
    ],
    [{ PORT: ' ' }, 'port: " " is not a port number from 0 to 65535'],
    [{ PORT: '0x50' }, 'port: "0x50" is not a port number from 0 to 65535'],
    [{ LANEKEEPER_PASSWORDS: 'false' }, 'LANEKEEPER_PASSWORDS: "false" is not on or off'],
    [
      { LANEKEEPER_WEBHOOK_TARGETS: 'none' },
      'LANEKEEPER_WEBHOOK_TARGETS: "none" is not a host name with a dot (ci.internal), an address or a network (10.1.0.0/16), or an origin (http://127.0.0.1:8080, https://ci). To turn webhooks off, write off alone; for public addresses only, leave the setting out',
    ],
    ...['', '30', '4m', '366d', '-7d', '1.5h', '7 days', 'off', '99999999m'].flatMap((time): [Record<string, string>, string][] =>
      ['IDLE', 'MAX'].map((name) => [
        { [`LANEKEEPER_SESSION_${name}`]: time },
        `LANEKEEPER_SESSION_${name}: "${time}" is not a time from 5m to 365d, such as 30m, 12h or 7d`,
      ]),
    ),
    [{ LANEKEEPER_WORKERS: '2' }, 'workers: the memory belongs to one process; more than one needs Redis'],
    [{ LANEKEEPER_WORKERS: '2', LANEKEEPER_STORAGE: 'fs:/data' }, 'workers: a folder belongs to one process; more than one needs Redis'],
    [{ ...redis, LANEKEEPER_WORKERS: '0' }, 'workers: "0" is not auto, or a number of processes from 1 to 256'],
    [{ LANEKEEPER_MAIL_FROM: 'x' }, 'LANEKEEPER_MAIL_FROM: "x" is not an e-mail address'],
    [
      { LANEKEEPER_SMTP: 'smtp://mail.example' },
      'LANEKEEPER_SMTP: mail needs a server and a sender; set LANEKEEPER_MAIL_FROM too, or neither',
    ],
    [{ LANEKEEPER_DRAIN: '1.5' }, 'LANEKEEPER_DRAIN: "1.5" is not a number of seconds from 0 to 3600'],
    [{ LANEKEEPER_LOG: '' }, 'LANEKEEPER_LOG: "" is not one of silent, error, warn, info, debug'],
    [
      { LANEKEEPER_LEGACY_PREFIXES: 'ok,NOT OK' },
      'LANEKEEPER_LEGACY_PREFIXES: "NOT OK" is not a prefix of 1 to 20 lower-case letters and digits',
    ],
  ])('%j is refused with the name of the setting and what it accepts', (env, message) => {
    expect(() => readConfig({}, env)).toThrow(expect.objectContaining({ name: 'ConfigError', message }))
  })

  test.each<[Record<string, string>, RegExp]>([
    [{ LANEKEEPER_STORAGE: 'rediss:hunter2' }, /^storage: /],
    [{ LANEKEEPER_URL: 'https://me:hunter2@kanban.example' }, /^url: /],
    [{ LANEKEEPER_SMTP: 'https://me:hunter2@mail.example', LANEKEEPER_MAIL_FROM: 'a@b.example' }, /^LANEKEEPER_SMTP: /],
  ])('the message about %j does not contain the password', (env, message) => {
    let error: unknown
    try {
      readConfig({}, env)
    } catch (caught) {
      error = caught
    }
    expect((error as Error).message).toMatch(message)
    expect((error as Error).message).not.toContain('hunter2')
  })

  test.each([
    ['https://kanban.example', 'https://kanban.example'],
    ['http://KANBAN.example:80/', 'http://kanban.example'],
    ['https://example.org/kanban', 'https://example.org/kanban'],
    ['https://example.org:8443/tools/Kan-ban_1.0~x/', 'https://example.org:8443/tools/Kan-ban_1.0~x'],
    ['http://[::1]:3000/kanban', 'http://[::1]:3000/kanban'],
    ['https://example.org/kanban/app', 'https://example.org/kanban/app'],
    ['https://example.org/apps', 'https://example.org/apps'],
  ])('the public URL %s is %s', (url, expected) => {
    expect(readUrl({ url }, {})).toBe(expected)
  })

  test.each([
    ['https://example.org/kanban?x', 'it must be a URL like'],
    ['https://example.org/kanban?', 'it must be a URL like'],
    ['https://example.org/kanban#', 'it must be a URL like'],
    ['https://me:secret@example.org/kanban', 'it must be a URL like'],
    ['https://example.org/a/../b', 'it must be a URL like'],
    ['https://example.org/..', 'it must be a URL like'],
    ['https://example.org/./a', 'it must be a URL like'],
    ['https://example.org/%2e%2e/a', 'letters, digits'],
    ['https://example.org/a//b', 'letters, digits'],
    ['https://example.org//a', 'letters, digits'],
    ['https://example.org/a\\b', 'letters, digits'],
    ['https://example.org/größe', 'letters, digits'],
    ['https://example.org/a b', 'letters, digits'],
    ['https://example.org/a;b', 'letters, digits'],
    ['ftp://example.org/kanban', 'it must be a URL like'],
    ['example.org/kanban', 'it must be a URL like'],
    ['https:example.org', 'it must be a URL like'],
    ['https://', 'it must be a URL like'],
    ['', 'it must be a URL like'],
    ['https://example.org/v1', 'leave out /v1'],
    ['https://example.org/kanban/v1/', 'leave out /v1'],
    ['https://example.org/kanban/mcp', 'leave out /mcp'],
    ['https://example.org/app', 'cannot begin with /app'],
    ['https://example.org/docs/kanban', 'cannot begin with /docs'],
  ])('the public URL %s is refused: %s', (url, message) => {
    expect(() => readUrl({ url }, {})).toThrow(expect.objectContaining({ name: 'ConfigError', message: expect.stringContaining(message) }))
    expect(() => readConfig({ url }, {})).toThrow('url: ')
  })

  test('an administration command reads its own settings only', () => {
    const env = { LANEKEEPER_STORAGE: 'fs:data', LANEKEEPER_URL: 'https://kanban.example', PORT: 'many' }
    expect(readStorage({}, env)).toEqual({ storage: 'fs:data', bytes: undefined })
    expect(readUrl({}, env)).toBe('https://kanban.example')
  })

  test('every setting has a description, and a flag or an environment variable', () => {
    for (const name of Object.keys(readConfig({}, {})) as (keyof Config)[]) {
      const { description, flag, env } = settingSource(name)
      expect({ name, isDescribed: description.length > 0, isSettable: flag !== undefined || env !== undefined }).toEqual({
        name,
        isDescribed: true,
        isSettable: true,
      })
    }
  })
})
