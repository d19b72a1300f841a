import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Busboy, BusboyFileStream } from '@fastify/busboy'
import type { ServerRequest } from 'srvx'
import { durations } from '../model/durations.ts'
import { ApiError, conflict } from '../model/errors.ts'
import { fileVisibilities } from '../model/file.ts'
import { newId } from '../model/ids.ts'
import { lazy } from '../model/lazy.ts'
import { limits } from '../model/limits.ts'
import { hasAtMost } from '../model/text.ts'
import { timestamp } from '../model/time.ts'
import { UPLOAD_EXPIRED } from '../resources/attachments/operations.ts'
import type { Upload } from '../resources/operation.ts'
import type { Blobs } from '../store/blobs.ts'
import { keys } from '../store/keys.ts'
import { StorageUnavailable } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import { bodyOf, tooLarge } from './body.ts'
import { Issues } from '../model/validation.ts'
import type { Services } from './services.ts'

const busboy = lazy(() => import('@fastify/busboy'))

/** The maximum size in bytes of a multipart body without its file. */
const MAX_OVERHEAD = 64 * 1024
/**
 * The maximum duration of an upload in milliseconds. It ends long before garbage collection may remove the bytes:
 * chunks that are written during or after their removal would remain.
 */
const MAX_DURATION = durations.unfinishedUpload / 2

/** Whether the body of a request is a form with a file. */
export function isUpload(headers: Headers): boolean {
  return /^multipart\/form-data\s*;.*\bboundary=./i.test(headers.get('content-type') ?? '')
}

/**
 * Refuses an upload whose announced size exceeds the limit.
 * @throws {ApiError} `payload_too_large`
 */
export function checkAnnouncedSize(headers: Headers, maxBytes: number): void {
  if (Number(headers.get('content-length')) > maxBytes + MAX_OVERHEAD) throw tooLarge('file', maxBytes)
}

/**
 * Stores the file of a request. A tombstone for its bytes is committed first, and the commit that creates the file
 * removes it. So the bytes of an upload that is interrupted, even by a crash, are always removed.
 * @throws {ApiError} `bad_request`, `payload_too_large`, `validation_failed`; `conflict` if it takes too long
 */
export async function receiveFile(
  { store, blobs, clock, random, uploadBytes }: Services,
  request: ServerRequest,
  workspaceId: string,
): Promise<Upload> {
  const blobId = newId('blob', random)
  const tombstoneId = newId('tombstone', random)
  const deadline = clock() + MAX_DURATION
  await transact(store, workspaceId, random, async (tx) => {
    await tx.get(keys.tombstone(tombstoneId))
    const not_before = timestamp(() => clock() + durations.unfinishedUpload)
    tx.put(keys.tombstone(tombstoneId), { id: tombstoneId, kind: 'blob', target: blobId, not_before })
  })
  async function* inTime(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of bytes) {
      if (clock() > deadline) throw conflict(UPLOAD_EXPIRED)
      yield part
    }
  }
  const limited: Blobs = { ...blobs, write: (id, bytes) => blobs.write(id, inTime(bytes)) }
  return { ...(await receiveForm(request, limited, blobId, uploadBytes)), tombstoneId }
}

/** A file whose bytes are stored. */
type ReceivedFile = Omit<Upload, 'tombstoneId'>

/** Streams the file of a multipart body to blob storage, and reads the field `visibility`. On failure the bytes are removed. */
async function receiveForm(request: ServerRequest, blobs: Blobs, blobId: string, maxBytes: number): Promise<ReceivedFile> {
  const { Busboy: Parser } = await busboy()
  let form: Form | undefined
  try {
    form = new Form(Parser, request.headers, blobs, blobId, maxBytes)
    await pipeline(Readable.from(atMost(bodyOf(request), maxBytes)), form.parser)
    return { blobId, ...(await form.result()) }
  } catch (error) {
    await form?.abandon()
    if (error instanceof ApiError || error instanceof StorageUnavailable) throw error
    throw new ApiError('bad_request', { message: 'The multipart body could not be read.' })
  }
}

/** Ends a body that is longer than any valid upload: its preamble, part headers and fields are bounded too. */
async function* atMost(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes + MAX_OVERHEAD) throw tooLarge('file', maxBytes)
    yield chunk
  }
}

/** A multipart form that is being received. */
class Form {
  readonly parser: InstanceType<typeof Busboy>
  readonly #issues = new Issues()
  readonly #blobs: Blobs
  readonly #blobId: string
  #visibility: Upload['visibility'] | undefined
  #stream: BusboyFileStream | undefined
  #file: Promise<Omit<ReceivedFile, 'blobId' | 'visibility'>> | undefined

  constructor(Parser: typeof Busboy, headers: Headers, blobs: Blobs, blobId: string, maxBytes: number) {
    this.#blobs = blobs
    this.#blobId = blobId
    this.parser = new Parser({
      headers: { 'content-type': headers.get('content-type')! },
      limits: { fileSize: maxBytes, files: 2, fields: 10, fieldSize: 1000, parts: 12, headerPairs: 20 },
    })
    this.parser.on('field', (name: string | undefined, value: string) => this.#readField(name ?? '', value))
    this.parser.on(
      'file',
      (name: string | undefined, stream: BusboyFileStream, given: string | undefined, _encoding: string, type: string) =>
        this.#readFile(name ?? '', stream, given, type, maxBytes),
    )
  }

  async result(): Promise<Omit<ReceivedFile, 'blobId'>> {
    const file = await this.#file
    if (file === undefined) this.#issues.refuse('file', 'is missing')
    this.#issues.throwIfAny()
    return { ...file!, visibility: this.#visibility ?? 'board' }
  }

  async abandon(): Promise<void> {
    // If the client has closed the connection, nothing else ends the stream of the part, and its reader would wait forever.
    this.#stream?.destroy(new Error('the upload was abandoned'))
    await this.#file?.catch(() => undefined)
    // If this fails, garbage collection removes the bytes, because their tombstone stays.
    await this.#blobs.remove(this.#blobId).catch(() => undefined)
  }

  #readFile(name: string, stream: BusboyFileStream, given: string | undefined, type: string, maxBytes: number): void {
    // The parser reports the end of a body in the middle of a file on its stream. Without a listener, that would end the process.
    stream.on('error', () => undefined)
    if (name !== 'file' || this.#file !== undefined) {
      this.#issues.refuse(name, name === 'file' ? 'is given twice' : 'is not a known member')
      stream.resume()
      return
    }
    this.#stream = stream
    // The rest of the body is not read.
    stream.on('limit', () => this.parser.destroy(tooLarge('file', maxBytes)))
    const safeName = fileName(given)
    if (!hasAtMost(limits.fileName, safeName)) this.#issues.refuse(name, `has a name of more than ${limits.fileName} characters`)
    this.#file = this.#store(stream, maxBytes, safeName, mediaType(type))
    // result() awaits it. Until then, a failure has to end the parser.
    this.#file.catch((error: Error) => this.parser.destroy(error))
  }

  #readField(name: string, value: string): void {
    const visibility = fileVisibilities.find((known) => known === value)
    if (name === 'file') this.#issues.refuse(name, 'must be a file: give it a filename')
    else if (name !== 'visibility') this.#issues.refuse(name, 'is not a known member')
    else if (visibility === undefined) this.#issues.refuse(name, `must be one of ${fileVisibilities.join(', ')}`)
    else if (this.#visibility !== undefined) this.#issues.refuse(name, 'is given twice')
    else this.#visibility = visibility
  }

  async #store(
    stream: BusboyFileStream,
    maxBytes: number,
    name: string,
    contentType: string,
  ): Promise<Omit<ReceivedFile, 'blobId' | 'visibility'>> {
    const written = await this.#blobs.write(this.#blobId, stream)
    if (stream.truncated) throw tooLarge('file', maxBytes)
    return { name, contentType, ...written }
  }
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/

/** @param text in lower case and without parameters. A malformed type becomes `application/octet-stream`. */
function mediaType(text: string): string {
  const type = text.trim()
  return MEDIA_TYPE.test(type) ? type : 'application/octet-stream'
}

/** The last component of an upload's name, without control and format characters. It may exceed the length limit. */
function fileName(text: string | undefined): string {
  const name = (text ?? '')
    .split(/[\\/]/)
    .at(-1)!
    .toWellFormed()
    .replaceAll(/\p{Cc}|\p{Cf}/gu, '')
    .trim()
  return name === '' || name === '.' || name === '..' ? 'file' : name
}
