import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { newFolder, ownProcess } from '../../support/run.ts'

/** A proxy that compresses everything. Below `/kanban` is the service, and nothing else is. */
export interface ProxyProgram {
  /** its Debian package */
  readonly name: 'nginx' | 'caddy' | 'apache2'
  readonly args: (folder: string) => readonly string[]
  readonly configuration: (folder: string, port: number, servicePort: number) => string
}

const nginx = (backend: (port: number) => string): ProxyProgram => ({
  name: 'nginx',
  args: (folder) => ['-p', folder, '-c', join(folder, 'configuration'), '-e', join(folder, 'error.log')],
  configuration(folder, port, servicePort) {
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
    return `daemon off; master_process off; pid ${folder}/pid;
events {}
http {
  access_log off; ${places}
  gzip on; gzip_types *; gzip_proxied any; gzip_min_length 0;
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 26m;
    location = /kanban { return 301 /kanban/; }
    location /kanban/ {
      proxy_pass ${backend(servicePort)};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      # Without it the service compresses itself, and nothing is left for nginx.
      proxy_set_header Accept-Encoding "";
      proxy_request_buffering off;
      proxy_read_timeout 90s;
    }
  }
}`
  },
})

const caddy = (handle: 'handle' | 'handle_path'): ProxyProgram => ({
  name: 'caddy',
  args: (folder) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'configuration')],
  configuration: (_folder, port, servicePort) => `{
  admin off
  auto_https off
}
http://localhost:${port} {
  bind 127.0.0.1
  redir /kanban /kanban/
  @answers not path */events
  encode @answers {
    gzip
    minimum_length 1
  }
  ${handle} /kanban/* {
    reverse_proxy 127.0.0.1:${servicePort} {
      header_up -Accept-Encoding
    }
  }
}`,
})

const MODULES = '/usr/lib/apache2/modules'
const apache = (below: string): ProxyProgram => ({
  name: 'apache2',
  args: (folder) => ['-D', 'FOREGROUND', '-f', join(folder, 'configuration')],
  configuration: (folder, port, servicePort) => `ServerRoot ${folder}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
ServerName localhost
Listen 127.0.0.1:${port}
${['mpm_event', 'authz_core', 'unixd', 'alias', 'filter', 'deflate', 'proxy', 'proxy_http']
  .filter((name) => existsSync(`${MODULES}/mod_${name}.so`))
  .map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`)
  .join('\n')}
<IfModule unixd_module>
  User nobody
  Group nogroup
</IfModule>
RedirectMatch ^/kanban$ /kanban/
SetOutputFilter DEFLATE
ProxyPreserveHost On
<Location /kanban/>
  # flushpackets: events are sent on at once.
  ProxyPass http://127.0.0.1:${servicePort}${below} flushpackets=on timeout=90
</Location>
`,
})

/** The proxies, each as it passes the path on and as it removes it. */
export const PROXIES: Readonly<Record<string, ProxyProgram>> = {
  'nginx, which passes the path on': nginx((port) => `http://127.0.0.1:${port}`),
  'nginx, which removes the path': nginx((port) => `http://127.0.0.1:${port}/`),
  'Caddy, which passes the path on': caddy('handle'),
  'Caddy, which removes the path': caddy('handle_path'),
  'Apache, which passes the path on': apache('/kanban/'),
  'Apache, which removes the path': apache('/'),
}

// Debian has servers in /usr/sbin, which not every PATH has.
const PATH = `${process.env['PATH']}:/usr/sbin`

/** Starts a proxy before the service. @returns ends it */
export async function startProxy(program: ProxyProgram, port: number, servicePort: number): Promise<() => Promise<void>> {
  const folder = newFolder()
  await writeFile(join(folder, 'configuration'), program.configuration(folder, port, servicePort))
  const env = { ...process.env, PATH, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  const child = ownProcess(spawn(program.name, program.args(folder), { stdio: ['ignore', 'ignore', 'pipe'], env }))
  let failure: string | undefined
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  child.once('error', () => (failure = `${program.name} is not installed: apt-get install ${program.name}`))
  child.once('exit', (code) => (failure ??= `${program.name} has ended with ${code}: ${errors}`))
  while (!(await answers(port))) {
    if (failure !== undefined) throw new Error(failure)
    await delay(20)
  }
  return async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/kanban/healthz`).then(
    () => true,
    () => false,
  )
}
