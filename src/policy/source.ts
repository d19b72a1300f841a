import { createHash } from 'node:crypto'
import type { Document, LineCounter } from 'yaml'
import { findConfusables, findDecodedConfusable, markHiddenCharacters } from './confusables.ts'
import { PolicyError, type PolicyDiagnostic } from './diagnostic.ts'
import { readAtBuild } from './read-at-build.ts'
import { yaml } from './yaml.ts'

/** The path and the text of a policy file. */
export interface SourceFile {
  /** as diagnostics show it */
  readonly path: string
  readonly text: string
}

/** A position in a YAML document: the keys and indexes from the root to a member. */
export type Path = readonly (string | number)[]

/** Adds a diagnostic at a member: at its name with `on: 'key'`, else at its value (the default). */
export type Report = (at: Path, message: string, suggestion?: string, on?: 'key' | 'value') => void

/** The plain data of a policy file, with the position of each member. */
export interface Source {
  readonly path: string
  readonly data: unknown
  /**
   * Makes a diagnostic for a member.
   * @param at the member: its name with `on: 'key'`, else its value
   */
  diagnostic(
    at: Path,
    message: string,
    options?: { suggestion?: string | undefined; rule?: string | undefined; on?: 'key' | 'value' | undefined },
  ): PolicyDiagnostic
}

/** A half-open range of offsets in the text, in UTF-16 code units. */
type Range = readonly [start: number, end: number]
type DiagnosticAt = (range: Range, message: string, suggestion?: string, rule?: string) => PolicyDiagnostic

const TOO_DEEP = 'the file is nested too deeply'
const UNSAFE_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads YAML as plain data: maps, lists, strings, numbers and booleans. All syntax that a reviewer can read
 * differently from the parser is refused: anchors, aliases, merge keys, tags, duplicate keys, several documents.
 * A text that was read when the bundle was made is not read again: it has passed the same.
 * @throws {PolicyError} with the position of every error
 */
export function readSource(file: SourceFile): Source {
  const diagnosticAt = locate(file)
  const known = readAtBuild.get(createHash('sha256').update(file.text).digest('hex'))
  // The package is then asked only where a member is, for a diagnostic.
  let document = known === undefined ? parseStrictly(file.text, diagnosticAt) : undefined
  return {
    path: file.path,
    data: known === undefined ? document!.toJS() : JSON.parse(known),
    diagnostic(at, message, { suggestion, rule, on = 'value' } = {}) {
      document ??= parse(file.text, diagnosticAt)
      return diagnosticAt(rangeOf(document, at, on), message, suggestion, rule)
    },
  }
}

/** @throws {PolicyError} for everything that is not plain data */
function parseStrictly(text: string, diagnosticAt: DiagnosticAt): Document {
  const confusables = findConfusables(text).map(({ range, message, suggestion }) => diagnosticAt(range, message, suggestion))
  if (confusables.length > 0) throw new PolicyError(confusables)
  const document = parse(text, diagnosticAt)
  const diagnostics = [...document.errors, ...document.warnings].map((error) => diagnosticAt(error.pos, describeParseError(error)))
  diagnostics.push(...findRefusedSyntax(document, diagnosticAt))
  if (diagnostics.length === 0 && !yaml().isMap(document.contents))
    diagnostics.push(diagnosticAt([0, 1], 'this is not a policy file', 'a policy file starts with "version: 1"'))
  if (diagnostics.length > 0) throw new PolicyError(diagnostics)
  return document
}

/** Makes diagnostics from offsets in a file. */
function locate({ path, text }: SourceFile): DiagnosticAt {
  let lines: readonly string[] | undefined
  let counter: LineCounter | undefined
  // A long line can have thousands of them.
  const shownLines = new Map<number, string>()
  return ([start, end], message, suggestion, rule) => {
    lines ??= text.split('\n')
    counter ??= countLines(lines)
    const { line, col: column } = counter.linePos(start)
    let shown = shownLines.get(line)
    if (shown === undefined) shownLines.set(line, (shown = markHiddenCharacters((lines[line - 1] ?? '').replace(/\r$/, ''))))
    const width = Math.max(1, Math.min(end - start, shown.length - column + 1))
    return { path, line, column, width, text: shown, message, suggestion, rule }
  }
}

function countLines(lines: readonly string[]): LineCounter {
  const counter = new (yaml().LineCounter)()
  let offset = 0
  for (const line of lines) {
    counter.addNewLine(offset)
    offset += line.length + 1
  }
  return counter
}

function parse(text: string, diagnosticAt: DiagnosticAt): Document {
  try {
    return yaml().parseDocument(text, { merge: false, uniqueKeys: true, schema: 'core', prettyErrors: false })
  } catch (error) {
    if (error instanceof RangeError) throw new PolicyError([diagnosticAt([0, 1], TOO_DEEP)])
    throw error
  }
}

function describeParseError({ code, message }: { code: string; message: string }): string {
  if (message.startsWith('Maximum call stack')) return TOO_DEEP
  if (code === 'DUPLICATE_KEY') return 'duplicate key'
  return code === 'MULTIPLE_DOCS' ? 'several documents in one file' : message
}

function findRefusedSyntax(document: Document, diagnosticAt: DiagnosticAt): PolicyDiagnostic[] {
  const { isAlias, isScalar, visit } = yaml()
  const diagnostics: PolicyDiagnostic[] = []
  const refuse = (range: readonly number[] | null | undefined, message: string, suggestion: string): void =>
    void diagnostics.push(diagnosticAt([range?.[0] ?? 0, range?.[1] ?? 1], message, suggestion))
  visit(document, {
    Node(_key, node) {
      const confusable = isScalar(node) && typeof node.value === 'string' ? findDecodedConfusable(node.value) : undefined
      if (confusable !== undefined) refuse(node.range, `${confusable}, written as an escape`, 'remove it: it is not what is printed')
      if (isAlias(node)) refuse(node.range, 'YAML alias', 'write the value out, so that a reviewer need not look elsewhere')
      else if (node.anchor !== undefined) refuse(node.range, `YAML anchor "&${node.anchor}"`, 'remove it: aliases are refused')
    },
    Pair(_key, { key }) {
      if (!isScalar(key) || typeof key.value !== 'string') {
        const range = key !== null && typeof key === 'object' && 'range' in key ? (key.range as number[]) : undefined
        refuse(range, 'a key that is not a string', 'quote it')
      } else if (key.value === '<<') refuse(key.range, 'YAML merge key', 'write the members out')
      else if (UNSAFE_KEYS.has(key.value)) refuse(key.range, `key "${key.value}"`, 'choose another name: this one can change a prototype')
    },
  })
  return diagnostics
}

/** The range of a member, or of its closest ancestor that has one. */
function rangeOf(document: Document, at: Path, on: 'key' | 'value'): Range {
  const { isMap, isPair, isScalar } = yaml()
  let node: unknown = document.contents
  let range: readonly number[] | undefined
  for (const [depth, step] of at.entries()) {
    const isLast = depth === at.length - 1
    if (isMap(node)) {
      const member = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === step)
      if (member === undefined) break
      const key = member.key as { range?: number[] }
      if (isLast && on === 'key') return [key.range?.[0] ?? 0, key.range?.[1] ?? 1]
      range = key.range
      node = member.value
    } else {
      node = (document.getIn(at.slice(0, depth + 1), true) as unknown) ?? node
    }
    const nodeRange = (node as { range?: number[] } | null)?.range
    if (nodeRange !== undefined && nodeRange[1]! > nodeRange[0]!) range = nodeRange
  }
  range ??= (document.contents as { range?: number[] } | null)?.range
  return [range?.[0] ?? 0, range?.[1] ?? 1]
}
