import { setImmediate as nextRound } from 'node:timers/promises'
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

/** A reply with the revision of the partition before these records. */
const mget = (revision: string, ...texts: (string | null)[]) => [revision, ...texts]
const expectedRecord = expectation({ records: new Map([['a:1', 'r1']]) })
const expectedIndex = expectation({ indexes: new Map([['i', 'r1']]) })

describe('a read from Redis', () => {
  test('of records by their keys is one MGET, with the revision of the partition', async () => {
    replies = { mget: [mget('r9', 'r1 {"n":1}', null)] }
    expect(await read({ records: ['a:1', 'a:2'] })).toEqual({
      records: [
        { key: 'a:1', stored: { revision: 'r1', value: { n: 1 } } },
        { key: 'a:2', stored: null },
      ],
      ranges: [],
      counts: [],
    })
    expect(commands).toEqual([['mget', ['lk:{w1}:n', 'lk:{w1}:r:a:1', 'lk:{w1}:r:a:2']]])
  })

  test.each<[string, Partial<ReadRequest>]>([
    ['a template', { records: ['a:1', template('b:0.b')] }],
    ['records of a range', { records: ['a:1'], ranges: [{ index: 'i', limit: 1, fetch: 'c:' }] }],
  ])('with %s is one script, if nothing is known yet', async (_what, request) => {
    replies = { lkRead: [null] }
    expect(await read(request)).toBeNull()
    expect(commands).toEqual([['lkRead', 'lk:{w1}:n', expect.any(String)]])
  })

  test.each([
    ['r1', 1],
    ['r2', undefined],
  ])('that expects a record is one MGET, and finds nothing if the record has changed: %s', async (revision, found) => {
    replies = { mget: [mget('r9', 'r3 {}', `${revision} {}`)] }
    expect((await read({ records: ['a:2'], expect: expectedRecord }))?.records.length).toBe(found)
    expect(commands).toEqual([['mget', ['lk:{w1}:n', 'lk:{w1}:r:a:2', 'lk:{w1}:r:a:1']]])
  })

  test('with entries, counts and an expected index asks for all of them between two revisions of the partition', async () => {
    replies = { mget: [mget('r9', 'r1 {}')], zrangebylex: [[]], zcard: [7], hmget: [['r1', 'r2', null]], get: ['r9'] }
    expect(await read({ records: ['a:1'], ranges: [{ index: 'j', limit: 1 }], counts: ['k'], expect: expectedIndex })).toEqual({
      records: [{ key: 'a:1', stored: { revision: 'r1', value: {} } }],
      ranges: [{ revision: null, entries: [], records: [] }],
      counts: [7],
    })
    expect(commands).toEqual([
      ['mget', ['lk:{w1}:n', 'lk:{w1}:r:a:1']],
      ['zrangebylex', 'lk:{w1}:i:j', '-', '+', 'LIMIT', 0, 1],
      ['zcard', 'lk:{w1}:i:k'],
      ['hmget', 'lk:{w1}:v', 'i', 'k', 'j'],
      ['get', 'lk:{w1}:n'],
    ])
  })

  test.each(['mget', 'lkRead'])('whose %s fails finds the storage unavailable', async (name) => {
    replies = { [name]: [new CommandFailed(LOST)] }
    const outcome = read({ records: ['a:1'], ranges: name === 'mget' ? [] : [{ index: 'i', limit: 1, fetch: 'c:' }] })
    await expect(outcome).rejects.toMatchObject({ name: 'StorageUnavailable', message: 'Redis did not answer' })
  })

  const templates = ['a:1', template('b:0.b'), template('c:0.b:0.c')]
  const keysWith = (b: string) => ['a:1', `b:${b}`, `c:${b}:9`]
  /** The records of the templates, when the record that names them has a revision. */
  const textsWith = (b: string, revision = 'r1') => [`${revision} {"b":"${b}","c":"9"}`, 'r1 {}', 'r1 {}']
  const script = (b: string) => [textsWith(b).map((text, i) => [keysWith(b)[i], text]), [], [], [], 'r9']
  const keysOf = async () => (await read({ records: templates }))!.records.map(({ key }) => key)

  test('with templates that were resolved before is one MGET', async () => {
    replies = { lkRead: [script('2')], mget: [mget('r9', ...textsWith('2'))] }
    expect([await keysOf(), await keysOf()]).toEqual([keysWith('2'), keysWith('2')])
    expect(namesOfCommands()).toEqual(['lkRead', 'mget'])
  })

  test('with a template that leads to another record by now is repeated with the key of that, and the next one is an MGET again', async () => {
    const moved = textsWith('3', 'r2')
    replies = { lkRead: [script('2')], mget: [mget('r10', ...moved), mget('r10', ...moved), mget('r10', ...moved)] }
    expect([await keysOf(), await keysOf(), await keysOf()]).toEqual(['2', '3', '3'].map(keysWith))
    expect(namesOfCommands()).toEqual(['lkRead', 'mget', 'mget', 'mget'])
  })

  test('with a template does not use what another partition has', async () => {
    replies = { lkRead: [script('2'), script('3')], mget: [mget('r9', ...textsWith('2'))] }
    expect(await keysOf()).toEqual(keysWith('2'))
    await store.read('w2', readRequest({ records: templates }))
    expect(await keysOf()).toEqual(keysWith('2'))
    expect(namesOfCommands()).toEqual(['lkRead', 'lkRead', 'mget'])
  })

  test('with a template learns nothing from an expectation that was not met', async () => {
    replies = { lkRead: [null, script('2')], mget: [mget('r9', ...textsWith('2'), 'r2 {}')] }
    const request = { records: templates, expect: expectation({ records: new Map([['a:2', 'r1']]) }) }
    expect({ first: await read(request), second: (await read(request))?.records.length, third: await read(request) }).toEqual({
      first: null,
      second: 3,
      third: null,
    })
    expect(namesOfCommands()).toEqual(['lkRead', 'lkRead', 'mget'])
  })
})

describe('a page that was read before', () => {
  const page = { records: ['a:1'], ranges: [{ index: 'i', limit: 9, fetch: 'c:' }] }
  const board = 'r1 {"n":1}'
  const script = (revision: string, entries: string[], texts: string[], at: string) => [
    [['a:1', board]],
    [[revision, entries, texts]],
    [],
    [],
    at,
  ]
  const first = script('r2', ['p 1', 'p 2'], ['r2 {"n":1}', 'r3 {"n":2}'], 'r9')
  const valuesOf = async () => (await read(page))!.ranges[0]!.records.map((stored) => stored?.value)
  beforeEach(async () => {
    replies = { lkRead: [first] }
    expect(await valuesOf()).toEqual([{ n: 1 }, { n: 2 }])
    commands.length = 0
  })

  test('is one GET if nothing was written since, and has the same objects', async () => {
    replies = { get: ['r9', 'r9'] }
    const [one, other] = [await valuesOf(), await valuesOf()]
    expect(other.every((value, i) => value === one[i])).toBe(true)
    expect(commands).toEqual([
      ['get', 'lk:{w1}:n'],
      ['get', 'lk:{w1}:n'],
    ])
  })

  test('is read anew if something was written, without a script, and only what has changed is parsed', async () => {
    replies = { get: ['r9'] }
    const [kept] = await valuesOf()
    replies = { get: ['r10', 'r10'], mget: [mget('r10', board, 'r2 not parsed', 'r10 {"n":3}')], hmget: [['r2']] }
    const values = await valuesOf()
    expect(values).toEqual([{ n: 1 }, { n: 3 }])
    expect(values[0]).toBe(kept)
    expect(commands.slice(1)).toEqual([
      ['get', 'lk:{w1}:n'],
      ['mget', ['lk:{w1}:n', 'lk:{w1}:r:a:1', 'lk:{w1}:r:c:1', 'lk:{w1}:r:c:2']],
      ['hmget', 'lk:{w1}:v', 'i'],
      ['get', 'lk:{w1}:n'],
    ])
  })

  test('does not ask whether the partition has changed if this process knows that it has', async () => {
    replies = { mget: [mget('r10', board), mget('r10', board, 'r2 {}', 'r10 {"n":3}')], hmget: [['r2']], get: ['r10'] }
    await read({ records: ['a:1'] })
    expect(await valuesOf()).toEqual([{ n: 1 }, { n: 3 }])
    expect(namesOfCommands()).toEqual(['mget', 'mget', 'hmget', 'get'])
  })

  test('is the same if others write meanwhile, and its index has the revision that it had before', async () => {
    replies = { get: ['r10', 'r11'], mget: [mget('r10', board, 'r2 {}', 'r10 {"n":3}')], hmget: [['r2']] }
    expect(await valuesOf()).toEqual([{ n: 1 }, { n: 3 }])
  })

  test('has other entries if its index has changed: they are read, and then their records', async () => {
    const others = ['r10', board, 'r3 {}', 'r10 {"n":4}']
    replies = {
      get: ['r10', 'r10', 'r10', 'r10'],
      mget: [mget('r10', board, 'r2 {}', 'r3 {}'), mget('r10', board), others],
      hmget: [['r10'], ['r10'], ['r10']],
      zrangebylex: [['p 2', 'p 4']],
    }
    expect(await valuesOf()).toEqual([{ n: 2 }, { n: 4 }])
    expect(namesOfCommands().filter((name) => name !== 'get')).toEqual(['mget', 'hmget', 'mget', 'zrangebylex', 'hmget', 'mget', 'hmget'])
  })

  test('is a script if the index changes again and again', async () => {
    const texts = mget('r10', board, 'r2 {}', 'r3 {}')
    replies = {
      get: ['r10', 'r10', 'r11', 'r12'],
      mget: [texts, mget('r10', board), mget('r11', board)],
      hmget: [['r10'], ['r11'], ['r12']],
      zrangebylex: [['p 1', 'p 2'], ['p 2']],
      lkRead: [script('r13', ['p 2'], ['r3 {}'], 'r13')],
    }
    expect(await valuesOf()).toEqual([{ n: 2 }])
    expect(namesOfCommands().at(-1)).toBe('lkRead')
  })

  test('does not use entries that may be of another revision of the index', async () => {
    // The index was changed after its entries were read, and before its revision was.
    replies = {
      get: ['r10', 'r10', 'r11', 'r11'],
      mget: [mget('r10', board, 'r2 {}', 'r3 {}'), mget('r10', board), mget('r11', board)],
      hmget: [['r10'], ['r11'], ['r11']],
      zrangebylex: [['p 2'], ['p 1']],
      lkRead: [script('r11', ['p 1'], ['r2 {}'], 'r11')],
    }
    expect(await valuesOf()).toEqual([{ n: 1 }])
  })

  test('does not take a revision of the index that another read has learned meanwhile for one that it had before', async () => {
    // The index gets r11 between the records and its revision. Another read, which begins later, has its reply earlier.
    let answerFirst!: (texts: readonly (string | null)[]) => void
    const late = new Promise<readonly (string | null)[]>((resolve) => (answerFirst = resolve))
    const now = 'r11 {"n":9}'
    replies = {
      get: ['r10', 'r11', 'r11', 'r11', 'r11', 'r11'],
      mget: [late, mget('r11', board, now, 'r3 {}'), mget('r11', board), mget('r11', board, now), mget('r11', board, now)],
      hmget: [['r11'], ['r11'], ['r11'], ['r11'], ['r11']],
      zrangebylex: [['p 1']],
    }
    const first = valuesOf()
    await nextRound()
    expect(await valuesOf()).toEqual([{ n: 9 }])
    answerFirst(mget('r10', board, 'r2 {"n":1}', 'r3 {}'))
    expect(await first).toEqual([{ n: 9 }])
  })

  test.each<[string, Partial<ReadRequest['expect']>]>([
    ['a record', { records: expectedRecord.records }],
    ['an index', { indexes: new Map([['i', 'r2']]) }],
  ])('also answers that %s is as expected, or is not any more', async (_what, part) => {
    replies = { get: ['r9', 'r9'] }
    expect((await read({ ...page, expect: expectation(part) }))?.ranges).toHaveLength(1)
    const other = expectation(part.records ? { records: new Map([['a:1', 'r0']]) } : { indexes: new Map([['i', 'r0']]) })
    expect(await read({ ...page, expect: other })).toBeNull()
    expect(namesOfCommands()).toEqual(['get', 'get'])
  })
})
