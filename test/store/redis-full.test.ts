import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openStorage } from '../../src/store/open.ts'
import type { RedisStore } from '../../src/store/redis/store.ts'
import { change, readRequest } from '../support/changes.ts'
import { quiet } from '../support/log.ts'
import { RedisPlace } from '../support/redis-place.ts'
import { Service, type Person } from '../support/service.ts'
import { signedIn } from '../support/visitor.ts'

const REFUSED = { name: 'StorageUnavailable', outcomeKnown: true, message: expect.stringMatching(/^Redis refused: OOM/) }
const MINUTE = 60_000

const redis = RedisPlace.forEach()

/** Gives Redis less memory than it uses. Some kilobytes more would let it accept single writes. */
const fill = () => redis.operator.config('SET', 'maxmemory', '1')

describe('a store on a Redis that is out of memory', () => {
  let store: RedisStore
  beforeEach(async () => {
    store = await redis.open()
    await store.commit('w1', change({ put: { 'a:1': { n: 1 }, 'a:2': { n: 2 } }, index: { i: { add: ['x 1', 'y 2'] } } }))
    await fill()
  })

  const put = (key: string) => change({ put: { [key]: { n: 3 } } })
  const state = async () => {
    const snapshot = (await store.read('w1', readRequest({ records: ['a:1', 'a:2', 'a:3'], ranges: [{ index: 'i', limit: 9 }] })))!
    return [snapshot.records.map(({ stored }) => stored?.value['n']), snapshot.ranges[0]!.entries]
  }

  test('makes a change that only revokes or removes, and refuses any other', async () => {
    await expect(async () => store.commit('w1', put('a:3'))).rejects.toMatchObject(REFUSED)
    const removal = change({ put: { 'a:1': { n: null } }, remove: ['a:2'], index: { i: { remove: ['y 2'] } } })
    expect(await store.commit('w1', { ...removal, onlyRemoves: true })).toBe('done')
    expect(await state()).toEqual([[null, undefined, undefined], ['x 1']])
    await expect(async () => store.commit('w1', put('a:3'))).rejects.toMatchObject(REFUSED)
  })

  test('makes no change that relies on something else than there is', async () => {
    const removal = change({ remove: ['a:1'], expect: { records: new Map([['a:1', 'another']]) } })
    expect(await store.commit('w1', { ...removal, onlyRemoves: true })).toBe('conflict')
    expect(await state()).toEqual([
      [1, 2, undefined],
      ['x 1', 'y 2'],
    ])
  })

  test('gives leases, without the lease that other processes would see', async () => {
    const lease = await store.takeLease('w1')
    const removal = change({ remove: ['a:1'] })
    expect(await store.commit('w1', { ...removal, lease: lease.id, onlyRemoves: true })).toBe('done')
    lease.end()
    expect(await redis.operator.exists('lk:{w1}:t')).toBe(0)
  })

  test('is not ready', async () => {
    await expect(store.ready()).rejects.toMatchObject(REFUSED)
    await redis.operator.config('SET', 'maxmemory', '0')
    await store.ready()
  })
})

describe('the service on a Redis that is out of memory', () => {
  let service: Service
  let member: Person
  beforeEach(async () => {
    const storage = await openStorage(redis.server.url, { log: quiet })
    const unused = () => Promise.reject(new Error('not supported by this test'))
    service = await Service.start({ name: 'redis', open: async () => ({ ...storage, recordKeys: unused, blobKeys: unused }) })
    member = await service.person(await service.workspace())
  })
  afterEach(async () => {
    await redis.operator.config('SET', 'maxmemory', '0')
    await service.stop()
  })

  // What else only revokes or removes: only-removes.test.ts.
  test('revokes a token on the page of its user, who signed in before', async () => {
    const visitor = await signedIn(service, member)
    const token = await visitor.create(member.workspaceId)
    await visitor.open('/settings/tokens')
    const revoke = /\/settings\/tokens\/[^"]+\/revoke(?=">Revoke<span class="unseen"> CI)/.exec(visitor.page!.text)![0]
    await fill()
    // From a minute on, a request stores that its session is used.
    service.now += 2 * MINUTE
    expect((await visitor.open(revoke)).status).toBe(200)
    const revoked = await visitor.submit({}, revoke)
    expect([revoked.status, revoked.text.includes('The token is revoked')]).toEqual([200, true])
    expect((await service.send(token, 'GET', '/account')).status).toBe(401)
  })
})
