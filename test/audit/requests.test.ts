import { describe, expect, test } from 'vitest'
import { toLine, type Sink } from '../../src/http/decision-record.ts'
import { keys } from '../../src/store/keys.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { entriesOf, keepAudit, storedBatches } from '../support/audit-trail.ts'
import { buildWorld, createAllowed } from '../support/scenario.ts'
import { Service } from '../support/service.ts'

const AGENT = 'audit-test/1.0 (robot)'
const HEADERS = { 'user-agent': AGENT, 'x-forwarded-for': '192.0.2.77' }

const service = await Service.forSuite()
const world = await buildWorld(service)
const recorder = keepAudit(service)
const entriesAfter = (send: () => Promise<unknown>) => entriesOf(service, recorder, world.workspaceId, send)

// That each write has one entry, and one that changes nothing has none, is tested in http/decision-log.test.ts.
describe('the audit trail', () => {
  test('has no entry of a read, or of input that is refused', async () => {
    const { caller, params } = await createAllowed(world, { id: 'cards.archive', method: 'POST' })
    const entries = await entriesAfter(async () => {
      expect((await service.send(caller.admin, 'GET', `/cards/${params['card_id']}`)).status).toBe(200)
      expect((await service.send(caller.admin, 'PATCH', `/cards/${params['card_id']}`, { nonsense: 1 })).status).toBe(422)
      expect((await service.send(caller.admin, 'GET', '/nowhere')).status).toBe(404)
    })
    expect(entries).toEqual([])
  })

  test('has each kind of denial, with the token that was presented', async () => {
    const { caller, params } = await createAllowed(world, { id: 'cards.read', method: 'GET' })
    const card = `/cards/${params['card_id']}`
    const former = world.callers.get('member ended')!
    const expired = await service.token(world.workspaceId, caller.id, ['kanban:read'], 1)
    const hidden = await createAllowed(world, { id: 'boards.set_visibility', method: 'PUT' })
    const board = `/boards/${hidden.params['board_id']}`
    const member = world.callers.get('member active')!
    const cases = [
      [caller.read, 'DELETE', card, 403, 'insufficient_scope', 'cards.delete', ['S3']],
      [former.admin, 'GET', card, 401, 'unauthorized', 'authenticate', []],
      [expired, 'DELETE', card, 401, 'unauthorized', 'authenticate', []],
      [member.admin, 'PUT', `${board}/visibility`, 403, 'forbidden', 'boards.set_visibility', ['S3', 'P5']],
      [member.read, 'GET', '/cards/crd_00000000000000000000', 404, 'not_found', 'cards.read', ['S1']],
    ] as const
    service.now += 10
    for (const [token, method, path, status, code, operation, rows] of cases) {
      const body = method === 'PUT' ? { visibility: 'private' } : undefined
      const entries = await entriesAfter(async () =>
        expect((await service.send(token, method, path, body, HEADERS)).body.error.code, path).toBe(code),
      )
      const record = (await service.write(world.workspaceId, (tx) => tx.get(keys.token(sha256Hex(token)))))!
      const id = /\/([a-z]{3}_[0-9a-z]{20})/.exec(path)![1]
      expect(entries, code).toMatchObject([
        {
          outcome: 'denied',
          status,
          code,
          operation,
          rows,
          token_id: record.id,
          user_id: record.user_id,
          // What an unauthenticated request asks for is not examined.
          ids: status === 401 ? [] : [id],
          address: '192.0.2.77',
        },
      ])
    }
    service.now -= 10
  })

  test('has no entry of a token that never existed, or of no token', async () => {
    const entries = await entriesAfter(async () => {
      expect((await service.send(null, 'GET', '/account')).status).toBe(401)
      expect((await service.send('lk_pat_nonsense', 'GET', '/account')).status).toBe(401)
    })
    expect(entries).toEqual([])
  })

  test('counts a denial that is repeated at once', async () => {
    const { read } = world.callers.get('member active')!
    const probe = (card: string) => service.send(read, 'GET', `/cards/${card}`, undefined, HEADERS)
    const entries = await entriesAfter(async () => {
      for (const last of ['0', '0', '1', '0']) await probe(`crd_0000000000000000000${last}`)
    })
    expect(entries.map(({ ids, count }) => [ids[0]!.at(-1), count])).toEqual([
      ['0', 3],
      ['1', undefined],
    ])
  })

  test('names the items of a batch', async () => {
    const { caller, params } = await createAllowed(world, { id: 'cards.update', method: 'PATCH' })
    const operation = { operation: 'cards.update', params: { card_id: params['card_id'] }, body: { title: 'x' } }
    const entries = await entriesAfter(async () => {
      const reply = await service.send(caller.admin, 'POST', `/boards/${params['board_id']}/batch`, { operations: [operation] })
      expect(reply.status, reply.text).toBe(200)
    })
    expect(entries).toMatchObject([{ operation: 'boards.batch', ids: [params['board_id'], params['card_id']], rows: ['S2', 'X5', 'P9'] }])
  })

  test('has nothing secret: no token, no e-mail address, and nothing of a body', async () => {
    const { caller, params } = await createAllowed(world, { id: 'cards.create', method: 'POST' })
    const secret = 'SECRET-7f3a'
    const body = { title: `${secret} title`, column_id: params['column_id'], description: `mail to ${secret}@example.org` }
    const entries = await entriesAfter(async () => {
      const created = await service.send(caller.admin, 'POST', `/boards/${params['board_id']}/cards`, body, HEADERS)
      expect(created.status, created.text).toBe(201)
      await service.send(caller.admin, 'GET', `/cards?q=${secret}`, undefined, HEADERS)
      await service.send(caller.admin, 'GET', `/cards/${secret}`, undefined, HEADERS)
      await service.send(caller.read, 'POST', `/boards/${params['board_id']}/cards`, body, HEADERS)
    })
    expect(entries.map(({ outcome }) => outcome)).toEqual(['done', 'denied', 'denied'])
    const stored = JSON.stringify(await storedBatches(service, world.workspaceId))
    for (const text of [secret, caller.admin, caller.read, sha256Hex(caller.admin), caller.admin.slice(7)])
      expect(stored).not.toContain(text)
  })

  test('names what was done with the work on a card, and neither it nor the decision log has the reason or the question', async () => {
    const { caller, params } = await createAllowed(world, { id: 'claims.take', method: 'PUT' })
    const card = `/cards/${params['card_id']}`
    const secret = 'SECRET-91bc'
    const take = async () => {
      const { body } = await service.send(caller.admin, 'PUT', `${card}/claim`, {})
      return { 'if-claim': String(body.data.epoch) }
    }
    const lines: string[] = []
    const { services } = service.app
    const sink: Sink = (record) => lines.push(toLine(record, service.now, record.status, 'commit'))
    Object.assign(services, { sinks: [...services.sinks, sink] })
    let question = ''
    let answer = ''
    const entries = await entriesAfter(async () => {
      const send = (path: string, body?: object, headers = {}) => service.send(caller.admin, 'POST', card + path, body, headers)
      expect((await send('/claim/failure', { reason: `${secret} reason`, retry_after: 0 }, await take())).status).toBe(200)
      question = (await send('/claim/question', { question: `${secret} question` }, await take())).body.data.id
      answer = (await send('/answer', { body: `${secret} answer` })).body.data.id
      expect((await send('/retry')).status).toBe(200)
    })
    const id = params['card_id']!
    const done = { outcome: 'done', user_id: caller.id }
    expect(entries.filter(({ operation }) => operation !== 'claims.take')).toMatchObject([
      { ...done, operation: 'claims.fail', ids: [id], rows: ['S2', 'X11'] },
      { ...done, operation: 'claims.ask', ids: [id, question], rows: ['S2', 'X11'] },
      { ...done, operation: 'cards.answer', ids: [id, answer], rows: ['S2', 'X11'] },
      { ...done, operation: 'cards.retry', ids: [id], rows: ['S2', 'X11'] },
    ])
    expect(lines.filter((line) => line.includes('"claims.fail"')).length).toBe(1)
    expect(JSON.stringify(await storedBatches(service, world.workspaceId)) + lines.join()).not.toContain(secret)
  })

  test('has the beginning of a User-Agent, in printable characters', async () => {
    const { read } = world.callers.get('member active')!
    const agent = `x\t${'y'.repeat(300)}`
    const entries = await entriesAfter(() =>
      service.send(read, 'GET', '/cards/crd_00000000000000000000', undefined, { 'user-agent': agent }),
    )
    expect(entries[0]!.agent).toBe(`x ${'y'.repeat(118)}`)
  })
})
