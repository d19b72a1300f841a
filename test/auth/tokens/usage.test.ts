import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { UsageRecorder } from '../../../src/auth/tokens/usage.ts'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import { DAY, MINUTE } from '../../../src/model/time.ts'
import { decorateStore } from '../../../src/store/port.ts'
import { keys } from '../../../src/store/keys.ts'
import { drivers, type Driver } from '../../support/drivers.ts'
import { memory } from '../../support/memory.ts'
import { Service } from '../../support/service.ts'

/** Registers the hooks of a suite with a service and a workspace for each test. */
function setUpUsage(driver: Driver) {
  const setup = {} as { service: Service; workspace: string; commits: number }
  beforeEach(async () => {
    const service = await Service.start(driver)
    Object.assign(setup, { service, workspace: await service.workspace(), commits: 0 })
  })
  afterEach(() => setup.service.stop())
  /** A recorder of a process. Its commits are counted. */
  const createRecorder = (most?: number) => {
    const { service } = setup
    const store = decorateStore(service.store, {
      commit: (partition, change) => (setup.commits++, service.store.commit(partition, change)),
    })
    return new UsageRecorder({ ...service.deps, store }, most)
  }
  const useOf = (hash: string) => setup.service.write(setup.workspace, (tx) => tx.get(keys.tokenUse(hash)))
  return { setup, createRecorder, useOf }
}
const day = (of: string, calls: number, refusals: number) => ({ day: of, calls, refusals })

describe.each(drivers)('the use of a token, on $name', (driver) => {
  const { setup, createRecorder, useOf } = setUpUsage(driver)

  test('is shown with a precision of ten minutes', async () => {
    const { service, workspace } = setup
    const person = await service.person(workspace)
    const start = service.now
    const lastUsedAt = async (offset: number) => {
      service.now = start + offset
      const { body } = await service.send(person.read, 'GET', '/account')
      await service.app.services.usage.settled()
      return Date.parse(body.data.token.last_used_at) - start
    }
    await lastUsedAt(0)
    const shown = [await lastUsedAt(MINUTE), await lastUsedAt(10 * MINUTE), await lastUsedAt(11 * MINUTE)]
    expect(shown).toEqual([0, 0, 10 * MINUTE])
  })

  test('of two processes adds up, by day', async () => {
    const { service, workspace } = setup
    const recorders = [createRecorder(), createRecorder()]
    const begin = service.now
    for (let i = 0; i < 20; i++) {
      service.now = begin + (i < 10 ? 0 : DAY) + i
      recorders[i % 2]!.record(workspace, 'a', { address: `192.0.2.${i}`, agent: `agent ${i}`, isDenied: i % 5 === 0 })
    }
    await Promise.all(recorders.map((recorder) => recorder.flush()))
    const days = [day('2026-11-20', 10, 2), day('2026-11-21', 10, 2)]
    const at = new Date(service.now).toISOString()
    expect(await useOf('a')).toEqual({ at, address: '192.0.2.19', agent: 'agent 19', days })
  })
})

describe('the use of a token', () => {
  const { setup, createRecorder, useOf } = setUpUsage(memory)

  test('counts accepted and denied requests, and has the last client', async () => {
    const { service, workspace } = setup
    const person = await service.person(workspace)
    const get = (path: string, address: string) =>
      service.send(person.read, 'GET', path, undefined, { 'user-agent': `agent of ${address}` })
    await get('/account', 'a')
    await get('/cards/crd_00000000000000000000', 'b')
    await service.send(person.read, 'POST', '/boards', { name: 'x' })
    await service.leaveOnly(person.workspaceId, person.id)
    await get('/account', 'thief')
    await service.app.services.usage.flush()
    const days = [day('2026-11-20', 4, 3)]
    expect(await useOf(sha256Hex(person.read))).toMatchObject({ agent: 'agent of thief', days })
  })

  test('is written once in ten minutes, and denials alone cause no write until then', async () => {
    const { service, workspace } = setup
    const recorder = createRecorder()
    const record = async (isDenied: boolean) => {
      recorder.record(workspace, 'b', { isDenied })
      await recorder.settled()
      return setup.commits
    }
    expect([await record(true), await record(false), await record(false), await record(true)]).toEqual([0, 1, 1, 1])
    service.now += 10 * MINUTE
    expect([await record(true), await record(false)]).toEqual([1, 2])
    await recorder.flush()
    await recorder.flush()
    expect(setup.commits).toBe(2)
  })

  test('that was denied is written after ten minutes by one timer', async () => {
    onTestFinished(() => void vi.useRealTimers())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const recorder = createRecorder()
    for (let i = 0; i < 2; i++) {
      for (let k = 0; k < 3; k++) recorder.record(setup.workspace, 'e', { isDenied: true })
      expect(vi.getTimerCount()).toBe(1)
      vi.advanceTimersByTime(10 * MINUTE)
      expect(vi.getTimerCount()).toBe(0)
    }
    await recorder.settled()
    expect((await useOf('e'))!.days).toEqual([day('2026-11-20', 6, 6)])
  })

  test('is added to a stored use that was written earlier, has a later time or has no days', async () => {
    const { service, workspace } = setup
    const later = { at: '2026-11-21T12:00:00.000Z', address: 'b', agent: 'later' }
    const before = day('2026-11-21', 3, 1)
    await service.write(workspace, async (tx) => {
      await tx.read(['f', 'g'].map(keys.tokenUse))
      tx.put(keys.tokenUse('f'), { ...later, days: [before] })
      tx.put(keys.tokenUse('g'), later)
    })
    const recorder = createRecorder()
    for (const hash of ['f', 'g']) recorder.record(workspace, hash, { address: 'a', agent: 'earlier' })
    await recorder.flush()
    const earlier = day('2026-11-20', 1, 0)
    expect(await useOf('f')).toEqual({ ...later, days: [earlier, before] })
    expect(await useOf('g')).toEqual({ ...later, days: [earlier] })
  })

  test('is counted later if it cannot be written, and has 30 days', async () => {
    const { service, workspace } = setup
    const recorder = createRecorder()
    const { commit } = service.store
    service.store.commit = () => Promise.reject(new Error('seeded'))
    for (let i = 0; i < 40; i++) {
      recorder.record(workspace, 'c', { isDenied: true })
      await recorder.flush()
      service.now += DAY
    }
    service.store.commit = commit
    await recorder.flush()
    const days = (await useOf('c'))!.days!
    expect({ count: days.length, first: days[0], last: days.at(-1) }).toEqual({
      count: 30,
      first: day('2026-11-30', 1, 1),
      last: day('2026-12-29', 1, 1),
    })
  })

  test('that could not be written does not replace a later client', async () => {
    const { service, workspace } = setup
    let fail = (): void => undefined
    service.store.beforeCommit = () => new Promise<void>((_resolve, reject) => (fail = () => reject(new Error('seeded'))))
    const recorder = createRecorder()
    recorder.record(workspace, 'h', { agent: 'earlier' })
    await new Promise(setImmediate)
    service.now += 1
    recorder.record(workspace, 'h', { agent: 'later' })
    fail()
    await recorder.settled()
    await recorder.flush()
    const at = new Date(service.now).toISOString()
    expect(await useOf('h')).toEqual({ at, address: null, agent: 'later', days: [day('2026-11-20', 2, 0)] })
  })

  test('is written in the background, which can be waited for', async () => {
    let finish = (): void => undefined
    setup.service.store.beforeCommit = () => new Promise<void>((resolve) => (finish = resolve))
    const recorder = createRecorder()
    for (const hash of ['d', 'i']) recorder.record(setup.workspace, hash)
    let isSettled = false
    const settled = recorder.settled().then(() => (isSettled = true))
    await new Promise(setImmediate)
    expect(isSettled).toBe(false)
    finish()
    await settled
  })

  test('is remembered for a limited number of tokens, and the counts of a token that is forgotten are written', async () => {
    const recorder = createRecorder(3)
    const commitsOf = async (...hashes: string[]) => {
      const before = setup.commits
      for (const hash of hashes) recorder.record('wsp_1', hash)
      await recorder.settled()
      return setup.commits - before
    }
    expect(await commitsOf('first', '0', '1')).toBe(3)
    expect(await commitsOf('first', '0')).toBe(0)
    // The use of a token that is new is written at once.
    expect(await commitsOf('another')).toBe(2)
    expect(await commitsOf('0', 'first')).toBe(2)
    // Nothing was counted of '1' since it was written.
    expect(await commitsOf('unused')).toBe(1)
  })
})
