import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandHost, runCommandLine, startService } from '../support/process.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { newFolder } from '../support/run.ts'
import { codeAt } from '../support/second-factor.ts'
import { visitorOf, type Visitor } from '../support/visitor.ts'

const PASSWORD = 'Seven lilac umbrellas'
const STEP = 30_000
type Env = Record<string, string>

const operatorOf = (env: Env) => {
  const host = new CommandHost(env)
  return async (...args: string[]) => JSON.parse((await host.run([...args, '--json'])).stdout)
}

/** Adds a person to a storage. @returns them in a browser */
async function addPerson(url: string, env: Env): Promise<Visitor & { email: string }> {
  const user = await operatorOf(env)('user', 'add', 'Nora Lindqvist', '--url', url)
  const visitor = visitorOf(url)
  const email = `${user.id}@example.org`
  await visitor.open(user.sign_up_link)
  await visitor.submit({ email, password: PASSWORD, again: PASSWORD })
  return Object.assign(visitor, { email })
}

/** Adds an authenticator app. @returns its secret, or the page that refuses it */
async function addApp(visitor: Visitor): Promise<string> {
  const page = await visitor.open('/settings/account/authenticator')
  if (page.status !== 200) return page.shown
  const offered = await visitor.submit({ password: PASSWORD })
  const secret = /<code class="spaced">([^<]+)</.exec(offered.text)?.[1]?.replaceAll(' ', '')
  if (secret === undefined) return offered.shown
  expect((await visitor.submit({ code: codeAt(secret, Date.now()) })).shown).toContain('Your recovery codes')
  return secret
}

/** Signs in with password and the next code, which is accepted already: the present one may have been used. */
async function signsIn(url: string, email: string, secret: string): Promise<boolean> {
  const visitor = visitorOf(url)
  await visitor.signIn(email, PASSWORD)
  await visitor.submit({ code: codeAt(secret, Date.now() + STEP) })
  return visitor.isSignedIn()
}

/** The one line that a refused start prints, apart from its log. */
async function refusal(env: Env): Promise<string> {
  const { code, stderr, stdout } = await runCommandLine(['serve', '--port', '0'], env)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  return stderr.replaceAll(/^\{.*\n/gm, '')
}

describe('a folder', () => {
  test('gets a key by init or by its first start, keeps working after a restart, and is refused without its key', async () => {
    const data = `${newFolder()}/data`
    const file = `${data}/secret.key`
    const env = { LANEKEEPER_STORAGE: `fs:${data}` }
    await operatorOf(env)('init', '--workspace', 'Acme', '--owner', 'Olivia', '--email', 'o@example.org')
    const key = readFileSync(file, 'utf8')
    expect({ bytes: Buffer.from(key, 'base64').length, mode: statSync(file).mode & 0o777 }).toEqual({ bytes: 32, mode: 0o600 })
    const service = await startService([], env)
    const nora = await addPerson(service.url, env)
    const secret = await addApp(nora)
    expect({ secret, exitCode: await service.stop() }).toEqual({ secret: expect.stringMatching(/^[A-Z2-7]{32}$/), exitCode: 0 })
    const again = await startService([], env)
    expect({ signsIn: await signsIn(again.url, nora.email, secret), file: readFileSync(file, 'utf8') }).toEqual({
      signsIn: true,
      file: key,
    })
    expect(JSON.stringify(await operatorOf(env)('check').catch(() => ''))).not.toContain('secret_unreadable')
    await again.stop()

    const id = /need the key ([0-9a-f]{8}), /
    rmSync(file)
    expect(await refusal(env)).toMatch(id)
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, key.slice(2), { mode: 0o600 })
    expect(await refusal(env)).toBe(`${file}: key 1 is not 32 bytes in base64 or hex; make one with: openssl rand -base64 32\n`)
    writeFileSync(file, key)
    chmodSync(file, 0o644)
    expect(await refusal(env)).toBe(`${file}: every user of the machine has access to it; run: chmod 600 ${file}\n`)
    chmodSync(file, 0o600)
    const other = randomBytes(32).toString('hex')
    expect(await refusal({ ...env, LANEKEEPER_SECRET_KEY: other })).toMatch(
      /^the stored secrets need the key .*forget-key" if it is lost\n$/,
    )
    expect(await refusal({ ...env, LANEKEEPER_SECRET_KEY_FILE: `${data}/absent` })).toBe(
      `LANEKEEPER_SECRET_KEY_FILE: there is no file ${data}/absent\n`,
    )
    const bad = { ...env, LANEKEEPER_SECRET_KEY: `${other}0` }
    expect(await refusal(bad)).toMatch(/^LANEKEEPER_SECRET_KEY: key 1 is not 32 bytes/)
    expect(await refusal(bad)).not.toContain(other)
    expect(await refusal({ ...env, LANEKEEPER_SECRET_KEY: other, LANEKEEPER_SECRET_KEY_FILE: file })).toContain('set only one of them')

    rmSync(file)
    expect(await operatorOf(env)('forget-key')).toEqual({ forgotten: [expect.stringMatching(/^[0-9a-f]{8}$/)] })
    const last = await startService([], env)
    expect(readFileSync(file, 'utf8')).not.toBe(key)
    expect(last.stderr()).toContain('secrets.unreadable')
    await last.stop()
  })

  test('gets a key by its first start, and one that was put there before is kept', async () => {
    for (const key of [undefined, `${randomBytes(32).toString('base64')}\n`]) {
      const data = newFolder()
      if (key !== undefined) writeFileSync(`${data}/secret.key`, key, { mode: 0o600 })
      const service = await startService([], { LANEKEEPER_STORAGE: `fs:${data}` })
      await service.stop()
      const found = readFileSync(`${data}/secret.key`, 'utf8')
      expect(found).toBe(key ?? found)
    }
  })
})

describe('two services on one Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const env = (database: number, key?: string): Env => ({
    LANEKEEPER_STORAGE: `${redis.url}/${database}`,
    ...(key !== undefined && { LANEKEEPER_SECRET_KEY: key }),
  })

  test('with the same key read what the other has encrypted, and one with another key or with none does not start', async () => {
    const [one, other] = [await startService([], env(1, first)), await startService([], env(1, first))]
    const nora = await addPerson(one.url, env(1))
    const secret = await addApp(nora)
    expect(await signsIn(other.url, nora.email, secret)).toBe(true)
    for (const key of [second, undefined]) expect(await refusal(env(1, key))).toContain('the stored secrets need the key ')
    const rotated = await startService([], env(1, `${second},${first}`))
    await rotated.stop()
    expect(await refusal(env(1, first))).toContain('the stored secrets need the key ')
    for (const service of [one, other]) await service.stop()
  })

  test('with different keys do not both encrypt: the second says so', async () => {
    const services = [await startService([], env(2, first)), await startService([], env(2, second))]
    const secrets: string[] = []
    for (const { url } of services) secrets.push(await addApp(await addPerson(url, env(2))))
    expect(secrets).toEqual([
      expect.stringMatching(/^[A-Z2-7]{32}$/),
      expect.stringContaining('Authenticator apps cannot be used at present'),
    ])
    expect(services[1]!.stderr()).toContain('secrets.unusable')
    for (const service of services) await service.stop()
  })

  test('without a key start, with a warning, and an app is not added', async () => {
    const service = await startService([], env(3))
    expect(await addApp(await addPerson(service.url, env(3)))).toContain('has to set LANEKEEPER_SECRET_KEY first')
    expect(service.stderr()).toContain('LANEKEEPER_SECRET_KEY is not set')
    await service.stop()
  })
})
