import { isIntact, readLine, sha256, splitLines, tornOf, type Line, type RawLine } from './line.ts'

/** A file of a log. */
export interface LogFile {
  readonly name: string
  readonly parts: AsyncIterable<Buffer> | Iterable<Buffer>
}

/** A place where the log is not as it was written. */
export interface Finding {
  /**
   * `altered`: a line has not the hash of its content. `malformed`: it is no line. `missing`: lines before it are, or all lines.
   * `out_of_order`: it comes later than it was written. `anchor_missing`: no intact line has the hash of an anchor.
   */
  readonly kind: 'altered' | 'malformed' | 'missing' | 'out_of_order' | 'anchor_missing'
  readonly file: string
  /** from 1 */
  readonly line: number
  /** where the line begins in its file, from 0 */
  readonly byte: number
  readonly message: string
}

/** The result of a verification. */
export interface VerifiedLog {
  readonly files: number
  readonly lines: number
  readonly findings: number
  /** the hash that the first line states of the line before it; null: the log begins with it */
  readonly begins_after: string | null
  /** the hash of the last line: an anchor for later */
  readonly head: string | null
  /** incomplete lines that a crash has left, and that the next process has found */
  readonly torn: number
  /** whether the last line is incomplete: a process is writing it, or has crashed */
  readonly open_end: boolean
}

type Place = Pick<Finding, 'file' | 'line' | 'byte'>

/**
 * Verifies a log. Without an anchor, an end that was cut off cannot be told from a log that ended there.
 * @param files in the order in which they were written
 * @param anchors hashes of lines that the log must have
 * @param from the hash of the line before the first file; null: the files begin with the log
 */
export async function verifyLog(
  files: Iterable<LogFile>,
  anchors: readonly string[],
  report: (finding: Finding) => void,
  from: string | null = null,
): Promise<VerifiedLog> {
  const chain = new Chain(new Set<string | null>(anchors), from, report)
  let count = 0
  for (const { name, parts } of files) {
    count++
    let line = 0
    chain.begin(name)
    for await (const raw of splitLines(parts)) chain.add({ file: name, line: ++line, byte: raw.offset }, raw)
  }
  return chain.end(count)
}

/** The chain of all lines so far. */
class Chain {
  readonly #anchors: Set<string | null>
  readonly #from: string | null
  readonly #report: (finding: Finding) => void
  #last: { readonly line: Line; readonly contentHash: string } | undefined
  #beginsAfter: string | null = null
  /** text since the last line that is no line */
  #others: { readonly place: Place; readonly raw: RawLine }[] = []
  #place: Place = { file: '', line: 0, byte: 0 }
  #isOpen = false
  #counts = { lines: 0, findings: 0, torn: 0 }

  constructor(anchors: Set<string | null>, from: string | null, report: (finding: Finding) => void) {
    this.#anchors = anchors
    this.#from = from
    this.#report = report
  }

  /** Begins a file. */
  begin(file: string): void {
    if (this.#place.line === 0) this.#place = { file, line: 0, byte: 0 }
  }

  add(place: Place, raw: RawLine): void {
    this.#place = place
    this.#isOpen = !raw.isComplete
    const text = raw.bytes.toString()
    const line = readLine(text)
    if (line === undefined) return void this.#others.push({ place, raw })
    const isExplained = this.#settleOthers(text)
    this.#counts.lines++
    const isAltered = !isIntact(raw.bytes, line)
    if (isAltered) this.#find('altered', place, 'this line has not the hash of its content')
    if (this.#last === undefined) this.#start(place, line)
    else if (!isExplained && line.prev !== this.#last.line.hash && line.prev !== this.#last.contentHash) this.#findGap(place, line)
    // The content of an altered line proves nothing.
    if (!isAltered) this.#anchors.delete(line.hash)
    this.#last = { line, contentHash: isAltered ? sha256(raw.bytes.subarray(0, raw.bytes.lastIndexOf(',"hash":'))) : line.hash }
  }

  end(files: number): VerifiedLog {
    const [only, ...more] = this.#others
    const isTorn = only !== undefined && more.length === 0 && !only.raw.isComplete && isBeginning(only.raw.bytes.toString())
    if (!isTorn) this.#reportOthers()
    if (this.#counts.lines === 0) this.#find('missing', this.#place, 'the log has no line')
    for (const anchor of this.#anchors)
      this.#find('anchor_missing', this.#place, `no intact line has the hash ${anchor}: lines were cut off`)
    const { lines, findings, torn } = this.#counts
    const head = this.#last?.line.hash ?? null
    return { files, lines, findings, begins_after: this.#beginsAfter, head, torn, open_end: this.#isOpen }
  }

  /** @returns whether there was something that breaks the chain */
  #settleOthers(text: string): boolean {
    if (this.#others.length === 0) {
      if (TORN.test(text)) this.#find('missing', this.#place, 'what a crash has left before this line is missing')
      return false
    }
    const torn = tornOf(this.#others.map(({ raw }) => raw.bytes))!
    // The next process states what it has found.
    if (text.endsWith(`"torn":${JSON.stringify(torn)},"hash":"${text.slice(-66, -2)}"}`)) {
      this.#counts.torn++
      this.#others = []
      return false
    }
    this.#reportOthers()
    return true
  }

  #reportOthers(): void {
    for (const { place } of this.#others) this.#find('malformed', place, 'this is no line of a decision log')
    this.#others = []
  }

  /** The first line must follow what the caller says is before it. */
  #start(place: Place, { prev, n }: Line): void {
    this.#beginsAfter = prev
    if (prev !== this.#from || (n === 0) !== (prev === null))
      this.#find('missing', place, `the beginning is missing: this is line ${n} of the log, after ${prev ?? 'no line'}`)
    else this.#anchors.delete(prev)
  }

  #findGap(place: Place, { n }: Line): void {
    const missing = n - this.#last!.line.n - 1
    if (missing < 0) this.#find('out_of_order', place, 'this line was written before the line above')
    else
      this.#find(
        'missing',
        place,
        `${missing === 0 ? 'lines are' : missing === 1 ? 'a line is' : `${missing} lines are`} missing before this line`,
      )
  }

  #find(kind: Finding['kind'], { file, line, byte }: Place, message: string): void {
    this.#counts.findings++
    this.#report({ kind, file, line, byte, message })
  }
}

const TORN = /,"torn":\{"bytes":\d+,"sha256":"[0-9a-f]{64}"\},"hash":"[0-9a-f]{64}"\}$/
const BEGINNING = '{"prev":'

/** Whether a text can be the beginning of a line. */
function isBeginning(text: string): boolean {
  return text.startsWith(BEGINNING.slice(0, text.length)) && !/,"hash":"[0-9a-f]{64}"\}/.test(text)
}
