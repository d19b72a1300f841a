import { extname } from 'node:path'
import { pictureOf } from './picture.ts'

/** What a client states that does not know the type. */
const UNKNOWN = 'application/octet-stream'
const TEXT = 'text/plain'

/** How files of some types begin. */
const BEGINNINGS: readonly (readonly [type: string, at: number, text: string])[] = [
  ['application/pdf', 0, '%PDF-'],
  ['application/gzip', 0, '\x1f\x8b\x08'],
  ['image/avif', 4, 'ftypavif'],
  ['video/mp4', 4, 'ftypisom'],
  ['video/mp4', 4, 'ftypmp42'],
  ['video/webm', 0, '\x1a\x45\xdf\xa3'],
  ['audio/mpeg', 0, 'ID3'],
]
/** Documents of offices begin so as well, so the extension is asked first. */
const ZIP = ['application/zip', 0, 'PK\x03\x04'] as const

const OFFICE = 'application/vnd.openxmlformats-officedocument'
/** The media types of extensions that people attach. No pictures: pages show them, so only the bytes say that a file is one. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['.csv', 'text/csv'],
  ['.css', 'text/css'],
  ['.docx', `${OFFICE}.wordprocessingml.document`],
  ['.gz', 'application/gzip'],
  ['.htm', 'text/html'],
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
  ['.json', 'application/json'],
  ['.log', TEXT],
  ['.md', 'text/markdown'],
  ['.mjs', 'text/javascript'],
  ['.mp3', 'audio/mpeg'],
  ['.mp4', 'video/mp4'],
  ['.pdf', 'application/pdf'],
  ['.pptx', `${OFFICE}.presentationml.presentation`],
  ['.svg', 'image/svg+xml'],
  ['.txt', TEXT],
  ['.webm', 'video/webm'],
  ['.xlsx', `${OFFICE}.spreadsheetml.sheet`],
  ['.xml', 'application/xml'],
  ['.yaml', 'application/yaml'],
  ['.yml', 'application/yaml'],
  ['.zip', 'application/zip'],
])

/** Texts in these charsets contain zero bytes, and mostly begin with one of these marks (Unicode §23.8). */
const WIDE = /^(?:utf-?(?:16|32)|(?:iso-10646-)?ucs-?[24])/i
const MARKS = ['\xff\xfe', '\xfe\xff', '\0\0\xfe\xff']

/**
 * The media type of a file. What its client states counts, unless that says nothing: then the bytes decide, and after them the extension.
 * @param stated in lower case and without parameters; undefined: no type, or a malformed one
 * @param head its first bytes
 * @param charset that the client states of a text; '': none
 */
export function mediaTypeOf(stated: string | undefined, name: string, head: Uint8Array, charset = ''): string {
  const recognized = pictureOf(head)?.type ?? beginningOf(head, BEGINNINGS)
  const isWide = WIDE.test(charset) && recognized === undefined
  const isText = !head.includes(0) || isWide || MARKS.some((mark) => beginningText(head).startsWith(mark))
  if (stated !== undefined && stated !== UNKNOWN && !(stated === TEXT && !isText)) return stated
  const extension = EXTENSIONS.get(extname(name).toLowerCase())
  const isTextType = extension !== undefined && /^text\/|[/+](?:json|xml|yaml)$/.test(extension)
  const fitting = isTextType && !isText ? undefined : extension
  return recognized ?? fitting ?? beginningOf(head, [ZIP]) ?? (stated === undefined && isText ? TEXT : UNKNOWN)
}

function beginningOf(head: Uint8Array, known: typeof BEGINNINGS): string | undefined {
  const text = beginningText(head)
  return known.find(([, at, beginning]) => text.startsWith(beginning, at))?.[0]
}

function beginningText(head: Uint8Array): string {
  return Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 16)).toString('latin1')
}

const INERT =
  /^(?:text\/(?:plain|csv|markdown)|image\/(?:png|jpeg|gif|webp|avif|bmp|tiff)|(?:audio|video)\/(?:mpeg|mp4|ogg|webm|wav|flac|aac)|application\/(?:json|yaml|pdf|zip|gzip|vnd\.openxmlformats-officedocument\.[a-z.]{1,60}))$/

/** The type that a file is sent with: only types that no browser is known to run anything in. */
export function inertTypeOf(contentType: string): string {
  return INERT.test(contentType) ? contentType : UNKNOWN
}
