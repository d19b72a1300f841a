import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readConfig, settingNames, settingSource } from '../../src/config.ts'
import { limits } from '../../src/model/limits.ts'
import { readText } from '../lint/syntax.ts'
import { blockOf } from '../support/documents.ts'
import { requireBuild } from '../support/process.ts'
import { newFolder } from '../support/run.ts'

const run = promisify(execFile)
const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const deployment = (name: string) => readText(`fixtures/deployment/${name}`)
const ORIGIN = 'https://kanban.example'

const env = Object.fromEntries(
  deployment('lanekeeper.env')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
)
const config = readConfig({}, env)

/** The settings of a unit: section → name → values. */
function readUnit(name: string): Record<string, Record<string, string[]>> {
  const unit: Record<string, Record<string, string[]>> = {}
  let section: Record<string, string[]> = {}
  for (const line of deployment(name).split('\n')) {
    const heading = /^\[(\w+)\]$/.exec(line)
    if (heading !== null) section = unit[heading[1]!] = {}
    else if (line !== '' && !line.startsWith('#'))
      (section[line.slice(0, line.indexOf('='))] ??= []).push(line.slice(line.indexOf('=') + 1))
  }
  return unit
}

test('the settings of the example are known, and belong together', () => {
  const known = new Set(settingNames.flatMap((name) => settingSource(name).env ?? []))
  expect(Object.keys(env).filter((name) => !known.has(name))).toEqual([])
  expect(config).toMatchObject({ storage: 'fs:/var/lib/lanekeeper', url: ORIGIN, proxies: 1, host: '127.0.0.1', port: 3000 })
})

test('the proxies pass the required headers to the port of the service, and accept its uploads', () => {
  const upstream = `${config.host}:${config.port}`
  const { hostname } = new URL(ORIGIN)
  const withForm = limits.uploadBytes / 1024 / 1024 + 1
  const nginx = deployment('nginx.conf')
  expect([...nginx.matchAll(/server_name ([^;]+);/g)].map(([, name]) => name)).toEqual([hostname, hostname])
  for (const directive of [
    `proxy_pass http://${upstream};`,
    `client_max_body_size ${withForm}m;`,
    'proxy_set_header Host $host;',
    'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    'proxy_request_buffering off;',
  ])
    expect(nginx).toContain(`${directive}\n`)
  expect(Number(/proxy_read_timeout (\d+)s;/.exec(nginx)![1])).toBeGreaterThan(limits.longPoll)
  const caddy = deployment('Caddyfile')
  expect({
    hostname: /^(\S+) \{$/m.exec(caddy)![1],
    upstream: /reverse_proxy (\S+)/.exec(caddy)![1],
    maxSize: /max_size (\S+)/.exec(caddy)![1],
  }).toEqual({ hostname, upstream, maxSize: `${withForm}MiB` })
})

test('the units run existing commands with the example settings, as a user who can write only to their own folders', () => {
  const service = readUnit('lanekeeper.service')['Service']!
  const backup = readUnit('lanekeeper-backup.service')['Service']!
  for (const unit of [service, backup])
    expect(unit).toMatchObject({
      User: ['lanekeeper'],
      EnvironmentFile: ['/etc/lanekeeper.env'],
      ProtectSystem: ['strict'],
      NoNewPrivileges: ['yes'],
      CapabilityBoundingSet: [''],
      StateDirectoryMode: ['0700'],
    })
  expect(service['ExecStart']).toEqual(['/opt/lanekeeper/bin/lanekeeper serve'])
  expect({ killSignal: service['KillSignal'], execReload: service['ExecReload'] }).toEqual({
    killSignal: ['SIGTERM'],
    execReload: ['/bin/kill -HUP $MAINPID'],
  })
  // It waits longer than the service needs to end, and the service compiles code.
  expect(Number(service['TimeoutStopSec'])).toBeGreaterThan(30)
  expect(service['MemoryDenyWriteExecute']).toBeUndefined()
  expect(config.storage).toBe(`fs:/var/lib/${service['StateDirectory']}`)
  expect(backup['StateDirectory']![0]!.split(' ')).toEqual(['lanekeeper', 'lanekeeper-backups'])
  const timer = readUnit('lanekeeper-backup.timer')
  expect({ persistent: timer['Timer']!['Persistent'], wantedBy: timer['Install']!['WantedBy'] }).toEqual({
    persistent: ['true'],
    wantedBy: ['timers.target'],
  })
})

const SYSTEMD = '/usr/bin/systemd-analyze'
test.runIf(existsSync(SYSTEMD))('systemd accepts the units', async () => {
  const folder = newFolder()
  const units = ['lanekeeper.service', 'lanekeeper-backup.service', 'lanekeeper-backup.timer']
  for (const name of units)
    await writeFile(join(folder, name), deployment(name).replaceAll('/opt/lanekeeper/bin/lanekeeper', process.execPath))
  await run(SYSTEMD, ['verify', ...units.map((name) => join(folder, name))])
})

test('the commands of the page install the files, make the first sign-up link, and a backup', async () => {
  requireBuild()
  const block = blockOf('fixtures/deployment/README.md', 'useradd')
  const root = newFolder()
  for (const path of ['bin', 'etc/systemd/system', 'opt/lanekeeper/bin', 'var/lib/lanekeeper-backups'])
    await mkdir(join(root, path), { recursive: true })
  // These need root, or take long: the test of the package installs it.
  for (const program of ['npm', 'useradd', 'systemctl'])
    await writeFile(join(root, 'bin', program), `#!/bin/sh\necho "${program} $*" >>${root}/log\n`)
  await writeFile(join(root, 'bin/sudo'), '#!/bin/sh\nif [ "$1" = -u ]; then shift 2; fi\nexec "$@"\n')
  await writeFile(
    join(root, 'opt/lanekeeper/bin/lanekeeper'),
    `#!/bin/sh\nexec "${process.execPath}" "${pathOf('dist/lanekeeper.js')}" "$@"\n`,
  )
  for (const program of ['bin/npm', 'bin/useradd', 'bin/systemctl', 'bin/sudo', 'opt/lanekeeper/bin/lanekeeper'])
    await chmod(join(root, program), 0o755)
  await symlink(pathOf('fixtures'), join(root, 'fixtures'))
  const inRoot = (text: string) => text.replaceAll(/(?<=[ ":])\/(opt|etc|var)\//g, `${root}/$1/`)
  const shell = (script: string) => run('bash', ['-euc', script], { cwd: root, env: { PATH: `${root}/bin:${process.env['PATH']}` } })
  const { stdout } = await shell(inRoot(block))
  expect(stdout).toMatch(/^ +https:\/\/kanban\.example\/settings\/sign-up\?code=\S+$/m)
  for (const name of ['lanekeeper.service', 'lanekeeper-backup.service', 'lanekeeper-backup.timer'])
    expect(await readFile(join(root, 'etc/systemd/system', name), 'utf8')).toBe(deployment(name))
  const units = (await readFile(join(root, 'log'), 'utf8')).match(/lanekeeper\S*\.(service|timer)/g)!
  expect(units.filter((name) => !existsSync(join(root, 'etc/systemd/system', name)))).toEqual([])
  // systemd writes %% for %.
  const [command] = readUnit('lanekeeper-backup.service')['Service']!['ExecStart']!
  await shell(`export LANEKEEPER_STORAGE=fs:${root}/var/lib/lanekeeper\n${inRoot(command!.replaceAll('%%', '%'))}`)
  const { stdout: backups } = await shell(`cat var/lib/lanekeeper-backups/*.jsonl`)
  expect(backups).toContain('"name":"Acme"')
})
