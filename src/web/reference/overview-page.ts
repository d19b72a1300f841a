import type { VNode } from 'preact'
import type { OpenApiDocument } from '../../http/openapi/types.ts'
import { html } from '../html.ts'
import { inline, markdown } from './markdown.ts'
import { operationsOf, scopeOf } from './operation-page.ts'

/** The first page: what holds for all operations, and their list. */
export function overviewPage(document: OpenApiDocument, origin: string): VNode {
  const operations = operationsOf(document)
  return html`
    <h1>${document.info.title} API</h1>
    <p>${String(document.info['summary'])}</p>
    <p>Base URL: <code>${origin}/v1</code>. For programs: <a href="/openapi.json">OpenAPI 3.1</a>, <a href="/llms.txt">llms.txt</a>.</p>
    <h2>Operations</h2>
    ${document.tags.map(
      ({ name, description }) =>
        html`<section aria-labelledby="tag-${name}">
          <h3 id="tag-${name}">${name.replaceAll('_', ' ')}</h3>
          <p class="hint">${description}</p>
          <ul class="operations">
            ${operations
              .filter(({ operation }) => operation.tags.includes(name))
              .map(
                ({ method, path, operation }) =>
                  html`<li>
                    <a href="/docs/${operation.operationId}">${operation.operationId}</a>
                    <code>${method} ${path}</code>
                    <span class="hint">${inline(operation.summary)}. ${scopeOf(operation)}</span>
                  </li>`,
              )}
          </ul>
        </section>`,
    )}
    ${markdown(document.info.description)}
  ` as VNode
}
