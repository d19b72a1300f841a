import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
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

/** A resource with an ETag, or none. The ETag of `bytes` is the hash of a file, that of a `page` a weak one of a list. */
type Entity = 'board' | 'column' | 'card' | 'label' | 'subtask' | 'comment' | 'attachment' | 'file' | 'bytes' | 'page' | 'none'
/** By operation: the resource that If-Match refers to, and the resource whose ETag the response has. Written by hand. */
const expected = parse(readFileSync(new URL('../../fixtures/etags.yaml', import.meta.url), 'utf8')) as Record<
  string,
  { if_match: Entity; etag: Entity }
>
const writes = operations.filter(({ method }) => method !== 'GET').map(({ id }) => id)
const reads = operations.filter(({ method }) => method === 'GET').map(({ id }) => id)

/** The requests that return the current ETag of each kind of resource without changing it. */
const currentEtag: Readonly<Record<Exclude<Entity, 'none' | 'bytes' | 'page'>, readonly [method: string, path: string]>> = {
  board: ['GET', '/boards/{board_id}'],
  column: ['GET', '/columns/{column_id}'],
  card: ['GET', '/cards/{card_id}'],
  label: ['GET', '/labels/{label_id}'],
  subtask: ['GET', '/subtasks/{subtask_id}'],
  comment: ['GET', '/comments/{comment_id}'],
  attachment: ['GET', '/attachments/{attachment_id}'],
  file: ['GET', '/files/{file_id}'],
}

test('the table states the ETags of every operation', () => {
  expect(Object.keys(expected).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
})

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

  const etagOf = async (scenario: Scenario, entity: keyof typeof currentEtag): Promise<string> => {
    const [method, path] = currentEtag[entity]
    return (await service.send(scenario.caller.admin, method, fill(path, scenario))).headers.get('etag')!
  }

  test.each(reads)('%s has the ETag that the table states, and answers 304 to it', async (id) => {
    const scenario = await scenarioFor(id)
    const first = await request(scenario, id, {})
    const etag = first.headers.get('etag')
    const entity = expected[id]!.etag
    if (entity === 'none') {
      expect(etag).toBeNull()
      expect((await request(scenario, id, { 'if-none-match': '*' })).status).toBe(200)
      return
    }
    if (entity === 'bytes') expect(etag).toBe('"0"')
    else if (entity === 'page') expect(etag).toMatch(/^W\/"[0-9a-f]{40}"$/)
    else expect(etag).toBe(await etagOf(scenario, entity))
    expect((await request(scenario, id, { 'if-none-match': etag! })).status).toBe(304)
    expect((await request(scenario, id, { 'if-none-match': '*' })).status).toBe(304)
    expect((await request(scenario, id, { 'if-none-match': '"other"' })).headers.get('etag')).toBe(etag)
  })

  test.each(writes)('%s answers 412 if If-Match is stale, and succeeds with the ETag that the table states', async (id) => {
    const scenario = await scenarioFor(id)
    const { if_match, etag } = expected[id]!
    if (if_match === 'bytes' || if_match === 'page') throw new Error('no write refers to bytes or to a page')
    const stale = await request(scenario, id, { 'if-match': '"00000000000000000000"' })
    expect([stale.status, stale.body.error.code]).toEqual([412, 'precondition_failed'])
    const current = if_match === 'none' ? null : await etagOf(scenario, if_match)
    expect([stale.headers.get('etag'), stale.body.error.current_etag ?? null]).toEqual([current, current])
    const done = await request(scenario, id, current === null ? {} : { 'if-match': current })
    expect(done.status).toBeLessThan(300)
    if (etag === 'none') expect(done.headers.get('etag')).toBeNull()
    else {
      // The ETag of the response is the one that a later read returns.
      const location = done.headers.get('location')?.slice('/v1'.length)
      const later =
        location === undefined
          ? await etagOf(scenario, etag as keyof typeof currentEtag)
          : (await service.send(scenario.caller.read, 'GET', location)).headers.get('etag')
      expect(done.headers.get('etag')).toBe(later)
      expect(location === undefined || location.startsWith(`/${etag}s/`)).toBe(true)
    }
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
})
