import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { UsageRecorder } from '../../../src/auth/tokens/usage.ts'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import { DAY, MINUTE } from '../../../src/model/time.ts'
import { decorateStore } from '../../../src/store/port.ts'
import { keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { memory } from '../../support/memory.ts'
import { Service } from '../../support/service.ts'

const useOf = (service: Service, workspace: string, token: string) =>
  service.write(workspace, (tx) => tx.get(keys.tokenUse(sha256Hex(token))))

describe.each(drivers)('the use of a token, on $name', (driver) => {
  test('is shown with a precision of ten minutes', async () => {
    const service = await Service.start(driver)
    const person = await service.person(await service.workspace())
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
    await service.stop()
  })

  test('of two processes adds up, by day', async () => {
    const service = await Service.start(driver)
    const workspace = await service.workspace()
    const recorders = [new UsageRecorder(service.deps), new UsageRecorder(service.deps)]
    const begin = service.now
    for (let i = 0; i < 20; i++) {
      service.now = begin + (i < 10 ? 0 : DAY) + i
      recorders[i % 2]!.record(workspace, 'a'.repeat(64), { address: `192.0.2.${i}`, agent: `agent ${i}`, isDenied: i % 5 === 0 })
    }
    await Promise.all(recorders.map((recorder) => recorder.flush()))
    const use = await service.write(workspace, (tx) => tx.get(keys.tokenUse('a'.repeat(64))))
    expect(use).toEqual({
      at: new Date(service.now).toISOString(),
      address: '192.0.2.19',
      agent: 'agent 19',
      days: [
        { day: '2026-11-20', calls: 10, refusals: 2 },
        { day: '2026-11-21', calls: 10, refusals: 2 },
      ],
    })
    await service.stop()
  })
})

describe('the use of a token', () => {
  test('has what was accepted and what was denied, with the last client', async () => {
    const service = await Service.start(memory)
    const person = await service.person(await service.workspace())
    const get = (path: string, address: string) =>
      service.send(person.read, 'GET', path, undefined, { 'user-agent': `agent of ${address}` })
    await get('/account', 'a')
    await get('/cards/crd_00000000000000000000', 'b')
    await service.send(person.read, 'POST', '/boards', { name: 'x' })
    await service.leaveOnly(person.workspaceId, person.id)
    await get('/account', 'thief')
    await service.app.services.usage.flush()
    expect(await useOf(service, person.workspaceId, person.read)).toMatchObject({
      agent: 'agent of thief',
      days: [{ day: '2026-11-20', calls: 4, refusals: 3 }],
    })
    await service.stop()
  })

  test('is written once in ten minutes, and denials alone cause no write until then', async () => {
    const service = await Service.start(memory)
    const workspace = await service.workspace()
    let commits = 0
    const store = decorateStore(service.store, { commit: (partition, change) => (commits++, service.store.commit(partition, change)) })
    const recorder = new UsageRecorder({ ...service.deps, store })
    const record = async (isDenied: boolean) => {
      recorder.record(workspace, 'b'.repeat(64), { isDenied })
      await recorder.settled()
      return commits
    }
    expect([await record(true), await record(false), await record(false), await record(true)]).toEqual([0, 1, 1, 1])
    service.now += 10 * MINUTE
    expect([await record(true), await record(false)]).toEqual([1, 2])
    await recorder.flush()
    await recorder.flush()
    expect(commits).toBe(2)
    await service.stop()
  })

  test('that was denied is written after ten minutes by one timer', async () => {
    const service = await Service.start(memory)
    const workspace = await service.workspace()
    onTestFinished(() => void vi.useRealTimers())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const recorder = new UsageRecorder(service.deps)
    for (let i = 0; i < 2; i++) {
      for (let k = 0; k < 3; k++) recorder.record(workspace, 'e'.repeat(64), { isDenied: true })
      expect(vi.getTimerCount()).toBe(1)
      vi.advanceTimersByTime(10 * MINUTE)
      expect(vi.getTimerCount()).toBe(0)
    }
    await recorder.settled()
    const use = await service.write(workspace, (tx) => tx.get(keys.tokenUse('e'.repeat(64))))
    expect(use?.days).toEqual([{ day: '2026-11-20', calls: 6, refusals: 6 }])
    await service.stop()
  })

  test('is added to one that was written before it, has a later time or has no days', async () => {
    const service = await Service.start(memory)
    const workspace = await service.workspace()
    const later = { at: '2026-11-21T12:00:00.000Z', address: 'b', agent: 'later' }
    await service.write(workspace, async (tx) => {
      for (const hash of ['f', 'g']) await tx.get(keys.tokenUse(hash))
      tx.put(keys.tokenUse('f'), { ...later, days: [{ day: '2026-11-21', calls: 3, refusals: 1 }] })
      tx.put(keys.tokenUse('g'), later)
    })
    const recorder = new UsageRecorder(service.deps)
    for (const hash of ['f', 'g']) recorder.record(workspace, hash, { address: 'a', agent: 'earlier' })
    await recorder.flush()
    const earlier = { day: '2026-11-20', calls: 1, refusals: 0 }
    expect(await service.write(workspace, (tx) => tx.read([keys.tokenUse('f'), keys.tokenUse('g')]))).toEqual([
      { ...later, days: [earlier, { day: '2026-11-21', calls: 3, refusals: 1 }] },
      { ...later, days: [earlier] },
    ])
    await service.stop()
  })

  test('is counted later if it cannot be written, and has 30 days', async () => {
    const service = await Service.start(memory)
    const workspace = await service.workspace()
    let fails = true
    const commit = (...change: Parameters<typeof service.store.commit>) =>
      fails ? Promise.reject(new Error('seeded')) : service.store.commit(...change)
    const recorder = new UsageRecorder({ ...service.deps, store: decorateStore(service.store, { commit }) })
    for (let day = 0; day < 40; day++) {
      recorder.record(workspace, 'c'.repeat(64), { isDenied: true })
      await recorder.flush()
      service.now += DAY
    }
    fails = false
    await recorder.flush()
    const use = await service.write(workspace, (tx) => tx.get(keys.tokenUse('c'.repeat(64))))
    expect([use!.days!.length, use!.days![0], use!.days!.at(-1)]).toEqual([
      30,
      { day: '2026-11-30', calls: 1, refusals: 1 },
      { day: '2026-12-29', calls: 1, refusals: 1 },
    ])
    await service.stop()
  })

  test('is written in the background, which can be waited for', async () => {
    const service = await Service.start(memory)
    const workspace = await service.workspace()
    let finish = (): void => undefined
    service.store.beforeCommit = () => new Promise<void>((resolve) => (finish = resolve))
    const recorder = new UsageRecorder(service.deps)
    recorder.record(workspace, 'd'.repeat(64))
    let isSettled = false
    const settled = recorder.settled().then(() => (isSettled = true))
    await new Promise(setImmediate)
    expect(isSettled).toBe(false)
    finish()
    await settled
    await service.stop()
  })

  test('is remembered for as many tokens as there may be, and what was counted of the one that is forgotten is written', async () => {
    const service = await Service.start(memory)
    let commits = 0
    const store = decorateStore(service.store, { commit: (partition, change) => (commits++, service.store.commit(partition, change)) })
    const recorder = new UsageRecorder({ ...service.deps, store }, 3)
    const commitsOf = async (...hashes: string[]) => {
      const before = commits
      for (const hash of hashes) recorder.record('wsp_1', hash)
      await recorder.settled()
      return commits - before
    }
    expect(await commitsOf('first', '0', '1')).toBe(3)
    expect(await commitsOf('first', '0')).toBe(0)
    // The use of a token that is new is written at once.
    expect(await commitsOf('another')).toBe(2)
    expect(await commitsOf('0', 'first')).toBe(2)
    // Nothing was counted of '1' since it was written.
    expect(await commitsOf('unused')).toBe(1)
    await service.stop()
  })
})
