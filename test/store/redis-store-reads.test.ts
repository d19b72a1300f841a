import { setImmediate as nextRound } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ReadRequest } from '../../src/store/port.ts'
import { CommandFailed } from '../../src/store/redis/pool.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { change, expectation, readRequest, template } from '../support/changes.ts'
import { answeringPool, LOST } from '../support/redis-clients.ts'

// Which commands the store sends. What they return is tested by the contract, on a real Redis.

/** The replies to commands, by their names. */
let replies: Record<string, unknown[]>
/** A reply that comes when {@link answer} is called. */
let answer: () => void = () => undefined
const { pool, commands } = answeringPool((name) => replies[name]!.shift())
/** Delays one of the replies to MGET. */
function answerLate(index: number): void {
  const reply = replies['mget']![index]
  replies['mget']![index] = new Promise((resolve) => (answer = () => resolve(reply)))
}
let store: RedisStore
beforeEach(() => {
  commands.length = 0
  store = new RedisStore(pool, 'lk', { derived: [] })
})

const read = (part: Partial<ReadRequest>) => store.read('w1', readRequest(part))
const namesOfCommands = () => commands.map(([name]) => name)

/** A reply with the last commits of the partition before these records. */
const mget = (commits: string, ...texts: (string | null)[]) => [commits, ...texts]
/** The last commits: one that has changed some records and indexes, after others. */
const commit = (revision: string, records: string[], indexes: string[], before = '\n r9') =>
  `${before}\n${JSON.stringify({ records, indexes })} ${revision}`
/** A key that a change can append. */
const APPENDED = 'log:0000000000000001'
const expectedRecord = expectation({ records: new Map([['a:1', 'r1']]) })
const expectedIndex = expectation({ indexes: new Map([['i', 'r1']]) })

describe('a read from Redis', () => {
  test('of records by their keys is one MGET, with the last commits of the partition', async () => {
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
    replies = { mget: [mget('r9', 'r1 {}')], zrangebylex: [[]], zcard: [7], hmget: [['r1', null]], get: ['r9'] }
    expect(await read({ records: ['a:1'], ranges: [{ index: 'j', limit: 1 }], counts: ['k'], expect: expectedIndex })).toEqual({
      records: [{ key: 'a:1', stored: { revision: 'r1', value: {} } }],
      ranges: [{ revision: null, entries: [], records: [] }],
      counts: [7],
    })
    expect(commands).toEqual([
      ['mget', ['lk:{w1}:n', 'lk:{w1}:r:a:1']],
      ['zrangebylex', 'lk:{w1}:i:j', '-', '+', 'LIMIT', 0, 1],
      ['zcard', 'lk:{w1}:i:k'],
      ['hmget', 'lk:{w1}:v', 'i', 'j'],
      ['get', 'lk:{w1}:n'],
    ])
  })

  test('that only counts asks for the revision of the partition at its end, too, and again if that has changed', async () => {
    replies = { mget: [mget('r8'), mget('r9')], zcard: [7, 8], get: ['r9', 'r9'] }
    expect((await read({ counts: ['k'] }))?.counts).toEqual([8])
    expect(namesOfCommands()).toEqual(['mget', 'zcard', 'get', 'mget', 'zcard', 'get'])
  })

  test('of a few entries without records asks for them together with the revision of their index', async () => {
    const [first, second] = [mget('r9'), mget('r10')]
    replies = { mget: [first, first, second], zrangebylex: [['e1'], ['e2']], hmget: [['r1'], ['r2']], get: ['r9', 'r10'], lkCommit: [1] }
    const entries = async () => (await read({ ranges: [{ index: 'i', limit: 1 }] }))!.ranges[0]!.entries
    expect([await entries(), await entries()]).toEqual([['e1'], ['e1']])
    await store.commit('w1', change({ index: { i: { add: ['e2'] } } }))
    expect(await entries()).toEqual(['e2'])
    const asked = ['mget', 'zrangebylex', 'hmget', 'get']
    expect(namesOfCommands()).toEqual([...asked, 'mget', 'lkCommit', ...asked])
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

  const PARTITION = 'lk:{w1}:n'

  test('is not read again if nothing was written since, and has the same objects', async () => {
    replies = { mget: [mget('r9'), mget('r9')] }
    const [one, other] = [await valuesOf(), await valuesOf()]
    expect(other.every((value, i) => value === one[i])).toBe(true)
    expect(commands).toEqual([
      ['mget', [PARTITION]],
      ['mget', [PARTITION]],
    ])
  })

  test('is not read again but for what the commits since have changed', async () => {
    replies = { mget: [mget('r9')] }
    const [kept] = await valuesOf()
    const commits = commit('r11', ['d:1'], ['other'], commit('r10', ['c:2'], []))
    replies = { mget: [mget(commits), mget(commits, 'r10 {"n":3}'), mget(commits)] }
    const values = await valuesOf()
    expect(values).toEqual([{ n: 1 }, { n: 3 }])
    expect(values[0]).toBe(kept)
    expect(await valuesOf()).toEqual(values)
    expect(commands.slice(1)).toEqual([
      ['mget', [PARTITION]],
      ['mget', [PARTITION, 'lk:{w1}:r:c:2']],
      ['mget', [PARTITION]],
    ])
  })

  test.each([
    ['does not say what it has changed', '\n r9\n r10'],
    ['comes after commits that are not known', commit('r12', [], [], commit('r11', [], [], '\n r10'))],
  ])('is compared as a whole if a commit %s, and only what has changed is parsed', async (_what, commits) => {
    replies = { mget: [mget('r9')] }
    const [kept] = await valuesOf()
    replies = { mget: [mget(commits), mget(commits, board, 'r2 not parsed', 'r10 {"n":3}')], hmget: [['r2']], get: [commits] }
    const values = await valuesOf()
    expect(values).toEqual([{ n: 1 }, { n: 3 }])
    expect(values[0]).toBe(kept)
    expect(commands.slice(1)).toEqual([
      ['mget', [PARTITION]],
      ['mget', [PARTITION, 'lk:{w1}:r:a:1', 'lk:{w1}:r:c:1', 'lk:{w1}:r:c:2']],
      ['hmget', 'lk:{w1}:v', 'i'],
      ['get', PARTITION],
    ])
  })

  test('is read at once with what a commit of this process has changed', async () => {
    const mine = change({ put: { 'c:2': { n: 3 } } })
    replies = { lkCommit: [1], mget: [mget(commit(mine.revision, ['c:2'], []), `${mine.revision} {"n":3}`)] }
    await store.commit('w1', mine)
    expect(await valuesOf()).toEqual([{ n: 1 }, { n: 3 }])
    expect(commands.slice(1)).toEqual([['mget', [PARTITION, 'lk:{w1}:r:c:2']]])
  })

  test.each([
    ['after the commit that is known has written it', 'r9', [PARTITION]],
    ['may have changed since, if another commit was between', 'r10', [PARTITION, 'lk:{w1}:r:c:2']],
  ])('has what a commit of this process %s', async (_what, previous, names) => {
    const mine = change({ put: { 'c:2': { n: 3 } } })
    const commits = commit(mine.revision, ['c:2'], [], previous === 'r9' ? undefined : commit(previous, ['d:1'], []))
    replies = { lkCommit: [previous], mget: [mget(commits, ...names.slice(1).map(() => `${mine.revision} {"n":3}`))] }
    await store.commit('w1', mine)
    expect(await valuesOf()).toEqual([{ n: 1 }, { n: 3 }])
    expect(commands.slice(1, 2)).toEqual([['mget', names]])
  })

  test('has what a commit of this process has written, although the reply to the commit comes later', async () => {
    const mine = change({ put: { 'c:2': { n: 3 } } })
    const commits = commit(mine.revision, ['c:2'], [])
    let reply: (previous: string) => void = () => undefined
    replies = { lkCommit: [new Promise((resolve) => (reply = resolve))], mget: [mget(commits), mget(commits)] }
    const committed = store.commit('w1', mine)
    await nextRound()
    expect(await valuesOf()).toEqual([{ n: 1 }, { n: 3 }])
    reply('r9')
    await committed
    expect(await valuesOf()).toEqual([{ n: 1 }, { n: 3 }])
    expect(namesOfCommands()).toEqual(['lkCommit', 'mget', 'mget'])
  })

  test('has an absent record that may be appended only as long as nothing is written', async () => {
    const request = { ...page, records: [APPENDED] }
    replies = { mget: [mget('r9', null), mget('r9'), mget(commit('r10', [], ['log'])), mget(commit('r10', [], ['log']), 'r10 {"n":5}')] }
    const valueOf = async () => (await read(request))!.records[0]!.stored?.value
    expect([await valueOf(), await valueOf(), await valueOf()]).toEqual([undefined, undefined, { n: 5 }])
  })

  test('has any other absent record until a commit names it', async () => {
    const request = { ...page, records: ['a:9'] }
    const [other, put] = [commit('r10', ['d:1'], ['log']), commit('r11', ['a:9'], [], commit('r10', ['d:1'], ['log']))]
    replies = { mget: [mget('r9', null), mget(other), mget(put), mget(put, 'r11 {"n":5}')] }
    const valueOf = async () => (await read(request))!.records[0]!.stored?.value
    expect([await valueOf(), await valueOf(), await valueOf()]).toEqual([undefined, undefined, { n: 5 }])
    expect(namesOfCommands()).toEqual(['mget', 'mget', 'mget', 'mget'])
  })

  const unknown = '\n r10'

  test('is the same if others write meanwhile, and its index has the revision that it had before', async () => {
    replies = {
      mget: [mget(unknown), mget(unknown, board, 'r2 {}', 'r10 {"n":3}')],
      hmget: [['r2']],
      get: [commit('r11', ['d:1'], [], unknown)],
    }
    expect(await valuesOf()).toEqual([{ n: 1 }, { n: 3 }])
  })

  test('has other entries if its index has changed: they are read, and then their records', async () => {
    const commits = commit('r10', ['c:2', 'c:4'], ['i'])
    replies = {
      mget: [mget(commits), mget(commits, 'r3 {}'), mget(commits), mget(commits, 'r10 {"n":4}')],
      hmget: [['r10'], ['r10']],
      get: [commits, commits],
      zrangebylex: [['p 2', 'p 4']],
    }
    expect(await valuesOf()).toEqual([{ n: 2 }, { n: 4 }])
    expect(namesOfCommands()).toEqual(['mget', 'mget', 'hmget', 'get', 'mget', 'zrangebylex', 'hmget', 'get', 'mget'])
  })

  test('is a script if the index changes again and again', async () => {
    let [commits, last] = ['\n r9', 9]
    const next = () => (commits = commit(`r${++last}`, [], ['i'], commits))
    const always = (reply: () => unknown) => ({ shift: reply }) as unknown[]
    replies = {
      mget: always(() => mget(next())),
      get: always(next),
      hmget: always(() => [`r${last}`]),
      zrangebylex: always(() => ['p 2']),
      lkRead: [script('r50', ['p 2'], ['r3 {}'], 'r50')],
    }
    expect(await valuesOf()).toEqual([{ n: 2 }])
    expect(namesOfCommands().at(-1)).toBe('lkRead')
  })

  test('does not use entries that may be of another revision of the index', async () => {
    // The index was changed after its entries were read, and before its revision was.
    const [before, after] = [commit('r10', [], ['i']), commit('r11', [], ['i'], commit('r10', [], ['i']))]
    replies = {
      mget: [mget(before), mget(before), mget(before), mget(after)],
      hmget: [['r10'], ['r11'], ['r11']],
      get: [before, after, after],
      zrangebylex: [['p 2'], ['p 1']],
    }
    expect(await valuesOf()).toEqual([{ n: 1 }])
  })

  describe('while the reply to a later read comes earlier', () => {
    const [before, after] = [commit('r10', ['d:1'], []), commit('r11', ['c:1'], [], commit('r10', ['d:1'], []))]
    const other = { records: ['a:1'], ranges: [{ index: 'j', limit: 9, fetch: 'c:' }] }

    test('is as it is after the last commit that is known', async () => {
      // The first read is sent before the commit r11, which the second one finds.
      replies = { mget: [mget(before), mget(after), mget(after, 'r11 {"n":9}'), mget(after, 'r11 {"n":9}')] }
      answerLate(0)
      const first = valuesOf()
      await nextRound()
      expect(await valuesOf()).toEqual([{ n: 9 }, { n: 2 }])
      answer()
      expect(await first).toEqual([{ n: 9 }, { n: 2 }])
      expect(commands).toEqual([
        ['mget', [PARTITION]],
        ['mget', [PARTITION]],
        ['mget', [PARTITION, 'lk:{w1}:r:c:1']],
      ])
    })

    test('keeps nothing that the later commits have changed', async () => {
      // Both ask for the changed record, and the first one has its reply, with the value before the commit r12, last.
      const later = commit('r12', ['c:1'], [], after)
      replies = { mget: [mget(after), mget(after, 'r11 {"n":9}'), mget(later, 'r12 {"n":10}'), mget(later), mget(later)] }
      answerLate(1)
      const first = valuesOf()
      await nextRound()
      expect(await valuesOf()).toEqual([{ n: 10 }, { n: 2 }])
      answer()
      expect(await first).toEqual([{ n: 10 }, { n: 2 }])
      expect(await valuesOf()).toEqual([{ n: 10 }, { n: 2 }])
    })

    test('does not answer with what was counted before', async () => {
      const later = mget(after, 'r11 {"n":9}')
      replies = { mget: [mget(before, board), later, later, later], zcard: [7, 8], get: [before, after] }
      answerLate(0)
      const first = read({ records: ['a:1'], counts: ['k'] })
      await nextRound()
      await read({ records: ['a:1'] })
      answer()
      expect(await first).toMatchObject({ records: [{ stored: { value: { n: 9 } } }], counts: [8] })
    })

    test('does not keep that a record is absent, which may have been appended since', async () => {
      const request = { ...page, records: [APPENDED] }
      const absent = async () => (await read(request))!.records[0]!.stored
      replies = { mget: [mget(before, null), mget(after, 'r11 {}', 'r11 {}'), mget(after, 'r11 {}'), mget(after, 'r11 {}')] }
      answerLate(0)
      const first = absent()
      await nextRound()
      await read({ ...other, ranges: page.ranges })
      answer()
      expect(await first).toEqual({ revision: 'r11', value: {} })
    })
  })

  test('is what Redis has, if it has lost commits that this process knows', async () => {
    const [before, lost] = [commit('r10', ['c:1'], []), commit('r11', ['c:1'], [], commit('r10', ['c:1'], []))]
    replies = {
      mget: [mget(lost), mget(lost, 'r11 {"n":9}'), mget(before), mget(before, board, 'r10 {"n":8}', 'r3 {"n":2}')],
      hmget: [['r2']],
      get: [before],
    }
    expect([await valuesOf(), await valuesOf()]).toEqual([
      [{ n: 9 }, { n: 2 }],
      [{ n: 8 }, { n: 2 }],
    ])
  })

  test.each<[string, Partial<ReadRequest['expect']>]>([
    ['a record', { records: expectedRecord.records }],
    ['an index', { indexes: new Map([['i', 'r2']]) }],
  ])('also answers that %s is as expected, or is not any more', async (_what, part) => {
    replies = { mget: [mget('r9'), mget('r9')] }
    expect((await read({ ...page, expect: expectation(part) }))?.ranges).toHaveLength(1)
    const other = expectation(part.records ? { records: new Map([['a:1', 'r0']]) } : { indexes: new Map([['i', 'r0']]) })
    expect(await read({ ...page, expect: other })).toBeNull()
    expect(namesOfCommands()).toEqual(['mget', 'mget'])
  })
})
