import { describe, expect, test } from 'vitest'
import { download } from '../../src/http/download.ts'
import { ApiError } from '../../src/model/errors.ts'
import type { FileRecord } from '../../src/model/file.ts'
import type { Blobs } from '../../src/store/blobs.ts'
import { StorageUnavailable } from '../../src/store/port.ts'

const CONTENT = '0123456789'
const HASH = 'c'.repeat(64)
const file = {
  name: 'a.txt',
  content_type: 'text/plain',
  size: CONTENT.length,
  blob_id: 'blb_1',
  sha256: HASH,
} as FileRecord

const blobs = {
  async *read(id: string, start: number, end: number) {
    if (id === file.blob_id) yield Buffer.from(CONTENT.slice(start, end))
  },
} as Blobs

/** Everything that a client receives. */
async function receive(headers: Record<string, string>, { method = 'GET', change = {} as Partial<FileRecord> } = {}) {
  const response = await download('req_1', method, new Headers(headers), { ...file, ...change }, blobs)
  return {
    status: response.status,
    statusText: response.statusText,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  }
}

const headersOfAll = {
  'x-request-id': 'req_1',
  'cache-control': 'private, no-store',
  vary: 'Authorization',
  'x-content-type-options': 'nosniff',
  etag: `"${HASH}"`,
}
const headersOfBytes = {
  ...headersOfAll,
  'content-type': 'text/plain',
  'content-disposition': `attachment; filename="a.txt"; filename*=UTF-8''a.txt`,
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'accept-ranges': 'bytes',
}
const whole = { status: 200, statusText: 'OK', headers: { ...headersOfBytes, 'content-length': '10' }, body: CONTENT }
const part = (start: number, end: number) => ({
  status: 206,
  statusText: 'Partial Content',
  headers: { ...headersOfBytes, 'content-length': String(end - start), 'content-range': `bytes ${start}-${end - 1}/10` },
  body: CONTENT.slice(start, end),
})

describe('a download', () => {
  test('without a condition returns all bytes', async () => {
    expect(await receive({})).toEqual(whole)
  })

  test.each(['*', `"${HASH}"`, `W/"${HASH}"`])('is not sent to a client that has the bytes: %s', async (tag) => {
    expect(await receive({ 'if-none-match': tag, range: 'bytes=0-1' })).toEqual({
      status: 304,
      statusText: 'Not Modified',
      headers: { ...headersOfAll, 'cache-control': 'private, no-cache' },
      body: '',
    })
  })

  test('is sent to a client that has other bytes', async () => {
    expect(await receive({ 'if-none-match': '"other"' })).toEqual(whole)
  })
})

describe('the range of a download', () => {
  test.each([
    ['bytes=2-4', 2, 5],
    ['bytes=0-0', 0, 1],
    ['bytes=3-3', 3, 4],
    ['bytes=9-9', 9, 10],
    ['bytes=0-', 0, 10],
    ['bytes=7-', 7, 10],
    ['bytes=0-8', 0, 9],
    ['bytes=0-9', 0, 10],
    ['bytes=5-99', 5, 10],
    ['bytes=-1', 9, 10],
    ['bytes=-3', 7, 10],
    ['bytes=-10', 0, 10],
    ['bytes=-99', 0, 10],
  ])('%s is a part', async (range, start, end) => {
    expect(await receive({ range })).toEqual(part(start, end))
  })

  test.each(['bytes=-', 'bytes=4-2', 'bytes=10-2', 'bytes=1-2,4-5', 'xbytes=1-2', 'bytes=1-2x', 'lines=1-2', 'bytes=a-b', 'bytes 1-2', ''])(
    '%s is ignored',
    async (range) => {
      expect(await receive({ range })).toEqual(whole)
    },
  )

  test.each(['bytes=10-', 'bytes=10-10', 'bytes=99-100', 'bytes=-0'])('%s cannot be satisfied', async (range) => {
    const error: unknown = await receive({ range }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 'range_not_satisfiable', details: { headers: { 'content-range': 'bytes */10' } } })
  })

  test('no range of an empty file can be satisfied', async () => {
    for (const range of ['bytes=0-', 'bytes=-1', 'bytes=0-0'])
      await expect(receive({ range }, { change: { size: 0 } })).rejects.toThrow('The file does not have this range.')
  })

  test('If-Range with the current tag allows it, and any other tag ignores it', async () => {
    expect(await receive({ range: 'bytes=2-4', 'if-range': `"${HASH}"` })).toEqual(part(2, 5))
    for (const tag of ['"other"', HASH, `W/"${HASH}"`, '*']) expect(await receive({ range: 'bytes=2-4', 'if-range': tag })).toEqual(whole)
  })

  test.each(['bytes=2-4', 'bytes=10-'])('only GET has one: HEAD with %s', async (range) => {
    expect(await receive({ range }, { method: 'HEAD' })).toEqual({ ...whole, body: '' })
  })
})

describe('the file name of a download', () => {
  const disposition = async (name: string) => (await receive({}, { change: { name } })).headers['content-disposition']

  test.each([
    ['a b.txt', 'a b.txt', 'a%20b.txt'],
    ['ü☃.txt', '__.txt', '%C3%BC%E2%98%83.txt'],
    ['"\\%.txt', '___.txt', '%22%5C%25.txt'],
    ['\u007f~ \u001f.txt', '_~ _.txt', '%7F~%20%1F.txt'],
    ["'(*)'.txt", "'(*)'.txt", '%27%28%2A%29%27.txt'],
    ['a\r\nset-cookie: x', 'a__set-cookie: x', 'a%0D%0Aset-cookie%3A%20x'],
  ])('%j is escaped', async (name, plain, exact) => {
    expect(await disposition(name)).toBe(`attachment; filename="${plain}"; filename*=UTF-8''${exact}`)
  })
})

describe('bytes that cannot be read', () => {
  const failing = (error: Error, pieces: string[] = []) =>
    ({
      async *read() {
        for (const piece of pieces) yield Buffer.from(piece)
        throw error
      },
    }) as unknown as Blobs
  const get = (unreadable: Blobs, method = 'GET') => download('req_1', method, new Headers(), file, unreadable)

  test.each([
    ['storage that is away', new StorageUnavailable('away')],
    ['bytes that are missing', new Error('chunk 0 is missing')],
  ])('%s is an error before the response begins', async (_what, error) => {
    await expect(get(failing(error))).rejects.toBe(error)
  })

  test('a failure after the first piece breaks off the response', async () => {
    const response = await get(failing(new StorageUnavailable('away'), ['0123']))
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  })

  test('the head of a response is answered without the bytes', async () => {
    expect((await get(failing(new Error('missing')), 'HEAD')).headers.get('content-length')).toBe('10')
  })
})

test('a download with an If-Match that does not name its bytes is refused, and without one it is not', async () => {
  await expect(receive({ 'if-match': '"x"' })).rejects.toMatchObject({ code: 'precondition_failed' })
  for (const condition of [`"${HASH}"`, '*']) expect(await receive({ 'if-match': condition })).toEqual(whole)
})
