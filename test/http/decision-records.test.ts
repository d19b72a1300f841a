import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endMembership } from '../../src/admin/memberships.ts'
import { createApp } from '../../src/app.ts'
import { recordUses } from '../support/board.ts'
import { quiet } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'

describe('the decision record of a request', () => {
  let service: Service
  let ann: Person
  let bob: Person
  let path: string
  beforeEach(async () => {
    service = await Service.start(memory)
    const workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
    path = `/boards/${(await service.send(ann.write, 'POST', '/boards', { name: 'One' })).body.data.id}`
  })
  afterEach(() => service.stop())
  const lastRecord = () => service.records.at(-1)!

  test('the record has the decisions of both tables and the facts that they are based on', async () => {
    await service.send(bob.write, 'PATCH', path, { name: 'Two' })
    expect(lastRecord()).toMatchObject({
      operation: 'boards.update',
      status: 200,
      attempts: 1,
      userId: bob.id,
      scope: { allowed: true, row: 'S2' },
      decision: { outcome: 'allowed', row: 'P4', facts: { 'board.caller': 'none', 'board.visibility': 'workspace' } },
    })
    await service.send(bob.admin, 'PUT', `${path}/visibility`, { visibility: 'private' })
    expect(lastRecord()).toMatchObject({ status: 403, decision: { outcome: 'forbidden', row: 'P5' } })
  })

  test('the record has nothing of an attempt that was repeated', async () => {
    await recordUses(service, ann, bob)
    service.store.beforeCommit = async () => void (await endMembership(service.deps, bob.workspaceId, bob.id))
    expect((await service.send(bob.write, 'PATCH', path, { name: 'Two' })).status).toBe(401)
    expect(lastRecord()).toEqual({
      requestId: expect.any(String),
      method: expect.any(String),
      arrivedAt: expect.any(Number),
      policy: expect.any(String),
      attempts: 2,
      logBytes: 0,
      stage: 'credential',
      status: 401,
      code: 'unauthorized',
    })
    service.store.beforeCommit = async () => void (await service.send(ann.admin, 'DELETE', path))
    expect((await service.send(ann.write, 'PATCH', path, { name: 'Two' })).status).toBe(404)
    expect(lastRecord()).toMatchObject({ attempts: 2, status: 404, operation: 'boards.update' })
    expect(lastRecord()).not.toHaveProperty('decision')
  })

  test('the record of a filtered list has the numbers of items that were decided and allowed', async () => {
    await service.send(ann.write, 'POST', '/boards', { name: 'Three' })
    await service.send(bob.read, 'GET', '/boards')
    expect(lastRecord().listed).toEqual({ permission: 'read Board', asked: 2, allowed: 2 })
  })

  test('the record of a request to a hidden board has the definition that denied access, and its facts', async () => {
    await service.send(ann.admin, 'PUT', `${path}/visibility`, { visibility: 'private' })
    expect((await service.send(bob.admin, 'PUT', `${path}/members/${bob.id}`)).status).toBe(404)
    expect(lastRecord().hidden).toMatchObject({
      definition: 'board.access',
      facts: { 'board.visibility': 'private', 'board.caller': 'none' },
    })
  })

  test('a sink that throws does not change the response', async () => {
    const app = createApp({
      ...service.deps,
      log: quiet,
      sinks: [
        () => {
          throw new Error('out of order')
        },
      ],
    })
    const response = await app.fetch(
      new Request('http://x/v1/boards', {
        method: 'POST',
        headers: { authorization: `Bearer ${ann.write}`, 'content-type': 'application/json' },
        body: '{"name":"Created"}',
      }),
    )
    expect(response.status).toBe(201)
  })
})
