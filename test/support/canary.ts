import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Redis } from 'ioredis'

/** What must be found nowhere, by what it is. */
export type Secrets = ReadonlyMap<string, string>

/**
 * Looks for secrets in bytes: as they are, and as they would be after what programs do to text on its way.
 * @returns which were found, and in which shape
 */
export function findIn(bytes: Uint8Array, secrets: Secrets): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return [...secrets].flatMap(([name, secret]) =>
    Object.entries(shapes(secret))
      .filter(([, shape]) => shape !== '' && text.includes(shape))
      .map(([shape]) => `${name} (${shape})`),
  )
}

function shapes(secret: string): Record<string, string | Buffer> {
  const bytes = Buffer.from(secret)
  // Three offsets, since base64 of what stands in the middle of something else depends on where it stands.
  const base64 = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '')
    return whole.slice(before === 0 ? 0 : before + 1, -1)
  })
  return {
    plain: bytes,
    'in JSON': JSON.stringify(secret).slice(1, -1),
    'in an address': encodeURIComponent(secret),
    'in a form': String(new URLSearchParams([['', secret]])).slice(1),
    hex: bytes.toString('hex'),
    'UTF-16': Buffer.from(secret, 'utf16le'),
    base64: base64[0]!,
    'base64, one further': base64[1]!,
    'base64, two further': base64[2]!,
  }
}

/** Every file of a folder, with its name: also what is in those that are compressed. */
export async function* filesOf(folder: string): AsyncGenerator<[string, Uint8Array]> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    yield [path, Buffer.from(path)]
    if (!entry.isFile()) continue
    const bytes = await readFile(path)
    yield [path, bytes]
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) yield [`${path}, unpacked`, gunzipSync(bytes)]
  }
}

/** Every key of a Redis, with all that is under it. */
export async function* everythingIn(redis: Redis): AsyncGenerator<[string, Uint8Array]> {
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
  throw new Error(`what is under ${key} cannot be searched: it is a ${type}`)
}
