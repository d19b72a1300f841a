import type { Source } from '../lint/syntax.ts'
import { parse } from '../lint/syntax.ts'
import { luaMutations } from './lua.ts'
import { mutations } from './mutations.ts'

/** A source file with one small change. */
export interface Mutant {
  /** the path of the source file, relative to the root of the repository */
  readonly path: string
  /** the line of the change, from 1 */
  readonly line: number
  /** the lines that the change touches, with white space collapsed */
  readonly before: string
  readonly after: string
  /** the whole text of the mutated file */
  readonly text: string
}

/** All mutants of a file that parse, in source order, each once. */
export function mutantsOf(source: Source): Mutant[] {
  const byText = new Map<string, Mutant>()
  for (const { start, end, replacement } of [...mutations(source), ...luaMutations(source)].toSorted(
    (a, b) => a.start - b.start || a.end - b.end,
  )) {
    const text = source.text.slice(0, start) + replacement + source.text.slice(end)
    if (text === source.text || byText.has(text) || !parses(source.path, text)) continue
    const lineStart = source.text.lastIndexOf('\n', start - 1) + 1
    const lineEnd = endOfLine(source.text, end)
    byText.set(text, {
      path: source.path,
      line: source.text.slice(0, start).split('\n').length,
      before: collapse(source.text.slice(lineStart, lineEnd)),
      after: collapse(source.text.slice(lineStart, start) + replacement + source.text.slice(end, lineEnd)),
      text,
    })
  }
  return [...byText.values()]
}

function parses(path: string, text: string): boolean {
  try {
    parse(path, text)
    return true
  } catch {
    return false
  }
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  return newline === -1 ? text.length : newline
}

function collapse(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}
