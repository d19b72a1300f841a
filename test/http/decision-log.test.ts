import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AuditRecorder } from '../../src/audit/recorder.ts'
import type { DecisionLog } from '../../src/decision-log/log.ts'
import { decisionsOf, readRecord } from '../../src/decision-log/recorded-decisions.ts'
import { Replay } from '../../src/decision-log/replay.ts'
import { limits } from '../../src/model/limits.ts'
import { operations } from '../../src/resources/table.ts'
import { entriesOf as auditEntriesOf, keepAudit } from '../support/audit-trail.ts'
import { isChain, linesOf, logDisk, PATH, recordRequests } from '../support/decision-log.ts'
import { TestBoard } from '../support/board.ts'
import type { FaultyDisk } from '../support/faulty-disk.ts'
import { memory } from '../support/memory.ts'
import { handWrittenOperations } from '../support/hand-written-decisions.ts'
import { edit } from '../support/other-policy.ts'
import { load, shippedFiles, withOwnDecisions } from '../support/policy.ts'
import { causeNotice } from '../support/cause-notice.ts'
import { createAllowed, exampleBody, headersFor, pathOf } from '../support/scenario.ts'
import { engine, Service, type Reply } from '../support/service.ts'
import { setUpObservedWorld } from './observed-commits.ts'

/** The number of decisions in a record. They are those that the engine makes from the recorded facts. */
function decisionsIn(record: object): number {
  const text = JSON.stringify(record)
  const replay = new Replay(engine)
  replay.add(text, { file: 'x', line: 1 })
  const recorded = [...decisionsOf(readRecord(text)!)].reduce((sum, one) => sum + one.count, 0)
  expect({ decisions: replay.decisions, differences: replay.differences }).toEqual({ decisions: recorded, differences: [] })
  return recorded
}

/** Makes the requests of a suite be recorded. @returns the records of what a function sends */
function setUpLog(serviceOf: () => Service) {
  let log: DecisionLog
  let disk: FaultyDisk
  beforeEach(async () => {
    disk = await logDisk()
    log = await recordRequests(serviceOf(), disk)
  })
  const lines = async () => (await log.flush(), linesOf(disk))
  return {
    async recordsOf(send: () => Promise<unknown>): Promise<any[]> {
      const before = (await lines()).length
      await send()
      return (await lines()).slice(before)
    },
    disk: () => disk,
    text: async () => (await log.flush(), (await disk.read(PATH))!.toString()),
  }
}

/** Operations whose items are decided one by one. */
const FILTERED = new Set(['boards.list', 'cards.search', 'notices.list'])

describe('a request that succeeds', () => {
  const observed = setUpObservedWorld(memory)
  const { recordsOf } = setUpLog(() => observed.service)
  let audit: AuditRecorder
  beforeAll(() => void (audit = keepAudit(observed.service)))
  const HEADERS = { 'user-agent': 'decision-log-test/1.0 (robot)', 'x-forwarded-for': '192.0.2.77' }
  const entriesOf = (send: () => Promise<unknown>) => auditEntriesOf(observed.service, audit, observed.world.workspaceId, send)

  test.each(handWrittenOperations)(
    'to $id has one record with both stages, and one entry in the audit trail if it changes something',
    async ({ id, method, path, scope, permission, row, also }) => {
      const { service, changes, world } = observed
      const scenario = await createAllowed(world, { id, method: method as 'GET' })
      const target = pathOf(path, scenario)
      const send = () => service.send(scenario.caller.admin, method, target, exampleBody(id, scenario), { ...HEADERS, ...headersFor(id) })
      // What is restored was archived, and what is released was claimed.
      if (id.endsWith('.restore')) await service.send(scenario.caller.admin, method, target.replace(/restore$/, 'archive'))
      if (id.startsWith('notices.')) await causeNotice(service, scenario)
      if (id === 'claims.release') await service.send(scenario.caller.admin, 'PUT', target, {})
      const isWrite = !operations.find((one) => one.id === id)!.isRead
      let reply!: Reply
      let records!: any[]
      let isChanged!: boolean
      const entries = await entriesOf(async () => {
        const before = changes.length
        records = await recordsOf(async () => (reply = await send()))
        isChanged = changes.length > before
      })
      expect({ isDone: reply.status < 300, isChanged }, reply.text).toEqual({ isDone: true, isChanged: isWrite })
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => scenario.params[name!]!)
      const isList = FILTERED.has(id)
      const account = (await service.send(scenario.caller.admin, 'GET', '/account')).body.data
      const shared = {
        request_id: reply.headers.get('x-request-id'),
        operation: id,
        token_id: account.token.id,
        user_id: scenario.caller.id,
        status: reply.status,
        code: null,
      }
      const scopeRow = { read: 'S1', write: 'S2', admin: 'S3' }[scope]
      expect(records).toEqual([
        expect.objectContaining({
          ...shared,
          prev: expect.stringMatching(/^[0-9a-f]{64}$/),
          time: '2026-11-20T12:00:00.000Z',
          kind: isList ? 'list' : 'decision',
          method,
          resource_id: names[0] ?? null,
          related_id: names[1] ?? null,
          workspace_id: scenario.caller.workspaceId,
          effect: isWrite ? 'commit' : 'none',
          policy: engine.hash,
          scope: { permission, facts: { 'token.scope': 'kanban:admin' }, required: `kanban:${scope}`, row: scopeRow, allowed: true },
        }),
      ])
      const [record] = records
      // Notices are decided as what they are about.
      const about = id === 'notices.list' ? { permission: 'read Card', row: 'P2' } : { permission, row }
      const decision = {
        ...about,
        fields: id === 'boards.update' ? Object.keys(exampleBody(id, scenario) as object) : null,
        facts: expect.any(Object),
        derived: expect.any(Object),
        outcome: 'allowed',
        rules: expect.arrayContaining([expect.stringMatching(/^[PX]\d+/)]),
      }
      if (isList) expect(record.list.decisions).toContainEqual({ count: expect.any(Number), permission: decision })
      else expect(record.permission).toEqual(decision)
      expect(record).not.toHaveProperty('stage')

      const created = reply.status === 201 ? [reply.headers.get('location')!.split('/').at(-1)!] : []
      const ids = [...new Set([...names, ...created])]
      const entry = {
        ...shared,
        at: '2026-11-20T12:00:00.000Z',
        token_name: 'test',
        ids: expect.arrayContaining(ids),
        rows: expect.arrayContaining([scopeRow, row]),
        outcome: 'done',
        address: '192.0.2.77',
        agent: HEADERS['user-agent'],
      }
      expect(entries).toEqual(isWrite ? [entry] : [])
      if (isWrite && id !== 'boards.batch') {
        expect(entries[0]!.ids.toSorted()).toEqual(ids.toSorted())
        const rows = new Set([scopeRow, row, ...Object.values(also).map((one) => one.row)])
        expect(entries[0]!.rows.filter((one) => !rows.has(one))).toEqual([])
      }
    },
  )

  test('to an operation that changes nothing has no effect, and no entry', async () => {
    const { service, world } = observed
    const scenario = await createAllowed(world, { id: 'boards.update', method: 'PATCH' })
    const key = { 'idempotency-key': 'update' }
    const update = (query = '', headers = {}) =>
      service.send(scenario.caller.write, 'PATCH', `/boards/${scenario.params['board_id']}${query}`, { name: 'N' }, headers)
    const without = async (send: () => Promise<unknown>) => {
      let records!: unknown[]
      expect(await entriesOf(async () => (records = await recordsOf(send)))).toEqual([])
      return records
    }
    expect(await without(() => update('?dry_run=true'))).toMatchObject([{ effect: 'none', dry_run: true, status: 200 }])
    expect(await recordsOf(() => update('', key))).toMatchObject([{ effect: 'commit' }])
    expect(await without(() => update('', key))).toMatchObject([{ kind: 'repetition', effect: 'none', status: 200 }])
    expect(await without(() => update())).toMatchObject([{ effect: 'none' }])
    // The commit has nothing but the response, for its repetitions.
    expect(await without(() => update('', { 'idempotency-key': 'another' }))).toMatchObject([{ effect: 'commit' }])
  })
})

describe('a request', async () => {
  const service = await Service.forSuite()
  const workspaceId = await service.workspace('Canary Workspace')
  const ann = await service.person(workspaceId, 'member', 'Canary Ann')
  const bob = await service.person(workspaceId, 'member', 'Canary Bob')
  const board = await TestBoard.create(service, ann)
  const hidden = await TestBoard.create(service, ann, 'private')
  const { recordsOf, text, disk } = setUpLog(() => service)
  const send = (...args: Parameters<Service['send']>) => recordsOf(() => service.send(...args))
  const ABSENT = 'brd_00000000000000000000'

  // The stages of other refusals: pipeline.test.ts.
  test.each<[how: string, token: () => string | null, method: string, path: string, body: unknown, expected: object]>([
    [
      'without a token',
      () => null,
      'GET',
      '/boards',
      undefined,
      { stage: 'credential', code: 'unauthorized', operation: null, user_id: null },
    ],
    ['to no operation', () => ann.read, 'GET', '/nonsense', undefined, { stage: 'route', code: 'not_found', operation: null }],
    ['with another method', () => ann.read, 'DELETE', '/boards', undefined, { stage: 'route', code: 'method_not_allowed' }],
    ['with a token without the scope', () => ann.read, 'POST', '/boards', {}, { stage: 'scope', code: 'insufficient_scope' }],
    ['with an invalid body', () => ann.write, 'POST', '/boards', {}, { stage: 'input', code: 'validation_failed' }],
    ['with broken JSON', () => ann.write, 'POST', '/boards', '{', { stage: 'input', code: 'bad_request' }],
  ])('%s is recorded as a refusal, with the stage that refused it', async (_how, token, method, path, body, expected: any) => {
    const records = await send(token(), method, path, body)
    expect(records).toMatchObject([{ kind: 'refusal', effect: 'none', user_id: ann.id, ...expected }])
    expect(records[0]).not.toHaveProperty('permission')
    expect(records[0].scope !== undefined).toBe(['scope', 'input'].includes(expected.stage))
  })

  test('to something that does not exist is recorded as an absence, with its id if it is one', async () => {
    expect(await send(ann.read, 'GET', `/boards/${ABSENT}`)).toMatchObject([
      { kind: 'absence', resource_id: ABSENT, code: 'not_found', scope: { permission: 'read Board', allowed: true } },
    ])
    expect(await send(ann.read, 'GET', '/boards/what-a-user-wrote')).toMatchObject([{ kind: 'absence', resource_id: null }])
    const cards = (column_id: string, more: object = {}) =>
      send(ann.write, 'POST', `/boards/${board.id}/cards`, { column_id, title: 'x', ...more })
    expect(await cards('col_00000000000000000000')).toMatchObject([{ kind: 'absence', resource_id: board.id }])
    const withLabel = await cards(await board.column(), { label_ids: ['lbl_00000000000000000000'] })
    expect(withLabel).toMatchObject([{ kind: 'absence', permission: { outcome: 'allowed' } }])
  })

  test('to a hidden board is recorded with the definition that denies access; one that is forbidden, with its decision', async () => {
    expect(await send(bob.read, 'GET', `/boards/${hidden.id}`)).toMatchObject([
      {
        kind: 'decision',
        code: 'not_found',
        resource_id: hidden.id,
        hidden: { definition: 'board.access', facts: { 'board.caller': 'none' } },
      },
    ])
    expect(await send(bob.admin, 'DELETE', `/boards/${board.id}`)).toMatchObject([
      { kind: 'decision', status: 403, code: 'forbidden', permission: { outcome: 'forbidden', row: 'P7', rules: [] } },
    ])
  })

  test('to a filtered list is recorded with its hidden items', async () => {
    // Only owners of the workspace, and its creator, can see a workspace board. The index still offers the board to everyone.
    const forOwners = 'board.visibility: workspace, caller.role: owner }'
    const files = edit(shippedFiles, [
      ['permissions', 'caller.membership: active, board.visibility: workspace }', `caller.membership: active, ${forOwners}`],
    ])
    const narrower = await Service.start(memory, { engine: withOwnDecisions(load(files)) })
    const workspaceId = await narrower.workspace()
    const [creator, other] = [await narrower.person(workspaceId), await narrower.person(workspaceId)]
    for (const person of [creator, other, creator]) await TestBoard.create(narrower, person)
    const log = await recordRequests(narrower, disk())
    await narrower.send(other.read, 'GET', '/boards')
    await log.flush()
    const { list } = (await linesOf(disk())).at(-1)
    // In the order of the boards, whose ids are random.
    const decisions = list.decisions.map(({ count, permission }: any) => `${count} ${permission.outcome}`)
    expect(decisions.toSorted()).toEqual(['1 allowed', '2 not_found'])
    await narrower.stop()
  })

  test('that is a batch is recorded with both stages of each operation', async () => {
    const operations = [
      { operation: 'columns.create', body: { name: 'x' } },
      { operation: 'cards.create', body: { column_id: '$0', title: 'x' } },
      { operation: 'cards.update', params: { card_id: '$1' }, body: { title: 'y' } },
    ]
    let reply!: Reply
    const batch = (items: object[]) => async () =>
      (reply = await service.send(ann.write, 'POST', `/boards/${board.id}/batch`, { operations: items }))
    const [record] = await recordsOf(batch(operations))
    expect(record).toMatchObject({
      kind: 'decision',
      operation: 'boards.batch',
      effect: 'commit',
      permission: { outcome: 'allowed', row: 'X5' },
    })
    const allowed = { scope: { allowed: true }, permission: { outcome: 'allowed' }, code: null }
    expect(record.batch).toMatchObject([
      { operation: 'columns.create', resource_id: board.id, ...allowed },
      { operation: 'cards.create', resource_id: board.id, ...allowed },
      { operation: 'cards.update', resource_id: reply.body.data.results[1].data.id, ...allowed },
    ])
    const failing = [operations[0]!, { operation: 'cards.archive', params: { card_id: 'crd_00000000000000000000' } }, operations[1]!]
    expect(await recordsOf(batch(failing))).toMatchObject([
      {
        code: 'not_found',
        effect: 'none',
        batch: [{ code: null }, { operation: 'cards.archive', code: 'not_found', scope: { allowed: true } }],
      },
    ])
  })

  test('that is an evaluation is recorded with both stages of each question', async () => {
    const question = (name: string, id: string) => ({ action: { name }, resource: { type: 'board', id } })
    const evaluations = [question('boards.read', board.id), question('boards.delete', board.id), question('boards.read', hidden.id)]
    const body = { subject: { type: 'user', id: 'me' }, evaluations }
    const [record] = await send(bob.write, 'POST', '/access/evaluations', body)
    expect(record).toMatchObject({ kind: 'decision', code: null, effect: 'none' })
    expect(record.evaluations).toMatchObject([
      { operation: 'boards.read', resource_id: board.id, code: null, permission: { outcome: 'allowed' } },
      { operation: 'boards.delete', code: 'insufficient_scope', scope: { allowed: false, required: 'kanban:admin' } },
      { operation: 'boards.read', resource_id: hidden.id, code: 'not_found', hidden: { definition: 'board.access' } },
    ])
  })

  test('that is a search is recorded with the decisions about boards once for the same facts, and can be replayed', async () => {
    const more = 12
    for (let i = 0; i < more; i++) await TestBoard.create(service, ann)
    const found = await service.send(bob.admin, 'POST', '/access/search/resource', {
      action: { name: 'boards.read' },
      resource: { type: 'board' },
    })
    const count = found.body.data.results.length
    const ask = { action: { name: 'board_members.add' }, resource: { type: 'board' } }
    const [record] = await send(bob.admin, 'POST', '/access/search/resource', ask)
    expect(record.kind).toBe('decision')
    expect(record.evaluations.length).toBeLessThanOrEqual(6)
    expect(count).toBeGreaterThan(more)
    for (const one of record.evaluations)
      expect(one).toMatchObject({ operation: 'board_members.add', resource_id: null, open: ['user_id'] })
    expect(record.evaluations.reduce((sum: number, one: any) => sum + one.count, 0)).toBe(count)
    const [line] = await send(bob.admin, 'POST', '/access/search/action', { resource: { type: 'board', id: board.id } })
    const onBoard = handWrittenOperations.filter(({ path }) => path.startsWith('/boards/{')).length
    expect(line.evaluations.map((one: any) => one.resource_id)).toEqual(Array.from({ length: onBoard }, () => board.id))
    expect({ record: decisionsIn(record), line: decisionsIn(line) }).toEqual({ record: 2 + 2 * count, line: 2 + 2 * onBoard })
  })

  test('has at most 4 KB for each question, whatever it names, and the same decision once', async () => {
    const others = await Promise.all(['member', 'owner', 'member'].map((role) => service.person(ann.workspaceId, role as 'member')))
    await board.add(others[0]!)
    const labels: string[] = []
    for (let i = 0; i < limits.labelsPerCard; i++) labels.push(await board.label(`${i}`))
    // Assignees whose facts differ, in turns.
    const assignee_ids = [others[0]!, bob, ann, others[1]!, others[2]!].map(({ id }) => id)
    const column_id = await board.column()
    const asked = (board_id: string, properties: object) => ({
      subject: { type: 'user', id: 'me' },
      action: { name: 'cards.create' },
      resource: { type: 'board', id: board_id, properties },
    })
    const many = asked(board.id, { column_id, label_ids: labels, assignee_ids })
    const evaluations = [...Array.from({ length: 50 }, () => many), ...Array.from({ length: 50 }, () => asked(hidden.id, { column_id }))]
    const [record] = await send(bob.write, 'POST', '/access/evaluations', { evaluations })
    const [first, ...further] = record.evaluations
    expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(4096)
    expect(first.further.reduce((sum: number, { count }: any) => sum + count, 0)).toBe(labels.length + assignee_ids.length)
    const vectors = first.further.map(({ permission }: any) => JSON.stringify(permission))
    expect(new Set(vectors).size).toBe(vectors.length)
    const [same, hiddenFrom] = [
      { operation: 'cards.create', code: null, as: 0 },
      { operation: 'cards.create', code: 'not_found' },
    ]
    const repeated = Array.from({ length: 49 }, () => expect.any(Object))
    expect(further).toEqual([...repeated, expect.objectContaining({ ...hiddenFrom, hidden: expect.any(Object) }), ...repeated])
    expect(further.slice(0, 49)).toMatchObject(repeated.map(() => same))
    expect(further.slice(50)).toMatchObject(repeated.map(() => ({ ...hiddenFrom, as: 50 })))
    expect(Buffer.byteLength(JSON.stringify(record))).toBeLessThan(20_000)
    expect(decisionsIn(record)).toBe(2 + 50 * (2 + labels.length + assignee_ids.length) + 50 * 2)
  })

  test('leaves neither a token nor anything that a user wrote in the log', async () => {
    const canary = 'canary-content'
    await send(ann.write, 'POST', '/boards', { name: canary, description: canary }, { 'idempotency-key': `"${canary}"` })
    await send(ann.write, 'POST', `/boards/${canary}/cards?x=${canary}`, { title: canary })
    await send(ann.write, 'GET', `/${canary}?q=${canary}`)
    await send(`lk_pat_${canary}`, 'GET', '/boards')
    const written = await text()
    expect(isChain(written)).toBe(true)
    expect(written).not.toMatch(/canary|lk_pat_/i)
    for (const token of [ann.write, ann.read, bob.read]) expect(written).not.toContain(token.slice(27, 60))
  })
})
