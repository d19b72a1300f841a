import { randomBytes } from 'node:crypto'

/** The kind prefix of each id. */
export const idPrefixes = {
  workspace: 'wsp',
  user: 'usr',
  token: 'tok',
  board: 'brd',
  column: 'col',
  card: 'crd',
  label: 'lbl',
  subtask: 'sub',
  comment: 'cmt',
  attachment: 'att',
  file: 'fil',
  blob: 'blb',
  tombstone: 'tmb',
  confirmation: 'cnf',
} as const

/** What an id can be the id of. */
export type IdKind = keyof typeof idPrefixes

/** Makes the random parts of ids, revisions and secrets. Injected, so that a test can repeat a run. */
export type RandomSource = (bytes: number) => Uint8Array

// Crockford's: lower-case alone, so that ids differ on file systems that ignore case.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 20
const shapes = new Map(Object.entries(idPrefixes).map(([kind, prefix]) => [kind, new RegExp(`^${prefix}_[${ALPHABET}]{${LENGTH}}$`)]))

/** The operating system's randomness. */
export const systemRandom: RandomSource = (bytes) => randomBytes(bytes)

/** `length` random characters of 5 bits each. */
export function randomText(random: RandomSource, length: number): string {
  let text = ''
  for (const byte of random(length)) text += ALPHABET[byte & 31]
  return text
}

/** A new id: the kind's prefix, `_`, and 100 random bits. */
export function newId(kind: IdKind, random: RandomSource): string {
  return `${idPrefixes[kind]}_${randomText(random, LENGTH)}`
}

/** Whether a text could be an id of this kind. What could not is answered as what is not there. */
export function isId(kind: IdKind, text: string): boolean {
  return shapes.get(kind)!.test(text)
}
