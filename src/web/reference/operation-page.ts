import type { VNode } from 'preact'
import { CONFLICT_MESSAGES } from '../../http/openapi/operations.ts'
import { SHARED } from '../../http/openapi/headers.ts'
import {
  resolve,
  type HeaderObject,
  type JsonSchema,
  type MediaTypeObject,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
} from '../../http/openapi/types.ts'
import { html } from '../html.ts'
import { clientText, curlText, requestExample } from './request-examples.ts'
import { codeBlock, jsonBlock } from './code-view.ts'
import { heading } from './frame.ts'
import { inline, markdown } from '../markdown.ts'
import {
  errorsOf,
  groupTitle,
  membersOf,
  methodBadge,
  parametersOf,
  responsesOf,
  scopeOf,
  type PlacedOperation,
  type PlacedResponse,
} from './operations.ts'
import { parameterList, requestMembers, responseMembers } from './schema-view.ts'
import { tryForm } from './try-form.ts'

/** What the page of an operation is made for. */
export interface PageOptions {
  /** where clients reach the service */
  readonly url: string
  /** whether the rows can be linked to: the report of the policy is served */
  readonly hasPolicyPage: boolean
}

/** The page of an operation: what it accepts and answers, examples for curl and the client, and a form to try it. */
export function operationPage(document: OpenApiDocument, placed: PlacedOperation, { url, hasPolicyPage }: PageOptions): VNode {
  const { method, path, operation } = placed
  const parameters = parametersOf(document, operation)
  const [success] = responsesOf(document, operation)
  const [tag = ''] = operation.tags
  return html`
    <article class="operation">
      <div class="intro">
        <p class="hint"><a href="/docs#${tag}">${groupTitle(tag)}</a></p>
        <h1>${operation.operationId}</h1>
        <p class="request">${methodBadge(method)} <code>/v1${path}</code></p>
        ${markdown(textOf(operation))} ${access(document, operation, hasPolicyPage)}
      </div>
      <div class="examples">${examples(document, placed, success, url)}</div>
      <div class="details">
        ${parameterSections.map(([place, title]) =>
          parameterSection(
            title,
            parameters.filter((one) => one.in === place),
          ),
        )}
        ${bodySection(document, operation)} ${successSection(document, success)} ${errorSection(document, operation)}
        ${tryForm(placed, parameters)}
      </div>
    </article>
  `
}

/** Returns a description without its paragraphs about rows and conflicts, which have their own places on the page. */
function textOf({ description, 'x-rows': { permission, also = {} } }: OperationObject): string {
  const rows = [permission, ...Object.values(also)]
  const isElsewhere = (block: string) => block.startsWith(CONFLICT_MESSAGES) || rows.some((row) => block.includes(` Row ${row}: `))
  return paragraphsOf(description)
    .filter((block) => !isElsewhere(block))
    .join('\n\n')
}

function paragraphsOf(text: string): string[] {
  return text.split('\n\n')
}

/** The scope and the rows that decide, in their words. */
function access(document: OpenApiDocument, operation: OperationObject, hasPolicyPage: boolean): VNode {
  const { scope, permission, also = {} } = operation['x-rows']
  const row = (id: string) => {
    const words = document['x-rows'][id]!.replace('(extension) ', '')
    return html`${hasPolicyPage ? html`<a href="/policies#row-${id}">Row ${id}</a>` : `Row ${id}`}: ${words}`
  }
  return html`<dl class="access">
    <dt>Scope</dt>
    <dd><code>${scopeOf(operation)}</code> <span class="hint">${row(scope)}</span></dd>
    <dt>Permission</dt>
    <dd><span class="hint">${row(permission)}</span></dd>
    ${[...new Set(Object.values(also))].map((id) => {
      const members = Object.keys(also).filter((member) => also[member] === id)
      return html`<dt>Each item</dt>
        <dd>of ${members.map((member, i) => [i > 0 && ', ', html`<code>${member}</code>`])} <span class="hint">${row(id)}</span></dd>`
    })}
  </dl>`
}

function examples(document: OpenApiDocument, placed: PlacedOperation, success: PlacedResponse | undefined, url: string): VNode {
  const example = requestExample(document, placed)
  const [[type, media] = []] = Object.entries(success?.content ?? {})
  return html`<h2 class="unseen" id="examples">Examples</h2>
    ${codeBlock('example-curl', 'curl', curlText(example, `${url}/v1`))}
    ${codeBlock('example-client', 'TypeScript client', clientText(example))}
    ${media?.example !== undefined && jsonBlock('example-response', `Response: ${success!.status}, ${type!}`, media.example)}
    <p class="hint">Where <code>$TOKEN</code> and <code>lk</code> come from: <a href="/docs#first-request">First request</a></p>`
}

const parameterSections = [
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
  ['header', 'Request headers'],
] as const satisfies readonly (readonly [ParameterObject['in'], string])[]

function parameterSection(title: string, parameters: readonly ParameterObject[]): VNode | false {
  return parameters.length > 0 && html`<section>${heading(title)} ${parameterList(parameters)}</section>`
}

function bodySection(document: OpenApiDocument, { requestBody }: OperationObject): VNode | false {
  if (requestBody === undefined) return false
  return html`<section>
    ${heading('Body')} ${markdown(requestBody.description)}
    ${Object.entries(requestBody.content).map(
      ([type, { schema }]) =>
        html`<h3><code>${type}</code></h3>
          ${requestMembers(membersOf(document, schema as JsonSchema))}`,
    )}
  </section>`
}

function successSection(document: OpenApiDocument, success: PlacedResponse | undefined): VNode | false {
  if (success === undefined) return false
  const { status, description, headers = {}, content = {} } = success
  const shared = new Set<string>(SHARED)
  const own = Object.entries(headers).filter(([name]) => !shared.has(name))
  return html`<section>
    ${heading('Response')}
    <p><span class="status">${status}</span> ${inline(description)}</p>
    ${Object.entries(content).map(([type, media]) => contentView(document, type, media))}
    ${
      own.length > 0 &&
      html`<h3>Headers</h3>
        <dl class="members">
          ${own.map(
            ([name, header]) =>
              html`<dt>
                  <code><b>${name}</b></code>
                </dt>
                <dd>${inline(resolve<HeaderObject>(document, header).description)}</dd>`,
          )}
        </dl>`
    }
    <p class="hint"><a href="/docs#headers-of-every-response">Headers of every response</a></p>
  </section>`
}

function contentView(document: OpenApiDocument, type: string, { schema = {} }: MediaTypeObject): VNode {
  const members = membersOf(document, schema)
  return html`<h3><code>${type}</code></h3>
    ${members.length > 0 && responseMembers(members)}`
}

/** Also what is no success and no error: that the copy of the client is current. */
function errorSection(document: OpenApiDocument, operation: OperationObject): VNode {
  const others = responsesOf(document, operation).filter(({ status }) => status > 201 && status < 400)
  const conflicts = paragraphsOf(operation.description).find((block) => block.startsWith(CONFLICT_MESSAGES))
  return html`<section>
    ${heading('Errors and other answers', 'errors')}
    <table class="answers">
      <thead class="unseen">
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Code and meaning</th>
        </tr>
      </thead>
      <tbody>
        ${others.map(({ status, description }) => answerRow(status, inline(description)))}
        ${errorsOf(document, operation).map(({ status, code, meaning }) =>
          answerRow(status, html`<a href="/docs/errors#${code}">${code}</a><br />${inline(meaning)}`),
        )}
      </tbody>
    </table>
    ${conflicts !== undefined && markdown(conflicts)}
  </section>`
}

function answerRow(status: number, content: unknown): VNode {
  return html`<tr>
    <td class="status">${status}</td>
    <td>${content}</td>
  </tr>`
}
