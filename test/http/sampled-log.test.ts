import { describe, expect, test } from 'vitest'
import { sampleLog } from '../../src/http/sampled-log.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { keys } from '../../src/store/keys.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { captureLog } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { giveAccount, Visitor } from '../support/visitor.ts'

describe('a sampled log', () => {
  test('writes ten lines of a kind in a second, and then how many it left out', () => {
    const captured = captureLog()
    let now = 1_000_000
    const log = sampleLog(captured.log, () => now)
    for (let i = 0; i < 25; i++) log.warn({ i }, 'a kind')
    log.error({ i: 25 }, 'another kind')
    now += 999
    log.warn({ i: 26 }, 'a kind')
    now += 1
    for (let i = 27; i < 29; i++) log.warn({ i }, 'a kind')
    const lines = captured.lines.map(({ level, msg, i, left_out }) => [level, msg, i, left_out])
    const first = Array.from({ length: 10 }, (_, i) => [40, 'a kind', i, undefined])
    expect(lines).toEqual([...first, [50, 'another kind', 25, undefined], [40, 'a kind', 27, 16], [40, 'a kind', 28, undefined]])
  })

  test('accepts a line that is a message alone', () => {
    const captured = captureLog()
    const log = sampleLog(captured.log, () => 0)
    for (let i = 0; i < 11; i++) log.warn('a kind')
    expect(captured.lines.map(({ level, msg }) => [level, msg])).toEqual(Array.from({ length: 10 }, () => [40, 'a kind']))
  })

  test('goes on when the clock is set back', () => {
    const captured = captureLog()
    let now = 1_000_000
    const log = sampleLog(captured.log, () => now)
    for (let i = 0; i < 11; i++) log.error({}, 'a kind')
    now = 0
    log.error({}, 'a kind')
    expect(captured.lines).toHaveLength(11)
  })

  test('writes all lines below a warning, and all revocations', () => {
    const captured = captureLog()
    const log = sampleLog(captured.log, () => 0)
    for (let i = 0; i < 20; i++) {
      log.info({}, 'signed in')
      log.warn({ event: 'token.revoked' }, 'revoked')
    }
    expect(captured.lines).toHaveLength(40)
  })
})

/** Requests of each kind, more than are logged. */
const REQUESTS = 25

type Prepare = (service: Service, person: Person) => Promise<(i: number) => Promise<unknown>>
const prepareFailing =
  (error: Error): Prepare =>
  async (service, person) => {
    service.store.read = async () => {
      throw error
    }
    return () => service.send(person.read, 'GET', '/account')
  }
const prepareSignIns =
  (isThrottled: boolean): Prepare =>
  async (service, person) => {
    const email = await giveAccount(service, person)
    // Sign-ins are throttled by account and by address: many addresses and accounts are refused, and one is throttled.
    return async (i) => {
      const visitor = new Visitor(service, { address: isThrottled ? '192.0.2.1' : `192.0.${i}.1` })
      await visitor.open('/settings/sign-in')
      for (let again = 0; again < (isThrottled ? 3 : 1); again++)
        await visitor.submit({ email: isThrottled ? email : `${i}@example.org`, password: 'wrong password' })
    }
  }

/** Each line that a client can cause without any success, with a request that causes it. */
const causes: readonly [message: string, prepare: Prepare][] = [
  [
    'a replaced token was used',
    async (service, person) => {
      await service.write(person.workspaceId, async (tx) => {
        const key = keys.token(sha256Hex(person.read))
        const record = (await tx.get(key))!
        tx.put(key, { ...record, replaced_by: record.id, revoked_at: '2026-01-01T00:00:00.000Z' })
      })
      return () => service.send(person.read, 'GET', '/account')
    },
  ],
  ['storage unavailable', prepareFailing(new StorageUnavailable('gone'))],
  ['unexpected error', prepareFailing(new Error('a mistake'))],
  [
    'form refused',
    async (service) => {
      const form = { email: 'a@example.org', password: 'x' }
      return () => new Visitor(service).post('/settings/sign-in', form, { headers: { origin: 'https://evil.example' } })
    },
  ],
  ['sign-in refused', prepareSignIns(false)],
  ['sign-in throttled', prepareSignIns(true)],
]

test.each(causes)('a client that causes the line "%s" often gets ten of them into the log in a second', async (message, prepare) => {
  const captured = captureLog()
  const service = await Service.start(memory, { log: captured.log, proxies: 1 })
  const cause = await prepare(service, await service.person(await service.workspace()))
  for (let i = 0; i < REQUESTS; i++) await cause(i)
  const lines = () => captured.lines.filter(({ msg }) => msg === message)
  expect(lines()).toHaveLength(10)
  service.now += 1000
  await cause(REQUESTS)
  expect(lines()[10].left_out).toBeGreaterThanOrEqual(REQUESTS - 10)
  await service.stop()
})
