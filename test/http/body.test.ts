import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { readBody } from '../../src/http/body.ts'

type Incoming = Parameters<typeof readBody>[0]

/** A request whose body arrives in these chunks. */
function request(chunks: readonly (string | Error)[], headers: Record<string, string> = {}): Incoming {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        if (chunk instanceof Error) return controller.error(chunk)
        controller.enqueue(Buffer.from(chunk))
      }
      controller.close()
    },
  })
  return new Request('http://x/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit) as Incoming
}

const read = async (...args: Parameters<typeof request>) => Buffer.from(await readBody(request(...args), 10)).toString()
const refusal = (...args: Parameters<typeof request>) => read(...args).catch((error: unknown) => error)
const tooLarge = {
  code: 'payload_too_large',
  message: 'The body is larger than 10 bytes.',
  details: { members: { limit_bytes: 10 }, headers: { connection: 'close' } },
}

describe('reading a body', () => {
  test('the chunks of a body are joined', async () => {
    expect(await read([])).toBe('')
    expect(await read(['0123456789'])).toBe('0123456789')
    expect(await read(['01234', '', '56', '789'])).toBe('0123456789')
  })

  test('a request without a body has an empty one', async () => {
    expect(await readBody(new Request('http://x/') as Incoming, 10)).toHaveLength(0)
  })

  test('a body without a connection is read, whatever runs the service', async () => {
    const body = await readBody(Object.assign(request(['0123']), { runtime: {} }) as unknown as Incoming, 10)
    expect(Buffer.from(body).toString()).toBe('0123')
  })

  test.each([
    ['one chunk', ['0123456789x'], {}],
    ['an announced size', [], { 'content-length': '11' }],
  ])('a body with too many bytes in %s is refused', async (_name, chunks, headers) => {
    expect(await refusal(chunks, headers)).toMatchObject(tooLarge)
  })

  test('an announced size up to the maximum is accepted', async () => {
    expect(await read(['0123456789'], { 'content-length': '10' })).toBe('0123456789')
  })

  test('a body in many pieces is refused, unless they are large enough', async () => {
    const many = (count: number, piece: string) => readBody(request(Array.from({ length: count }, () => piece)), Infinity)
    expect(await many(20_000, 'x')).toHaveLength(20_000)
    await expect(many(20_100, 'x')).rejects.toMatchObject({ code: 'payload_too_large', details: { headers: { connection: 'close' } } })
    expect(await many(20_100, 'x'.repeat(256))).toHaveLength(20_100 * 256)
  })

  test('a body that ends too early is refused', async () => {
    expect(await refusal(['01', new Error('connection lost')])).toMatchObject({ code: 'bad_request', message: 'The body is incomplete.' })
  })
})

describe('reading a body from a connection', () => {
  /** A request of a connection that has received nothing yet. */
  const incoming = () => Object.assign(new Readable({ read: () => undefined }), { httpVersion: '1.1', headers: {} })
  const readFrom = async (connection: Readable, maxBytes = 10) => {
    const wrapped = { headers: new Headers(), runtime: { node: { req: connection } } } as unknown as Incoming
    return Buffer.from(await readBody(wrapped, maxBytes)).toString()
  }
  const send = (connection: Readable, ...parts: (string | null)[]) => {
    for (const part of parts) connection.push(part === null ? null : Buffer.from(part))
  }

  test('the parts of a body are joined', async () => {
    const connection = incoming()
    const body = readFrom(connection)
    send(connection, '01234', '56', '789', null)
    expect(await body).toBe('0123456789')
    expect(connection.listenerCount('data')).toBe(0)
  })

  test('a body that is too large is refused before it ends, and the rest of it is discarded', async () => {
    const connection = incoming()
    const body = readFrom(connection).catch((error: unknown) => error)
    send(connection, '01234', '56789', 'x')
    expect(await body).toMatchObject(tooLarge)
    send(connection, 'y', null)
    await new Promise((resolve) => connection.on('close', resolve))
    expect(connection.readableLength).toBe(0)
  })

  const incomplete = { code: 'bad_request', message: 'The body is incomplete.' }
  test.each([
    ['ends too early', (connection: Readable) => connection.destroy()],
    ['fails', (connection: Readable) => connection.destroy(new Error('reset'))],
  ])('a body whose connection %s is refused', async (_name, end) => {
    const connection = incoming()
    const body = readFrom(connection).catch((error: unknown) => error)
    send(connection, '01')
    end(connection)
    expect(await body).toMatchObject(incomplete)
  })

  test('a body whose connection ended before it was read is refused', async () => {
    const connection = incoming()
    connection.destroy()
    await new Promise((resolve) => connection.on('close', resolve))
    expect(await readFrom(connection).catch((error: unknown) => error)).toMatchObject(incomplete)
  })
})
