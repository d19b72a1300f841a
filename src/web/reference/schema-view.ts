import type { VNode } from 'preact'
import { resolve, type JsonSchema, type OpenApiDocument } from '../../http/openapi/types.ts'
import { html } from '../html.ts'
import { inline } from './markdown.ts'

/** Renders the members of a schema, nested ones included. */
export function schemaView(document: OpenApiDocument, schema: JsonSchema): VNode {
  return html`<dl class="members">${rows(document, schema, '')}</dl>` as VNode
}

function rows(document: OpenApiDocument, schema: JsonSchema, prefix: string): VNode[] {
  const whole = resolve<JsonSchema>(document, schema)
  const alternatives = (whole['oneOf'] ?? []) as readonly JsonSchema[]
  if (alternatives.length > 0) return alternatives.flatMap((one) => rows(document, one, prefix))
  const parts = (whole['allOf'] ?? []) as readonly JsonSchema[]
  if (whole['items'] !== undefined) return rows(document, whole['items'] as JsonSchema, `${prefix}[]`)
  const required = (whole['required'] ?? []) as readonly string[]
  const members = Object.entries((whole['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>)
  return [
    ...parts.flatMap((part) => rows(document, part, prefix)),
    ...members.flatMap(([name, member]) => {
      const path = prefix === '' ? name : `${prefix}.${name}`
      const resolved = resolve<JsonSchema>(document, member)
      return [row(path, resolved, required.includes(name)), ...rows(document, resolved, path)]
    }),
  ]
}

function row(path: string, schema: JsonSchema, isRequired: boolean): VNode {
  return html`<dt><code>${path}</code> <span class="hint">${typeOf(schema)}${isRequired ? '' : ', optional'}</span></dt>
    <dd>
      ${typeof schema['description'] === 'string' && html`<span>${inline(schema['description'])}</span>`} ${constraints(schema)}
    </dd>` as VNode
}

/** The type of a value, for people. */
export function typeOf(schema: JsonSchema): string {
  if (schema['$ref'] !== undefined) return String(schema['$ref']).split('/').at(-1)!
  if (schema['oneOf'] !== undefined || schema['allOf'] !== undefined) return 'object'
  const types = [schema['type'] ?? 'any'].flat().map(String)
  const format = schema['format'] === undefined || String(schema['format']).startsWith('int') ? '' : ` (${String(schema['format'])})`
  return types.join(' or ') + format
}

/** What limits a value, for people; an empty list if nothing does. */
export function constraints(schema: JsonSchema): VNode | false {
  const { const: fixed, enum: values, minLength, maxLength, minimum, maximum, maxItems, pattern } = schema
  const texts = [
    fixed === undefined ? '' : `always ${JSON.stringify(fixed)}`,
    Array.isArray(values) ? `one of ${values.map((value) => JSON.stringify(value)).join(', ')}` : '',
    lengths(minLength, maxLength),
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : `${String(minimum ?? 0)} to ${String(maximum)}`,
    maxItems === undefined ? '' : `${String(maxItems)} items at most`,
    pattern === undefined ? '' : `pattern ${String(pattern)}`,
    schema['default'] === undefined ? '' : `default ${JSON.stringify(schema['default'])}`,
  ].filter((text) => text !== '')
  return texts.length > 0 && (html`<span class="hint limits">${texts.join('; ')}</span>` as VNode)
}

function lengths(minimum: unknown, maximum: unknown): string {
  if (maximum === undefined) return ''
  if (minimum === maximum) return `${String(maximum)} characters`
  return minimum === undefined ? `${String(maximum)} characters at most` : `${String(minimum)} to ${String(maximum)} characters`
}
