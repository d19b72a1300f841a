import type { VNode } from 'preact'
import { errorName } from '../../http/openapi/error-schemas.ts'
import type { OpenApiDocument } from '../../http/openapi/types.ts'
import { errors, type ErrorCode } from '../../model/errors.ts'
import { html } from '../html.ts'
import { jsonBlock } from './code-view.ts'
import { heading } from './frame.ts'
import { inline } from '../markdown.ts'
import { membersOf } from './operations.ts'
import { responseMembers } from './schema-view.ts'

/** The page of all errors: what each one means, its members, and a recorded response. */
export function errorsPage(document: OpenApiDocument): VNode {
  const examples = examplesOf(document)
  return html`
    <h1>Errors</h1>
    <p class="lead">
      Every failure is <code>${'{"error": {"code", "message", "request_id"}}'}</code>. A program decides by the code: messages may change.
    </p>
    ${(Object.keys(errors) as ErrorCode[]).map((code) => {
      const schema = document.components.schemas[errorName(code)]
      const further = schema === undefined ? [] : membersOf(document, schema).filter(({ path }) => !SHARED.has(path))
      return html`<section class="failure">
        ${heading(code, code)}
        <p><span class="status">${errors[code].status}</span> ${inline(errors[code].message)}</p>
        ${further.length > 0 && responseMembers(further)}
        ${examples.has(code) && jsonBlock(`example-${code}`, 'Example', examples.get(code))}
      </section>`
    })}
  `
}

/** What every error has. */
const SHARED = new Set(['code', 'message', 'request_id'])

/** The recorded responses with errors, by code. */
function examplesOf({ components: { responses } }: OpenApiDocument): Map<string, unknown> {
  const recorded = Object.values(responses).flatMap(({ content }) => Object.entries(content?.['application/json']?.examples ?? {}))
  return new Map(recorded.map(([code, { value }]) => [code, value]))
}
