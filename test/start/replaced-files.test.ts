import { cp, mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { pages } from '../../src/web/pages.ts'
import { startMailServer } from '../support/mail-server.ts'
import { messageRequest } from '../support/mcp.ts'
import { otherFiles, writePolicy } from '../support/other-policy.ts'
import { shippedFiles } from '../support/policy.ts'
import { CommandHost, requireBuild, startService, type CommandResult, type RunningProcess } from '../support/process.ts'
import { startRedis } from '../support/redis.ts'
import { codeAt } from '../support/second-factor.ts'
import { formOf, PASSWORD, Visitor } from '../support/visitor.ts'
import { newFolder } from '../support/run.ts'

const root = resolve(import.meta.dirname, '../..')

let folder: string
let program: string
beforeAll(requireBuild)
beforeEach(async () => {
  folder = newFolder()
  program = await install(join(folder, 'node_modules/lanekeeper'))
})
const services: RunningProcess[] = []
afterAll(async () => {
  for (const service of services) await service.stop('SIGKILL')
})

/** Copies what the package has, and the packages that are not in the bundle. @returns the file to run */
async function install(to: string): Promise<string> {
  for (const path of [
    'package.json',
    'dist/lanekeeper.js',
    'dist/bundle',
    'policies',
    'fixtures/common-passwords.txt',
    'fixtures/openapi-examples.json',
    'fixtures/world.yaml',
  ])
    await cp(join(root, path), join(to, path), { recursive: true })
  for (const native of ['@node-rs', '@photostructure', 'node-gyp-build'].map((name) => `node_modules/${name}`)) {
    await mkdir(join(to, native), { recursive: true })
    await cp(await realpath(join(root, native)), join(to, native), { recursive: true, dereference: true })
  }
  return join(to, 'dist/lanekeeper.js')
}

/** Starts the installed program, waits until it has loaded everything, and removes its files. */
async function startAndRemove(
  args: readonly string[],
  env: Record<string, string>,
  processes = 1,
): Promise<{ service: RunningProcess; url: string }> {
  const service = await startService(args, { LANEKEEPER_LOG: 'info', ...env }, { program })
  services.push(service)
  await expect.poll(() => service.stderr().split('"event":"service.loaded"').length - 1, { timeout: 120_000 }).toBe(processes)
  await rm(dirname(dirname(dirname(program))), { recursive: true })
  return { service, url: service.url }
}

test('modules that requests can need late are loaded by `lazy`, so that they are loaded after the start', async () => {
  const folders = 'admin audit auth authz decision-log http listing mail mcp model policy resources store web'.split(' ')
  const files = ['app.ts', 'surfaces.ts']
  for (const folder of folders)
    files.push(
      ...(await readdir(join(root, 'src', folder), { recursive: true }))
        .filter((file) => file.endsWith('.ts'))
        .map((file) => `${folder}/${file}`),
    )
  const found: string[] = []
  for (const file of files) {
    const text = await readFile(join(root, 'src', file), 'utf8')
    if (/(?<!lazy\(\(\) => )\bimport\(/.test(text)) found.push(file)
  }
  expect(found.toSorted()).toEqual([
    // In a function that is lazy.
    'mail/mailer.ts',
    // With the start: the storage is opened before anything is served.
    'store/fs/folder.ts',
    'store/fs/lock.ts',
    'store/fs/sqlite.ts',
    'store/open.ts',
  ])
})

test('a service whose files are removed goes on: pages, sign-ups, uploads, MCP, documents, mail and commands', async () => {
  const policies = join(folder, 'policies')
  await mkdir(policies)
  await writePolicy(policies, shippedFiles)
  const mail = await startMailServer()
  const env = {
    LANEKEEPER_STORAGE: `fs:${folder}/data`,
    LANEKEEPER_SMTP: mail.url,
    LANEKEEPER_MAIL_FROM: 'kanban@example.com',
    LANEKEEPER_METRICS: '127.0.0.1:0',
  }
  const host = new CommandHost(env)
  const run = async (...args: string[]): Promise<CommandResult> => {
    const result = await host.run(args)
    expect({ args, code: result.code, stderr: result.code === 0 ? '' : result.stderr }).toEqual({ args, code: 0, stderr: '' })
    return result
  }
  const init = await run('init', '--workspace', 'Acme', '--owner', 'Ada King', '--email', 'ada@example.com', '--json')
  const { workspace_id, user_id, sign_up_link } = JSON.parse(init.stdout) as Record<string, string>
  const { service, url } = await startAndRemove(['--policies', policies], env)

  const failures: string[] = []
  const send = async (request: Request): Promise<Response> => {
    const response = await fetch(request, { redirect: 'manual' })
    if (response.status >= 500) failures.push(`${request.method} ${request.url}: ${response.status}`)
    return response
  }
  // Passkeys need a host name.
  const origin = url.replace('127.0.0.1', 'localhost')
  const visitor = new Visitor({ app: { fetch: send } } as never, { origin })
  const link = new URL(sign_up_link!)
  await visitor.open(link.pathname + link.search)
  const common = await visitor.submit({ email: 'ada@example.com', password: 'qwerty123456', again: 'qwerty123456' })
  expect({ status: common.status, text: common.text }).toEqual({
    status: 422,
    text: expect.stringContaining('is one of the most common passwords'),
  })
  const signedUp = await visitor.submit({ email: 'ada@example.com', password: PASSWORD, again: PASSWORD })
  expect({ status: signedUp.status, heading: /<h1>(.*?)<\/h1>/.exec(signedUp.text)?.[1], failures }).toEqual({
    status: 200,
    heading: 'Welcome to <bdi>Acme</bdi>',
    failures: [],
  })
  expect((await visitor.signIn('ada@example.com')).text).toContain('API tokens')
  const token = await visitor.create(workspace_id!, { name: 'Agent', scope: 'kanban:admin' })

  const api = async (method: string, path: string, body?: BodyInit, type = 'application/json') => {
    const headers = { authorization: `Bearer ${token}`, ...(typeof body === 'string' && { 'content-type': type }) }
    const response = await send(new Request(`${url}/v1${path}`, { method, headers, body: body ?? null }))
    expect([path, response.ok]).toEqual([path, true])
    return response
  }
  const create = async (path: string, members: object) =>
    ((await (await api('POST', path, JSON.stringify(members))).json()) as { data: { id: string } }).data.id
  const board = await create('/boards', { name: 'Garden' })
  const column = await create(`/boards/${board}/columns`, { name: 'To do' })
  const card = await create(`/boards/${board}/cards`, { column_id: column, title: 'Sow' })
  const form = new FormData()
  form.append('file', new File(['bytes'], 'notes.txt', { type: 'text/plain' }))
  const { data } = (await (await api('POST', `/cards/${card}/files`, form)).json()) as { data: { id: string } }
  expect(await (await api('GET', `/attachments/${data.id}/content`)).text()).toBe('bytes')
  for (const path of ['/account', '/boards', `/boards/${board}`, `/boards/${board}/changes`]) await api('GET', path)

  for (const [method, params] of [
    ['server/discover', {}],
    ['tools/list', {}],
    ['tools/call', { name: 'read_boards', arguments: {} }],
    ['resources/list', {}],
  ] as const) {
    const message = messageRequest(token, method, params)
    await send(new Request(`${url}/mcp`, { method: 'POST', headers: message.headers, body: await message.text() }))
  }

  const html = { headers: { accept: 'text/html' } }
  const documents = [
    '/openapi.json',
    '/llms.txt',
    '/.well-known/authzen-configuration',
    '/docs',
    `/docs/${operations[0]!.id}`,
    '/policies',
    '/',
    '/favicon.svg',
    '/healthz',
    '/readyz',
    '/nowhere',
  ]
  for (const path of documents) await send(new Request(url + path, html))
  for (const path of ['style.css', 'script.js', 'boards.js']) await send(new Request(`${url}/settings/assets/${path}`))
  for (const { path, get, isPart } of pages) {
    const address = path
      .replace('{workspace}', workspace_id!)
      .replace('{board}', board)
      .replace('{card}', card)
      .replace('{attachment}', data.id)
    if (get !== undefined && !isPart) await visitor.request(address)
  }
  // An authenticator app needs a package for its codes and one for its picture, and passkeys one for their challenges.
  await visitor.open('/settings/account/authenticator')
  const added = await visitor.submit({}, '/settings/account/authenticator')
  const secret = /<code class="spaced">([^<]+)/.exec(added.text)![1]!.replaceAll(' ', '')
  expect((await visitor.submit({ code: codeAt(secret, Date.now()) }, '/settings/account/authenticator/code')).status).toBe(200)
  const anyone = new Visitor(visitor.service, { origin })
  await anyone.open('/settings/sign-in')
  const { hidden } = formOf(anyone.page!.text, '/settings/sign-in/passkey')
  expect((await anyone.post('/settings/sign-in/passkey-challenge', hidden)).text).toContain('challenge')

  const metrics = /metrics are served at (http:[^"]+)/.exec(service.stderr())![1]!
  expect(await (await send(new Request(metrics))).text()).toContain('lanekeeper')

  await run('backup', '--out', join(folder, 'backup'))
  await run('export', workspace_id!, '--out', join(folder, 'export'))
  await run('check')
  await run('user', 'list')
  await run('audit', workspace_id!)
  await run('policy', 'who-can', 'boards.delete', board, '--workspace', workspace_id!)
  expect((await run('token', 'create', workspace_id!, user_id!, '--scope', 'read', '--name', 'CI')).stdout).toMatch(/^lk_pat_/)
  expect((await mail.got())[0]!.source).toMatch(/^Subject: (?:=\?UTF-8\?Q\?)?Lanekeeper/m)
  expect(failures).toEqual([])

  // The thread that examines a policy cannot start.
  await writePolicy(policies, otherFiles)
  service.child.kill('SIGHUP')
  const refused = () =>
    service
      .stderr()
      .split('\n')
      .find((line) => line.includes('"event":"policy.refused"'))
  await expect.poll(refused, { timeout: 60_000 }).toContain('the files of the program were replaced or removed after its start: restart it')
  await api('GET', '/account')
  const problems = service
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{') && (JSON.parse(line) as { level: number }).level >= 50)
  expect(problems).toEqual([refused()])
  await mail.close()
  expect(await service.stop()).toBe(0)
})

test('a worker that ends is not replaced by one of other files, the log says so, and the last one ends the service', async () => {
  const redis = await startRedis()
  try {
    const { service, url } = await startAndRemove(['--storage', redis.url, '--workers', '2'], {}, 2)
    expect((await fetch(`${url}/docs`, { headers: { accept: 'text/html' } })).status).toBe(200)
    const pids = [...new Set([...service.stderr().matchAll(/"pid":(\d+)[^\n]*"event":"service.loaded"/g)].map(([, pid]) => Number(pid)))]
    const notReplaced = () => service.stderr().split('"event":"worker.not_replaced"').length - 1
    process.kill(pids[0]!, 'SIGKILL')
    await expect.poll(notReplaced, { timeout: 60_000 }).toBe(1)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    const ended = new Promise((done) => service.child.once('exit', done))
    process.kill(pids[1]!, 'SIGKILL')
    expect(await ended).toBe(1)
    expect(service.stderr()).toContain(
      'a worker ended and is not replaced: the files of the program were replaced or removed; restart the service',
    )
  } finally {
    await redis.stop()
  }
})
