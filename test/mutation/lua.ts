import { descendants, type Source } from '../lint/syntax.ts'
import type { Mutation } from './mutations.ts'

const OPERATORS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/==/g, '~='],
  [/~=/g, '=='],
  [/ > /g, ' >= '],
  [/\bnot /g, ''],
  [/ and /g, ' or '],
  [/ or /g, ' and '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
]
/** Calls that write, conditions in one line, and assignments: each is removed. */
const STATEMENTS = /^ *(?:redis\.call\(.*\)|if .* then .* end|inBatches\(.*\)|(?!local |for )[^=~\n]+ = .*)$/gm
const CONDITIONS = /(?<=\bif ).*?(?= then\b)/g
/** A condition over several lines. One in one line is removed as a whole. */
const BLOCK_CONDITIONS = /(?<=\bif ).*?(?= then$)/gm
const NUMBERS = /(?<![\w.])\d+(?!\w)/g

/** The small changes to the Lua scripts in the template strings of a file. */
export function* luaMutations({ program, text }: Source): Generator<Mutation> {
  for (const node of descendants(program)) {
    if (node.type !== 'TemplateElement') continue
    const { raw } = node['value'] as { raw: string }
    if (!/\bredis\.call\b/.test(raw)) continue
    const offset = text.indexOf(raw, node.start)
    for (const [pattern, replacement] of OPERATORS) yield* replaceAll(raw, pattern, offset, () => replacement)
    yield* replaceAll(raw, STATEMENTS, offset, () => '')
    yield* replaceAll(raw, CONDITIONS, offset, () => 'true')
    yield* replaceAll(raw, BLOCK_CONDITIONS, offset, () => 'false')
    yield* replaceAll(raw, NUMBERS, offset, (digits) => String(Number(digits) + 1))
  }
}

function* replaceAll(raw: string, pattern: RegExp, offset: number, replacement: (match: string) => string): Generator<Mutation> {
  for (const match of raw.matchAll(pattern)) {
    const start = offset + match.index
    yield { start, end: start + match[0].length, replacement: replacement(match[0]) }
  }
}
