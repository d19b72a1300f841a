import type { VNode } from 'preact'
import { SHARED } from '../../http/openapi/headers.ts'
import type { OpenApiDocument } from '../../http/openapi/types.ts'
import { html } from '../html.ts'
import { clientSetup } from './request-examples.ts'
import { codeBlock } from './code-view.ts'
import { heading } from './frame.ts'
import { inline, markdown } from '../markdown.ts'
import { groupsOf, groupTitle, operationItem } from './operations.ts'

/** The first page: what holds for all operations, and their list. */
export function overviewPage(document: OpenApiDocument, url: string): VNode {
  return html`
    <h1>${document.info.title} API</h1>
    <p class="lead">${String(document.info['summary'])}</p>
    <p>Base URL: <code>${url}/v1</code>. For programs: <a href="/openapi.json">OpenAPI 3.1</a>, <a href="/llms.txt">llms.txt</a>.</p>
    <section class="setup">
      ${heading('First request')}
      <p>
        Create a token at <a href="/settings/tokens">${url}/settings/tokens</a>, and keep it in the variable <code>TOKEN</code>. Every
        example of these pages reads it there.
      </p>
      ${codeBlock('setup-curl', 'curl', `export TOKEN=lk_pat_…\ncurl ${url}/v1/account -H "Authorization: Bearer $TOKEN"`)}
      ${codeBlock('setup-client', 'TypeScript client', `${clientSetup(url)}\n\nconst { data } = await lk.account.read()`)}
    </section>
    <section>
      ${heading('Operations')}
      ${groupsOf(document).map(
        ({ name, description, operations }) =>
          html`<section aria-labelledby=${name}>
            <h3 id=${name}>${groupTitle(name)} <a class="anchor" href="#${name}" aria-label="Link to: ${groupTitle(name)}">#</a></h3>
            <p class="hint">${description}</p>
            <ul class="operations">
              ${operations.map((placed) => operationItem(placed))}
            </ul>
          </section>`,
      )}
    </section>
    ${markdown(document.info.description, (title) => heading(title))} ${sharedHeaders(document)}
  `
}

function sharedHeaders({ components: { headers } }: OpenApiDocument): VNode {
  return html`${heading('Headers of every response')}
    <dl class="members">
      ${SHARED.map(
        (name) =>
          html`<dt><code>${name}</code></dt>
            <dd>${inline(headers[name]!.description)}</dd>`,
      )}
    </dl>`
}
