import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import type { ServerRequest } from 'srvx'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { visibilities } from '../model/board.ts'
import type { Upload } from '../resources/operation.ts'
import type { Blobs } from '../store/blobs.ts'
import { bodyOf } from './body.ts'
import { validationFailed, type ValidationIssue } from './issues.ts'

/** What surrounds the bytes of a file in a multipart body, at most. */
const OVERHEAD = 64 * 1024

/** Whether a request brings a file along. */
export function isUpload(headers: Headers): boolean {
  return /^multipart\/form-data\s*;.*\bboundary=./i.test(headers.get('content-type') ?? '')
}

/**
 * Refuses an upload that says itself that it is too large.
 * @throws {ApiError} `payload_too_large`
 */
export function checkAnnounced(headers: Headers, most: number): void {
  if (Number(headers.get('content-length') ?? 0) > most + OVERHEAD) throw tooLarge(most)
}

/**
 * Streams the one file of a multipart body to where bytes are kept, and reads the field `visibility`.
 * @param most bytes of the file
 * @throws {ApiError} `bad_request`, `payload_too_large`, `validation_failed`; the bytes are then removed
 */
export async function receiveUpload(request: ServerRequest, blobs: Blobs, blobId: string, most: number): Promise<Received> {
  let form: Form | undefined
  try {
    form = new Form(request.headers, blobs, blobId, most)
    await pipeline(Readable.from(bodyOf(request)), form.parser)
    return { blobId, ...(await form.result()) }
  } catch (error) {
    await form?.abandon()
    if (error instanceof ApiError) throw error
    throw new ApiError('bad_request', { message: 'The multipart body could not be read.' })
  }
}

/** A file whose bytes were received. */
export type Received = Omit<Upload, 'tombstoneId'>

/** A multipart form while it comes. */
class Form {
  readonly parser: InstanceType<typeof Busboy>
  readonly #issues: ValidationIssue[] = []
  readonly #blobs: Blobs
  readonly #blobId: string
  #visibility: Upload['visibility'] | undefined
  #stream: BusboyFileStream | undefined
  #file: Promise<Omit<Received, 'blobId' | 'visibility'>> | undefined

  constructor(headers: Headers, blobs: Blobs, blobId: string, most: number) {
    this.#blobs = blobs
    this.#blobId = blobId
    this.parser = new Busboy({
      headers: { 'content-type': headers.get('content-type')! },
      limits: { fileSize: most, files: 2, fields: 10, fieldSize: 1000, parts: 12, headerPairs: 20 },
    })
    this.parser.on('field', (name: string | undefined, value: string) => this.#field(name ?? '', value))
    this.parser.on(
      'file',
      (name: string | undefined, stream: BusboyFileStream, given: string | undefined, _encoding: string, type: string) =>
        this.#part(name ?? '', stream, given, type, most),
    )
  }

  async result(): Promise<Omit<Received, 'blobId'>> {
    const file = await this.#file
    if (file === undefined) this.#issues.push({ in: 'body', path: 'file', message: 'is missing' })
    if (this.#issues.length > 0) throw validationFailed(this.#issues)
    return { ...file!, visibility: this.#visibility ?? 'private' }
  }

  async abandon(): Promise<void> {
    // Where the client went away nobody ends the part that was coming: its reader would wait for good.
    this.#stream?.destroy(new Error('the upload was given up'))
    await this.#file?.catch(() => undefined)
    await this.#blobs.remove(this.#blobId)
  }

  #part(name: string, stream: BusboyFileStream, given: string | undefined, type: string, most: number): void {
    if (name === 'file' && this.#file === undefined) {
      this.#stream = stream
      const known = fileName(given)
      if (known.length > limits.fileName)
        this.#issues.push({ in: 'body', path: name, message: `has a name of more than ${limits.fileName} characters` })
      this.#file = this.#receive(stream, most, known, mediaType(type))
      // It is awaited at the end; until then a failure is nobody's.
      this.#file.catch((error: Error) => this.parser.destroy(error))
    } else {
      this.#issues.push({ in: 'body', path: name, message: name === 'file' ? 'stands twice' : 'is not known here' })
      stream.resume()
    }
  }

  #field(name: string, value: string): void {
    const visibility = visibilities.find((known) => known === value)
    if (name === 'file') this.#issues.push({ in: 'body', path: name, message: 'must be a file: give it a filename' })
    else if (name !== 'visibility') this.#issues.push({ in: 'body', path: name, message: 'is not known here' })
    else if (visibility === undefined) this.#issues.push({ in: 'body', path: name, message: `must be one of ${visibilities.join(', ')}` })
    else if (this.#visibility !== undefined) this.#issues.push({ in: 'body', path: name, message: 'stands twice' })
    else this.#visibility = visibility
  }

  async #receive(
    stream: BusboyFileStream,
    most: number,
    name: string,
    contentType: string,
  ): Promise<Omit<Received, 'blobId' | 'visibility'>> {
    const written = await this.#blobs.write(this.#blobId, stream)
    if (stream.truncated) throw tooLarge(most)
    return { name, contentType, ...written }
  }
}

function tooLarge(most: number): ApiError {
  return new ApiError('payload_too_large', {
    message: `The file is larger than ${most} bytes.`,
    members: { limit_bytes: most },
    headers: { connection: 'close' },
  })
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/

/** The media type of an upload, without parameters; what is none is taken as mere bytes. */
export function mediaType(text: string | undefined): string {
  const type = (text ?? '').split(';')[0]!.trim().toLowerCase()
  return MEDIA_TYPE.test(type) ? type : 'application/octet-stream'
}

/** The name of an upload: its last part, without anything that a header or a shell would trip over. It may be too long. */
export function fileName(text: string | undefined): string {
  const name = (text ?? '')
    .split(/[\\/]/)
    .at(-1)!
    .toWellFormed()
    .replaceAll(/\p{Cc}|\p{Cf}/gu, '')
    .trim()
  return name === '' || name === '.' || name === '..' ? 'file' : name
}
