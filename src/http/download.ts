import { Readable } from 'node:stream'
import { ApiError } from '../model/errors.ts'
import type { FileRecord } from '../model/file.ts'
import { inertTypeOf } from '../model/media-type.ts'
import type { Blobs } from '../store/blobs.ts'
import { HttpResponse } from './compression.ts'
import { notModifiedResponse } from './envelope.ts'
import { isCurrent, requireMatch } from './preconditions.ts'

/**
 * Returns the bytes of a file, or a range of them (RFC 9110 §14). Files are user content: the headers keep browsers from
 * rendering or running it in the service's origin.
 * @param type default: the type of the file, unless browsers could run something in it
 * @throws {ApiError} `range_not_satisfiable`, `precondition_failed`
 * @throws {StorageUnavailable} if the bytes cannot be read now
 * @throws if the bytes are missing
 */
export async function download(
  requestId: string,
  method: string,
  headers: Headers,
  file: FileRecord,
  blobs: Blobs,
  rateHeaders: Readonly<Record<string, string>> = {},
  type = inertTypeOf(file.content_type),
): Promise<Response> {
  const shared = { ...headersOf(requestId, file, type), ...rateHeaders }
  requireMatch(headers, file.sha256)
  if (isCurrent(headers, file.sha256))
    return notModifiedResponse(requestId, { ...rateHeaders, etag: shared.etag, vary: shared.vary, 'cache-control': 'private, no-cache' })
  // Only GET supports ranges (RFC 9110 §14.2).
  const range = method === 'GET' ? rangeOf(headers, file) : undefined
  const { start, end } = range ?? { start: 0, end: file.size }
  const partial = range === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${file.size}` }
  const status = range === undefined ? 200 : 206
  const bytes = method === 'GET' ? await begin(blobs.read(file.blob_id, start, end)) : undefined
  const body = bytes && (Readable.toWeb(Readable.from(bytes)) as unknown as ReadableStream)
  return new HttpResponse(body ?? null, {
    status,
    headers: { ...shared, ...partial, 'content-length': String(end - start) },
  })
}

/** Reads the first piece. So bytes that cannot be read are an error, and not a success that breaks off. */
async function begin(bytes: AsyncGenerator<Uint8Array>): Promise<AsyncGenerator<Uint8Array>> {
  const first = await bytes.next()
  return (async function* () {
    if (first.done !== true) yield first.value
    yield* bytes
  })()
}

function headersOf(requestId: string, { name, sha256 }: FileRecord, type: string) {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(name).replaceAll(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
  return {
    'content-type': type,
    'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${exact}`,
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    // It is never compressed: a range is a part of the representation that the ETag names, and most files are compressed already.
    vary: 'Authorization',
    etag: `"${sha256}"`,
    'x-request-id': requestId,
  }
}

/** The requested range. Several ranges, or a malformed one, mean the whole file. */
function rangeOf(headers: Headers, { size, sha256 }: FileRecord): { start: number; end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(headers.get('range') ?? '')
  const condition = headers.get('if-range')
  if (match === null || (condition !== null && condition !== `"${sha256}"`)) return undefined
  const [first, last] = [match[1]!, match[2]!]
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (last !== '' && Number(last) < Number(first)) return undefined
  if (start >= size) throw new ApiError('range_not_satisfiable', { headers: { 'content-range': `bytes */${size}` } })
  return { start, end }
}
