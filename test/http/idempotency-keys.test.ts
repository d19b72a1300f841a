import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { IdempotentWrite, requireValidKey } from '../../src/http/idempotency.ts'
import { systemRandom } from '../../src/model/ids.ts'
import type { FirstResponse } from '../../src/model/idempotency.ts'
import { DAY, HOUR } from '../../src/model/time.ts'
import type { Upload } from '../../src/resources/operation.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { keys } from '../../src/store/keys.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { Transaction } from '../../src/store/transaction.ts'
import { errorOf } from '../support/error-of.ts'

const now = Date.parse('2026-11-20T12:34:56.000Z')
const clock = () => now
const TOMBSTONE = `tmb_${String(now / HOUR - (now % HOUR) / HOUR).padStart(20, '0')}`
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const withKey = (key: string, further = {}) => new Headers({ 'idempotency-key': key, ...further })

const INVALID = 'Idempotency-Key must be one text of 1 to 255 visible ASCII characters, best in double quotes.'
test.each<readonly [method: string, key: string | undefined, kind: 'valid' | 'invalid' | 'none']>([
  ['POST', 'a', 'valid'],
  ['POST', '"a b"', 'valid'],
  ['DELETE', 'x'.repeat(255), 'valid'],
  ['POST', undefined, 'none'],
  ...['', '""', 'two words', '"a"b', 'é', 'a, b', '"a", "b"', 'x'.repeat(256), '"a\\"b"'].flatMap(
    (key): [string, string, 'invalid' | 'none'][] => [
      ['POST', key, 'invalid'],
      ['GET', key, 'none'],
      ['HEAD', key, 'none'],
    ],
  ),
  ['GET', 'a', 'none'],
  ['HEAD', 'a', 'none'],
])('the key of %s with %j is %s', (method, key, kind) => {
  const headers = key === undefined ? new Headers() : withKey(key)
  const check = () => requireValidKey(method, headers)
  if (kind === 'invalid') expect(check).toThrow(expect.objectContaining({ code: 'bad_request', message: INVALID }))
  else check()
  expect(IdempotentWrite.of(method, headers, { keyOwner: 't' }, new Set()) !== undefined).toBe(kind === 'valid')
})

describe('a write with an Idempotency-Key', () => {
  let store: Store
  let running: Set<string>
  let first: IdempotentWrite
  beforeEach(() => {
    store = createMemoryStore(createDerivations())
    running = new Set()
    first = create()
  })
  const create = (key = 'k', token = 't') => IdempotentWrite.of('POST', withKey(key), { keyOwner: token }, running)!
  const begin = () => new Transaction(store, 'w', systemRandom)
  const asked = { method: 'POST', path: '/boards', query: {}, body: { name: 'x' }, headers: new Headers() }
  const upload = { name: 'a.txt', contentType: 'text/plain', sha256: 'hash', visibility: 'board', blobId: '1' } as unknown as Upload
  const find = (write: IdempotentWrite, change: object = {}, received?: Upload) =>
    write.find(begin(), { ...asked, ...change }, received && (async () => received))
  const long = 'ü'.repeat(1001)
  const response = (data: unknown) => ({ board_id: 'brd_1', status: 201, location: null, revision: 'abc', data }) as const
  /** Makes the change. @returns the bytes that are stored */
  const remember = async (write: IdempotentWrite, data: unknown, received?: Upload, change: object = {}) => {
    const tx = begin()
    await write.find(tx, { ...asked, ...change }, received && (async () => received))
    const bytes = await write.remember(tx, clock, response(data), received)
    await tx.commit()
    write.end()
    return bytes
  }

  test('stores its response with the hashes of the request, and one tombstone for all writes of an hour', async () => {
    const key = `first_response:t:${sha256('k')}`
    expect(first.reads(clock)).toEqual([key, `tombstone:${TOMBSTONE}`])
    const stored: FirstResponse = {
      token_hash: 't',
      key_hash: sha256('k'),
      request_hash: sha256('["POST","/boards",{},{"name":"x"},null,null]'),
      hour: '2026-11-20T12',
      ...response({ id: '1' }),
    }
    expect(await remember(first, { id: '1' })).toBe(JSON.stringify(stored).length)
    const tombstone = keys.tombstone(TOMBSTONE)
    expect(await begin().read([keys.firstResponse('t', sha256('k')), tombstone])).toEqual([
      stored,
      // A day after the end of the hour at the earliest.
      { id: TOMBSTONE, kind: 'responses', target: '2026-11-20T12', not_before: new Date(now + HOUR + DAY).toISOString() },
    ])
    const revision = async () => {
      const tx = begin()
      await tx.get(tombstone)
      return tx.revisionOf(tombstone)
    }
    const before = await revision()
    await remember(create('other'), {})
    expect(await revision()).toBe(before)
  })

  test('stores a long text once, and its repetition has it', async () => {
    const data = { id: '1', body: long, more: [{ body: long }] }
    const bytes = await remember(first, data)
    const again = (await find(create()))!
    expect(again.data).toEqual(data)
    expect(bytes).toBe(JSON.stringify({ ...again, data: { id: '1', body: '', more: [{ body: '' }] } }).length + 2002)
    expect(await begin().get(keys.responseText('2026-11-20T12', sha256(long)))).toEqual({
      hour: '2026-11-20T12',
      sha256: sha256(long),
      text: long,
    })
    // The other one adds its own text only.
    const further = await remember(create('other'), { ...data, other: 'x'.repeat(1001) })
    const other = (await find(create('other')))!
    expect(other.data).toEqual({ ...data, other: 'x'.repeat(1001) })
    expect(further).toBe(JSON.stringify({ ...other, data: { id: '1', body: '', more: [{ body: '' }], other: '' } }).length + 1001)
    const tx = begin()
    const text = keys.responseText('2026-11-20T12', sha256(long))
    await tx.get(text)
    tx.remove(text)
    await tx.commit()
    expect((await errorOf(find(create()))).message).toBe('a stored response lacks the text at body')
  })

  test.each<[title: string, change: object]>([
    ['method', { method: 'PUT' }],
    ['path', { path: '/x' }],
    ['query', { query: { a: 1 } }],
    ['body', { body: { name: 'y' } }],
    ...['if-match', 'if-none-match', 'if-claim'].map((name): [string, object] => [name, { headers: new Headers({ [name]: '1' }) }]),
  ])('cannot be repeated with another %s', async (_title, change) => {
    await remember(first, {})
    for (const key of ['k', '"k"']) expect(await find(create(key))).toMatchObject({ data: {} })
    expect(await find(create('K'), change)).toBeUndefined()
    expect(await errorOf(find(create(), change))).toMatchObject({ code: 'idempotency_key_reused' })
    expect(await find(create('k', 'another token'), change)).toBeUndefined()
  })

  test.each<[before: string, ...alike: string[]]>([
    ['"x"', 'W/"x"', '"x-gzip"', 'W/"x-br"'],
    ['W/"x"', '"x"'],
    ['"x", "y"', '"x","y"', 'W/"x" , "y-zstd"'],
  ])('can be repeated if a proxy has rewritten the condition %s', async (before, ...alike) => {
    for (const name of ['if-match', 'if-none-match']) {
      const change = (condition: string) => ({ headers: new Headers({ [name]: condition }) })
      await remember(create(name), {}, undefined, change(before))
      for (const condition of alike)
        expect([condition, await find(create(name), change(condition))]).toMatchObject([condition, { data: {} }])
      expect(await errorOf(find(create(name), change('W/"z"')))).toMatchObject({ code: 'idempotency_key_reused' })
    }
  })

  test('cannot be repeated with another path and the same If-Claim', async () => {
    const headers = new Headers({ 'if-claim': '1' })
    await remember(first, {}, undefined, { headers })
    expect(await find(create(), { headers })).toMatchObject({ data: {} })
    expect(await errorOf(find(create(), { headers, path: '/x' }))).toMatchObject({ code: 'idempotency_key_reused' })
  })

  test.each<[change: Partial<Upload>, isSame: boolean]>([
    [{ blobId: '2' }, true],
    [{ name: 'b.txt' }, false],
    [{ contentType: 'text/html' }, false],
    [{ sha256: 'other' }, false],
    [{ visibility: 'private' }, false],
  ])('with a file can be repeated with %j: %s', async (change, isSame) => {
    await remember(first, {}, upload)
    const again = find(create(), {}, { ...upload, ...change })
    if (isSame) expect(await again).toMatchObject({ data: {} })
    else expect(await errorOf(again)).toMatchObject({ code: 'idempotency_key_reused' })
  })

  test('keeps others with its key out until it ends, also over several attempts', async () => {
    for (let attempt = 0; attempt < 2; attempt++) expect(await find(first)).toBeUndefined()
    const other = create()
    const inUse = { code: 'idempotency_key_in_use', details: { headers: { 'retry-after': '1' } } }
    expect(await errorOf(find(other))).toMatchObject(inUse)
    // It was not the one that uses the key.
    other.end()
    expect(await errorOf(find(create()))).toMatchObject(inUse)
    first.end()
    expect(await find(other)).toBeUndefined()
  })
})
