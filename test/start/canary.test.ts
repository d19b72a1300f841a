import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { Secret } from 'otpauth'
import { describe, expect, test } from 'vitest'
import { filesOf, findIn, valuesOf } from '../support/canary.ts'
import { CommandHost, startService } from '../support/process.ts'
import { startRedis } from '../support/redis.ts'
import { codeAt } from '../support/second-factor.ts'
import { formOf, plaintextIn, visitorOf } from '../support/visitor.ts'
import { newFolder } from '../support/run.ts'

/**
 * Uses every feature that handles secrets.
 * @returns all secrets by name, and the texts of all API responses and error pages
 */
async function exerciseSecrets(url: string, operator: (...args: string[]) => Promise<any>) {
  const secrets = new Map<string, string>()
  const responses: string[] = []
  const visitor = visitorOf(url)
  const request = visitor.request.bind(visitor)
  visitor.request = async (...args) => {
    const page = await request(...args)
    for (const [name, line] of page.cookies) {
      const value = line.slice(name.length + 1, line.indexOf(';'))
      if (value !== '') secrets.set(`cookie ${name} ${secrets.size}`, value)
    }
    responses.push(page.status >= 400 ? page.text : '')
    return page
  }
  const api = async (path: string, token: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } })
    responses.push(await response.text(), JSON.stringify([...response.headers]))
    return response.status
  }
  const secret = (name: string, value: string) => (secrets.set(name, value), value)

  const workspace = await operator('workspace', 'create', 'Acme')
  const user = await operator('user', 'add', 'Nora Lindqvist', '--url', url)
  await operator('member', 'add', workspace.id, user.id)
  const invitation = await operator('user', 'invite', user.id, '--url', url)
  secret('replaced sign-up code', new URL(user.sign_up_link).searchParams.get('code')!)
  secret('sign-up code', new URL(invitation.sign_up_link).searchParams.get('code')!)
  const email = `${user.id}@example.org`
  const password = secret('password', 'Pe\u00e4s "before" the r/ain + 7')
  await visitor.open(user.sign_up_link)
  await visitor.open(invitation.sign_up_link)
  await visitor.submit({ email, password: secret('short password', 'sh0rt+&\u00fc'), again: 'x' })
  await visitor.submit({ email, password, again: password })
  await visitor.signIn(email, secret('wrong password', 'wr\u00f6ng pass/word + 8'))
  await visitor.signIn('nobody@example.org', secret('password of an unknown user', 'anoth\u00e9r "wrong" one'))
  await visitor.signIn(email, password)
  await visitor.open('/settings/account/authenticator')
  const app = (await visitor.submit({ password })).text.match(/<code class="spaced">([^<]+)</)![1]!.replaceAll(' ', '')
  // As people copy it, and the bytes that it stands for.
  secret('secret of an app', app)
  const appBytes = Buffer.from(Secret.fromBase32(app).bytes)
  for (const encoding of ['hex', 'base64', 'base64url'] as const) secret(`secret of an app in ${encoding}`, appBytes.toString(encoding))
  const codes = await visitor.submit({ code: codeAt(app, Date.now()) })
  secret('recovery code', /([0-9a-z]{4}-){5}[0-9a-z]{4}/.exec(codes.text)![0])

  const first = secret('first token', await visitor.create(workspace.id, { name: 'CI', scope: 'kanban:admin' }))

  const statuses = [await api('/v1/account', first)]
  statuses.push(
    await api('/v1/boards', first, { method: 'POST', body: '{"name":"Board"}', headers: { 'content-type': 'application/json' } }),
  )
  const list = await visitor.open('/settings/tokens')
  const at = /"(\/settings\/tokens\/[^"]*\/)rotate"/.exec(list.text)![1]
  await visitor.open(`${at}rotate`)
  const rotation = formOf(visitor.page!.text)
  const second = secret('second token', plaintextIn(await visitor.submit({ days: '30' })))
  await visitor.post(rotation.action, { ...rotation.hidden, days: '30' })
  statuses.push(await api('/v1/account', first), await api('/v1/account', second))
  const third = secret('third token', await visitor.create(workspace.id, { name: 'Leaked' }))
  const body = new URLSearchParams({ token: third })
  statuses.push(await api('/revoke', '', { method: 'POST', body }), await api('/v1/account', third))
  await visitor.open('/settings/tokens')
  const [, revoke] = /"(\/settings\/tokens\/[^"]*\/revoke)"/.exec(visitor.page!.text)!
  await visitor.open(revoke!)
  await visitor.submit()
  statuses.push(await api('/v1/account', second))
  const ofMachine = await operator('token', 'create', workspace.id, user.id, '--scope', 'read', '--name', 'Server')
  statuses.push(await api('/v1/account', secret('token of a machine', ofMachine.token)))
  const fourth = secret('fourth token', await visitor.create(workspace.id))
  // Invalid requests with secrets in unexpected places.
  await api(`/v1/boards?token=${fourth}`, fourth)
  await api(`/v1/boards/${fourth}`, fourth)
  await api('/v1/boards', fourth, {
    method: 'POST',
    body: JSON.stringify({ name: 'x', password }),
    headers: { 'content-type': 'application/json' },
  })
  await api('/v1/account', `${fourth}x`)
  await api(`/revoke?token=${fourth}`, '', { method: 'POST', body: fourth })
  await visitor.open(`/settings/missing?code=${encodeURIComponent(password)}`)
  await visitor.post('/settings/sign-out', { form_token: 'x', password })
  await visitor.post('/settings/sign-in', { form_token: 'x', email, password }, { headers: { 'content-type': 'text/plain' } })
  await visitor.open('/settings/tokens')
  await visitor.submit({ where: 'everywhere' }, '/settings/sign-out')
  expect(statuses).toEqual([200, 201, 401, 200, 200, 401, 401, 200])
  return { secrets, responses }
}

describe('secrets', () => {
  test.each(['fs', 'redis'])('no secret is in the %s storage, the output or a response', async (kind) => {
    const data = `${newFolder()}/data`
    const redis = kind === 'redis' ? await startRedis() : undefined
    const key = randomBytes(32).toString('base64')
    const env = { LANEKEEPER_STORAGE: redis?.url ?? `fs:${data}`, LANEKEEPER_LOG: 'debug', LANEKEEPER_SECRET_KEY: key }
    const service = await startService([], env)
    const host = new CommandHost(env)
    const operator = async (...args: string[]) => JSON.parse((await host.run([...args, '--json'])).stdout)
    const { secrets, responses } = await exerciseSecrets(service.url, operator)
    secrets.set('key of secrets', key)
    expect(secrets.size).toBeGreaterThan(20)
    const client = redis && new Redis(redis.url)
    const found: string[] = []
    const search = (where: string, bytes: Uint8Array) => found.push(...findIn(bytes, secrets).map((secret) => `${where}: ${secret}`))
    let searched = 0
    // Searched twice, because the records are in the log of the database while the service runs, and in its file after it has ended.
    for (const state of ['running', 'ended']) {
      if (state === 'ended') expect(await service.stop()).toBe(0)
      for await (const [where, bytes] of client === undefined ? filesOf(data) : valuesOf(client)) {
        search(`${state}, ${where}`, bytes)
        searched++
      }
    }
    search('stdout', Buffer.from(service.stdout()))
    for (const line of service.stderr().split('\n')) search(`log: ${line}`, Buffer.from(line))
    // The value of this cookie is repeated in every form, which is compared with the cookie.
    const notInResponses = new Map([...secrets].filter(([name]) => !name.startsWith('cookie lk_form')))
    for (const response of responses)
      found.push(...findIn(Buffer.from(response), notInResponses).map((secret) => `${response.slice(0, 200)}: ${secret}`))
    client?.disconnect()
    await redis?.stop()
    expect(found).toEqual([])
    // The search and the log were not empty.
    expect(searched).toBeGreaterThan(5)
    for (const event of ['token.created', 'token.rotated', 'token.revoked', 'token.replaced_used', 'web.signed_in', 'web.sign_in_refused'])
      expect(service.stderr()).toContain(event)
  })
})

describe('the search for secrets', () => {
  const secrets = new Map([['password', 'Pe\u00e4s "before" the r/ain + 7']])
  const [secret] = secrets.values()
  test.each([
    ['in JSON', (text: string) => JSON.stringify({ text })],
    ['in a URL', (text: string) => `/x?y=${encodeURIComponent(text)}&z`],
    ['in hex', (text: string) => Buffer.from(text).toString('hex')],
    ['in base64 after one byte', (text: string) => Buffer.from(`x${text}y`).toString('base64')],
    ['in base64 after two bytes', (text: string) => Buffer.from(`xx${text}y`).toString('base64')],
    ['in UTF-16', (text: string) => Buffer.from(`x${text}`, 'utf16le')],
  ])('a secret %s is found, another text is not', (_where, encode) => {
    expect(findIn(Buffer.from(encode(secret!) as string), secrets)).not.toEqual([])
    expect(findIn(Buffer.from(encode('something else altogether') as string), secrets)).toEqual([])
  })
})
