import { ApiError } from '../model/errors.ts'

/**
 * Parses a JSON body.
 * @param maxDepth the maximum number of nested arrays and objects. JSON.parse has no limit, and its result could not be
 *   serialized again.
 * @throws {ApiError} `bad_request` if the body is not UTF-8, not JSON, nested too deep, or has a duplicate member
 *   (parsers differ in which of two they keep, RFC 8259 §4)
 */
export function parseJson(bytes: Uint8Array, maxDepth: number): unknown {
  const text = decode(bytes)
  if (isDeeper(text, maxDepth)) throw new ApiError('bad_request', { message: `The body is nested more than ${maxDepth} levels deep.` })
  const value = parse(text)
  if (hasDuplicateMember(text)) throw new ApiError('bad_request', { message: 'An object of the body has a duplicate member.' })
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Node's own message quotes the body.
    throw new ApiError('bad_request', { message: 'The body is not valid JSON.' })
  }
}

/** @param text valid JSON */
function hasDuplicateMember(text: string): boolean {
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

function isDeeper(text: string, maxDepth: number): boolean {
  let level = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (quoted) {
      if (character === '\\') i++
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{' || character === '[') {
      if (++level > maxDepth) return true
    } else if (character === '}' || character === ']') level--
  }
  return false
}
