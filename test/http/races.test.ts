import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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
