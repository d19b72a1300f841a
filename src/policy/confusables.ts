import { yaml } from './yaml.ts'

/** A part of a policy file that a reviewer can read differently from the parser. */
export interface Confusable {
  /** offsets in UTF-16 code units */
  readonly range: readonly [start: number, end: number]
  readonly message: string
  readonly suggestion: string
}

// Control characters (a lone carriage return overprints a line on a terminal), format characters (invisible, or
// they change the direction of text) and the Unicode line and paragraph separators.
const HIDDEN = /(?![\t\n])\p{Cc}|[\p{Cf}\p{Zl}\p{Zp}]/gu

// Letters, digits, marks and spaces that are not ASCII. Many of them look like an ASCII character, or like nothing: a Cyrillic "a", the
// no-break space, the Hangul filler. Lines and arrows between comments are not among these.
const FOREIGN = /(?!\p{ASCII})[\p{L}\p{N}\p{M}\p{Zs}]/gu

/**
 * Finds confusables: characters that are invisible, change how others are displayed or look like others, YAML directives, which
 * change how the file is parsed, and YAML tags, which change the type of a value.
 */
export function findConfusables(text: string): Confusable[] {
  return [...hiddenCharacters(text), ...foreignCharacters(text), ...directivesAndTags(text)]
}

/** Finds confusables in a text that YAML has decoded: an escape such as "\\u202E" is plain in the file, and hidden where it is printed. */
export function findDecodedConfusable(text: string): string | undefined {
  for (const { message } of [...hiddenCharacters(text), ...foreignCharacters(text)]) return message
  return undefined
}

/** Replaces each hidden character with U+FFFD, so that a message can quote the text safely. */
export function markHiddenCharacters(text: string): string {
  return text.replaceAll(HIDDEN, '\uFFFD')
}

function* hiddenCharacters(text: string): Generator<Confusable> {
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (character === '\r' && text[index + 1] === '\n') continue
    if (character === '\uFEFF' && index === 0) continue
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    yield {
      range: [index, index + character.length],
      message: `hidden character U+${code}`,
      suggestion: 'remove it: it is invisible or changes how the text is displayed',
    }
  }
}

function* foreignCharacters(text: string): Generator<Confusable> {
  for (const { 0: character, index } of text.matchAll(FOREIGN)) {
    const kind = /\p{L}/u.test(character) ? 'letter' : /\p{N}/u.test(character) ? 'digit' : /\p{M}/u.test(character) ? 'mark' : 'space'
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    yield {
      range: [index, index + character.length],
      message: `${kind} U+${code} that is not ASCII`,
      suggestion: 'replace it: it can look like another character',
    }
  }
}

function* directivesAndTags(text: string): Generator<Confusable> {
  // A directive begins with "%", and a tag with "!". The lexer finds where these are neither text nor comment.
  if (!/[%!]/.test(text)) return
  const { CST, Lexer } = yaml()
  let offset = 0
  let inScalar = false
  for (const token of new Lexer().lex(text)) {
    // Control tokens have no text in the file. The token after SCALAR is the text of a value.
    if (token === CST.DOCUMENT || token === CST.FLOW_END || token === CST.SCALAR) {
      inScalar = token === CST.SCALAR
      continue
    }
    const range = [offset, offset + token.length] as const
    offset += token.length
    if (!inScalar && token.startsWith('%'))
      yield { range, message: 'YAML directive', suggestion: 'remove it: it changes how the file is parsed' }
    if (!inScalar && token.startsWith('!'))
      yield { range, message: `YAML tag "${token}"`, suggestion: 'remove it: values are plain strings, numbers and booleans' }
    inScalar = false
  }
}
