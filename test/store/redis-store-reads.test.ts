import { ReplyError } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ReadRequest } from '../../src/store/port.ts'
import { CommandFailed, type Pool } from '../../src/store/redis/pool.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { expectation, readRequest } from '../support/changes.ts'
import { LOST } from '../support/redis-clients.ts'

// Which commands the store sends. What they return is tested by the contract, on a real Redis.

let commands: unknown[][]
let store: RedisStore
/** The replies to commands, by their names. */
let replies: Record<string, unknown[]>
beforeEach(() => {
  commands = []
  replies = {}
  const command =
    (name: string) =>
    async (...values: unknown[]) => {
      commands.push([name, ...values])
      const reply = replies[name]!.shift()
      if (reply instanceof Error) throw reply
      return reply
    }
  const multi = (queued: unknown[][]) => ({ exec: () => command('multi')(...queued) })
  const client = { mget: command('mget'), lkRead: command('lkRead'), multi }
  const pool = {
    runRead: (run: (on: unknown) => Promise<unknown>) =>
      run(client).catch((error: Error) => {
        throw error instanceof CommandFailed ? error : new CommandFailed(error)
      }),
  }
  store = new RedisStore(pool as unknown as Pool, 'lk')
})

const read = (part: Partial<ReadRequest>) => store.read('w1', readRequest(part))
const namesOfCommands = () => commands.map(([name]) => name)
/** The reply to a transaction. */
const done = (...results: unknown[]) => results.map((result) => [null, result])
const expectRecord = (key: string, expected: string | null) => expectation({ records: new Map([[key, expected]]) })

describe('a read from Redis', () => {
  test('of records by their keys is one MGET', async () => {
    replies = { mget: [['r1 {"n":1}', null]] }
    expect(await read({ records: ['a:1', 'a:2'] })).toEqual({
      records: [
        { key: 'a:1', stored: { revision: 'r1', value: { n: 1 } } },
        { key: 'a:2', stored: null },
      ],
      ranges: [],
      counts: [],
    })
    expect(commands).toEqual([['mget', ['lk:{w1}:r:a:1', 'lk:{w1}:r:a:2']]])
  })

  test('of a single record by its key is one MGET too', async () => {
    replies = { mget: [['r1 {}']] }
    await read({ records: ['a:1'] })
    expect(commands).toEqual([['mget', ['lk:{w1}:r:a:1']]])
  })

  test('of records that expects others is one MGET of all', async () => {
    replies = { mget: [['r1 {}', 'r2 {}']] }
    const snapshot = await read({ records: ['a:1'], expect: expectRecord('a:2', 'r2') })
    expect(snapshot).toEqual({ records: [{ key: 'a:1', stored: { revision: 'r1', value: {} } }], ranges: [], counts: [] })
    expect(commands).toEqual([['mget', ['lk:{w1}:r:a:1', 'lk:{w1}:r:a:2']]])
  })

  test('of ranges and counts is one transaction', async () => {
    const ranges = [
      { index: 'i', limit: 2 },
      { index: 'j', after: 'a', before: 'b', reverse: true, limit: 3 },
    ]
    replies = { multi: [done(['r1 {}', null], ['v1', 'v2', null], ['x'], ['y', 'z'], 7, 8)] }
    const expected = { records: new Map([['a:2', null]]), indexes: new Map([['e', 'v1']]) }
    expect(await read({ records: ['a:1'], ranges, counts: ['k', 'l'], expect: expectation(expected) })).toEqual({
      records: [{ key: 'a:1', stored: { revision: 'r1', value: {} } }],
      ranges: [
        { entries: ['x'], revision: 'v2', records: [] },
        { entries: ['y', 'z'], revision: null, records: [] },
      ],
      counts: [7, 8],
    })
    expect(commands).toEqual([
      [
        'multi',
        ['mget', 'lk:{w1}:r:a:1', 'lk:{w1}:r:a:2'],
        ['hmget', 'lk:{w1}:v', 'e', 'i', 'j'],
        ['zrangebylex', 'lk:{w1}:i:i', '-', '+', 'LIMIT', 0, 2],
        ['zrevrangebylex', 'lk:{w1}:i:j', '(b', '(a', 'LIMIT', 0, 3],
        ['zcard', 'lk:{w1}:i:k'],
        ['zcard', 'lk:{w1}:i:l'],
      ],
    ])
  })

  test('of nothing but a count is a transaction too', async () => {
    replies = { multi: [done(3)] }
    expect((await read({ counts: ['i'] }))!.counts).toEqual([3])
    expect(commands).toEqual([['multi', ['zcard', 'lk:{w1}:i:i']]])
  })

  const partly = { revision: 'r1', members: { b: '2' } }
  test.each<[string, unknown, string | null, boolean]>([
    ['a revision', 'r1', 'r1 {}', true],
    ['a revision, and there is another', 'r1', 'r2 {}', false],
    ['a revision, and there is one that begins in the same way', 'r1', 'r11 {}', false],
    ['a revision, and there is no record', 'r1', null, false],
    ['no record', null, null, true],
    ['no record, and there is one', null, 'r1 {}', false],
    ['members, and the revision is the same', partly, 'r1 {}', true],
    ['members, which another revision has', partly, 'r2 {"b":"2"}', true],
    ['members, which another revision has not', partly, 'r2 {"b":"3"}', false],
    ['members, and there is no record', partly, null, false],
  ])('that expects %s', async (_what, expected, text, isMet) => {
    replies = { mget: [['r9 {}', text]] }
    const snapshot = await read({ records: ['a:9'], expect: expectation({ records: new Map([['a:1', expected as string]]) }) })
    expect(snapshot !== null).toBe(isMet)
  })

  test.each<[string | null, string | null, boolean]>([
    ['v1', 'v1', true],
    ['v1', 'v2', false],
    ['v1', null, false],
    [null, null, true],
    [null, 'v1', false],
  ])('that expects the revision %s of an index, which is %s', async (expected, revision, isMet) => {
    replies = { multi: [done([revision])] }
    expect((await read({ expect: expectation({ indexes: new Map([['i', expected]]) }) })) !== null).toBe(isMet)
  })

  test.each<[string, Partial<ReadRequest>]>([
    ['a template', { records: ['a:1', 'b:{0.b}'] }],
    ['the records of a range', { records: ['a:1'], ranges: [{ index: 'i', limit: 1, fetch: 'a:' }] }],
    ['many expected records', { expect: expectation({ records: new Map(Array.from({ length: 17 }, (_, i) => [`a:${i}`, 'r1'])) }) }],
  ])('with %s is one script', async (_what, request) => {
    replies = { lkRead: [null] }
    expect(await read(request)).toBeNull()
    expect(commands).toEqual([['lkRead', 'lk:{w1}:n', ...Array.from({ length: commands[0]!.length - 2 }, () => expect.any(String))]])
  })

  test.each(['mget', 'multi', 'lkRead'])('whose %s fails finds the storage unavailable', async (name) => {
    replies = { [name]: [LOST] }
    const outcome = read({ mget: { records: ['a:1'] }, multi: { counts: ['i'] }, lkRead: { records: ['a:{0.b}'] } }[name]!)
    await expect(outcome).rejects.toMatchObject({ name: 'StorageUnavailable', message: 'Redis did not answer' })
  })

  const aborted = (reason: string) =>
    Object.assign(new ReplyError('EXECABORT Transaction discarded'), { previousErrors: [new ReplyError(reason), new ReplyError('last')] })

  test('whose transaction is refused tells the first reason', async () => {
    replies = { multi: [aborted('ASK 1 host:1'), [[new ReplyError('WRONGTYPE'), null]]] }
    await expect(read({ counts: ['i'] })).rejects.toThrow('Redis refused: ASK 1 host:1')
    await expect(read({ counts: ['i'] })).rejects.toThrow('Redis refused: WRONGTYPE')
  })

  test('is a script on a Redis that is out of memory, which queues no commands', async () => {
    replies = { multi: [aborted('OOM command not allowed')], lkRead: [[[], [], [], [4], []]] }
    expect((await read({ counts: ['i'] }))!.counts).toEqual([4])
    expect(namesOfCommands()).toEqual(['multi', 'lkRead'])
  })

  const templates = ['a:1', 'b:{0.b}']
  const script = (b: string | null) => [
    ['a:1', b === null ? null : `b:${b}`],
    [`r1 {"b":${JSON.stringify(b)}}`, b === null ? null : 'r1 {}'],
    [],
    [],
    [],
  ]
  const keysOf = async () => (await read({ records: templates }))!.records.map(({ key }) => key)

  test('with a template that was resolved before is one MGET', async () => {
    replies = { lkRead: [script('2')], mget: [['r1 {"b":"2"}', 'r1 {}']] }
    expect([await keysOf(), await keysOf()]).toEqual([templates.with(1, 'b:2'), templates.with(1, 'b:2')])
    expect(namesOfCommands()).toEqual(['lkRead', 'mget'])
  })

  test('with a template that leads to another record by now is repeated as a script, and the next one is an MGET again', async () => {
    replies = {
      lkRead: [script('2'), script('3')],
      mget: [
        ['r2 {"b":"3"}', 'r1 {}'],
        ['r2 {"b":"3"}', 'r1 {}'],
      ],
    }
    expect([await keysOf(), await keysOf(), await keysOf()]).toEqual(['b:2', 'b:3', 'b:3'].map((key) => ['a:1', key]))
    expect(namesOfCommands()).toEqual(['lkRead', 'mget', 'lkRead', 'mget'])
  })

  test('with a template learns nothing from an expectation that was not met', async () => {
    replies = { lkRead: [null, script('2')], mget: [['r1 {"b":"2"}', 'r1 {}', 'r2 {}']] }
    const request = { records: templates, expect: expectRecord('a:1', 'r1') }
    expect([await read(request), (await read(request))?.records.length, await read(request)]).toEqual([null, 2, null])
    expect(namesOfCommands()).toEqual(['lkRead', 'lkRead', 'mget'])
  })
})
