import type { VNode } from 'preact'
import type { JsonSchema, OpenApiDocument, OperationObject } from '../../http/openapi/types.ts'
import { html } from '../html.ts'
import { errorsOf, membersOf, operationItem, operationsOf, parametersOf } from './operations.ts'

/** An operation, as a search finds it. */
export interface SearchEntry {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  /** of its parameters and the members of its body, and the codes of its errors */
  readonly names: readonly string[]
}

/** An operation that a search has found. */
export interface SearchHit {
  readonly entry: SearchEntry
  /** the names for which it was found, if its id, request and summary are not why */
  readonly names: readonly string[]
}

/** A longer query finds nothing. In characters. */
export const LONGEST_QUERY = 100

/** What a search looks through. */
export function searchIndex(document: OpenApiDocument): readonly SearchEntry[] {
  return operationsOf(document).map(({ method, path, operation }) => ({
    id: operation.operationId,
    method,
    path,
    summary: operation.summary,
    names: namesOf(document, operation),
  }))
}

function namesOf(document: OpenApiDocument, operation: OperationObject): string[] {
  const bodies = Object.values(operation.requestBody?.content ?? {})
  const members = bodies.flatMap(({ schema }) => membersOf(document, schema as JsonSchema).map(({ path }) => path))
  const parameters = parametersOf(document, operation).map(({ name }) => name)
  return [...new Set([...parameters, ...members, ...errorsOf(document, operation).map(({ code }) => code)])]
}

/**
 * Finds the operations that have every word of a query: first those with all of them in the id, then those with all of them in the
 * id, the request or the summary. The script of the pages contains this function, so it uses nothing outside of it.
 */
export function findOperations(entries: readonly SearchEntry[], query: string): SearchHit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const ranked: SearchHit[][] = [[], [], []]
  if (words.length === 0) return []
  for (const entry of entries) {
    const head = [entry.id, entry.method, entry.path, entry.summary].join(' ').toLowerCase()
    const further = words.filter((word) => !head.includes(word))
    const names = entry.names.filter((name) => further.some((word) => name.toLowerCase().includes(word)))
    if (!further.every((word) => names.some((name) => name.toLowerCase().includes(word)))) continue
    const rank = words.every((word) => entry.id.includes(word)) ? 0 : further.length === 0 ? 1 : 2
    ranked[rank]!.push({ entry, names })
  }
  return ranked.flat()
}

/** The page of what a search has found, for a browser without JavaScript and for links. */
export function searchPage(document: OpenApiDocument, query: string): VNode {
  const isLong = query.length > LONGEST_QUERY
  const hits = isLong ? [] : findOperations(searchIndex(document), query)
  const operations = new Map(operationsOf(document).map((placed) => [placed.operation.operationId, placed]))
  return html`
    <h1>Search</h1>
    <p role="status">
      ${isLong ? `A query has at most ${LONGEST_QUERY} characters.` : html`${countText(hits.length)} for <strong>${query}</strong>`}
    </p>
    ${hits.length === 0 && html`<p>A query finds ids, paths, summaries, parameters, members of bodies and codes of errors, by all of its words.</p>`}
    <ul class="operations">
      ${hits.map(({ entry, names }) => operationItem(operations.get(entry.id)!, names))}
    </ul>
  ` as VNode
}

function countText(count: number): string {
  return count === 0 ? 'No operation' : count === 1 ? '1 operation' : `${count} operations`
}
