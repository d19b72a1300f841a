import MarkdownIt, { type Env, type StateBlock, type StateInline, type Token } from 'markdown-it'

export type { Token }

/** What opens and ends a comment of HTML. */
const [OPEN, CLOSE] = ['<!--', '-->'] as const

/** Elements in elements: nobody writes more. The parser leaves out what is deeper, so such a text is not Markdown. */
const DEEPEST = 24

/** CommonMark with the tables, struck text and addresses of GitHub. HTML is text, but for comments, which vanish. */
const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: DEEPEST + 1 })
// Where links may lead is decided by those who show them.
parser.validateLink = () => true
// Only what says that it is an address: `file.rs` and `README.md` are names of files.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: true }).add('//', null).add('ftp:', null)
parser.block.ruler.before('paragraph', 'comment', skipBlockComment, { alt: ['paragraph', 'reference', 'blockquote', 'list'] })
parser.inline.ruler.before('autolink', 'comment', skipComment)
parser.inline.ruler.at('text', takeText)

/**
 * What texts that are read together may have: to read more would delay other requests. A part is the beginning, the end or the content of an
 * element. Parts are counted while they are made, because few lines can make very many of them: a row has all cells of its table.
 */
const MOST = { lines: 2000, characters: 100_000, marks: 15_000, parts: 12_000 } as const
type Amounts = { -readonly [Name in keyof typeof MOST]: number }
/** What may begin something in a line, for the parser. */
const STOP = /[[\]!*_`~<&\\:\n]/g
/** The same, and what tables are made of. */
const MARK = /[[\]!*_`~<&\\:|]/g
/** What may be an address, which takes as long as ten marks. A mention does not count: it has a space before it. */
const ADDRESS = /\S@|:\/\/|<[a-z][a-z\d+.-]*:/gi
const MARKS_OF_ADDRESS = 10

/** Ends the work of the parser. */
class TooManyParts extends Error {}

parser.block.State = class extends parser.block.State {
  override push(...made: Parameters<InstanceType<typeof parser.block.State>['push']>): Token {
    countPart(this.env)
    return super.push(...made)
  }
}
parser.inline.State = class extends parser.inline.State {
  override push(...made: Parameters<InstanceType<typeof parser.inline.State>['push']>): Token {
    countPart(this.env)
    return super.push(...made)
  }
}

/** @param env of the call of the parser: the amounts used so far, if they are limited */
function countPart(env: Env): void {
  const used = env['used'] as Amounts | undefined
  if (used !== undefined && ++used.parts > MOST.parts) throw new TooManyParts()
}

/**
 * Reads texts of users that are shown together, in the order of the calls.
 * @returns a function that returns undefined for a text that is shown as it was written: it has too many elements in elements, or with it,
 * the texts have more than they may. Then so are all after it.
 */
export function createReader(): (text: string) => Token[] | undefined {
  const used: Amounts = { lines: 0, characters: 0, marks: 0, parts: 0 }
  const isTooMuch = () => (Object.keys(MOST) as (keyof Amounts)[]).some((name) => used[name] > MOST[name])
  return (text) => {
    used.characters += text.length
    if (!isTooMuch()) used.lines += text.split(/\r\n?|\n/).length
    if (!isTooMuch()) used.marks += countMarks(text)
    if (isTooMuch()) return undefined
    try {
      const tokens = parser.parse(text, { used })
      return isDeep(tokens) ? undefined : tokens
    } catch (error) {
      if (error instanceof TooManyParts) return undefined
      throw error
    }
  }
}

/** How many marks a text has. */
function countMarks(text: string): number {
  return (text.match(MARK)?.length ?? 0) + MARKS_OF_ADDRESS * (text.match(ADDRESS)?.length ?? 0)
}

/** Whether the parser has left something out. */
function isDeep(tokens: readonly Token[]): boolean {
  return tokens.some(({ level, children }) => level >= DEEPEST || (children !== null && isDeep(children)))
}

/** Reads a text of the service itself. Every text is Markdown. */
export function parseMarkdown(text: string): Token[] {
  return parser.parse(text, {})
}

/** Reads a text without blocks, such as a sentence. */
export function parseInline(text: string): Token[] {
  return parser.parseInline(text, {})
}

/** The texts in Markdown that are no code, no address and no picture: what people read as words. */
export function* wordsOf(tokens: readonly Token[]): Generator<string> {
  let isAddress = false
  for (const token of tokens) {
    if (isAutolink(token)) isAddress = token.nesting === 1
    else if (token.type === 'text' && !isAddress) yield token.content
    else if (token.type === 'inline') yield* wordsOf(token.children!)
  }
}

/** Whether the text of a link is only its address. */
export function isAutolink({ type, info }: Token): boolean {
  return info === 'auto' && (type === 'link_open' || type === 'link_close')
}

/** A comment from the beginning of a line, over any number of lines. What comes after it in its last line is read on. */
function skipBlockComment(state: StateBlock, line: number, endLine: number, silent: boolean): boolean {
  const start = state.bMarks[line]! + state.tShift[line]!
  if (state.sCount[line]! - state.blkIndent >= 4 || !state.src.startsWith(OPEN, start)) return false
  const close = closeOf(state, start + OPEN.length)
  if (close === -1 || close > state.eMarks[endLine - 1]!) return false
  let last = line
  while (state.eMarks[last]! < close) last++
  const end = close + CLOSE.length
  const rest = state.src.slice(end, state.eMarks[last]).trim()
  // In one line, what comes after it is a paragraph with a comment in it.
  if (rest !== '' && last === line) return false
  if (silent) return true
  state.line = rest === '' ? last + 1 : last
  if (rest !== '') {
    state.bMarks[last] = end
    state.tShift[last] = 0
    state.sCount[last] = state.blkIndent
  }
  return true
}

function skipComment(state: StateInline): boolean {
  if (!state.src.startsWith(OPEN, state.pos)) return false
  const close = closeOf(state, state.pos + OPEN.length)
  if (close === -1) return false
  state.pos = close + CLOSE.length
  return true
}

/** Where a search for the end of a comment began, and what it found. */
const searches = new WeakMap<StateBlock | StateInline, { readonly from: number; readonly close: number }>()

/** Text up to what may begin something. The parser's own rule stops at signs of its plugins, too, such as each hyphen. */
function takeText(state: StateInline, silent: boolean): boolean {
  STOP.lastIndex = state.pos
  const end = Math.min(STOP.exec(state.src)?.index ?? state.posMax, state.posMax)
  if (end === state.pos) return false
  if (!silent) state.pending += state.src.slice(state.pos, end)
  state.pos = end
  return true
}

/** The next end of a comment, or -1. To look for it anew at each beginning would take too long. */
function closeOf(state: StateBlock | StateInline, from: number): number {
  const last = searches.get(state)
  if (last !== undefined && last.from <= from && (last.close === -1 || from <= last.close)) return last.close
  const close = state.src.indexOf(CLOSE, from)
  searches.set(state, { from, close })
  return close
}
