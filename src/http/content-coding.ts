/** The content codings of responses, best first: of two that a client prefers alike, the first one is used. */
const codings = ['br', 'gzip'] as const
export type Coding = (typeof codings)[number]

/** A coding or a star, with its weight (RFC 9110 §12.4.2). */
const ELEMENT = /^([\w!#$%&'*+.^`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i
/** Recipients treat it as gzip (RFC 9110 §8.4.1.3). */
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' }

/**
 * The coding that a client prefers to none (RFC 9110 §12.5.3). What is not valid in the header is ignored.
 * @param header Accept-Encoding
 * @returns undefined: the response is sent without a coding, also if the client accepts nothing that is available
 */
export function preferredCoding(header: string): Coding | undefined {
  const weights = readWeights(header)
  const plain = weights.get('identity') ?? 0
  let [best, highest]: [Coding | undefined, number] = [undefined, 0]
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0
    if (weight > highest && weight >= plain) [best, highest] = [coding, weight]
  }
  return best
}

/** The weights of the codings in a header; of several for one coding, the last one counts. */
function readWeights(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const element of header.split(',')) {
    const [, name, weight = '1'] = ELEMENT.exec(element.trim()) ?? []
    if (name === undefined) continue
    const coding = name.toLowerCase()
    weights.set(ALIASES[coding] ?? coding, Number(weight))
  }
  return weights
}

const SUFFIX = new RegExp(`-(?:${codings.join('|')})"$`)

/** The ETag of the same representation without a coding: a client states the one that it received. */
export function plainTag(tag: string): string {
  return tag.replace(SUFFIX, '"')
}
