import { ApiError } from '../model/errors.ts'
import { invalidMember, Issues, type Refuse } from '../model/validation.ts'

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c]
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Parses a JSON body.
 * @param maxDepth the maximum number of nested arrays and objects. JSON.parse has no limit, and its result could not be
 *   serialized again.
 * @param maxMembers the maximum number of members of all objects, and of items of all lists
 * @param weigh is called with the number of members and items before they are parsed
 * @throws {ApiError} `bad_request` if the body is not UTF-8, not JSON, nested too deep, or has a duplicate member
 *   (parsers do not agree which of two they keep, RFC 8259 §4); `validation_failed` if it has too many members, or one that is `__proto__`
 */
export function parseJson(bytes: Uint8Array, maxDepth: number, maxMembers: number, weigh?: (values: number) => void): unknown {
  const counted = countMembers(bytes, maxDepth)
  if (counted === undefined) throw new ApiError('bad_request', { message: `The body is nested more than ${maxDepth} levels deep.` })
  // Parsing and validating tens of thousands of members takes a hundred times longer than counting them.
  const { members, values } = counted
  if (values > maxMembers) throw invalidMember('', `must have at most ${maxMembers} members and items of lists, nested ones included`)
  weigh?.(values)
  const value = parse(decode(bytes))
  const issues = new Issues()
  if (countParsed(value, [], issues.refuse) !== members)
    throw new ApiError('bad_request', { message: 'An object of the body has a duplicate member.' })
  issues.throwIfAny()
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

/** No object has a member of this name. A schema of objects with any members would drop it without telling. */
const PROTOTYPE = '__proto__'

/**
 * Counts the members of all objects in a value. JSON.parse keeps one of two members with the same name.
 * @param path of the value
 * @param refuse gets the members whose name is `__proto__`
 */
function countParsed(value: unknown, path: string[], refuse: Refuse): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  // An object with many members would make Object.values slow.
  for (const name in value) {
    path.push(name)
    if (name === PROTOTYPE) refuse(path.join('.'), 'is not a known member')
    count += countParsed((value as Record<string, unknown>)[name], path, refuse) + (Array.isArray(value) ? 0 : 1)
    path.pop()
  }
  return count
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ApiError('bad_request', { message: 'The body is not valid UTF-8.' })
  }
}

/**
 * Counts the members of all objects in a text, which are the colons that are not quoted, and all values beside others: each comma is behind
 * one, and the first one of each object or list has none. It reads the bytes, which no character of several bytes shares with the
 * characters of JSON's syntax, so that a body that is refused is not decoded.
 * @returns undefined if it is nested too deep
 */
function countMembers(bytes: Uint8Array, maxDepth: number): { readonly members: number; readonly values: number } | undefined {
  let members = 0
  let values = 0
  let level = 0
  let quoted = false
  for (let i = 0; i < bytes.length; i++) {
    const character = bytes[i]
    if (quoted) {
      if (character === BACKSLASH) i++
      else if (character === QUOTE) quoted = false
    } else if (character === QUOTE) quoted = true
    else if (character === COLON) members++
    else if (character === COMMA) values++
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (++level > maxDepth) return undefined
      values++
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) level--
  }
  return { members, values }
}
