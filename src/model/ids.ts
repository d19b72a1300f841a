import { randomBytes, randomFillSync } from 'node:crypto'

/** The prefix of each kind of id. */
export const idPrefixes = {
  workspace: 'wsp',
  user: 'usr',
  membership: 'mbr',
  token: 'tok',
  board: 'brd',
  column: 'col',
  card: 'crd',
  label: 'lbl',
  subtask: 'sub',
  comment: 'cmt',
  attachment: 'att',
  webhook: 'whk',
  file: 'fil',
  blob: 'blb',
  tombstone: 'tmb',
  confirmation: 'cnf',
  session: 'ses',
  passkey: 'pky',
  alert: 'alr',
  notice: 'ntc',
  audit: 'aud',
} as const

/** The kinds of ids. */
export type IdKind = keyof typeof idPrefixes

/** The kind of id that a parameter takes, by its name: `card_id`, or `blocker_id` for a card in its role as a blocker. */
export function kindOfParameter(name: string): IdKind | undefined {
  const kind = name === 'blocker_id' ? 'card' : name.replace(/_id$/, '')
  return Object.hasOwn(idPrefixes, kind) ? (kind as IdKind) : undefined
}

/** Returns random bytes for ids, revisions and secrets. Injected, so that a test can repeat a run. */
export type RandomSource = (bytes: number) => Uint8Array

// Crockford's base32, lower case only: ids stay distinct on file systems that ignore case.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const CODES = Buffer.from(ALPHABET)
const LENGTH = 20
const shapes = new Map((Object.keys(idPrefixes) as IdKind[]).map((kind) => [kind, new RegExp(idPattern(kind))]))

/** Random bytes that are requested at once: for each id alone, the request would take longer than all the rest. */
const POOL_BYTES = 4096
const pool = new Uint8Array(POOL_BYTES)
/** how many of them were returned */
let used = POOL_BYTES

/** The operating system's random source. No byte is returned twice. */
export const systemRandom: RandomSource = (bytes) => {
  if (bytes > POOL_BYTES) return randomBytes(bytes)
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  const taken = pool.slice(used, used + bytes)
  pool.fill(0, used, (used += bytes))
  return taken
}

/** Returns `length` random characters of 5 bits each. */
export function randomText(random: RandomSource, length: number): string {
  // In one piece: a text that grows by one character at a time keeps all of its pieces in memory.
  const text = Buffer.allocUnsafe(length)
  const bytes = random(length)
  for (let i = 0; i < length; i++) text[i] = CODES[bytes[i]! & 31]!
  return text.toString('latin1')
}

/** Returns a new id: the prefix of its kind, `_`, and 100 random bits. */
export function newId(kind: IdKind, random: RandomSource): string {
  return `${idPrefixes[kind]}_${randomText(random, LENGTH)}`
}

/** The shape of an id of any kind, as a regular expression. */
export const anyIdPattern = `^[a-z]{3}_[${ALPHABET}]{${LENGTH}}$`

const anyId = new RegExp(anyIdPattern)

/** Whether a text has the shape of an id. */
export function isAnyId(text: string): boolean {
  return anyId.test(text)
}

/** The shape of an id of this kind, as a regular expression. */
export function idPattern(kind: IdKind): string {
  return `^${idPrefixes[kind]}_[${ALPHABET}]{${LENGTH}}$`
}

/** Whether a text has the shape of an id of this kind. A malformed id is answered like an absent one (404). */
export function isId(kind: IdKind, text: string): boolean {
  return shapes.get(kind)!.test(text)
}
