/** Letters that are not composed of others, and what is written in their place. */
const REPLACED: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i', ς: 'σ' }
const MARKS = /[\u0300-\u036f]/g
const NOT_ASCII = /[^\0-\x7f]/
/**
 * Letters that can be written in several ways, in addition to those in the table. Signs, such as dashes and quotes, are left out: they are
 * frequent.
 */
const OTHER_LETTERS = /[\u0590-\u1dff\u2de0-\uffff]/

const ASCII_END = 0x80
/** The end of the table: Latin, Greek and Cyrillic letters with their accents are before it. */
const TABLE_END = 0x2000
/** In the table: a mark, which is left out; and a letter that becomes two. */
const [LEFT_OUT, IN_PAIRS] = [0, 1]
let table: Uint16Array | undefined
const pairs = new Map<number, string>()

/** What each letter becomes. It is made when it is first needed, which takes milliseconds. */
function makeTable(): Uint16Array {
  const made = Uint16Array.from({ length: TABLE_END }, (_, code) => code)
  for (let code = ASCII_END; code < TABLE_END; code++) {
    const letter = String.fromCharCode(code).normalize('NFD').replace(MARKS, '')
    const plain = REPLACED[letter] ?? letter
    if (plain.length < 2) made[code] = plain === '' ? LEFT_OUT : plain.charCodeAt(0)
    else if (plain !== letter) {
      pairs.set(code, plain)
      made[code] = IN_PAIRS
    }
  }
  return made
}

/**
 * A text without regard to case, accents and ß, for comparisons. A letter becomes two at the most: NFKC would expand one character to up to
 * eighteen, so that a long description could slow down every search. 20,000 characters take as long as with `normalize` and `toLowerCase`
 * alone if they are ASCII (25 µs), and two to four times as long otherwise (100 µs); replacements with patterns would take over a
 * millisecond.
 */
export function fold(text: string): string {
  const lower = text.toLowerCase()
  if (!NOT_ASCII.test(lower)) return lower
  const whole = OTHER_LETTERS.test(lower) ? lower.normalize('NFC') : lower
  const plainOf = (table ??= makeTable())
  const folded = new Uint16Array(2 * whole.length)
  let length = 0
  for (let i = 0; i < whole.length; i++) {
    const code = whole.charCodeAt(i)
    const plain = code < ASCII_END || code >= TABLE_END ? code : plainOf[code]!
    if (plain > IN_PAIRS || code < ASCII_END) folded[length++] = plain
    else if (plain === IN_PAIRS) {
      const pair = pairs.get(code)!
      folded[length++] = pair.charCodeAt(0)
      folded[length++] = pair.charCodeAt(1)
    }
  }
  return Buffer.from(folded.buffer, 0, 2 * length).toString('utf16le')
}

/**
 * The words of a search, folded. What is in double quotes is one word, with one space for each white space in it. Quotes without anything
 * between them are no word.
 */
export function searchedWords(q: string): readonly string[] {
  const words = [...fold(q).matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted?.trim().replaceAll(/\s+/g, ' ') ?? word)
  return [...new Set(words)].filter((word) => word !== '')
}

/**
 * Whether a folded text contains a word of a search. The white space in a phrase stands for any: people do not see whether a line ends there, or a
 * space is one that does not break. A phrase that the text has as it is needs no pattern, which is slower.
 */
export function wordFinder(word: string): (folded: string) => boolean {
  if (!word.includes(' ')) return (folded) => folded.includes(word)
  const phrase = new RegExp(
    word
      .split(' ')
      .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('\\s+'),
  )
  return (folded) => folded.includes(word) || phrase.test(folded)
}

/** Whether a search has a word. One that has none, such as two quotes, would find nothing, or everything. */
export function hasWords(q: string): boolean {
  return searchedWords(q).length > 0
}
