import type { ServerRequest } from 'srvx'
import type { Cost } from '../governor/cost.ts'
import type { Turn } from '../governor/turns.ts'
import { durations } from '../model/durations.ts'
import { conflict } from '../model/errors.ts'
import { fileVisibilities } from '../model/file.ts'
import { newId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { mediaTypeOf } from '../model/media-type.ts'
import { PICTURE_HEAD, pictureOf } from '../model/picture.ts'
import { hasAtMost } from '../model/text.ts'
import { timestamp } from '../model/time.ts'
import { UPLOAD_EXPIRED } from '../resources/attachments/operations.ts'
import { diskFull, requireRoom } from '../resources/attachments/room.ts'
import type { Upload } from '../resources/operation.ts'
import type { Blobs } from '../store/blobs.ts'
import { keys } from '../store/keys.ts'
import { StorageUnavailable } from '../store/port.ts'
import { transact } from '../store/transact.ts'
import { bodyOf, Pieces, tooLarge } from './body.ts'
import { invalidMember } from '../model/validation.ts'
import { partsOf, type Part } from './multipart.ts'
import type { Services } from './services.ts'

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
 * @param turn of its request: the work for its pieces is shared with others
 * @param cost gets what is received, also of an upload that is interrupted or refused
 * @throws {ApiError} `bad_request`, `payload_too_large`, `validation_failed`; `conflict` if it takes too long
 */
export async function receiveFile(
  { store, blobs, clock, random, uploadBytes, workspaceBytes, turns }: Services,
  request: ServerRequest,
  workspaceId: string,
  turn: Turn,
  cost: Pick<Cost, 'uploaded' | 'pieces'>,
): Promise<Upload> {
  const blobId = newId('blob', random)
  const tombstoneId = newId('tombstone', random)
  const deadline = clock() + MAX_DURATION
  const announced = announcedSize(request.headers)
  await requireDisk(blobs, announced)
  const room = await transact(store, workspaceId, random, async (tx) => {
    const [, used] = await tx.read([keys.tombstone(tombstoneId), keys.fileBytes()])
    // The commit that creates the file looks again.
    requireRoom(used?.bytes ?? 0, announced, workspaceBytes)
    const not_before = timestamp(() => clock() + durations.unfinishedUpload)
    tx.put(keys.tombstone(tombstoneId), { id: tombstoneId, kind: 'blob', target: blobId, not_before })
    return workspaceBytes - (used?.bytes ?? 0)
  })
  async function* accepted(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let [size, checked] = [0, 0]
    for await (const part of bytes) {
      if (clock() > deadline) throw conflict(UPLOAD_EXPIRED)
      size += part.byteLength
      requireRoom(workspaceBytes - room, size, workspaceBytes)
      if (size - checked >= DISK_CHECK) {
        checked = size
        await requireDisk(blobs, DISK_CHECK)
      }
      yield part
    }
  }
  const limited: Blobs = { ...blobs, write: (id, bytes) => blobs.write(id, accepted(bytes)) }
  const pieces = (body: AsyncIterable<Uint8Array>) => turn.share(atMost(body, uploadBytes, cost), turns.forUploads)
  return { ...(await receiveForm({ request, pieces, maxBytes: uploadBytes }, limited, blobId)), tombstoneId, workspaceBytes }
}

/** How many bytes of the disk files leave free for the records. */
const DISK_RESERVE = 256 * 1024 * 1024
/** How many bytes of a file are written before the disk is checked again. */
const DISK_CHECK = 1024 * 1024

/** The size that an upload announces, without its other parts; 0 if it does not. */
export function announcedSize(headers: Headers): number {
  return Math.max(0, (Number(headers.get('content-length')) || 0) - MAX_OVERHEAD)
}

/** @throws {ApiError} `insufficient_storage` */
async function requireDisk(blobs: Blobs, size: number): Promise<void> {
  const free = await blobs.freeBytes()
  if (free !== undefined && free < size + DISK_RESERVE) throw diskFull()
}

function isDiskFull(error: unknown): boolean {
  return error instanceof StorageUnavailable && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOSPC'
}

/** A file whose bytes are stored. */
type ReceivedFile = Omit<Upload, 'tombstoneId' | 'workspaceBytes'>

interface ReceivedForm {
  readonly request: ServerRequest
  /** the body in pieces */
  readonly pieces: (body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>
  /** of its file */
  readonly maxBytes: number
}

/** Streams the file of a form to blob storage, and reads the field `visibility`. On failure the bytes are removed. */
async function receiveForm({ request, pieces, maxBytes }: ReceivedForm, blobs: Blobs, blobId: string): Promise<ReceivedFile> {
  const body = bodyOf(request, new Pieces())
  try {
    const form = new Form(blobs, blobId, maxBytes)
    for await (const part of partsOf(request.headers.get('content-type')!, pieces(body))) await form.take(part)
    return { blobId, ...form.result() }
  } catch (error) {
    // If this fails, garbage collection removes the bytes, because their tombstone stays.
    await blobs.remove(blobId).catch(() => undefined)
    throw isDiskFull(error) ? diskFull() : error
  } finally {
    // The rest of the body is discarded.
    await body.return(undefined)
  }
}

/** Counts what is received, and ends a body that is longer than any valid upload. */
async function* atMost(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  cost: Pick<Cost, 'uploaded' | 'pieces'>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    cost.uploaded += chunk.byteLength
    cost.pieces++
    if (cost.uploaded > maxBytes + MAX_OVERHEAD) throw tooLarge('file', maxBytes)
    yield chunk
  }
}

/** The longest value of a field in bytes. */
const MAX_FIELD = 1000

/** A form that is being received. The first part that is not wanted ends it: nothing after that is looked at. */
class Form {
  readonly #blobs: Blobs
  readonly #blobId: string
  readonly #maxBytes: number
  #visibility: Upload['visibility'] | undefined
  #file: Omit<ReceivedFile, 'blobId' | 'visibility'> | undefined

  constructor(blobs: Blobs, blobId: string, maxBytes: number) {
    this.#blobs = blobs
    this.#blobId = blobId
    this.#maxBytes = maxBytes
  }

  /** @throws {ApiError} `validation_failed`, `payload_too_large` */
  async take(part: Part): Promise<void> {
    const { name } = part
    if (name === 'file') await this.#takeFile(part)
    else if (name === 'visibility') await this.#takeVisibility(part)
    else throw invalidMember(name.slice(0, LONGEST_NAME), 'is not a known member')
  }

  result(): Omit<ReceivedFile, 'blobId'> {
    if (this.#file === undefined) throw invalidMember('file', 'is missing')
    return { ...this.#file, visibility: this.#visibility ?? 'board' }
  }

  async #takeFile({ fileName, type, bytes }: Part): Promise<void> {
    if (this.#file !== undefined) throw invalidMember('file', 'is given twice')
    if (fileName === undefined && /^(?:text\/plain\b|$)/i.test(type)) throw invalidMember('file', 'must be a file: give it a filename')
    const name = storedName(fileName)
    if (!hasAtMost(limits.fileName, name)) throw invalidMember('file', `has a name of more than ${limits.fileName} characters`)
    const file = new ObservedFile(bytes, this.#maxBytes)
    const written = await this.#blobs.write(this.#blobId, file.bytes())
    const contentType = mediaTypeOf(statedType(type), name, file.head, CHARSET.exec(type)?.[1])
    this.#file = { name, contentType, picture: pictureOf(file.head) ?? null, ...written }
  }

  async #takeVisibility({ bytes }: Part): Promise<void> {
    if (this.#visibility !== undefined) throw invalidMember('visibility', 'is given twice')
    let value = ''
    for await (const chunk of bytes) {
      value += Buffer.from(chunk).toString('latin1')
      if (value.length > MAX_FIELD) break
    }
    this.#visibility = fileVisibilities.find((known) => known === value)
    if (this.#visibility === undefined) throw invalidMember('visibility', `must be one of ${fileVisibilities.join(', ')}`)
  }
}

/** characters of a name that an answer repeats */
const LONGEST_NAME = 100

/** The bytes of a file on their way to storage; the first ones are kept. */
class ObservedFile {
  readonly #bytes: AsyncIterable<Uint8Array>
  readonly #maxBytes: number
  #kept: Uint8Array[] = []
  #size = 0

  constructor(bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
    this.#bytes = bytes
    this.#maxBytes = maxBytes
  }

  get head(): Uint8Array {
    return Buffer.concat(this.#kept).subarray(0, PICTURE_HEAD)
  }

  /** @throws {ApiError} `payload_too_large` */
  async *bytes(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#bytes) {
      if (this.#size < PICTURE_HEAD) this.#kept.push(chunk)
      this.#size += chunk.byteLength
      if (this.#size > this.#maxBytes) throw tooLarge('file', this.#maxBytes)
      yield chunk
    }
  }
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/

const CHARSET = /;\s*charset\s*=\s*"?([\w-]{1,40})/i

/** A type in lower case and without parameters; undefined if none is stated, or it is malformed. */
function statedType(text: string): string | undefined {
  const type = text.split(';')[0]!.trim().toLowerCase()
  return MEDIA_TYPE.test(type) ? type : undefined
}

/** The last component of an upload's name, without control and format characters. It may exceed the length limit. */
function storedName(text: string | undefined): string {
  const name = (text ?? '')
    .split(/[\\/]/)
    .at(-1)!
    .toWellFormed()
    .replaceAll(/\p{Cc}|\p{Cf}/gu, '')
    .trim()
  return name === '' || name === '.' || name === '..' ? 'file' : name
}
