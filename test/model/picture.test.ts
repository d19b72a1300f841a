import { describe, expect, test } from 'vitest'
import { inertTypeOf, mediaTypeOf } from '../../src/model/media-type.ts'
import { isShowable, pictureOf } from '../../src/model/picture.ts'
import { seededRandom } from '../support/random.ts'
import { png } from '../support/pictures.ts'

const bytes = (...parts: readonly (string | readonly number[] | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))
const two = (value: number) => [value >> 8, value & 255]
const low = (value: number) => [value & 255, value >> 8]

/** A segment of a JPEG, and the one that begins its frame. */
const segment = (marker: number, content: readonly number[] = []) => [0xff, marker, ...two(content.length + 2), ...content]
const frame = (width: number, height: number, marker = 0xc0) => segment(marker, [8, ...two(height), ...two(width), 1, 1, 0x11, 0])
const jpeg = (...segments: readonly (readonly number[])[]) => bytes([0xff, 0xd8], ...segments)

const screen = (width: number, height: number, flags = 0) => ['GIF89a', [...low(width), ...low(height), flags, 0, 0]] as const
const image = (left: number, top: number, width: number, height: number) => [
  0x2c,
  ...low(left),
  ...low(top),
  ...low(width),
  ...low(height),
  0,
]

const riff = (kind: string, content: readonly number[]) =>
  bytes('RIFF', [0, 0, 0, 0], `WEBP${kind}`, [content.length, 0, 0, 0], content, Buffer.alloc(20))
const lossy = (start: number, ...size: number[]) => riff('VP8 ', [start, 0, 0, 0x9d, 0x01, 0x2a, ...size])

describe('the dimensions of a picture', () => {
  test.each<[title: string, head: Buffer, type: string, width: number, height: number]>([
    ['PNG', png(20_000, 3), 'image/png', 20_000, 3],
    ['JPEG', jpeg(segment(0xe0, [1, 2, 3]), frame(640, 480)), 'image/jpeg', 640, 480],
    [
      'progressive JPEG with tables, a comment and fill bytes',
      jpeg(segment(0xdb, [0]), segment(0xfe), [0xff, 0xff], frame(3, 2, 0xc2)),
      'image/jpeg',
      3,
      2,
    ],
    ['GIF', bytes(...screen(5, 4), image(0, 0, 5, 4)), 'image/gif', 5, 4],
    [
      'GIF with colors and extensions',
      bytes(...screen(5, 4, 0x80), [1, 2, 3, 4, 5, 6], [0x21, 0xf9, 2, 0x2c, 0x2c, 1, 7, 0], image(0, 0, 1, 1)),
      'image/gif',
      5,
      4,
    ],
    ['GIF whose first image is larger than its screen', bytes(...screen(1, 1), image(10, 20, 60_000, 50_000)), 'image/gif', 60_010, 50_020],
    ['lossy WebP', lossy(0x10, 0x40, 0x01, 0xf0, 0x40), 'image/webp', 320, 240],
    ['lossless WebP', riff('VP8L', [0x2f, 0xff, 0xff, 0xff, 0x0f]), 'image/webp', 16_384, 16_384],
    ['extended WebP', riff('VP8X', [0, 0, 0, 0, 0xff, 0xff, 0x01, 0x01, 0, 0]), 'image/webp', 131_072, 2],
  ])('of a %s are read', (_title, head, type, width, height) => {
    expect(pictureOf(head)).toEqual({ type, width, height })
  })

  test.each<[title: string, head: Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('hello')],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')],
    ['an SVG behind the beginning of a GIF', Buffer.from('GIF89a<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['an AVIF', bytes([0, 0, 0, 28], 'ftypavif', Buffer.alloc(40))],
    ['a PNG without a width', png(0, 1)],
    ['a PNG whose first chunk is another one', bytes(png(1, 1).subarray(0, 12), 'CgBI', png(1, 1).subarray(8))],
    ['a PNG that is cut', png(1, 1).subarray(0, 23)],
    ['a JPEG with bytes between its segments', jpeg(segment(0xe0), [0], frame(3, 2))],
    ['a JPEG whose scan comes first', jpeg(segment(0xda, [1]), frame(3, 2))],
    ['a JPEG with a frame of another kind', jpeg(segment(0xc3, [8, 0, 1, 0, 1, 1]), frame(3, 2))],
    ['a JPEG with a segment that has no length', jpeg([0xff, 0xe0, 0, 1], frame(3, 2))],
    ['a JPEG whose height comes later', jpeg(frame(3, 0))],
    ['a JPEG that is cut', jpeg(segment(0xe0), frame(3, 2)).subarray(0, 10)],
    [
      'a JPEG that ends with fill bytes',
      jpeg(
        segment(0xe0),
        Array.from({ length: 20 }, () => 0xff),
      ),
    ],
    ['a GIF without an image', bytes(...screen(5, 4), [0x3b, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
    ['a GIF that is cut', bytes(...screen(5, 4), [0x21, 0xf9, 200])],
    ['a WebP whose first frame is no key frame', lossy(0x11, 1, 0, 1, 0)],
    ['a WebP of another kind', riff('ALPH', [0x2f, 0, 0, 0, 0])],
  ])('of %s are unknown', (_title, head) => {
    expect(pictureOf(head)).toBeUndefined()
  })

  test('of damaged pictures are read without a failure', () => {
    const heads = [
      png(1, 1),
      jpeg(segment(0xe0), frame(3, 2)),
      bytes(...screen(5, 4, 0x87), Buffer.alloc(800), image(0, 0, 1, 1)),
      lossy(0, 1, 0, 1, 0),
    ]
    const random = seededRandom(1)
    for (let i = 0; i < 5000; i++) {
      const damaged = Buffer.from(heads[random(heads.length)]!.subarray(0, random(60)))
      if (damaged.length > 0) damaged[random(damaged.length)] = random(256)
      const found = pictureOf(damaged)
      expect(found === undefined || (found.width > 0 && found.height > 0)).toBe(true)
    }
  })

  test('are read at any offset in memory', () => {
    const memory = new Uint8Array(bytes(Buffer.alloc(7), png(3, 2)).buffer, 0)
    const shifted = bytes(Buffer.alloc(7), png(3, 2))
    expect(memory.length).toBeGreaterThan(0)
    expect(pictureOf(new Uint8Array(shifted.buffer, shifted.byteOffset + 7, shifted.length - 7))).toMatchObject({ width: 3, height: 2 })
  })

  test('allow a picture of 40 megapixels', () => {
    expect([
      isShowable({ type: 'image/png', width: 8000, height: 5000 }),
      isShowable({ type: 'image/png', width: 8000, height: 5001 }),
    ]).toEqual([true, false])
  })
})

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const binary = Buffer.from([1, 0, 2])
const script = Buffer.from('alert(1)')
/** text in UTF-16, as Windows stores it */
const wide = () => Buffer.from('\ufeffalert(1)', 'utf16le')

test.each<[type: string, stated: string | undefined, name: string, head: Buffer]>([
  // What is stated counts.
  ['text/x-python', 'text/x-python', 'a.md', script],
  ['image/png', 'image/png', 'a.svg', script],
  ['text/plain', 'text/plain', 'a.html', script],
  // What says nothing does not.
  ['image/png', 'application/octet-stream', 'blob', png(1, 1)],
  ['image/png', 'text/plain', 'blob', png(1, 1)],
  ['application/octet-stream', 'text/plain', 'a.txt', binary],
  ['application/octet-stream', 'application/octet-stream', 'blob', script],
  ['text/plain', undefined, 'blob', script],
  ['application/octet-stream', undefined, 'blob', binary],
  ['text/plain', undefined, 'blob', Buffer.alloc(0)],
  // The bytes come before the extension.
  ['image/gif', undefined, 'a.png', bytes(...screen(5, 4), image(0, 0, 5, 4))],
  ['application/pdf', undefined, 'a.txt', Buffer.from('%PDF-1.7\0')],
  ['application/gzip', undefined, 'a', Buffer.from([0x1f, 0x8b, 8, 0])],
  ['image/avif', undefined, 'a', bytes([0, 0, 0, 28], 'ftypavif')],
  ['application/zip', undefined, 'a', bytes('PK\x03\x04\0')],
  [`${OFFICE}.spreadsheetml.sheet`, 'application/octet-stream', 'a.XLSX', bytes('PK\x03\x04\0')],
  ['text/markdown', 'application/octet-stream', 'a.md', script],
  ['text/csv', undefined, 'a.csv', script],
  ['image/svg+xml', undefined, 'a.svg', Buffer.from('<svg/>')],
  ['application/octet-stream', undefined, 'a.html', binary],
  ['application/pdf', undefined, 'a.PDF', binary],
  [`${OFFICE}.wordprocessingml.document`, 'application/octet-stream', 'a.docx', binary],
  // An extension makes no picture.
  ['application/octet-stream', undefined, 'a.png', binary],
  ['application/octet-stream', 'application/octet-stream', 'a.jpeg', binary],
  // Text can have zero bytes: with a mark, or with a charset.
  ['text/plain', 'text/plain', 'a.txt', wide()],
  ['text/plain', undefined, 'a', wide()],
  ['text/csv', 'application/octet-stream', 'a.csv', wide().swap16()],
  ['text/plain', 'text/plain', 'a', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 65])],
])('the type is %s, if %s is stated of %s', (type, stated, name, head) => {
  expect(mediaTypeOf(stated, name, head)).toBe(type)
})

test.each<[type: string, charset: string, head: Buffer]>([
  ['text/plain', 'utf-16', binary],
  ['text/plain', 'UTF-16LE', binary],
  ['text/plain', 'utf-32be', binary],
  ['text/plain', 'iso-10646-ucs-2', binary],
  ['application/octet-stream', 'utf-8', binary],
  ['application/octet-stream', '', binary],
  ['image/png', 'utf-16', png(1, 1)],
])('the type is %s, if text/plain in the charset "%s" is stated', (type, charset, head) => {
  expect(mediaTypeOf('text/plain', 'a.txt', head, charset)).toBe(type)
})

test('files are sent with a type that no browser runs anything in', () => {
  const inert = ['text/plain', 'text/csv', 'image/png', 'video/mp4', 'application/json', 'application/pdf', `${OFFICE}.spreadsheetml.sheet`]
  for (const type of inert) expect(inertTypeOf(type)).toBe(type)
  const others =
    'text/html text/javascript application/javascript text/ecmascript application/xhtml+xml image/svg+xml text/xml application/xml text/css application/wasm text/vbscript application/x-shockwave-flash application/ld+json multipart/x-mixed-replace text/vtt application/manifest+json message/rfc822 unknown/unknown'
  for (const type of others.split(' ')) expect([type, inertTypeOf(type)]).toEqual([type, 'application/octet-stream'])
})
