import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Bytes of JSON that a process keeps. */
const KEPT_BYTES = 16 * 1024 * 1024
/** Bytes that an entry takes in addition to its JSON, roughly. */
const ENTRY_BYTES = 200

/**
 * The JSON of records that were requested at least twice. Records in memory are frozen and shared by their readers, so the
 * object itself is the key, and a changed record is another object. This saves a third of the CPU time of a list.
 */
const kept = new LRUCache<object, KeptJson>({ maxSize: KEPT_BYTES, sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES })
const requested = new WeakSet<object>()

/** The JSON of a record, as bytes. */
export interface KeptJson {
  /** whether it is the same object for each response */
  readonly isKept: boolean
  readonly bytes: Buffer
  /** its digest, since that was first needed */
  digest: string | undefined
}

/** The JSON of a record or another value; a text if it is not kept. */
export function jsonOf(value: object): KeptJson | string {
  if (!isRecord(value)) return JSON.stringify(value)
  const known = kept.get(value)
  if (known !== undefined) return known
  const text = JSON.stringify(value)
  // A record that is requested once, as all are that a driver parses anew for each read, is not worth its place.
  if (requested.has(value)) kept.set(value, { isKept: true, bytes: Buffer.from(text), digest: undefined })
  else requested.add(value)
  return text
}

/** The SHA-1 of a text, in hexadecimal. */
export function sha1Of(text: string): string {
  return hash('sha1', text)
}

/** Characters of a digest: 64 bits, so that a page of them is short. */
const DIGEST = 16

/** The beginning of the SHA-1 of a text, in hexadecimal. A record keeps the one of its JSON. */
export function digestOf(json: KeptJson | string): string {
  if (typeof json === 'string') return sha1Of(json).slice(0, DIGEST)
  return (json.digest ??= hash('sha1', json.bytes).slice(0, DIGEST))
}

/** The number of bytes of a record's JSON, if it is kept. */
export function keptLength(value: object): number | undefined {
  return kept.peek(value)?.bytes.length
}

/** Whether a value is a record as storage keeps it in memory: frozen, with all that it consists of. */
export function isRecord(value: object): boolean {
  return Object.isFrozen(value)
}
