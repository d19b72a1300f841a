import type { VNode } from 'preact'
import type { JsonSchema, OpenApiDocument, OperationObject } from '../../http/openapi/types.ts'
import { html } from '../html.ts'
import { findOperations, type SearchEntry } from './find-operations.ts'
import { errorsOf, membersOf, operationItem, operationsOf, parametersOf } from './operations.ts'

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

/** The page of search results, for a browser without JavaScript and for links. */
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
  `
}

function countText(count: number): string {
  return count === 0 ? 'No operation' : count === 1 ? '1 operation' : `${count} operations`
}
