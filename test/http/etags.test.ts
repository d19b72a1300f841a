import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Reply } from '../support/service.ts'
import { buildWorld, createScenario, exampleBody, type Scenario, type World } from '../support/scenario.ts'

const FACTS = {
  'caller.role': 'owner',
  'caller.membership': 'active',
  'board.visibility': 'workspace',
  'board.caller': 'creator',
  'file.owner': 'caller',
  'comment.author': 'caller',
  'label.board': 'this',
}
const rowOf = (id: string) => operations.find((row) => row.id === id)!
const writes = operations.filter(({ method }) => method !== 'GET').map(({ id }) => id)
const reads = operations.filter(({ method, entity }) => method === 'GET' && entity !== undefined).map(({ id }) => id)

/** The path whose ETag a write is compared with, by the kind of the record: the resource itself, or its parent. */
const entityPaths: Record<string, string> = {
  board: '/boards/{board_id}',
  column: '/columns/{column_id}',
  card: '/cards/{card_id}',
  label: '/labels/{label_id}',
  subtask: '/subtasks/{subtask_id}',
  comment: '/comments/{comment_id}',
  attachment: '/attachments/{attachment_id}',
}

describe.each(drivers)('ETags, on $name', (driver) => {
  let service: Service
  let world: World
  beforeAll(async () => {
    service = await Service.start(driver)
    world = await buildWorld(service)
  })
  afterAll(() => service.stop())
  const scenarioFor = async (id: string): Promise<Scenario> =>
    (await createScenario(world, FACTS, { related: rowOf(id).method === 'DELETE' }))!
  const fill = (path: string, { params }: Scenario) => path.replace(/\{(\w+)\}/g, (_match, name: string) => params[name]!)
  const request = (scenario: Scenario, id: string, headers: Record<string, string>): Promise<Reply> => {
    const { method, path } = rowOf(id)
    return service.send(scenario.caller.admin, method, fill(path, scenario), exampleBody(id, scenario), headers)
  }

  test.each(reads)('%s answers with 304 if If-None-Match is the current ETag', async (id) => {
    const scenario = await scenarioFor(id)
    const first = await request(scenario, id, {})
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^"[0-9a-z]{20}"$/)
    expect((await request(scenario, id, { 'if-none-match': etag })).status).toBe(304)
    expect((await request(scenario, id, { 'if-none-match': '"0"' })).headers.get('etag')).toBe(etag)
  })

  test.each(writes)('%s answers with 412 if If-Match is stale, and succeeds if it is the current ETag', async (id) => {
    const { path, entity } = rowOf(id)
    const scenario = await scenarioFor(id)
    const stale = await request(scenario, id, { 'if-match': '"00000000000000000000"' })
    expect([stale.status, stale.body.error.code]).toEqual([412, 'precondition_failed'])
    const kind = entity?.(scenario.params).split(':')[0]
    const entityPath = kind && entityPaths[kind]
    if (entityPath === undefined) return
    const current = (await service.send(scenario.caller.read, 'GET', fill(entityPath, scenario))).headers.get('etag')!
    expect([path, stale.headers.get('etag'), stale.body.error.current_etag]).toEqual([path, current, current])
    const done = await request(scenario, id, { 'if-match': current })
    expect(done.status).toBeLessThan(300)
    // The ETag of the response is the one that a later read returns.
    const location = done.headers.get('location')?.slice('/v1'.length) ?? fill(entityPath, scenario)
    const after = await service.send(scenario.caller.read, 'GET', location)
    expect(done.headers.get('etag')).toBe(after.headers.get('etag'))
  })

  test('a stale If-Match is answered with 412 only if neither 404 nor 403 applies', async () => {
    const scenario = await scenarioFor('comments.update')
    const update = (token: string, path: string) => service.send(token, 'PATCH', path, { body: 'x' }, { 'if-match': '"0"' })
    expect((await update(world.other.write, fill('/comments/{comment_id}', scenario))).body.error.code).toBe('forbidden')
    expect((await update(scenario.caller.write, '/comments/cmt_00000000000000000000')).status).toBe(404)
  })

  test('a write that changes nothing keeps the ETag', async () => {
    const scenario = await scenarioFor('cards.restore')
    const before = (await service.send(scenario.caller.read, 'GET', fill('/cards/{card_id}', scenario))).headers.get('etag')
    expect((await request(scenario, 'cards.restore', {})).headers.get('etag')).toBe(before)
  })

  test('If-None-Match compares weakly with each of its tags, and a 304 can be revalidated again', async () => {
    const scenario = await scenarioFor('boards.read')
    const etag = (await request(scenario, 'boards.read', {})).headers.get('etag')!
    const current = await request(scenario, 'boards.read', { 'if-none-match': `"other", W/${etag}` })
    expect([current.status, current.text, current.headers.get('etag'), current.headers.get('cache-control')]).toEqual([
      304,
      '',
      etag,
      'private, no-cache',
    ])
    expect((await request(scenario, 'boards.read', { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('of several concurrent writers with the same ETag exactly one succeeds', async () => {
    const scenario = await scenarioFor('boards.update')
    const path = fill('/boards/{board_id}', scenario)
    const etag = (await service.send(scenario.caller.read, 'GET', path)).headers.get('etag')!
    const replies = await Promise.all(
      ['one', 'two', 'three'].map((name) => service.send(scenario.caller.write, 'PATCH', path, { name }, { 'if-match': etag })),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412])
    const winner = replies.find(({ status }) => status === 200)!
    for (const loser of replies.filter(({ status }) => status === 412))
      expect([loser.headers.get('etag'), loser.body.error.current_etag]).toEqual([winner.headers.get('etag'), winner.headers.get('etag')])
  })

  test('If-Match compares strongly: a weak tag never matches, and a star always does', async () => {
    const scenario = await scenarioFor('boards.update')
    const etag = (await request(scenario, 'boards.read', {})).headers.get('etag')!
    expect((await request(scenario, 'boards.update', { 'if-match': `W/${etag}` })).status).toBe(412)
    expect((await request(scenario, 'boards.update', { 'if-match': '*' })).status).toBe(200)
  })
})
