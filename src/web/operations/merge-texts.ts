import { diffArrays } from 'diff'

/** A part of a text beside another one. */
export interface Mark {
  readonly text: string
  /** whether the other text does not have it */
  readonly isOwn: boolean
}

/** Two versions of a text, made from the same one. */
export interface Versions {
  readonly base: string
  readonly mine: string
  readonly theirs: string
}

/** Both versions in one text. */
export interface Merged {
  readonly text: string
  /** whether both have changed the same part: the text has mine there */
  readonly collides: boolean
}

/** A part of the base, from one token to before another, and the tokens that one version has there. */
interface Edit {
  readonly start: number
  readonly end: number
  readonly tokens: readonly string[]
  readonly isMine: boolean
}

/** More tokens that differ are not compared: the effort grows with their square, and all requests wait for it. */
const MOST_DIFFERENT = 200
/** Changes with fewer tokens between them are about the same words: five are three words with the spaces around them. A line break separates them. */
const APART = 5

const words = (text: string) => text.match(/\n|[^\S\n]+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []
const lines = (text: string) => text.match(/[^\n]*\n|[^\n]+/g) ?? []

/**
 * Merges two versions of a text by words, or by lines if too many words differ.
 * @returns undefined if too many lines differ, too
 */
export function mergeTexts({ base, mine, theirs }: Versions): Merged | undefined {
  for (const split of [words, lines]) {
    const from = split(base)
    const [own, other] = [editsOf(from, split(mine), true), editsOf(from, split(theirs), false)]
    if (own !== undefined && other !== undefined) return joinEdits(from, [...own, ...other])
  }
  return undefined
}

/**
 * Compares two texts by words, or by lines if too many words differ.
 * @returns the parts of both; undefined if too many lines differ, too
 */
export function compareTexts(one: string, another: string): readonly [readonly Mark[], readonly Mark[]] | undefined {
  for (const split of [words, lines]) {
    const found = compare(split(one), split(another))
    if (found === undefined) continue
    const parts = (isOther: 'added' | 'removed') =>
      found.flatMap((part) => (part[isOther] ? [] : [{ text: part.value.join(''), isOwn: part.added || part.removed }]))
    return [parts('added'), parts('removed')]
  }
  return undefined
}

function compare(from: string[], to: string[]) {
  return diffArrays(from, to, { maxEditLength: MOST_DIFFERENT })
}

function editsOf(from: string[], to: string[], isMine: boolean): Edit[] | undefined {
  const found = compare(from, to)
  if (found === undefined) return undefined
  const edits: Edit[] = []
  let at = 0
  for (const { value, added, removed } of found) {
    const last = edits.at(-1)
    const isSame = last?.end === at
    const end = added ? at : at + value.length
    const tokens = added ? value : []
    if (added || removed) {
      if (isSame) edits[edits.length - 1] = { ...last!, end, tokens: [...last!.tokens, ...tokens] }
      else edits.push({ start: at, end, tokens, isMine })
    }
    at = end
  }
  return edits
}

function joinEdits(base: readonly string[], edits: readonly Edit[]): Merged {
  const parts: string[] = []
  let collides = false
  let at = 0
  for (const group of groupsOf(base, edits)) {
    const [start, end] = [group[0]!.start, Math.max(...group.map((edit) => edit.end))]
    const own = group.filter(({ isMine }) => isMine)
    const other = group.filter(({ isMine }) => !isMine)
    const [mine, theirs] = [own, other].map((some) => applied(base, some, start, end))
    collides ||= own.length > 0 && other.length > 0 && mine !== theirs
    parts.push(base.slice(at, start).join(''), own.length > 0 ? mine! : theirs!)
    at = end
  }
  return { text: parts.join('') + base.slice(at).join(''), collides }
}

/** Edits that are about the same part of the base, in its order. */
function groupsOf(base: readonly string[], edits: readonly Edit[]): Edit[][] {
  const groups: Edit[][] = []
  let end = -1
  for (const edit of edits.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    const between = base.slice(Math.max(end, 0), edit.start)
    const isApart = end === -1 || between.length >= APART || between.some((token) => token.endsWith('\n'))
    if (isApart && edit.start >= end) groups.push([edit])
    else groups.at(-1)!.push(edit)
    end = Math.max(end, edit.end)
  }
  return groups
}

/** A part of the base as one version has it. */
function applied(base: readonly string[], edits: readonly Edit[], start: number, end: number): string {
  const parts: string[] = []
  let at = start
  for (const edit of edits) {
    parts.push(...base.slice(at, edit.start), ...edit.tokens)
    at = edit.end
  }
  return [...parts, ...base.slice(at, end)].join('')
}
