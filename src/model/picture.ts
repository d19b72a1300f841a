/** A picture that pages may show. */
export interface Picture {
  /** by its bytes */
  readonly type: PictureType
  /** in pixels */
  readonly width: number
  readonly height: number
}

/** The types of pictures that pages show. They contain no program, and their dimensions are known from their heads. */
export const pictureTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export type PictureType = (typeof pictureTypes)[number]

/** A browser has four bytes in memory for each pixel of a picture that it shows. */
const MOST_PIXELS = 40_000_000

/** The first bytes of a file, which contain the dimensions of a picture. */
export const PICTURE_HEAD = 256 * 1024

/** Whether a picture is small enough to be shown. */
export function isShowable({ width, height }: Picture): boolean {
  return width * height <= MOST_PIXELS
}

/**
 * Reads the dimensions of a picture as a browser would. What is not exactly as its format says is no picture: a browser that is more
 * lenient could find other dimensions in it. So packages for this are of no use here: they find dimensions in whatever they can. SVG is a
 * program, and the dimensions of AVIF are stated twice, and need not agree.
 * @param head {@link PICTURE_HEAD} of the file
 * @returns undefined if it is no picture, or if its head is longer
 */
export function pictureOf(head: Uint8Array): Picture | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  for (const [type, read] of READERS) {
    const [width, height] = read(bytes) ?? []
    if (width !== undefined && height !== undefined) return width > 0 && height > 0 ? { type, width, height } : undefined
  }
  return undefined
}

type Size = readonly [width: number, height: number]

const READERS: readonly (readonly [PictureType, (bytes: Buffer) => Size | undefined])[] = [
  ['image/png', sizeOfPng],
  ['image/jpeg', sizeOfJpeg],
  ['image/gif', sizeOfGif],
  ['image/webp', sizeOfWebp],
]

const has = (bytes: Buffer, at: number, text: string): boolean => bytes.toString('latin1', at, at + text.length) === text

/** PNG §5.2, §11.2.1: its first chunk has the dimensions. */
function sizeOfPng(bytes: Buffer): Size | undefined {
  if (bytes.length < 24 || !has(bytes, 0, '\x89PNG\r\n\x1a\n\0\0\0\rIHDR')) return undefined
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

/** ITU T.81 §B.1, §B.2: segments with their lengths; one of them begins the frame. */
function sizeOfJpeg(bytes: Buffer): Size | undefined {
  if (!has(bytes, 0, '\xff\xd8')) return undefined
  for (let at = 2; at + 9 <= bytes.length;) {
    if (bytes[at] !== 0xff) return undefined
    // Any marker may follow fill bytes.
    while (bytes[at + 1] === 0xff) at++
    if (at + 9 > bytes.length) return undefined
    const marker = bytes[at + 1]!
    // Baseline, extended and progressive: other frames are shown by no browser.
    if (marker >= 0xc0 && marker <= 0xc2) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)]
    const isTable = marker === 0xc4 || marker === 0xcc || (marker >= 0xdb && marker <= 0xdd)
    const isOther = (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe
    const length = bytes.readUInt16BE(at + 2)
    if ((!isTable && !isOther) || length < 2) return undefined
    at += 2 + length
  }
  return undefined
}

/** GIF89a §18, §20: a first image that is larger than its screen makes that larger. */
function sizeOfGif(bytes: Buffer): Size | undefined {
  if (bytes.length < 13 || !(has(bytes, 0, 'GIF87a') || has(bytes, 0, 'GIF89a'))) return undefined
  const flags = bytes[10]!
  let at = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  // Extensions: a label, and blocks with their lengths.
  while (bytes[at] === 0x21) {
    at += 2
    while (at < bytes.length && bytes[at] !== 0) at += 1 + bytes[at]!
    at++
  }
  if (bytes[at] !== 0x2c || at + 9 > bytes.length) return undefined
  const [left, top, width, height] = [1, 3, 5, 7].map((offset) => bytes.readUInt16LE(at + offset)) as [number, number, number, number]
  return [Math.max(bytes.readUInt16LE(6), left + width), Math.max(bytes.readUInt16LE(8), top + height)]
}

/** RFC 9649 §2.4 to §2.7: the first chunk is the picture, or its canvas. */
function sizeOfWebp(bytes: Buffer): Size | undefined {
  if (bytes.length < 30 || !has(bytes, 0, 'RIFF') || !has(bytes, 8, 'WEBP')) return undefined
  if (has(bytes, 12, 'VP8X')) return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1]
  if (has(bytes, 12, 'VP8L') && bytes[20] === 0x2f) {
    const sizes = bytes.readUInt32LE(21)
    return [(sizes & 0x3fff) + 1, ((sizes >>> 14) & 0x3fff) + 1]
  }
  const isKeyFrame = (bytes[20]! & 1) === 0
  if (has(bytes, 12, 'VP8 ') && isKeyFrame && has(bytes, 23, '\x9d\x01\x2a'))
    return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff]
  return undefined
}
