import type { VNode } from 'preact'
import type { ParameterObject } from '../../http/openapi/types.ts'
import { html } from '../html.ts'
import { heading } from './frame.ts'
import type { PlacedOperation } from './operations.ts'

/** A form that sends a request. Without JavaScript it stays hidden: a form cannot send a bearer token. No input of it has a name. */
export function tryForm({ method, path, operation }: PlacedOperation, parameters: readonly ParameterObject[]): VNode {
  const inputs = parameters.filter((parameter) => parameter.in !== 'header')
  const json = operation.requestBody?.content['application/json']
  return html`<section hidden data-try>
    ${heading('Try it')}
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
  </section>`
}
