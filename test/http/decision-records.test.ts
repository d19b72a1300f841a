import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { limits } from '../../src/model/limits.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { operations } from '../../src/resources/table.ts'
import { loadEngine } from '../../src/policy/engine.ts'
import { drivers } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { shippedFiles } from '../support/policy.ts'
import { Service, type Person } from '../support/service.ts'

describe('what is told of a request once it is answered', () => {
  let service: Service
  let ann: Person
  let bob: Person
  let path: string
  beforeEach(async () => {
    service = await Service.start(drivers[0]!)
    const workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
    path = `/boards/${(await service.send(ann.write, 'POST', '/boards', { name: 'One' })).body.data.id}`
  })
  afterEach(() => service.stop())
  const last = () => service.records.at(-1)!

  test('what was decided, and on what', async () => {
    await service.send(bob.write, 'PATCH', path, { name: 'Two' })
    expect(last()).toMatchObject({
      operation: 'boards.update',
      status: 200,
      attempts: 1,
      userId: bob.id,
      scope: { allowed: true, row: 'S2' },
      decision: { outcome: 'allowed', row: 'P4', facts: { 'board.caller': 'none', 'board.visibility': 'workspace' } },
    })
    await service.send(bob.admin, 'PUT', `${path}/visibility`, { visibility: 'private' })
    expect(last()).toMatchObject({ status: 403, decision: { outcome: 'forbidden', row: 'P5' } })
  })

  test('nothing of an attempt that came to nothing', async () => {
    // Their uses are written now, so that the next commit is the request's own.
    for (const { write } of [ann, bob]) await service.send(write, 'GET', '/account')
    await service.app.services.usage.settled()
    service.store.beforeCommit = async () => void (await endMembership(service.deps, bob.workspaceId, bob.id))
    expect((await service.send(bob.write, 'PATCH', path, { name: 'Two' })).status).toBe(401)
    expect(last()).toEqual({ requestId: expect.any(String), policy: expect.any(String), attempts: 2, status: 401, code: 'unauthorized' })
    service.store.beforeCommit = async () => void (await service.send(ann.admin, 'DELETE', path))
    expect((await service.send(ann.write, 'PATCH', path, { name: 'Two' })).status).toBe(404)
    expect(last()).toMatchObject({ attempts: 2, status: 404, operation: 'boards.update' })
    expect(last()).not.toHaveProperty('decision')
  })

  test('of a list, how much of it was shown', async () => {
    await service.send(ann.write, 'POST', '/boards', { name: 'Three' })
    await service.send(bob.read, 'GET', '/boards')
    expect(last().listed).toEqual({ pair: 'read Board', asked: 2, shown: 2 })
  })

  test('what lies on a board that may not be seen', async () => {
    await service.send(ann.admin, 'PUT', `${path}/visibility`, { visibility: 'private' })
    expect((await service.send(bob.admin, 'PUT', `${path}/members/${bob.id}`)).status).toBe(404)
    expect(last().hidden).toMatchObject({ definition: 'board.access', facts: { 'board.visibility': 'private', 'board.caller': 'none' } })
  })

  test('whoever watches cannot change what was done, by failing', async () => {
    const app = createApp({
      ...service.deps,
      log: quiet,
      observe: () => {
        throw new Error('out of order')
      },
    })
    const response = await app.fetch(
      new Request('http://x/v1/boards', {
        method: 'POST',
        headers: { authorization: `Bearer ${ann.write}`, 'content-type': 'application/json' },
        body: '{"name":"Kept"}',
      }),
    )
    expect(response.status).toBe(201)
  })
})

describe('the permission table decides, whatever else would', () => {
  test('what a list shows: an index only gives candidates, and pages are filled past what is hidden', async () => {
    // A table by which a workspace board is open to its creator alone. The index still offers it to everyone.
    const permissions = {
      ...shippedFiles.permissions,
      text: shippedFiles.permissions.text.replace(
        'conditions: { caller.membership: active, board.visibility: workspace }',
        'conditions: { caller.membership: active, board.visibility: workspace, board.caller: creator }',
      ),
    }
    const service = await Service.start(drivers[0]!, { engine: loadEngine({ ...shippedFiles, permissions }) })
    const workspaceId = await service.workspace()
    const ann = await service.person(workspaceId)
    const bob = await service.person(workspaceId)
    for (let i = 0; i < 12; i++, service.now++)
      await service.send((i % 4 === 3 ? bob : ann).write, 'POST', '/boards', { name: `Board ${i}` })
    const { body } = await service.send(bob.read, 'GET', '/boards?limit=2')
    expect(body.data.map(({ name }: any) => name)).toEqual(['Board 3', 'Board 7'])
    const rest = await service.send(bob.read, 'GET', `/boards?limit=2&cursor=${body.page.next_cursor}`)
    expect(rest.body).toMatchObject({ data: [{ name: 'Board 11' }], page: { next_cursor: null } })
    await service.stop()
  })
})

describe.each(drivers)('what is read, and when, on $name', (driver) => {
  let service: Service
  let person: Person
  beforeEach(async () => {
    service = await Service.start(driver)
    person = await service.person(await service.workspace(), 'owner')
    service.store.touched.length = 0
    service.store.trips = 0
  })
  afterEach(() => service.stop())
  const kinds = async () => {
    await service.app.services.usage.settled()
    return [...new Set(service.store.touched.map((key) => key.split(':')[0]))]
  }

  test.each(operations.filter(({ method }) => method !== 'GET').map(({ id, method, path }) => [id, method, path] as const))(
    '%s with a token that lacks the scope, used for the first time: the token and the membership alone',
    async (_id, method, path) => {
      expect((await service.send(person.none, method, path.replaceAll(/\{\w+\}/g, 'brd_00000000000000000000'), {})).status).toBe(403)
      expect(await kinds()).toEqual(['token', 'membership'])
      expect(service.store.trips).toBe(1)
    },
  )

  test('what the input alone tells is told before a resource is read', async () => {
    for (const body of ['{"name":1}', '{"name":', JSON.stringify({ name: 'x'.repeat(limits.jsonBytes) })])
      expect([400, 413, 422]).toContain((await service.send(person.write, 'PATCH', '/boards/brd_00000000000000000000', body)).status)
    expect(await kinds()).toEqual(['token', 'membership', 'token_use'])
  })
})

describe('what a token is worth', () => {
  test('/account tells the closure of its scopes, least first, whatever was chosen', async () => {
    const service = await Service.start(drivers[0]!)
    const person = await service.person(await service.workspace())
    for (const [chosen, told] of [
      [['kanban:admin'], ['kanban:read', 'kanban:write', 'kanban:admin']],
      [['kanban:write'], ['kanban:read', 'kanban:write']],
      [['kanban:read'], ['kanban:read']],
      [
        ['other:x', 'kanban:write', 'kanban:read'],
        ['kanban:read', 'kanban:write'],
      ],
    ]) {
      const token = await service.token(person.workspaceId, person.id, chosen!)
      expect((await service.send(token, 'GET', '/account')).body.data.scopes).toEqual(told)
    }
    await service.stop()
  })

  test('the scheme is a word in any case (RFC 9110 §11.1)', async () => {
    const service = await Service.start(drivers[0]!)
    const person = await service.person(await service.workspace())
    for (const scheme of ['bearer', 'BEARER', 'bEaReR'])
      expect((await service.send(null, 'GET', '/account', undefined, { authorization: `${scheme} ${person.read}` })).status).toBe(200)
    await service.stop()
  })

  test('a token of before a rename is good where its prefix is configured, and only there', async () => {
    const place = await drivers[0]!.open()
    const kept = await Service.start({ name: 'shared', open: async () => place }, { legacyPrefixes: ['old'] })
    const person = await kept.person(await kept.workspace())
    const legacy = await kept.legacyToken(person, 'old')
    expect((await kept.send(legacy, 'GET', '/account')).status).toBe(200)
    expect((await kept.send(await kept.legacyToken(person, 'other'), 'GET', '/account')).status).toBe(401)
    const app = createApp({ store: place.store, log: quiet, clock: kept.deps.clock, random: systemRandom })
    const response = await app.fetch(new Request('http://x/v1/account', { headers: { authorization: `Bearer ${legacy}` } }))
    expect(response.status).toBe(401)
    await kept.stop()
  })
})
