import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Services } from '../../src/http/services.ts'
import { Cost } from '../../src/governor/cost.ts'
import { Turn, Turns } from '../../src/governor/turns.ts'
import { checkAnnouncedSize, isUpload, receiveFile } from '../../src/http/upload.ts'
import { ApiError } from '../../src/model/errors.ts'
import { systemRandom } from '../../src/model/ids.ts'
import type { Blobs } from '../../src/store/blobs.ts'
import { decorateStore, StorageUnavailable, type Store } from '../../src/store/port.ts'
import { keys, type Key } from '../../src/store/keys.ts'
import { transact } from '../../src/store/transact.ts'
import { effort } from '../support/effort.ts'
import { memory, type OpenDriver } from '../support/memory.ts'
import { png } from '../support/pictures.ts'
import { seededRandom, type RandomInteger } from '../support/random.ts'

const WORKSPACE = 'wsp_00000000000000000000'
const MAX_BYTES = 100_000
const MINUTE = 60_000
const LINE = 'x'.repeat(100)
const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const MIB = 1024 * 1024

let turns = new Turns()
let opened: OpenDriver
let now: number
/** the bytes that the files of the workspace may have */
let most: number
beforeEach(async () => {
  most = Infinity
  opened = await memory.open()
  now = NOW
})

/** A part of a form, and a form with some parts, as they are sent. */
const part = (headers: readonly string[], content: string) => `--x\r\n${headers.join('\r\n')}\r\n\r\n${content}\r\n`
const form = (...parts: string[]) => `${parts.join('')}--x--\r\n`
const disposition = (parameters: string) => `content-disposition: form-data${parameters}`
const field = (name: string, value: string) => part([disposition(`; name="${name}"`)], value)
const file = (content: string, { name = 'file', filename = 'a.txt', headers = ['content-type: text/plain'] } = {}) =>
  part([disposition(`; name="${name}"; filename="${filename}"`), ...headers], content)

/** Receives a body that arrives in these chunks. */
function receive(
  chunks: string | Iterable<string | Buffer | Error>,
  {
    blobs = {},
    type = 'multipart/form-data; boundary=x',
    uploadBytes = MAX_BYTES,
  }: { blobs?: Partial<Blobs>; type?: string | undefined; uploadBytes?: number } = {},
) {
  const rest = (typeof chunks === 'string' ? [chunks] : chunks)[Symbol.iterator]()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = rest.next().value
      if (chunk === undefined) controller.close()
      else if (chunk instanceof Error) controller.error(chunk)
      else controller.enqueue(Buffer.from(chunk))
    },
  })
  const request = new Request('http://x/', { method: 'POST', body, headers: { 'content-type': type }, duplex: 'half' } as RequestInit)
  const services = {
    ...opened,
    blobs: { ...opened.blobs, ...blobs },
    clock: () => now,
    random: systemRandom,
    uploadBytes,
    workspaceBytes: most,
    turns,
  }
  const turn = new Turn(turns, { workspaceId: WORKSPACE, id: 'token', signal: request.signal })
  return receiveFile(services as unknown as Services, request as Parameters<typeof receiveFile>[1], WORKSPACE, turn, new Cost())
}
const refusal = (...args: Parameters<typeof receive>) =>
  receive(...args).then(
    () => undefined,
    (error: unknown) => (error instanceof ApiError ? { code: error.code, ...error.details } : error),
  )
const issues = async (body: string) => ((await refusal(body)) as any).members?.issues.map(({ path, message }: any) => `${path} ${message}`)
const read = <T>(key: Key<T>) => transact(opened.store, WORKSPACE, systemRandom, (tx) => tx.get(key))

describe('a received file', () => {
  test('has its name, type, size, hash and visibility, and its bytes are stored', async () => {
    const upload = await receive(form(file('hello'), field('visibility', 'workspace')))
    expect(upload).toEqual({
      blobId: expect.stringMatching(/^blb_[0-9a-z]{20}$/),
      tombstoneId: expect.stringMatching(/^tmb_[0-9a-z]{20}$/),
      name: 'a.txt',
      contentType: 'text/plain',
      size: 5,
      picture: null,
      workspaceBytes: Infinity,
      sha256: createHash('sha256').update('hello').digest('hex'),
      visibility: 'workspace',
    })
    expect(await opened.blobKeys()).toEqual([`${upload.blobId}:0`])
    expect((await receive(form(field('visibility', 'private'), file('hello')))).visibility).toBe('private')
    expect((await receive(form(file('hello')))).visibility).toBe('board')
  })

  test('has a tombstone in an hour, which is stored before its bytes', async () => {
    let before: string[] = []
    const write: Blobs['write'] = async (id, bytes) => {
      before = await opened.recordKeys(WORKSPACE)
      return opened.blobs.write(id, bytes)
    }
    // A commit that takes a while.
    const commit: Store['commit'] = async (partition, change) => {
      for (let i = 0; i < 10; i++) await nextTurn()
      return store.commit(partition, change)
    }
    const { store } = opened
    opened = { ...opened, store: decorateStore(store, { commit }) }
    const { blobId, tombstoneId } = await receive(form(file('hello')), { blobs: { write } })
    expect(before).toEqual([keys.tombstone(tombstoneId)])
    expect(await read(keys.tombstone(tombstoneId))).toEqual({
      id: tombstoneId,
      kind: 'blob',
      target: blobId,
      not_before: '2026-11-20T13:00:00.000Z',
    })
  })

  test('has at most the maximum size', async () => {
    expect((await receive(form(file('x'.repeat(MAX_BYTES))))).size).toBe(MAX_BYTES)
    expect(await refusal(form(file('x'.repeat(MAX_BYTES + 1))))).toEqual({
      code: 'payload_too_large',
      message: `The file is larger than ${MAX_BYTES} bytes.`,
      members: { limit_bytes: MAX_BYTES },
      headers: { connection: 'close' },
    })
    expect(await opened.blobKeys()).toHaveLength(1)
  })

  const head = (parameters: string) => `--x\r\n${disposition(parameters)}\r\n\r\n`
  const [fileHead, stored] = [head('; name="file"; filename="a"'), form(file('x'))]
  const FILE_TOO_LARGE = { code: 'payload_too_large', headers: { connection: 'close' } }
  test.each<[place: string, start: string, most: number, refused: object]>([
    ['file', fileHead, MAX_BYTES + 64 * 1024, FILE_TOO_LARGE],
    ['second file', stored.replace('--x--\r\n', fileHead), 1000, { code: 'validation_failed' }],
    ['unknown field', head('; name="other"'), 1000, { code: 'validation_failed' }],
    ['field', head('; name="visibility"'), 2000, { code: 'validation_failed' }],
    ['preamble', '', 2000, { code: 'bad_request' }],
    ['epilogue', stored, 2000, { code: 'bad_request' }],
    ['delimiter', '--x', 2000, { code: 'bad_request' }],
    ['part header', '--x\r\ncontent-disposition: form-data; name="', 9 * 1024, { code: 'bad_request' }],
  ])('ends soon, if its %s has no end', async (_place, start, most, refused) => {
    let read = 0
    function* endless() {
      yield start
      for (; read < 100 * MAX_BYTES; read += 1000) yield LINE.repeat(10)
    }
    expect(await refusal(endless())).toMatchObject(refused)
    // A stream reads ahead by a chunk or two.
    expect(read).toBeLessThan(most + 3000)
    expect(await opened.blobKeys()).toEqual([])
  })

  test.each([
    ['empty parts', '--x\r\n\r\n\r\n'],
    ['tiny parts', part([disposition('; name="a"')], '')],
    ['parts without a name', part(['x: y'], 'z')],
    ['delimiters', '--x\r\n'],
  ])('ends at the first of many %s', async (_kind, tiny) => {
    let read = 0
    function* many() {
      for (; read < 100_000; read += tiny.length) yield tiny
    }
    expect(['validation_failed', 'bad_request']).toContain(((await refusal(many())) as ApiError).code)
    expect(read).toBeLessThan(10_000)
  })

  test('arrives within half an hour', async () => {
    const during = async (elapsed: number) => {
      now = NOW
      const write: Blobs['write'] = (id, bytes) => ((now += elapsed), opened.blobs.write(id, bytes))
      return refusal(form(file('hello')), { blobs: { write } })
    }
    expect(await during(30 * MINUTE)).toBeUndefined()
    expect(await during(30 * MINUTE + 1)).toEqual({
      code: 'conflict',
      message: 'The upload took too long, so its bytes were removed. Send it again.',
    })
  })
})

describe('the name of a file', () => {
  test.each([
    ['a/b\\c.txt', 'c.txt'],
    ['', 'file'],
    ['.', 'file'],
    ['..', 'file'],
    ['.\u202e.', 'file'],
    ['\u202e.', 'file'],
    [' a b ', 'a b'],
    ['\u200ba\u0007.txt', 'a.txt'],
    ['\u200b a.txt', 'a.txt'],
    ['...', '...'],
    ['x'.repeat(255), 'x'.repeat(255)],
    // As browsers write them, and curl, which escapes with a backslash.
    ['a%22b%22.txt', 'a"b".txt'],
    ['a%0D%0Ab.txt', 'ab.txt'],
    ['100%25 %41.txt', '100%25 %41.txt'],
    ['a\\"b\\".txt', 'a"b".txt'],
    // Encoded words, as .NET writes them.
    ['=?utf-8?B?Y2Fmw6kucG5n?=', 'café.png'],
    ['=?UTF-8?q?caf=C3=A9_1.png?=', 'café 1.png'],
    ['=?iso-8859-1?Q?caf=E9?= =?utf-8?B?LnBuZw==?=', 'café.png'],
    ['=?unknown?B?Y2Fm?=', '=?unknown?B?Y2Fm?='],
    ['=?utf-8?Q?=FF?=', '=?utf-8?Q?=FF?='],
  ])('%j is stored as %j', async (filename, stored) => {
    expect((await receive(form(file('x', { filename })))).name).toBe(stored)
  })

  test.each([
    [`; name=file; filename=photo.png`, 'photo.png'],
    [`; FileName="a.png" ; NAME="file"`, 'a.png'],
    [`; name="file"; filename="a.png"; filename*=UTF-8''caf%C3%A9.png`, 'café.png'],
    [`; name="file"; filename*=UTF-8''caf%C3%A9.png; filename="a.png"`, 'café.png'],
    [`; name="file"; filename*=iso-8859-1'en'caf%E9.png; filename="a.png"`, 'café.png'],
    // One that cannot be decoded says nothing.
    [`; name="file"; filename*=UTF-8''%FF; filename="a.png"`, 'a.png'],
    [`; name="file"; filename*=utf-8; filename="a.png"`, 'a.png'],
    [`; name="file"; filename="b.png"; filename="c.png"`, 'b.png'],
    [`; name="file"; filename="a;b=c.png"`, 'a;b=c.png'],
    [`;\r\n name="file";\r\n\tfilename="a.png"`, 'a.png'],
  ])('of the parameters %j is %j', async (parameters, stored) => {
    expect((await receive(form(part([disposition(parameters)], 'x')))).name).toBe(stored)
  })

  test('can be in Latin-1', async () => {
    const [before, after] = form(file('x', { filename: 'caf|.png' })).split('|')
    const body = Buffer.concat([Buffer.from(before!), Buffer.from([0xe9]), Buffer.from(after!)])
    expect((await receive([body])).name).toBe('café.png')
  })

  test('is "file" if there is none', async () => {
    const upload = await receive(form(part([disposition('; name="file"'), 'content-type: application/octet-stream'], 'x')))
    expect({ name: upload.name, contentType: upload.contentType }).toEqual({ name: 'file', contentType: 'application/octet-stream' })
  })

  test('has at most 255 characters', async () => {
    expect(await issues(form(file('x', { filename: 'x'.repeat(256) })))).toEqual(['file has a name of more than 255 characters'])
  })
})

test.each<[stored: string, types: string[]]>([
  ['text/html', ['text/html; charset=utf-8', 'Text/HTML', 'text/html ']],
  ['application/vnd.a+b.c_d-e!#$&^', ['application/vnd.a+b.c_d-e!#$&^']],
  [`text/${'x'.repeat(64)}`, [`text/${'x'.repeat(64)}`]],
  ['text/plain', ['', 'text', '/html', 'text/', 'text/html/x', '+/html', 'text/html,text/css', `text/${'x'.repeat(65)}`]],
  ['text/plain', ['"text/html;x"; y=z', '"x, text/html"', 'text/plain']],
])('the media type of a file is stored as %s if it is one of %j', async (stored, types) => {
  for (const type of types)
    expect([type, (await receive(form(file('x', { headers: [`content-type: ${type}`] })))).contentType]).toEqual([type, stored])
})

test('the type that a part states is completed from the bytes of its file', async () => {
  const upload = async (bytes: Buffer, filename: string, headers: string[]) => {
    const [before, after] = form(file('|', { filename, headers })).split('|')
    return receive([Buffer.concat([Buffer.from(before!), bytes, Buffer.from(after!)])])
  }
  const picture = { type: 'image/png', width: 3, height: 2 }
  expect(await upload(png(3, 2), 'blob', ['content-type: application/octet-stream'])).toMatchObject({ contentType: 'image/png', picture })
  expect(await upload(png(3, 2), 'blob', ['content-type: text/plain'])).toMatchObject({ contentType: 'image/png', picture })
  expect(await upload(png(3, 2), 'a.gif', ['content-type: image/svg+xml'])).toMatchObject({ contentType: 'image/svg+xml', picture })
  expect(await upload(Buffer.from('<svg/>'), 'a.png', ['content-type: image/png'])).toMatchObject({
    contentType: 'image/png',
    picture: null,
  })
  expect(await upload(Buffer.from('a,b'), 'a.csv', [])).toMatchObject({ contentType: 'text/csv', picture: null })
  const wide = Buffer.from('a,b', 'utf16le')
  for (const charset of ['utf-16le', '"UTF-16"'])
    expect((await upload(wide, 'a.txt', [`content-type: text/plain; charset=${charset}`])).contentType).toBe('text/plain')
  expect((await upload(wide, 'a.txt', ['content-type: text/plain'])).contentType).toBe('application/octet-stream')
  // Its head is longer than what is looked at.
  const long = Buffer.concat([png(3, 2), Buffer.alloc(90_000)])
  expect(await upload(long, 'blob', [])).toMatchObject({ contentType: 'image/png', size: long.length, picture })
})

describe('a form that is refused', () => {
  const notVisible = 'visibility must be one of workspace, board, private'
  test.each<[form: string, parts: string[], ...issues: string[]]>([
    ['without a part', [], 'file is missing'],
    ['with another file only', [file('x', { name: 'other' })], 'other is not a known member'],
    ['with two files', [file('x'), file('y'.repeat(60_000))], 'file is given twice'],
    ['with three files', [file('x'), file('y'), file('z')], 'file is given twice'],
    ['with a file that is a field', [field('file', 'x')], 'file must be a file: give it a filename'],
    [
      'with a file that is a field with a type',
      [part([disposition('; name="file"'), 'content-type: text/plain; charset=utf-8'], 'x')],
      'file must be a file: give it a filename',
    ],
    ['with an unknown field', [file('x'), field('owner_id', 'x')], 'owner_id is not a known member'],
    ['with a long unknown field', [field('x'.repeat(200), 'x')], `${'x'.repeat(100)} is not a known member`],
    ['with a field without a name', [file('x'), part([disposition('')], 'x')], ' is not a known member'],
    ['with a part without a disposition', [file('x'), part(['x: y'], 'x')], ' is not a known member'],
    ['with a file without a name', [file('x'), part([disposition('; filename="a"')], 'x')], ' is not a known member'],
    ['with an unknown visibility', [file('x'), field('visibility', 'public')], notVisible],
    ['with an empty visibility', [file('x'), field('visibility', '')], notVisible],
    ['with two visibilities', [field('visibility', 'private'), field('visibility', 'private'), file('x')], 'visibility is given twice'],
  ])('%s names its first issue, and leaves no bytes', async (_form, parts, ...expected) => {
    expect(await issues(form(...parts))).toEqual(expected)
    expect(await opened.blobKeys()).toEqual([])
  })

  test('an issue has its place, its member and its message', async () => {
    expect(await refusal(form(file('x'), field('a', 'x')))).toMatchObject({
      code: 'validation_failed',
      message: 'The request does not match what this operation accepts: "a" is not a known member.',
      members: { issues: [{ in: 'body', path: 'a', message: 'is not a known member' }] },
    })
  })

  const brokenOff = (...parts: string[]) => form(...parts).slice(0, -50)
  test.each<[title: string, body: string, type?: string]>([
    ['a boundary that is not closed', form(file('x')), 'multipart/form-data; boundary="'],
    ['another boundary', form(file('x')), 'multipart/form-data; boundary=other'],
    ['no boundary', form(file('x')), 'multipart/form-data; x="boundary=x"'],
    ['an end in the middle of its file', brokenOff(file(LINE))],
    ['no end', form(file('x')).slice(0, -5)],
    ['text behind a delimiter', form(file('x')).replace('--x\r\n', '--xy\r\n')],
    ['a long boundary', form(file('x')).replaceAll('--x', `--${'x'.repeat(201)}`), `multipart/form-data; boundary=${'x'.repeat(201)}`],
    ['no body', ''],
  ])('%s cannot be read', async (_title, body, type) => {
    expect(await refusal(body, { type })).toEqual({ code: 'bad_request', message: 'The multipart body could not be read.' })
    expect(await opened.blobKeys()).toEqual([])
  })
})

describe('an upload without room', () => {
  test('in its workspace is refused while it is read, and leaves no bytes', async () => {
    most = 1000
    expect(await refusal(form(file('x'.repeat(1001))))).toMatchObject({
      code: 'insufficient_storage',
      message:
        'The files of this workspace have 0 of 1000 bytes, so this one does not fit. Detach files that nobody needs: a day later, their bytes are free.',
      members: { used_bytes: 0, limit_bytes: 1000 },
    })
    expect(await opened.blobKeys()).toEqual([])
    expect((await receive(form(file('x'.repeat(1000))))).size).toBe(1000)
  })

  const full = {
    code: 'insufficient_storage',
    message: 'The disk of the service is nearly full, so it takes no files. Nothing was stored.',
  }
  test.each([
    [256 * MIB - 1, full],
    [256 * MIB, undefined],
    [undefined, undefined],
  ])('on a disk with %s bytes free', async (free, refused) => {
    expect(await refusal(form(file('x')), { blobs: { freeBytes: async () => free } })).toEqual(refused)
    expect(await opened.blobKeys()).toHaveLength(refused === undefined ? 1 : 0)
  })

  test('on a disk that others fill meanwhile, or that has no byte left', async () => {
    let free = 300 * MIB
    const freeBytes = async () => (free -= 50 * MIB)
    const large = form(file('x'.repeat(3 * MIB)))
    expect(await refusal(large, { blobs: { freeBytes }, uploadBytes: 10 * MIB })).toEqual(full)
    const cause = Object.assign(new Error('no space'), { code: 'ENOSPC' })
    const write: Blobs['write'] = () => Promise.reject(new StorageUnavailable('full', { cause }))
    expect(await refusal(form(file('x')), { blobs: { write } })).toEqual(full)
    expect(await opened.blobKeys()).toEqual([])
  })
})

test('a form is read the same however its bytes arrive, with spaces behind its delimiters, a preamble and an epilogue', async () => {
  const content = '\r\n--\r\n--y\r\n-\r\n--'
  const body = `hello\r\n${form(field('visibility', 'private'), file(content))}bye`.replaceAll('--x\r\n', '--x \t\r\n')
  for (const size of [1, 2, 3, 7, 50, body.length]) {
    const chunks = Array.from({ length: Math.ceil(body.length / size) }, (_, i) => body.slice(i * size, (i + 1) * size))
    const { blobId, ...upload } = await receive(chunks)
    expect(upload).toMatchObject({ name: 'a.txt', size: content.length, visibility: 'private' })
    const read: Uint8Array[] = []
    for await (const bytes of opened.blobs.read(blobId, 0, content.length)) read.push(bytes)
    expect(Buffer.concat(read).toString()).toBe(content)
  }
})

/** Removes, inserts and repeats parts of a text at random. */
function damage(text: string, random: RandomInteger): string {
  const inserted = ['\r\n', '\r\n--x\r\n', '--x--', '"', ':', '\0', '\n']
  let damaged = text
  for (let changes = 1 + random(3); changes > 0; changes--) {
    const at = random(damaged.length + 1)
    const [before, behind] = [damaged.slice(0, at), damaged.slice(at)]
    damaged = [before, before + behind.slice(1 + random(20)), before + inserted[random(inserted.length)]! + behind, damaged + behind][
      random(4)
    ]!
  }
  return damaged
}

test('a form that is damaged at random is stored or refused, and a refused one leaves no bytes', async () => {
  const forms = [
    form(file(LINE), field('visibility', 'private')),
    form(file(LINE, { name: 'other' }), file(LINE)),
    form(field('other', LINE), file(LINE), file(LINE)),
    form(part(['x: y'], LINE), file('y'.repeat(70_000)), field('other', LINE)),
  ]
  for (let seed = 1; seed <= effort(100); seed++) {
    const random = seededRandom(seed)
    const body = damage(forms[random(forms.length)]!, random)
    const at = random(body.length + 1)
    const outcome = await receive([body.slice(0, at), body.slice(at)]).then(
      async ({ blobId }) => (await opened.blobs.remove(blobId), 'stored'),
      (error: unknown) => (error instanceof ApiError ? error.code : error),
    )
    expect(['stored', 'bad_request', 'validation_failed', 'payload_too_large']).toContain(outcome)
    expect([seed, await opened.blobKeys()]).toEqual([seed, []])
  }
})

describe('an upload that is interrupted', () => {
  const begin = form(file('x'.repeat(50_000))).slice(0, 40_000)

  test('is refused when the connection is lost, and its bytes are removed after the last one was written', async () => {
    const events: string[] = []
    const write: Blobs['write'] = (id, bytes) =>
      opened.blobs.write(id, bytes).catch(async (error: Error) => {
        await nextTurn()
        events.push('the end of the write')
        throw error
      })
    const remove: Blobs['remove'] = async () => void events.push('the removal')
    expect(await refusal([begin, new Error('connection lost')], { blobs: { write, remove } })).toEqual({
      code: 'bad_request',
      message: 'The body is incomplete.',
    })
    expect(events).toEqual(['the end of the write', 'the removal'])
  })

  test('its bytes are removed before it is refused', async () => {
    const remove: Blobs['remove'] = async (id) => {
      await nextTurn()
      await opened.blobs.remove(id)
    }
    expect(await issues(form(file('x'), field('x', 'x')))).toEqual(['x is not a known member'])
    await refusal(form(file('x'), field('x', 'x')), { blobs: { remove } })
    expect(await opened.blobKeys()).toEqual([])
  })

  test('is refused for its reason, even if its bytes cannot be removed', async () => {
    const remove: Blobs['remove'] = async () => {
      throw new Error('out of order')
    }
    expect(await refusal(form(file('x'), field('x', 'x')), { blobs: { remove } })).toMatchObject({ code: 'validation_failed' })
  })

  test.each([1, Infinity])('by storage that fails after %d bytes is not blamed on the client', async (limit) => {
    const write: Blobs['write'] = async (_id, bytes) => {
      let size = 0
      for await (const chunk of bytes) if ((size += chunk.byteLength) >= limit) break
      throw new StorageUnavailable('gone')
    }
    expect(await refusal(form(file('x'.repeat(90_000))), { blobs: { write } })).toBeInstanceOf(StorageUnavailable)
  })
})

test.each<[expected: boolean, types: string[]]>([
  [true, ['multipart/form-data; boundary=x', 'Multipart/Form-Data ; charset=utf-8; BOUNDARY=x']],
  [false, ['multipart/form-data; boundary=', 'multipart/form-data', 'multipart/form-data; x-boundary']],
  [false, ['multipart/mixed; boundary=x', 'x multipart/form-data; boundary=x', 'application/json']],
])('the type of an upload: %s for %j', (expected, types) => {
  expect(types.map((type) => isUpload(new Headers({ 'content-type': type })))).toEqual(types.map(() => expected))
  expect(isUpload(new Headers())).toBe(false)
})

test('the announced size may exceed the maximum by 64 KiB, for the other parts of the form', () => {
  const check = (length: number | undefined) =>
    checkAnnouncedSize(new Headers(length === undefined ? {} : { 'content-length': String(length) }), MAX_BYTES)
  check(undefined)
  check(MAX_BYTES + 64 * 1024)
  expect(() => check(MAX_BYTES + 64 * 1024 + 1)).toThrow(`The file is larger than ${MAX_BYTES} bytes.`)
})
