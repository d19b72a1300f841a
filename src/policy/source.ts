import { isAlias, isMap, isPair, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml'
import { findConfusables, markHiddenCharacters } from './confusables.ts'
import { PolicyError, type PolicyDiagnostic } from './diagnostic.ts'

/** A policy file as it was read: its name as people know it, and its text. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** A place inside a YAML document: the keys and indexes that lead there. */
export type Path = readonly (string | number)[]

/** A policy file that is plain data, and knows where each of its members stands. */
export interface Source {
  readonly path: string
  readonly data: unknown
  /**
   * Says that something is wrong at a place.
   * @param at the member; with `on: 'key'` its name is meant, else its value
   */
  diagnostic(
    at: Path,
    message: string,
    more?: { hint?: string | undefined; rule?: string | undefined; on?: 'key' | 'value' | undefined },
  ): PolicyDiagnostic
}

const TOO_DEEP = 'it is nested too deep to be read'
const POISON = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads YAML as plain data: maps, lists, strings, numbers, booleans. Everything with which YAML can say one
 * thing and mean another (anchors, aliases, merge keys, tags, repeated keys, several documents) is refused,
 * so that a reviewer sees what the engine sees.
 * @throws {PolicyError} with the place of every fault
 */
export function readSource(file: SourceFile): Source {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = file.text.indexOf('\n'); at !== -1; at = file.text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
  const place = (start: number, end: number, message: string, hint?: string, rule?: string): PolicyDiagnostic => {
    const { line, col } = lines.linePos(start)
    const text = markHiddenCharacters((file.text.split('\n')[line - 1] ?? '').replace(/\r$/, ''))
    const width = Math.max(1, Math.min(end - start, text.length - col + 1))
    return { path: file.path, line, column: col, width, text, message, hint, rule }
  }

  const hidden = findConfusables(file.text).map(({ range, message, hint }) => place(range[0], range[1], message, hint))
  if (hidden.length > 0) throw new PolicyError(hidden)
  const document = parse(file.text, place)
  const problems = [...document.errors, ...document.warnings].map((fault) => place(fault.pos[0], fault.pos[1], explain(fault)))
  problems.push(...findRefusedSyntax(document).map(({ range, message, hint }) => place(range[0], range[1], message, hint)))
  if (problems.length === 0 && !isMap(document.contents))
    problems.push(place(0, 1, 'this is no policy file', 'it begins with "version: 1"'))
  if (problems.length > 0) throw new PolicyError(problems)

  return {
    path: file.path,
    data: document.toJS(),
    diagnostic(at, message, { hint, rule, on = 'value' } = {}) {
      const [start, end] = rangeOf(document, at, on)
      return place(start, end, message, hint, rule)
    },
  }
}

type Place = (start: number, end: number, message: string, hint?: string) => PolicyDiagnostic

function parse(text: string, place: Place): Document {
  try {
    return parseDocument(text, { merge: false, uniqueKeys: true, schema: 'core', prettyErrors: false })
  } catch (error) {
    if (error instanceof RangeError) throw new PolicyError([place(0, 1, TOO_DEEP)])
    throw error
  }
}

function explain({ code, message }: { code: string; message: string }): string {
  if (message.startsWith('Maximum call stack')) return TOO_DEEP
  if (code === 'DUPLICATE_KEY') return 'this key stands twice'
  return code === 'MULTIPLE_DOCS' ? 'several documents in one file' : message
}

function findRefusedSyntax(document: Document): { range: readonly [number, number]; message: string; hint: string }[] {
  const found: { range: readonly [number, number]; message: string; hint: string }[] = []
  const report = (range: readonly number[] | null | undefined, message: string, hint: string) =>
    found.push({ range: [range?.[0] ?? 0, range?.[1] ?? 1], message, hint })
  visit(document, {
    Node(_key, node) {
      if (isAlias(node))
        return (report(node.range, 'YAML alias', 'write the value out: a reviewer must not have to look elsewhere'), undefined)
      if (node.anchor !== undefined) report(node.range, `YAML anchor "&${node.anchor}"`, 'remove it: aliases are refused')
      return undefined
    },
    Pair(_key, pair) {
      if (!isScalar(pair.key) || typeof pair.key.value !== 'string') {
        const range = pair.key !== null && typeof pair.key === 'object' && 'range' in pair.key ? (pair.key.range as number[]) : undefined
        report(range, 'a key that is not a string', 'put it in quotes')
      } else if (pair.key.value === '<<') report(pair.key.range, 'YAML merge key', 'write the members out')
      else if (POISON.has(pair.key.value))
        report(pair.key.range, `key "${pair.key.value}"`, 'it would reach into the prototype of an object')
      return undefined
    },
  })
  return found
}

function rangeOf(document: Document, at: Path, on: 'key' | 'value'): readonly [number, number] {
  let node: unknown = document.contents
  let range: readonly number[] | undefined
  for (const [depth, step] of at.entries()) {
    const last = depth === at.length - 1
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === step)
      if (pair === undefined) break
      const key = pair.key as { range?: number[] }
      if (last && on === 'key') return [key.range?.[0] ?? 0, key.range?.[1] ?? 1]
      range = key.range
      node = pair.value
    } else {
      node = (document.getIn(at.slice(0, depth + 1), true) as unknown) ?? node
    }
    const own = (node as { range?: number[] } | null)?.range
    if (own !== undefined && own[1]! > own[0]!) range = own
  }
  range ??= (document.contents as { range?: number[] } | null)?.range
  return [range?.[0] ?? 0, range?.[1] ?? 1]
}
