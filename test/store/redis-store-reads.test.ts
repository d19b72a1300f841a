import { beforeEach, describe, expect, test } from 'vitest'
import type { ReadRequest } from '../../src/store/port.ts'
import { CommandFailed } from '../../src/store/redis/pool.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { expectation, readRequest, template } from '../support/changes.ts'
import { answeringPool, LOST } from '../support/redis-clients.ts'

// Which commands the store sends. What they return is tested by the contract, on a real Redis.

/** The replies to commands, by their names. */
let replies: Record<string, unknown[]>
const { pool, commands } = answeringPool((name) => replies[name]!.shift())
let store: RedisStore
beforeEach(() => {
  commands.length = 0
  store = new RedisStore(pool, 'lk', { derived: [] })
})

const read = (part: Partial<ReadRequest>) => store.read('w1', readRequest(part))
const namesOfCommands = () => commands.map(([name]) => name)

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

  test.each<[string, Partial<ReadRequest>]>([
    ['a template', { records: ['a:1', template('b:0.b')] }],
    ['a range', { records: ['a:1'], ranges: [{ index: 'i', limit: 1 }] }],
    ['a count', { records: ['a:1'], counts: ['i'] }],
    ['an expected record', { records: ['a:1'], expect: expectation({ records: new Map([['a:1', 'r1']]) }) }],
    ['an expected index', { records: ['a:1'], expect: expectation({ indexes: new Map([['i', 'r1']]) }) }],
    [
      'an expected record and an expected index',
      { records: ['a:1'], expect: expectation({ records: new Map([['a:1', 'r1']]), indexes: new Map([['i', 'r1']]) }) },
    ],
    ['no record', { records: [] }],
  ])('with %s is one script', async (_what, request) => {
    replies = { lkRead: [null] }
    expect(await read(request)).toBeNull()
    expect(commands).toEqual([['lkRead', 'lk:{w1}:n', expect.any(String)]])
  })

  test.each(['mget', 'lkRead'])('whose %s fails finds the storage unavailable', async (name) => {
    replies = { [name]: [new CommandFailed(LOST)] }
    const outcome = read({ records: ['a:1'], counts: name === 'mget' ? [] : ['i'] })
    await expect(outcome).rejects.toMatchObject({ name: 'StorageUnavailable', message: 'Redis did not answer' })
  })

  const templates = ['a:1', template('b:0.b'), template('c:0.b:0.c')]
  const keysWith = (b: string) => ['a:1', `b:${b}`, `c:${b}:9`]
  /** The records of the templates. */
  const textsWith = (b: string) => [`r1 {"b":"${b}","c":"9"}`, 'r1 {}', 'r1 {}']
  const script = (b: string) => [textsWith(b).map((text, i) => [keysWith(b)[i], text]), [], [], []]
  const keysOf = async () => (await read({ records: templates }))!.records.map(({ key }) => key)

  test('with templates that were resolved before is one MGET', async () => {
    replies = { lkRead: [script('2')], mget: [textsWith('2')] }
    expect([await keysOf(), await keysOf()]).toEqual([keysWith('2'), keysWith('2')])
    expect(namesOfCommands()).toEqual(['lkRead', 'mget'])
  })

  test('with a template that leads to another record by now is repeated as a script, and the next one is an MGET again', async () => {
    replies = { lkRead: [script('2'), script('3')], mget: [textsWith('3'), textsWith('3')] }
    expect([await keysOf(), await keysOf(), await keysOf()]).toEqual(['2', '3', '3'].map(keysWith))
    expect(namesOfCommands()).toEqual(['lkRead', 'mget', 'lkRead', 'mget'])
  })

  test('with a template does not use what another partition has', async () => {
    replies = { lkRead: [script('2'), script('3')], mget: [textsWith('2')] }
    expect(await keysOf()).toEqual(keysWith('2'))
    await store.read('w2', readRequest({ records: templates }))
    expect(await keysOf()).toEqual(keysWith('2'))
    expect(namesOfCommands()).toEqual(['lkRead', 'lkRead', 'mget'])
  })

  test('with a template learns nothing from an expectation that was not met', async () => {
    replies = { lkRead: [null, script('2'), null] }
    const request = { records: templates, expect: expectation({ records: new Map([['a:1', 'r1']]) }) }
    expect({ first: await read(request), second: (await read(request))?.records.length, third: await read(request) }).toEqual({
      first: null,
      second: 3,
      third: null,
    })
    expect(namesOfCommands()).toEqual(['lkRead', 'lkRead', 'lkRead'])
  })
})
