import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { keys } from '../../src/store/keys.ts'
import { StorageUnavailable, type Change } from '../../src/store/port.ts'
import { hashToken } from '../../src/auth/tokens/secret.ts'
import { altered } from '../support/altered.ts'
import { drivers, type Driver } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

/** What others do between the check and the act, and what the request must then be answered. */
const meanwhile: [what: string, (stage: Stage) => Promise<unknown>, status: number][] = [
  ['nothing', async () => undefined, 200],
  [
    'the token is revoked',
    async ({ service, bob }) =>
      service.write(bob.workspaceId, async (tx) => {
        const key = keys.token(hashToken(bob.write))
        tx.put(key, { ...(await tx.get(key))!, revoked_at: '2026-11-20T12:00:00.000Z' })
      }),
    401,
  ],
  ['the membership ends', async ({ service, bob }) => endMembership(service.deps, bob.workspaceId, bob.id), 401],
  [
    'the board becomes private',
    async ({ service, ann, path }) => service.send(ann.admin, 'PUT', `${path}/visibility`, { visibility: 'private' }),
    404,
  ],
  ['the board is deleted', async ({ service, ann, path }) => service.send(ann.admin, 'DELETE', path), 404],
  ['the board is renamed', async ({ service, ann, path }) => service.send(ann.write, 'PATCH', path, { name: 'By Ann' }), 200],
]

interface Stage {
  readonly service: Service
  readonly ann: Person
  readonly bob: Person
  readonly path: string
}

async function setStage(driver: Driver): Promise<Stage> {
  const service = await Service.start(driver)
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'member', 'Ann')
  const bob = await service.person(workspaceId, 'member', 'Bob')
  const { body } = await service.send(ann.write, 'POST', '/boards', { name: 'Old', description: 'kept' })
  return { service, ann, bob, path: `/boards/${body.data.id}` }
}

async function race(stage: Stage, act: (stage: Stage) => Promise<unknown>) {
  const { service, bob, path } = stage
  await service.send(bob.write, 'GET', '/account')
  await service.app.services.usage.settled()
  service.store.beforeCommit = async () => void (await act(stage))
  return service.send(bob.write, 'PATCH', path, { description: 'By Bob' })
}

describe.each(drivers)('to check and to act are one step, on $name', (driver) => {
  let stage: Stage
  beforeEach(async () => {
    stage = await setStage(driver)
  })
  afterEach(() => stage.service.stop())

  test.each(meanwhile)('%s in between', async (_what, act, status) => {
    const reply = await race(stage, act)
    expect(reply.status).toBe(status)
    const { body } = await stage.service.send(stage.ann.read, 'GET', stage.path)
    if (reply.status === 200) expect(body.data.description).toBe('By Bob')
    else expect(body.data?.description ?? 'kept').toBe('kept')
  })

  test('what another changed in between is kept', async () => {
    await race(stage, meanwhile.at(-1)![1])
    const { body } = await stage.service.send(stage.ann.read, 'GET', stage.path)
    expect(body.data).toMatchObject({ name: 'By Ann', description: 'By Bob' })
  })

  test('of many writers at once each is done, none twice', async () => {
    const { service, ann, path } = stage
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, i) => service.send(ann.write, 'PATCH', path, i % 2 ? { name: `n${i}` } : { description: `d${i}` })),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(replies.map(({ headers }) => headers.get('etag'))).size).toBe(12)
  })
})

describe('a storage that forgets what was expected', () => {
  // The planted bug: these are the races above, lost. If this test fails, those prove nothing.
  const forgetful: Driver = {
    name: 'forgetful',
    async open() {
      const place = await drivers[0]!.open()
      const forget = (change: Change): Change => ({ ...change, expect: { records: new Map(), indexes: new Map(), capacity: new Map() } })
      const store = altered(place.store, { commit: (partition, change) => place.store.commit(partition, forget(change)) })
      return { ...place, store }
    },
  }
  test.each(meanwhile.filter(([, , status]) => status !== 200))('%s in between: it is not noticed', async (_what, act, status) => {
    const stage = await setStage(forgetful)
    expect((await race(stage, act)).status).not.toBe(status)
    await stage.service.stop()
  })
})

describe('a storage out of reach', () => {
  test.each(['read', 'commit'] as const)('at %s: 503, never a 401 and never a success', async (step) => {
    const stage = await setStage(drivers[0]!)
    const { service, bob, path } = stage
    const failing = async () => {
      throw new StorageUnavailable('gone')
    }
    service.store[step] = failing
    const reply = await service.send(bob.write, 'PATCH', path, { description: 'By Bob' })
    expect([reply.status, reply.body.error.code, reply.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
    expect(reply.headers.get('www-authenticate')).toBeNull()
  })

  test('that never stops changing: 503 after a while', async () => {
    const { service, bob, path } = await setStage(drivers[0]!)
    service.store.commit = async () => 'conflict'
    expect((await service.send(bob.write, 'PATCH', path, { description: 'x' })).status).toBe(503)
  })
})
