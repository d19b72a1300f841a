import type { VNode } from 'preact'
import type { JsonSchema, ParameterObject } from '../../http/openapi/types.ts'
import { html } from '../html.ts'
import { inline } from '../markdown.ts'
import type { Member } from './operations.ts'

/** Renders the members of a body, nested ones included. */
export function requestMembers(members: readonly Member[]): VNode {
  return definitions(members, (isRequired) => isRequired && required())
}

/** Renders the members of a response, nested ones included. */
export function responseMembers(members: readonly Member[]): VNode {
  return definitions(members, (isRequired) => !isRequired && html`<span class="hint">may be absent</span>`)
}

/** Renders the parameters of a path, of a query or of the head. */
export function parameterList(parameters: readonly ParameterObject[]): VNode {
  const members = parameters.map(({ name, description, schema, required = false }) => ({
    path: name,
    schema: { ...schema, description },
    isRequired: required,
  }))
  return requestMembers(members)
}

function required(): VNode {
  return html`<span class="required">required</span>`
}

function definitions(members: readonly Member[], presence: (isRequired: boolean) => unknown): VNode {
  return html`<dl class="members">
    ${members.map(
      ({ path, schema, isRequired }) =>
        html`<dt>${memberName(path)} <span class="hint">${typeOf(schema)}</span> ${presence(isRequired)}</dt>
          <dd>${inline(String(schema['description'] ?? ''))} ${constraints(schema)}</dd>`,
    )}
  </dl>`
}

/** What is around a member is less prominent than its name. */
function memberName(path: string): VNode {
  const at = path.lastIndexOf('.') + 1
  return html`<code>${at > 0 && html`<span>${path.slice(0, at)}</span>`}<b>${path.slice(at)}</b></code>`
}

/** The patterns of ids; where `me` stands for an id, it is named in the description. */
const ID = /^\^(?:\(\?:me\|)?([a-z]{3}|\[a-z\]\{3\})_/
/** The beginnings of the patterns of texts, in words. */
const TEXTS: Readonly<Record<string, string>> = {
  [String.raw`^[^\u0000-\u001F`]: 'no control characters',
  [String.raw`^[^\u0000-\u0008`]: 'no control characters except tabs and line breaks',
}

/** The type of a value, for people. */
function typeOf(schema: JsonSchema): string {
  if (schema['$ref'] !== undefined) return String(schema['$ref']).split('/').at(-1)!
  if (schema['oneOf'] !== undefined || schema['allOf'] !== undefined) return 'object'
  if (schema['anyOf'] !== undefined) return (schema['anyOf'] as readonly JsonSchema[]).map(typeOf).join(' or ')
  const { format, items, contentMediaType } = schema
  const types = [schema['type'] ?? 'any'].flat().map(String)
  const [, prefix] = ID.exec(String(schema['pattern'] ?? '')) ?? []
  if (prefix !== undefined) types[0] = prefix.startsWith('[') ? 'id' : `id (${prefix}_…)`
  if (contentMediaType !== undefined) return 'bytes'
  if (items !== undefined) types[0] = `array of ${typeOf(items as JsonSchema)}`
  return types.join(' or ') + (format === undefined || String(format).startsWith('int') ? '' : ` (${String(format)})`)
}

/** What limits a value, for people; an empty list if nothing does. */
function constraints(schema: JsonSchema): VNode | false {
  const { const: fixed, enum: values, minLength, maxLength, minimum, maximum, maxItems, pattern } = schema
  const isId = ID.test(String(pattern ?? ''))
  const items = (schema['items'] as JsonSchema | undefined)?.['enum'] as readonly unknown[] | undefined
  const list = (all: readonly unknown[]) => all.map((value, i) => [i > 0 && ', ', html`<code>${JSON.stringify(value)}</code>`])
  const texts: unknown[] = [
    fixed === undefined ? '' : `always ${JSON.stringify(fixed)}`,
    Array.isArray(values) ? ['one of ', list(values)] : '',
    items === undefined ? '' : ['each one of ', list(items)],
    isId ? '' : lengths(minLength, maxLength),
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : `${String(minimum ?? 0)} to ${String(maximum)}`,
    maxItems === undefined ? '' : `${String(maxItems)} items at most`,
    pattern === undefined || isId ? '' : patternText(String(pattern)),
    schema['default'] === undefined ? '' : ['default ', html`<code>${JSON.stringify(schema['default'])}</code>`],
  ].filter((text) => text !== '')
  return texts.length > 0 && html`<span class="hint limits">${texts.map((text, i) => [i > 0 && '; ', text])}</span>`
}

function patternText(pattern: string): unknown {
  const text = Object.entries(TEXTS).find(([beginning]) => pattern.startsWith(beginning))
  return text?.[1] ?? ['pattern ', html`<code>${pattern}</code>`]
}

function lengths(minimum: unknown, maximum: unknown): string {
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return ''
  if (minimum === maximum) return `${String(maximum)} characters`
  return minimum === undefined ? `${String(maximum)} characters at most` : `${String(minimum)} to ${String(maximum)} characters`
}
