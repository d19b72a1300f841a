import { createHash } from 'node:crypto'
import { download } from '../../http/download.ts'
import { ApiError } from '../../model/errors.ts'
import type { FileRecord } from '../../model/file.ts'
import { isShowable, PICTURE_HEAD, pictureOf, type Picture } from '../../model/picture.ts'
import type { Blobs } from '../../store/blobs.ts'
import type { Page, PageResponse, SignedInContext } from '../page-context.ts'
import { ifFound, readerOf, workspacePage, type Reader } from '../reader.ts'
import { fileSign } from './icons.ts'

/** The bytes of an attachment, to store. They have the headers of a download of the API: nothing in them runs. */
export const attachmentPage: Page = {
  ...workspacePage('attachments/{attachment}', 'attachments.download', async (reader) => send(reader, await fileOf(reader))),
  isPart: true,
}

/** The same for the pictures of pages: only what is one by its bytes, with the type of these, and not too large to be shown. */
export const picturePage: Page = {
  ...workspacePage('attachments/{attachment}/picture', 'attachments.download', async (reader) => {
    const file = await fileOf(reader)
    return send(reader, file, (await showablePictureOf(reader, file)).type)
  }),
  isPart: true,
}

/** A picture of at most so many bytes needs no preview, and a preview has no more. */
const SMALL = 60 * 1024
/** The longest side of a preview in pixels, with room for browsers that scale another way. */
const LONGEST_SIDE = 1024

/**
 * A picture in small, for tiles and lists: its preview, the picture itself if it is small, or its name. GET never sends a large picture.
 * POST keeps a preview, which the browser of the person has made: no decoder of other people's pictures runs in the service. A preview is
 * not trusted to show its picture: it is read and sent as the file is, and its type and its size are read from its bytes.
 */
export const previewPage: Page = {
  ...workspacePage('attachments/{attachment}/preview', 'attachments.download', async (reader) => {
    const file = await fileOf(reader)
    const picture = await showablePictureOf(reader, file)
    if (file.size <= SMALL) return send(reader, file, picture.type, REVALIDATED)
    const bytes = await blobsOf(reader).readPreview(file.blob_id)
    const preview = bytes && previewOf(bytes)
    return preview === undefined
      ? sendBytes(reader, file, Buffer.from(renderName(file.name)), 'image/svg+xml')
      : sendBytes(reader, file, bytes!, preview.type)
  }),
  isPart: true,
  callsOperations: true,
  post: (context) => ifFound(context, 'files.update', () => keepPreview(context)),
}

/** Only people who may change the file give it a preview: it can show anything. */
async function keepPreview(context: SignedInContext): Promise<PageResponse> {
  const reader = readerOf(context)
  const file = await fileOf(reader)
  await showablePictureOf(reader, file)
  const [may] = await reader.allowedOf([{ operation: 'files.update', type: 'file', id: file.id }])
  if (!may) return { json: { error: 'Only people who may change the file can give it a preview.' }, status: 403, audit: false }
  const bytes = Buffer.from(context.form.get('preview') ?? '', 'base64url')
  if (file.size <= SMALL || previewOf(bytes) === undefined)
    return { json: { error: 'This is no preview of a large picture.' }, status: 422, audit: false }
  reader.context.work.read += context.web.services().rateLimits?.countUpload(context.session.user_id, bytes.length) ?? 0
  await blobsOf(reader).writePreview(file.blob_id, bytes)
  return { json: {}, audit: false }
}

function previewOf(bytes: Uint8Array): Picture | undefined {
  const preview = bytes.length <= SMALL ? pictureOf(bytes) : undefined
  const isPreview = preview?.type === 'image/webp' || preview?.type === 'image/jpeg'
  return isPreview && Math.max(preview.width, preview.height) <= LONGEST_SIDE ? preview : undefined
}

const blobsOf = ({ context }: Reader): Blobs => context.web.services().blobs

async function fileOf({ context, answer }: Reader): Promise<FileRecord> {
  const found = await answer('attachments.download', { params: { attachment_id: context.params['attachment'] } })
  if (found.kind !== 'download') throw new TypeError('a download has a file')
  return found.file
}

/** @throws {ApiError} `not_found`: pages do not show it */
async function showablePictureOf(reader: Reader, file: FileRecord): Promise<Picture> {
  // Files from before pictures were read do not have it.
  const picture = file.picture === undefined ? pictureOf(await readHead(reader, file)) : file.picture
  if (picture == null || !isShowable(picture)) throw new ApiError('not_found')
  return picture
}

async function readHead(reader: Reader, { blob_id, size }: FileRecord): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of blobsOf(reader).read(blob_id, 0, Math.min(size, PICTURE_HEAD))) parts.push(part)
  return Buffer.concat(parts)
}

/** What the browser keeps, and asks about each time: whether the person may still see it, and whether there is a preview by now. */
const REVALIDATED = 'private, no-cache'

async function send(reader: Reader, file: FileRecord, type?: string, caching?: string, blobs = blobsOf(reader)): Promise<PageResponse> {
  const { request, requestId } = reader.context
  const response = await download(requestId, request.method, request.headers, file, blobs, {}, type)
  response.headers.set('vary', 'Cookie')
  if (caching !== undefined) response.headers.set('cache-control', caching)
  return { raw: response }
}

/** Sends bytes that stand for a file, with its headers. */
function sendBytes(reader: Reader, file: FileRecord, bytes: Uint8Array, type: string): Promise<PageResponse> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  async function* read(_id: string, start: number, end: number): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(start, end)
  }
  return send(reader, { ...file, size: bytes.length, sha256 }, type, REVALIDATED, { ...blobsOf(reader), read })
}

/** characters of a name that a picture of it has */
const NAME_LENGTH = 32
const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A picture of the name of a file, in colors for both themes. */
function renderName(name: string): string {
  const letters = [...name]
  const text = letters.length > NAME_LENGTH ? `${letters.slice(0, NAME_LENGTH - 1).join('')}…` : name
  const shown = text.replaceAll(/[&<>"]/g, (letter) => ESCAPED[letter]!)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="280" height="128" viewBox="0 0 280 128"><g transform="translate(120 28) scale(2.5)" fill="none" stroke="#7a8494" stroke-width="1">${fileSign}</g><text x="140" y="96" text-anchor="middle" font-family="system-ui, sans-serif" font-size="13" fill="#7a8494">${shown}</text></svg>`
}
