import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Redis } from 'ioredis'

/** Secrets by name. None may appear in stored data, output or responses. */
export type Secrets = ReadonlyMap<string, string>

/**
 * Searches bytes for secrets, in plain text and in common encodings.
 * @returns the names of the secrets that were found, each with its encoding
 */
export function findIn(bytes: Uint8Array, secrets: Secrets): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return [...secrets].flatMap(([name, secret]) =>
    Object.entries(encodings(secret))
      .filter(([, encoded]) => encoded !== '' && text.includes(encoded))
      .map(([encoding]) => `${name} (${encoding})`),
  )
}

function encodings(secret: string): Record<string, string | Buffer> {
  const bytes = Buffer.from(secret)
  // The base64 text of a substring depends on its offset modulo 3.
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '')
    return encoded.slice(offset === 0 ? 0 : offset + 1, -1)
  })
  return {
    plain: bytes,
    JSON: JSON.stringify(secret).slice(1, -1),
    'percent-encoding': encodeURIComponent(secret),
    'form encoding': String(new URLSearchParams([['', secret]])).slice(1),
    hex: bytes.toString('hex'),
    'UTF-16': Buffer.from(secret, 'utf16le'),
    base64: base64[0]!,
    'base64 at offset 1': base64[1]!,
    'base64 at offset 2': base64[2]!,
  }
}

/** Yields the names and contents of all files in a folder, compressed files also decompressed. */
export async function* filesOf(folder: string): AsyncGenerator<[string, Uint8Array]> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    yield [path, Buffer.from(path)]
    if (!entry.isFile()) continue
    const bytes = await readFile(path)
    yield [path, bytes]
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) yield [`${path}, decompressed`, gunzipSync(bytes)]
  }
}

/** Yields all keys of a Redis server and their values. */
export async function* valuesOf(redis: Redis): AsyncGenerator<[string, Uint8Array]> {
  for (let cursor = '0'; ;) {
    const [next, keys] = await redis.scanBuffer(cursor, 'COUNT', 1000)
    for (const key of keys) {
      yield [`key ${key}`, key]
      for (const part of await valueOf(redis, key)) yield [`value of ${key}`, part]
    }
    if ((cursor = next.toString()) === '0') return
  }
}

async function valueOf(redis: Redis, key: Buffer): Promise<Buffer[]> {
  const type = await redis.type(key)
  if (type === 'string') return [(await redis.getBuffer(key))!]
  if (type === 'hash') return Object.entries(await redis.hgetallBuffer(key)).flatMap(([field, value]) => [Buffer.from(field), value])
  if (type === 'zset') return redis.zrangeBuffer(key, 0, -1)
  if (type === 'set') return redis.smembersBuffer(key)
  if (type === 'list') return redis.lrangeBuffer(key, 0, -1)
  // It has expired meanwhile.
  if (type === 'none') return []
  throw new Error(`${key} cannot be searched: unknown type ${type}`)
}
