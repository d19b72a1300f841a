import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readText } from '../lint/syntax.ts'
import { blockOf } from '../support/documents.ts'
import { freePort } from '../support/ports.ts'
import { startService, type StartedService } from '../support/process.ts'
import { hasProgram, missingProgram } from '../support/programs.ts'
import { newFolder, ownProcess } from '../support/run.ts'

// The gateway of fixtures/gateway as it is, with nginx, before a service that knows no members.

const program = 'nginx'
const PASSWORD = 'drawings'
let service: StartedService
let drawings: Server
let gateway: string
const passed: string[] = []
/** Who the service is told that it is, and the credential that it gets. */
const told: unknown[] = []
const ends: (() => unknown)[] = []

const person = (name: string) => service.world.tokens.find(({ display_name }: any) => display_name === name)
/** The name that somebody signs in with. */
const nameOf = (name: string): string => person(name)?.user_id ?? name
const tokenOf = (name: string, scope: string) =>
  service.world.tokens.find((one: any) => one.display_name === name && one.scopes[0] === `kanban:${scope}`).token

/** The configuration with other ports, without TLS, and with a file of passwords. */
function configurationIn(folder: string, ports: { gateway: number; authorize: number; drawings: number }): string {
  const server = readText('fixtures/gateway/nginx.conf')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${ports.gateway};`)
    .replaceAll(/^ *ssl_.*$/gm, '')
    .replace('/etc/nginx/people', `${folder}/people`)
    .replace('127.0.0.1:3001', `127.0.0.1:${ports.authorize}`)
    .replace('127.0.0.1:3002', `127.0.0.1:${ports.drawings}`)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  return `daemon off; master_process off; pid ${folder}/pid; events {} http { access_log off; ${places}\n${server}\n}`
}

beforeAll(async () => {
  if (!hasProgram(program)) throw missingProgram(program)
  service = await startService()
  drawings = createServer(({ method, url, headers }, response) => {
    passed.push(`${method} ${url}`)
    told.push([headers['x-person'], headers.authorization])
    response.end('a drawing')
  }).listen(0, '127.0.0.1')
  await once(drawings, 'listening')
  const [authorize, port] = [await freePort(), await freePort()]
  gateway = `http://127.0.0.1:${port}`
  const block = blockOf('fixtures/gateway/README.md', 'authorize.js')
    .replace('http://127.0.0.1:3000', service.url)
    .replace('3001', `${authorize}`)
  const asking = ownProcess(spawn('bash', ['-c', `exec env ${block}`], { env: { ...process.env, TOKEN: tokenOf('Olivia Stone', 'read') } }))
  const folder = newFolder()
  mkdirSync(folder, { recursive: true })
  const hash = execFileSync('openssl', ['passwd', '-apr1', PASSWORD], { encoding: 'utf8' }).trim()
  const people = ['Mira Patel', 'Grace Kim', 'me'].map((name) => `${nameOf(name)}:${hash}`)
  writeFileSync(join(folder, 'people'), `${people.join('\n')}\n`)
  const ports = { gateway: port, authorize, drawings: (drawings.address() as AddressInfo).port }
  writeFileSync(join(folder, 'configuration'), configurationIn(folder, ports))
  const args = ['-p', folder, '-c', join(folder, 'configuration'), '-e', join(folder, 'error.log')]
  const nginx = ownProcess(spawn(program, args, { stdio: 'ignore', env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` } }))
  ends.push(
    () => nginx.kill(),
    () => asking.kill(),
  )
  for (const url of [`http://127.0.0.1:${authorize}/`, gateway]) while (!(await answers(url))) await delay(20)
})

afterAll(async () => {
  for (const end of ends) end()
  drawings.close()
  await service.stop()
})

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  )

const send = async (name: string | null, method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
  const credential = name === null ? {} : { authorization: `Basic ${Buffer.from(`${nameOf(name)}:${PASSWORD}`).toString('base64')}` }
  return (await fetch(gateway + path, { method, headers: { ...credential, ...headers } })).status
}

test('the gateway passes on what the person may do to the card, and nothing else', async () => {
  const api = async (path: string, init?: RequestInit) =>
    (await (
      await fetch(`${service.url}/v1${path}`, { ...init, headers: { authorization: `Bearer ${tokenOf('Mira Patel', 'admin')}` } })
    ).json()) as any
  const board = service.world.boards.find(({ name }: any) => name === 'Website relaunch').id
  const { data: cards } = await api(`/boards/${board}/cards`)
  const path = `/drawings/${cards[0].id}`
  const pretended = { 'x-person': person('Olivia Stone').user_id }
  expect({
    read: await send('Mira Patel', 'GET', path),
    change: await send('Mira Patel', 'PUT', `${path}?version=2`, pretended),
    absent: await send('Mira Patel', 'GET', '/drawings/crd_00000000000000000000'),
    noCard: await send('Mira Patel', 'GET', '/drawings/'),
    another: await send('Mira Patel', 'POST', path),
    below: await send('Mira Patel', 'GET', `${path}/%2e%2e/crd_00000000000000000000`),
    nobody: await send(null, 'GET', path),
    stranger: await send('Grace Kim', 'GET', path),
    pretending: await send('Grace Kim', 'GET', path, pretended),
    ownerOfToken: await send('me', 'GET', path),
    inside: await send('Mira Patel', 'GET', '/authorize'),
  }).toEqual({
    read: 200,
    change: 200,
    absent: 403,
    noCard: 403,
    another: 403,
    below: 403,
    nobody: 401,
    stranger: 403,
    pretending: 403,
    ownerOfToken: 403,
    inside: 404,
  })
  expect(passed).toEqual([`GET ${path}`, `PUT ${path}?version=2`])
  expect(told).toEqual(passed.map(() => [person('Mira Patel').user_id, undefined]))
})

test('the gateway passes nothing on without a decision', async () => {
  await service.stop()
  passed.length = 0
  expect(await send('Mira Patel', 'GET', '/drawings/crd_00000000000000000000')).toBe(500)
  expect(passed).toEqual([])
})
