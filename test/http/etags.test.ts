import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { drivers } from '../support/drivers.ts'
import { requestExamples } from '../support/request-examples.ts'
import { Service, type Reply } from '../support/service.ts'
import { buildWorld, createScenario, type Scenario, type World } from '../support/scenario.ts'

const FACTS = {
  'caller.role': 'owner',
  'caller.membership': 'active',
  'board.visibility': 'workspace',
  'board.caller': 'creator',
  'file.owner': 'caller',
  'comment.author': 'caller',
  'label.board': 'this',
}
const writes = operations.filter(({ method }) => method !== 'GET')
const reads = operations.filter(({ method, entity }) => method === 'GET' && entity !== undefined)

/** Where the ETag comes from that a write is held against: the resource itself, or what encloses it. */
const enclosing: Record<string, string> = {
  board: '/boards/{board_id}',
  column: '/columns/{column_id}',
  card: '/cards/{card_id}',
  label: '/labels/{label_id}',
  subtask: '/subtasks/{subtask_id}',
  comment: '/comments/{comment_id}',
  attachment: '/attachments/{attachment_id}',
}

describe.each(drivers)('ETags of every operation, on $name', (driver) => {
  let service: Service
  let world: World
  beforeAll(async () => {
    service = await Service.start(driver)
    world = await buildWorld(service)
  })
  afterAll(() => service.stop())
  const stageFor = async (id: string): Promise<Scenario> => {
    const stage = (await createScenario(world, FACTS))!
    await requestExamples[id]!.prepare?.(stage, service)
    return stage
  }
  const fill = (path: string, { params }: Scenario) => path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name]!)
  const ask = (stage: Scenario, id: string, headers: Record<string, string>): Promise<Reply> => {
    const { method, path } = operations.find((row) => row.id === id)!
    const body = requestExamples[id]!.body?.(stage, undefined)
    return service.send(stage.caller.admin, method, fill(path, stage), body, headers)
  }

  test.each(reads.map(({ id }) => id))('%s: 304 for what one has', async (id) => {
    const stage = await stageFor(id)
    const first = await ask(stage, id, {})
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^"[0-9a-z]{20}"$/)
    expect((await ask(stage, id, { 'if-none-match': etag })).status).toBe(304)
    expect((await ask(stage, id, { 'if-none-match': '"0"' })).headers.get('etag')).toBe(etag)
  })

  test.each(writes.map(({ id }) => id))('%s: 412 for what one no longer has, done for what one has', async (id) => {
    const { path, entity } = operations.find((row) => row.id === id)!
    const stage = await stageFor(id)
    const stale = await ask(stage, id, { 'if-match': '"00000000000000000000"' })
    expect([stale.status, stale.body.error.code]).toEqual([412, 'precondition_failed'])
    const kind = entity === undefined ? undefined : entity(stage.params).split(':')[0]!
    const where = kind === undefined ? undefined : enclosing[kind]
    if (where === undefined) return
    const present = (await service.send(stage.caller.read, 'GET', fill(where, stage))).headers.get('etag')!
    expect([path, stale.headers.get('etag'), stale.body.error.current_etag]).toEqual([path, present, present])
    const done = await ask(stage, id, { 'if-match': present })
    expect(done.status).toBeLessThan(300)
    // The answer's ETag is that of what a read finds afterwards.
    const location = done.headers.get('location')?.slice('/v1'.length) ?? fill(where, stage)
    const after = await service.send(stage.caller.read, 'GET', location)
    expect(done.headers.get('etag')).toBe(after.headers.get('etag'))
  })

  test('only after 404 and 403', async () => {
    const stage = await stageFor('comments.update')
    const other = await service.send(
      world.other.write,
      'PATCH',
      fill('/comments/{comment_id}', stage),
      { body: 'x' },
      { 'if-match': '"0"' },
    )
    expect(other.body.error.code).toBe('forbidden')
    const absent = await service.send(
      stage.caller.write,
      'PATCH',
      '/comments/cmt_00000000000000000000',
      { body: 'x' },
      { 'if-match': '"0"' },
    )
    expect(absent.status).toBe(404)
  })

  test('a write that changes nothing keeps the ETag', async () => {
    const stage = await stageFor('cards.restore')
    const before = (await service.send(stage.caller.read, 'GET', fill('/cards/{card_id}', stage))).headers.get('etag')
    expect((await ask(stage, 'cards.restore', {})).headers.get('etag')).toBe(before)
  })
})
