import type { VNode } from 'preact'
import {
  resolve,
  type JsonSchema,
  type MediaTypeObject,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type ResponseObject,
} from '../../http/openapi/types.ts'
import { html } from '../html.ts'
import { inline, markdown } from './markdown.ts'
import { constraints, schemaView, typeOf } from './schema-view.ts'

/** An operation with its place in the document. */
export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly operation: OperationObject
}

/** The operations of a document in its order. */
export function operationsOf({ paths }: OpenApiDocument): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** The scope that an operation requires. */
export function scopeOf({ security }: OperationObject): string {
  return security.flatMap(Object.values).flat().join(' ')
}

/** The page of an operation: what it accepts, what it answers, and a form to try it. */
export function operationPage(document: OpenApiDocument, { method, path, operation }: PlacedOperation): VNode {
  const parameters = operation.parameters.map((parameter) => resolve<ParameterObject>(document, parameter))
  const body = operation.requestBody
  return html`
    <p><a href="/docs">All operations</a></p>
    <h1>${operation.operationId}</h1>
    <p class="request"><code>${method} /v1${path}</code></p>
    ${markdown(operation.description)}
    ${
      parameters.length > 0 &&
      html`<section aria-labelledby="parameters">
        <h2 id="parameters">Parameters</h2>
        <dl class="members">${parameters.map(parameterRow)}</dl>
      </section>`
    }
    ${
      body !== undefined &&
      html`<section aria-labelledby="body">
        <h2 id="body">Body</h2>
        ${markdown(body.description)} ${Object.entries(body.content).map(([type, media]) => mediaView(document, type, media))}
      </section>`
    }
    ${tryForm(method, path, parameters, body?.content['application/json'])}
    <section aria-labelledby="responses">
      <h2 id="responses">Responses</h2>
      ${Object.entries(operation.responses).map(([status, response]) => responseView(document, status, resolve(document, response)))}
    </section>
  ` as VNode
}

function parameterRow({ name, in: place, required, description, schema }: ParameterObject): VNode {
  return html`<dt><code>${name}</code> <span class="hint">${place}, ${typeOf(schema)}${required === true ? '' : ', optional'}</span></dt>
    <dd>${inline(description)} ${constraints(schema)}</dd>` as VNode
}

function responseView(document: OpenApiDocument, status: string, { description, headers = {}, content = {} }: ResponseObject): VNode {
  const names = Object.keys(headers)
  return html`<details open=${Number(status) < 300}>
    <summary>
      <h3>${status}</h3>
      <span class="hint">${inline(description.split(/[:\n]/)[0]!)}</span>
    </summary>
    ${markdown(description, 3)}
    ${names.length > 0 && html`<p class="hint">Headers: ${names.map((name, i) => [i > 0 && ', ', html`<code>${name}</code>`])}</p>`}
    ${Object.entries(content).map(([type, media]) => mediaView(document, type, media))}
  </details>` as VNode
}

function mediaView(document: OpenApiDocument, type: string, { schema, example, examples = {} }: MediaTypeObject): VNode {
  const values = example === undefined ? Object.entries(examples) : [['Example', { value: example }] as const]
  return html`<div>
    <p class="hint"><code>${type}</code></p>
    ${schema !== undefined && schemaView(document, schema as JsonSchema)}
    ${values.map(
      ([name, { value }]) =>
        html`<figure>
          <figcaption class="hint">${name}</figcaption>
          <pre tabindex="0"><code>${JSON.stringify(value, null, 2)}</code></pre>
        </figure>`,
    )}
  </div>` as VNode
}

/** Without JavaScript it stays hidden: a form cannot send a bearer token. */
function tryForm(method: string, path: string, parameters: readonly ParameterObject[], json: MediaTypeObject | undefined): VNode {
  const inputs = parameters.filter((parameter) => parameter.in !== 'header')
  return html`<section aria-labelledby="try" hidden data-try>
    <h2 id="try">Try it</h2>
    <form data-method=${method} data-path="/v1${path}" autocomplete="off">
      <div class="field">
        <label for="token">Access token</label>
        <p class="hint" id="token-hint">It stays in this page, is not stored, and is sent only to this service.</p>
        <input id="token" type="password" required aria-describedby="token-hint" spellcheck="false" />
      </div>
      ${inputs.map(
        ({ name, in: place, required, example }) =>
          html`<div class="field">
            <label for="try-${name}">${name}</label>
            <input id="try-${name}" data-in=${place} data-name=${name} required=${required === true} placeholder=${example} />
          </div>`,
      )}
      ${
        json !== undefined &&
        html`<div class="field">
          <label for="try-body">Body (JSON)</label>
          <textarea id="try-body" rows="8" spellcheck="false">${JSON.stringify(json.example ?? {}, null, 2)}</textarea>
        </div>`
      }
      <p><button class="primary">Send</button></p>
    </form>
    <div role="status" aria-live="polite"><pre tabindex="0" hidden data-response aria-label="Response"></pre></div>
  </section>` as VNode
}
