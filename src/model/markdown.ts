import MarkdownIt, { type StateBlock, type StateInline, type Token } from 'markdown-it'

export type { Token }

/** What opens and ends a comment of HTML. */
const [OPEN, CLOSE] = ['<!--', '-->'] as const

/** CommonMark with the tables, struck text and addresses of GitHub. HTML is text, but for comments, which vanish. */
const parser = new MarkdownIt({ html: false, linkify: true })
// Where links may lead is decided by those who show them.
parser.validateLink = () => true
// Only what says that it is an address: `file.rs` and `README.md` are names of files.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: true }).add('//', null).add('ftp:', null)
parser.block.ruler.before('paragraph', 'comment', skipBlockComment, { alt: ['paragraph', 'reference', 'blockquote', 'list'] })
parser.inline.ruler.before('autolink', 'comment', skipComment)

/** The marks of the texts that are read together, at most: the time to read one of nothing else grows with them. */
export const MOST_MARKS = 15_000
/** What may begin something in a line. */
const MARK = /[[\]!*_`~<&\\:@|]/g

/** How many marks a text has. */
export function countMarks(text: string): number {
  return text.match(MARK)?.length ?? 0
}

/** Reads a text as Markdown, with at most `MOST_MARKS`. Every text is Markdown. */
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
  const close = state.src.indexOf(CLOSE, start + OPEN.length)
  let last = line
  while (last < endLine && state.eMarks[last]! < close) last++
  if (close === -1 || last === endLine) return false
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

/** Contents of blocks that have no further end of a comment: to look for one at each beginning would take too long. */
const withoutEnd = new WeakSet<StateInline>()

function skipComment(state: StateInline): boolean {
  if (!state.src.startsWith(OPEN, state.pos) || withoutEnd.has(state)) return false
  const close = state.src.indexOf(CLOSE, state.pos + OPEN.length)
  if (close === -1) withoutEnd.add(state)
  if (close === -1) return false
  state.pos = close + CLOSE.length
  return true
}
