import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readText } from '../lint/syntax.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** These belong to no one who reads the repository. */
const ABSENT = new Set(['node_modules', 'dist', '.git', 'coverage', 'data'])

/** The paths of all Markdown files of the repository, relative to its root. */
export const pages: readonly string[] = markdownBelow(root)
  .map((path) => relative(root, path))
  .toSorted()

function markdownBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ABSENT.has(entry.name) ? [] : markdownBelow(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

/** A fenced block of a page. */
export interface Block {
  readonly page: string
  /** the number of its first line */
  readonly line: number
  /** the word after the fence, or '' */
  readonly language: string
  /** its lines, with a line break after each */
  readonly text: string
}

/** The fenced blocks of a page, in order. A block can be indented, as in a list. */
export function blocksOf(page: string, text: string = readText(page)): Block[] {
  return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)].map(({ index, 1: indent, 2: language, 3: lines }) => ({
    page,
    line: text.slice(0, index).split('\n').length,
    language: language!,
    text: lines!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))
}

/**
 * The block of a page that contains a text. `documents.test.ts` reads from the calls of this function which blocks a suite runs, so both
 * arguments are literals.
 * @throws {Error} unless exactly one block contains the text
 */
export function blockOf(page: string, text: string): string {
  const found = blocksOf(page).filter((block) => block.text.includes(text))
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${page} contain ${JSON.stringify(text)}: one is needed`)
  return found[0]!.text
}
