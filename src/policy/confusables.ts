import { Lexer } from 'yaml'

/** Something in a policy file by which it could read as one thing and load as another. */
export interface Confusable {
  readonly range: readonly [start: number, end: number]
  readonly message: string
  readonly hint: string
}

// A lone carriage return overprints a line on a terminal; the others move, hide or turn text around on a screen.
const HIDDEN = /(?![\t\n])\p{Cc}|[\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Finds what a reviewer would not see as the engine does: characters that do not show, or change how others do;
 * directives, which change how the rest is read; and tags, which change what a value is.
 */
export function findConfusables(text: string): Confusable[] {
  return [...hiddenCharacters(text), ...directivesAndTags(text)]
}

/** The same text with a mark for each character that would not show as what it is. */
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
      hint: 'remove it: it does not show as what it is',
    }
  }
}

function* directivesAndTags(text: string): Generator<Confusable> {
  let at = 0
  let scalar = false
  for (const token of new Lexer().lex(text)) {
    // Marks of the lexer's own; the last one says that the next token is the text of a value.
    if (token === '\u0002' || token === '\u0018' || token === '\u001F') {
      scalar = token === '\u001F'
      continue
    }
    const range = [at, at + token.length] as const
    at += token.length
    if (!scalar && token.startsWith('%')) yield { range, message: 'YAML directive', hint: 'remove it: it changes how the rest is read' }
    if (!scalar && token.startsWith('!'))
      yield { range, message: `YAML tag "${token}"`, hint: 'remove it: values are plain strings, numbers and booleans' }
    scalar = false
  }
}
