import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { decorateStore, NO_EXPECTATION, StorageUnavailable, type Change } from '../../src/store/port.ts'
import { keys } from '../../src/store/keys.ts'
import { recordUses } from '../support/board.ts'
import { drivers, type Driver } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

interface Setup {
  readonly service: Service
  /** the creator of the board */
  readonly ann: Person
  /** sends the request under test */
  readonly bob: Person
  /** of the board */
  readonly path: string
}

async function setUp(driver: Driver): Promise<Setup> {
  const service = await Service.start(driver)
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'member', 'Ann')
  const bob = await service.person(workspaceId, 'member', 'Bob')
  const { body } = await service.send(ann.write, 'POST', '/boards', { name: 'Old', description: 'unchanged' })
  return { service, ann, bob, path: `/boards/${body.data.id}` }
}

const renameBoard = async ({ service, ann, path }: Setup) => service.send(ann.write, 'PATCH', path, { name: 'By Ann' })

/** Changes between the decision and the commit of Bob's update, and the status of its response. */
const changes: [what: string, change: (setup: Setup) => Promise<unknown>, status: number][] = [
  ['nothing changes', async () => undefined, 200],
  [
    'the token is revoked',
    async ({ service, bob }) =>
      service.write(bob.workspaceId, async (tx) => {
        const key = keys.token(sha256Hex(bob.write))
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
  ['the board is renamed', renameBoard, 200],
]

/** Sends Bob's update of the description, and makes a change just before it is committed. */
async function updateDuring(setup: Setup, change: (setup: Setup) => Promise<unknown>) {
  const { service, bob, path } = setup
  await recordUses(service, bob)
  service.store.beforeCommit = async () => void (await change(setup))
  return service.send(bob.write, 'PATCH', path, { description: 'By Bob' })
}

describe.each(drivers)('concurrent requests, on $name', (driver) => {
  let setup: Setup
  beforeEach(async () => {
    setup = await setUp(driver)
  })
  afterEach(() => setup.service.stop())

  test.each(changes)('if %s before the commit of an update, the request is decided again', async (_what, change, status) => {
    const reply = await updateDuring(setup, change)
    expect(reply.status).toBe(status)
    const { body } = await setup.service.send(setup.ann.read, 'GET', setup.path)
    if (reply.status === 200) expect(body.data.description).toBe('By Bob')
    else expect(body.data?.description ?? 'unchanged').toBe('unchanged')
  })

  test('an update does not overwrite a member that a concurrent update has changed', async () => {
    await updateDuring(setup, renameBoard)
    const { body } = await setup.service.send(setup.ann.read, 'GET', setup.path)
    expect(body.data).toMatchObject({ name: 'By Ann', description: 'By Bob' })
  })

  test('each of many concurrent updates is committed exactly once', async () => {
    const { service, ann, path } = setup
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, i) => service.send(ann.write, 'PATCH', path, i % 2 ? { name: `n${i}` } : { description: `d${i}` })),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(replies.map(({ headers }) => headers.get('etag'))).size).toBe(12)
  })
})

describe('a store that ignores expectations', () => {
  // Shows that the tests above can fail: without the expectations of a commit, every race is lost.
  const withoutExpectations: Driver = {
    name: 'without expectations',
    async open() {
      const opened = await drivers[0]!.open()
      const commit = (partition: string, change: Change) => opened.store.commit(partition, { ...change, expect: NO_EXPECTATION })
      return { ...opened, store: decorateStore(opened.store, { commit }) }
    },
  }
  test.each(changes.filter(([, , status]) => status !== 200))('commits an update although %s before', async (_what, change, status) => {
    const setup = await setUp(withoutExpectations)
    expect((await updateDuring(setup, change)).status).not.toBe(status)
    await setup.service.stop()
  })
})

describe('unavailable storage', () => {
  test.each(['read', 'commit'] as const)('a failed %s is answered with 503, and neither with 401 nor with a success', async (step) => {
    const { service, bob, path } = await setUp(drivers[0]!)
    service.store[step] = async () => {
      throw new StorageUnavailable('gone')
    }
    const reply = await service.send(bob.write, 'PATCH', path, { description: 'By Bob' })
    expect([reply.status, reply.body.error.code, reply.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
    expect(reply.headers.get('www-authenticate')).toBeNull()
  })

  test('a request that keeps conflicting with others is answered with 503', async () => {
    const { service, bob, path } = await setUp(drivers[0]!)
    service.store.commit = async () => 'conflict'
    expect((await service.send(bob.write, 'PATCH', path, { description: 'x' })).status).toBe(503)
  })
})
