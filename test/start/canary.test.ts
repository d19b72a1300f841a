import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, test } from 'vitest'
import { everythingIn, filesOf, findIn } from '../support/canary.ts'
import { runCommandLine, startProcess } from '../support/process.ts'
import { startRedis } from '../support/redis.ts'
import { formOf, plaintextIn, Visitor } from '../support/visitor.ts'

const folders: string[] = []
const folder = async () => {
  const path = await mkdtemp(join(tmpdir(), 'lanekeeper-canary-'))
  folders.push(path)
  return path
}
afterAll(async () => {
  for (const path of folders) await rm(path, { recursive: true })
})

/** A visitor of a service that is another process. */
function visitorOf(url: string): Visitor {
  const fetched = (request: Request) => fetch(request, { redirect: 'manual' })
  return new Visitor({ app: { fetch: fetched } } as never, { origin: url })
}

/** Lives through all that has to do with secrets. @returns every secret that there was, and every answer that was an error or from the API */
async function live(url: string, operator: (...args: string[]) => Promise<any>) {
  const secrets = new Map<string, string>()
  const answers: string[] = []
  const visitor = visitorOf(url)
  const request = visitor.request.bind(visitor)
  visitor.request = async (...args) => {
    const page = await request(...args)
    for (const [name, line] of page.cookies) {
      const value = line.slice(name.length + 1, line.indexOf(';'))
      if (value !== '') secrets.set(`cookie ${name} ${secrets.size}`, value)
    }
    answers.push(page.status >= 400 ? page.text : '')
    return page
  }
  const api = async (path: string, token: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } })
    answers.push(await response.text(), JSON.stringify([...response.headers]))
    return response.status
  }
  const secret = (name: string, value: string) => (secrets.set(name, value), value)

  const workspace = await operator('workspace', 'create', 'Acme')
  const user = await operator('user', 'add', 'Nora Lindqvist', '--url', url)
  await operator('member', 'add', workspace.id, user.id)
  const spare = await operator('user', 'invite', user.id, '--url', url)
  secret('replaced sign-up code', new URL(user.sign_up_link).searchParams.get('code')!)
  secret('sign-up code', new URL(spare.sign_up_link).searchParams.get('code')!)
  const email = `${user.id}@example.org`
  const password = secret('password', 'Pe\u00e4s "before" the r/ain + 7')
  await visitor.open(user.sign_up_link)
  await visitor.open(spare.sign_up_link)
  await visitor.submit({ email, password: secret('short password', 'sh0rt+&\u00fc'), again: 'x' })
  await visitor.submit({ email, password, again: password })
  await visitor.signIn(email, secret('wrong password', 'wr\u00f6ng pass/word + 8'))
  await visitor.signIn('nobody@example.org', secret('password of nobody', 'anoth\u00e9r "wrong" one'))
  await visitor.signIn(email, password)

  const first = secret('first token', await visitor.create(workspace.id, { name: 'CI', scope: 'kanban:admin' }))

  const used = [await api('/v1/account', first)]
  used.push(await api('/v1/boards', first, { method: 'POST', body: '{"name":"Board"}', headers: { 'content-type': 'application/json' } }))
  const list = await visitor.open('/settings/tokens')
  const at = /"(\/settings\/tokens\/[^"]*\/)rotate"/.exec(list.text)![1]
  await visitor.open(`${at}rotate`)
  const rotation = formOf(visitor.shown!.text)
  const second = secret('second token', plaintextIn(await visitor.submit({ days: '30' })))
  await visitor.post(rotation.action, { ...rotation.hidden, days: '30' })
  used.push(await api('/v1/account', first), await api('/v1/account', second))
  const third = secret('third token', await visitor.create(workspace.id, { name: 'Leaked' }))
  const body = new URLSearchParams({ token: third })
  used.push(await api('/revoke', '', { method: 'POST', body }), await api('/v1/account', third))
  await visitor.open('/settings/tokens')
  const [, revoke] = /"(\/settings\/tokens\/[^"]*\/revoke)"/.exec(visitor.shown!.text)!
  await visitor.open(revoke!)
  await visitor.submit()
  used.push(await api('/v1/account', second))
  const fourth = secret('fourth token', await visitor.create(workspace.id))
  // What goes wrong, with secrets where they do not belong.
  await api(`/v1/boards?token=${fourth}`, fourth)
  await api(`/v1/boards/${fourth}`, fourth)
  await api('/v1/boards', fourth, {
    method: 'POST',
    body: JSON.stringify({ name: 'x', password }),
    headers: { 'content-type': 'application/json' },
  })
  await api('/v1/account', `${fourth}x`)
  await api(`/revoke?token=${fourth}`, '', { method: 'POST', body: fourth })
  await visitor.open(`/settings/nowhere?code=${encodeURIComponent(password)}`)
  await visitor.post('/settings/sign-out', { form_token: 'x', password })
  await visitor.post('/settings/sign-in', { form_token: 'x', email, password }, { headers: { 'content-type': 'text/plain' } })
  await visitor.open('/settings/tokens')
  await visitor.submit({ where: 'everywhere' }, '/settings/sign-out')
  expect(used).toEqual([200, 201, 401, 200, 200, 401, 401])
  return { secrets, answers }
}

describe('nothing secret is left anywhere', () => {
  test.each(['fs', 'redis'])('after a life on %s', async (kind) => {
    const data = `${await folder()}/data`
    const redis = kind === 'redis' ? await startRedis() : undefined
    const env = { LANEKEEPER_STORAGE: redis?.url ?? `fs:${data}`, LANEKEEPER_LOG: 'debug' }
    const service = startProcess(['--json'], env)
    const { url } = JSON.parse(await service.until('\n'))
    const operator = async (...args: string[]) => JSON.parse((await runCommandLine([...args, '--json'], env)).stdout)
    const { secrets, answers } = await live(url, operator)
    expect(secrets.size).toBeGreaterThan(14)
    const client = redis && new Redis(redis.url)
    const found: string[] = []
    const look = (where: string, bytes: Uint8Array) => found.push(...findIn(bytes, secrets).map((what) => `${where}: ${what}`))
    let searched = 0
    // Once while it runs and once after: what is in a journal now is in a checkpoint then.
    for (const moment of ['running', 'ended']) {
      if (moment === 'ended') expect(await service.stop()).toBe(0)
      for await (const [where, bytes] of client === undefined ? filesOf(data) : everythingIn(client)) {
        look(`${moment}, ${where}`, bytes)
        searched++
      }
    }
    look('stdout', Buffer.from(service.stdout()))
    for (const line of service.stderr().split('\n')) look(`log: ${line}`, Buffer.from(line))
    // The one cookie that a page has to repeat is the one that its form is compared with.
    const told = new Map([...secrets].filter(([name]) => !name.startsWith('cookie lk_form')))
    for (const answer of answers) found.push(...findIn(Buffer.from(answer), told).map((what) => `${answer.slice(0, 200)}: ${what}`))
    client?.disconnect()
    await redis?.stop()
    expect(found).toEqual([])
    // And it was looked at: what is no secret is there.
    expect(searched).toBeGreaterThan(5)
    for (const event of ['token.created', 'token.rotated', 'token.revoked', 'token.replaced_used', 'web.signed_in', 'web.sign_in_refused'])
      expect(service.stderr()).toContain(event)
  })
})

describe('the search', () => {
  const secrets = new Map([['password', 'Pe\u00e4s "before" the r/ain + 7']])
  const [secret] = secrets.values()
  test.each([
    ['in the middle of something', (text: string) => `{"a":1}\n${text}\u0000`],
    ['in JSON', (text: string) => JSON.stringify({ text })],
    ['in an address', (text: string) => `/x?y=${encodeURIComponent(text)}&z`],
    ['in a form', (text: string) => String(new URLSearchParams({ text }))],
    ['in hex', (text: string) => Buffer.from(text).toString('hex')],
    ['in base64', (text: string) => Buffer.from(text).toString('base64')],
    ['in base64 after one byte', (text: string) => Buffer.from(`x${text}y`).toString('base64')],
    ['in base64 after two', (text: string) => Buffer.from(`xx${text}y`).toString('base64')],
    ['in UTF-16', (text: string) => Buffer.from(`x${text}`, 'utf16le')],
  ])('finds what is planted %s', (_where, plant) => {
    expect(findIn(Buffer.from(plant(secret!) as string), secrets)).not.toEqual([])
    expect(findIn(Buffer.from(plant('something else altogether') as string), secrets)).toEqual([])
  })

  test('finds what is planted in a file, in the name of one, and in a Redis', async () => {
    const path = await folder()
    await writeFile(join(path, 'deep'), `x${secret}`)
    await writeFile(join(path, encodeURIComponent(secret!)), '')
    const redis = await startRedis()
    const client = new Redis(redis.url)
    await client.set('a', `x${secret}`)
    await client.hset('b', { [secret!]: '1', c: secret! })
    await client.zadd('d', 0, secret!)
    await client.set(`e${secret}`, '')
    const found: string[] = []
    for await (const [where, bytes] of filesOf(path)) if (findIn(bytes, secrets).length > 0) found.push(where.replace(path, ''))
    for await (const [where, bytes] of everythingIn(client)) if (findIn(bytes, secrets).length > 0) found.push(where)
    client.disconnect()
    await redis.stop()
    expect(found.toSorted()).toEqual(
      [`/${encodeURIComponent(secret!)}`, '/deep', `key e${secret}`, 'value of a', 'value of b', 'value of b', 'value of d'].toSorted(),
    )
  })
})
