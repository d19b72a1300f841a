/** What {@link readPlainYaml} reads. */
export type PlainData = string | number | boolean | readonly PlainData[] | PlainMap
export interface PlainMap {
  readonly [key: string]: PlainData
}

// All patterns are sticky: they match at the position of the reader, or not at all.
/** Empty lines and lines with nothing but a comment. */
const BLANK_LINES = /(?: *(?:#[^\n]*)?\n)*/y
const INDENT = / */y
const LINE_END = / *\n/y
/** A key: words of letters, digits, "_" and ".". YAML reads them as text, except those of {@link SPECIAL}. */
const KEY = /([A-Za-z_$][\w.]*(?: [\w.]+)*):(?=[ \n])/y
const NUMBER = /(?:0|-?[1-9]\d{0,14})(?= *[,\]}\n])/y
const QUOTED = /"([ !#-[\]-~]*)"/y
/** A text without quotes: it begins with a letter or "/", and has no character that begins or ends something, such as "#" or "!". */
const TEXT = /[A-Za-z/](?:[\w $()+./;<=>?@^~'`,[\]{}-]+|:(?=\w))*/y
/** The same in a list or map in brackets. */
const TEXT_IN_BRACKETS = /[A-Za-z/](?:[\w $()+./;<=>?@^~'`-]+|:(?=\w))*/y
/** Space between the members of a list or map in brackets, with at most one line break. */
const GAP = / *(?:\n( +))?/y
/** Words that YAML reads as something other than text, and keys that can change a prototype. */
const SPECIAL = /^(?:true|false|null|__proto__|constructor|prototype)$/i

const MAX_DEPTH = 20
const MAX_KEY = 100

/** The text is not plain YAML. It may be YAML. */
class NotPlain extends Error {}

/**
 * Reads plain YAML: the few forms in which policies are written. These are maps and lists by indentation or in brackets, and texts, numbers,
 * `true` and `false` on one line. It takes a tenth of the time of the package yaml, which would be a fifth of a start.
 * A text that it reads has no anchor, alias, tag, directive, escape, duplicate key or tab, and the package reads the same data from it.
 * @returns undefined: the text is written in some other way, and only the package can tell whether it is YAML
 */
export function readPlainYaml(text: string): PlainMap | undefined {
  try {
    return new PlainYaml(text).read()
  } catch (error) {
    if (error instanceof NotPlain) return undefined
    throw error
  }
}

class PlainYaml {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text.endsWith('\n') ? text : `${text}\n`
  }

  read(): PlainMap {
    if (/[\t\r\uFEFF]/.test(this.#text)) throw new NotPlain()
    this.#take(BLANK_LINES)
    const data = this.#map(this.#indent(), 0)
    if (this.#at < this.#text.length) throw new NotPlain()
    return data
  }

  /** Reads a map or list by indentation. The position is the beginning of its first line, and then that of the next line that is not blank. */
  #block(indent: number, depth: number): PlainData {
    return this.#text.startsWith('- ', this.#at + indent) ? this.#list(indent, depth) : this.#map(indent, depth)
  }

  #list(indent: number, depth: number): PlainData[] {
    if (depth > MAX_DEPTH) throw new NotPlain()
    const items: PlainData[] = []
    do {
      this.#at += indent
      this.#require('- ')
      // After the dash, a map begins with its first key.
      if (this.#sees(KEY)) items.push(this.#members(indent + 2, depth + 1))
      else items.push(this.#valueOfLine(indent + 2, depth + 1))
    } while (this.#continues(indent))
    return items
  }

  #map(indent: number, depth: number): PlainMap {
    this.#at += indent
    return this.#members(indent, depth)
  }

  /** Reads the members of a map. The position is its first key. */
  #members(indent: number, depth: number): PlainMap {
    if (depth > MAX_DEPTH) throw new NotPlain()
    const map: Record<string, PlainData> = {}
    for (;;) {
      const key = this.#key(map)
      if (this.#sees(LINE_END)) {
        this.#take(LINE_END)
        this.#take(BLANK_LINES)
        const deeper = this.#indent()
        if (deeper <= indent) throw new NotPlain()
        map[key] = this.#block(deeper, depth + 1)
      } else map[key] = this.#valueOfLine(indent, depth + 1)
      if (!this.#continues(indent)) return map
      this.#at += indent
    }
  }

  #valueOfLine(indent: number, depth: number): PlainData {
    this.#take(INDENT)
    const value = this.#value(TEXT, indent, depth)
    this.#take(LINE_END)
    this.#take(BLANK_LINES)
    return value
  }

  /** Whether the next line belongs to the map or list with this indentation. A line with more belongs to none, and ends the reading. */
  #continues(indent: number): boolean {
    return this.#indent() === indent
  }

  #value(text: RegExp, indent: number, depth: number): PlainData {
    if (depth > MAX_DEPTH) throw new NotPlain()
    const first = this.#text[this.#at]
    if (first === '[') return this.#inBrackets(indent, depth)
    if (first === '{') return this.#inBraces(indent, depth)
    if (first === '"') return this.#take(QUOTED)[1]!
    if (this.#sees(NUMBER)) return Number(this.#take(NUMBER)[0])
    const word = this.#take(text)[0].trimEnd()
    if (word === 'true' || word === 'false') return word === 'true'
    if (SPECIAL.test(word)) throw new NotPlain()
    return word
  }

  /** @param indent of the map or list whose lines contain it: its own lines must have more */
  #inBrackets(indent: number, depth: number): PlainData[] {
    const items: PlainData[] = []
    if (this.#opens('[', ']', indent)) return items
    do items.push(this.#value(TEXT_IN_BRACKETS, indent, depth + 1))
    while (!this.#closes(']', indent))
    return items
  }

  #inBraces(indent: number, depth: number): PlainMap {
    const map: Record<string, PlainData> = {}
    if (this.#opens('{', '}', indent)) return map
    do {
      const key = this.#key(map)
      this.#take(INDENT)
      map[key] = this.#value(TEXT_IN_BRACKETS, indent, depth + 1)
    } while (!this.#closes('}', indent))
    return map
  }

  /** Takes the beginning of a list or map in brackets. Returns whether it ends immediately. */
  #opens(bracket: string, closing: string, indent: number): boolean {
    this.#require(bracket)
    this.#gap(indent)
    if (this.#text[this.#at] !== closing) return false
    this.#at++
    return true
  }

  /** Takes what follows a member in brackets. Returns whether it is the last one. */
  #closes(closing: string, indent: number): boolean {
    const afterBracket = /[\]}]/.test(this.#text[this.#at - 1]!)
    if (afterBracket) this.#gap(indent)
    else this.#take(INDENT)
    if (this.#text[this.#at] === closing) {
      this.#at++
      return true
    }
    this.#require(',')
    this.#gap(indent)
    return false
  }

  #gap(indent: number): void {
    const [, nextLine] = this.#take(GAP)
    if (nextLine !== undefined && nextLine.length <= indent) throw new NotPlain()
  }

  #key(map: object): string {
    const [, key] = this.#take(KEY)
    if (key!.length > MAX_KEY || SPECIAL.test(key!) || Object.hasOwn(map, key!)) throw new NotPlain()
    return key!
  }

  /** The indentation of the line that begins here; -1 at the end. */
  #indent(): number {
    if (this.#at === this.#text.length) return -1
    INDENT.lastIndex = this.#at
    return INDENT.exec(this.#text)![0].length
  }

  #sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    return pattern.test(this.#text)
  }

  #take(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null) throw new NotPlain()
    this.#at = pattern.lastIndex
    return match
  }

  #require(text: string): void {
    if (!this.#text.startsWith(text, this.#at)) throw new NotPlain()
    this.#at += text.length
  }
}
