import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { missingProgram, type Program } from './programs.ts'
import { newFolder, ownProcess } from './run.ts'

type Proxy = Extract<Program, 'nginx' | 'caddy'>

/**
 * Starts a real proxy with the part of its configuration that a document has.
 * @param site the directives of the site; its service is at 127.0.0.1:3000
 * @param port of the proxy
 * @param servicePort of the service behind it
 * @returns ends it
 */
export async function startPathProxy(program: Proxy, site: string, port: number, servicePort: number): Promise<() => Promise<void>> {
  const folder = newFolder()
  const directives = site.replaceAll('127.0.0.1:3000', `127.0.0.1:${servicePort}`)
  const file = join(folder, 'configuration')
  await writeFile(file, program === 'nginx' ? nginxText(folder, port, directives) : caddyText(port, directives))
  const args =
    program === 'nginx' ? ['-p', folder, '-c', file, '-e', join(folder, 'error.log')] : ['run', '--adapter', 'caddyfile', '--config', file]
  // Debian has it in /usr/sbin, which not every PATH has.
  const PATH = `${process.env['PATH']}:/usr/sbin`
  const env = { ...process.env, PATH, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  const child = ownProcess(spawn(program, args, { stdio: 'ignore', env }))
  let failure: Error | undefined
  child.once('error', () => (failure = missingProgram(program)))
  child.once('exit', (code) => (failure ??= new Error(`${program} has ended with ${code}: ${folder}`)))
  while (!(await answers(port))) {
    if (failure !== undefined) throw failure
    await delay(20)
  }
  return async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
}

function nginxText(folder: string, port: number, directives: string): string {
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  return `daemon off; master_process off; pid ${folder}/pid;
events {}
http {
  access_log off; ${places}
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    location / { return 404 "another program"; }
    ${directives}
  }
}`
}

function caddyText(port: number, directives: string): string {
  return `{
  admin off
  auto_https off
}
http://localhost:${port} {
  bind 127.0.0.1
${directives}
  respond "another program" 404
}`
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
