/** The heads of pictures with these dimensions, as an upload reads them. */
export const png = (width: number, height: number): Buffer<ArrayBuffer> => {
  const size = Buffer.alloc(8)
  size.writeUInt32BE(width)
  size.writeUInt32BE(height, 4)
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), size, Buffer.from('\x08\x02\0\0\0')])
}

/** A picture whose bytes are also a text, for forms that are written as text. */
export const GIF = 'GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0'

/** A picture in WebP with these dimensions, and so many bytes. */
export function webp(width: number, height: number, size: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(size)
  bytes.write('RIFF\0\0\0\0WEBPVP8X', 'latin1')
  bytes.writeUIntLE(width - 1, 24, 3)
  bytes.writeUIntLE(height - 1, 27, 3)
  return bytes
}
