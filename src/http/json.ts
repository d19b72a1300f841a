import { ApiError } from '../model/errors.ts'

/**
 * Parses a JSON body.
 * @param depth how many levels of arrays and objects it may have: JSON.parse itself has no bound, and what it
 *   returned could not be written again
 * @throws {ApiError} `bad_request` where it is no UTF-8, no JSON, too deep, or a member stands twice: readers
 *   differ in which of the two they take (RFC 8259 §4)
 */
export function parseJson(bytes: Uint8Array, depth: number): unknown {
  const text = decode(bytes)
  if (deeper(text, depth)) throw new ApiError('bad_request', { message: `The body is nested more than ${depth} levels deep.` })
  const value = parse(text)
  if (repeats(text)) throw new ApiError('bad_request', { message: 'An object of the body has a member that stands twice.' })
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Node's message quotes the body, which may hold anything.
    throw new ApiError('bad_request', { message: 'The body is not valid JSON.' })
  }
}

/** @param text valid JSON */
function repeats(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  for (const [token, , colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (colon !== undefined) {
      const names = open.at(-1)!
      const name = JSON.parse(token.slice(0, token.length - colon.length)) as string
      if (names.has(name)) return true
      names.add(name)
    }
  }
  return false
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ApiError('bad_request', { message: 'The body is not valid UTF-8.' })
  }
}

function deeper(text: string, depth: number): boolean {
  let level = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (quoted) {
      if (character === '\\') i++
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{' || character === '[') {
      if (++level > depth) return true
    } else if (character === '}' || character === ']') level--
  }
  return false
}
