import { z } from 'zod'
import { kindOfParameter, idPattern, idPrefixes, type IdKind } from '../../model/ids.ts'
import { namesInPath, type Operation } from '../../resources/operation.ts'

// The fields of the form of an operation: the parameters of its path and the members of its body, from their schemas.

/** A field of a form. */
export interface Field {
  readonly name: string
  readonly label: string
  /** `set`: several of its words */
  readonly kind: 'line' | 'secret' | 'prose' | 'choice' | 'set' | 'time' | 'number' | 'color' | 'url' | 'lines' | 'ids'
  /** whose id it is */
  readonly of?: IdKind | undefined
  readonly hint: string
  readonly isRequired: boolean
  /** whether an empty field is null */
  readonly isNullable: boolean
  readonly maxLength?: number | undefined
  readonly words?: readonly string[] | undefined
  /** the number that an operation uses by default */
  readonly standard?: number | undefined
}

/** The parts of a JSON Schema that a field depends on. */
interface Shape {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Shape[]
  readonly items?: Shape
  readonly pattern?: string
  readonly format?: string
  readonly maxLength?: number
  readonly writeOnly?: boolean
  readonly description?: string
  readonly default?: unknown
}

/** A text of more characters than this is written on several lines. */
const LINE = 500
const LABELS: Readonly<Record<string, string>> = {
  user_id: 'Member',
  due_at: 'Due',
  wip_limit: 'Limit of cards',
  max_attempts: 'Attempts before a card is stuck',
  completes: 'Completes its cards',
  external_ref: 'ID in another system',
  to: 'Place',
  before: 'Before',
  after: 'After',
  url: 'URL',
  authorization: 'Authorization header',
}
/** What is said of a member in place of its description. */
const HINTS: Readonly<Record<string, string>> = {
  visibility: 'With “Private”, only the creator of the board and its members have access',
  kinds: 'Without a choice, all changes are sent.',
  authorization: 'Sent with each delivery, such as a bearer token. It is never shown. Empty: it stays as it is.',
}
const kindsByPattern = new Map((Object.keys(idPrefixes) as IdKind[]).map((kind) => [idPattern(kind), kind]))
const known = new WeakMap<Operation, readonly Field[]>()

/** What is a list in the body, and has an item on each line of the form. */
const LISTS: ReadonlySet<Field['kind']> = new Set(['ids', 'lines', 'set'])

/** `label_ids` → `Labels` */
function labelOf(name: string): string {
  return LABELS[name] ?? wordsOf(name.replace(/_id(s?)$/, '$1'))
}

/** `board_member` → `Board member` */
export function wordsOf(name: string): string {
  return name[0]!.toUpperCase() + name.slice(1).replaceAll('_', ' ')
}

/** The fields of an operation: the parameters of its path after the first one, then the members of its body. */
export function fieldsOf(operation: Operation): readonly Field[] {
  const fields = known.get(operation) ?? [...parameterFields(operation), ...memberFields(operation)]
  known.set(operation, fields)
  return fields
}

function parameterFields({ path }: Operation): Field[] {
  return namesInPath(path)
    .slice(1)
    .map((name) => ({
      name,
      label: labelOf(name),
      kind: 'choice',
      of: kindOfParameter(name),
      hint: '',
      isRequired: true,
      isNullable: false,
    }))
}

function memberFields({ body }: Operation): Field[] {
  if (body === undefined) return []
  const { properties = {}, required = [] } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as {
    readonly properties?: Readonly<Record<string, Shape>>
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, shape]) => {
    const inner = shape.anyOf?.find(({ type }) => type !== 'null') ?? shape
    const own = inner.anyOf?.find(({ pattern }) => pattern !== undefined) ?? inner
    return {
      name,
      label: labelOf(name),
      ...typeOf(own, name),
      hint: HINTS[name] ?? shape.description ?? own.description ?? '',
      isRequired: required.includes(name),
      isNullable: shape.anyOf?.some(({ type }) => type === 'null') === true,
      standard: typeof shape.default === 'number' ? shape.default : undefined,
    }
  })
}

function typeOf(
  { type, enum: words, pattern = '', format, items, maxLength, writeOnly }: Shape,
  name: string,
): Pick<Field, 'kind' | 'of' | 'words' | 'maxLength'> {
  if (writeOnly === true) return { kind: 'secret', maxLength }
  if (type === 'array') {
    if (items?.enum !== undefined) return { kind: 'set', words: items.enum.map(String) }
    const of = kindsByPattern.get(items?.pattern ?? '') ?? (name === 'assignee_ids' ? 'user' : undefined)
    return of === undefined ? { kind: 'lines' } : { kind: 'ids', of }
  }
  if (type === 'boolean') return { kind: 'choice', words: ['true', 'false'] }
  if (words !== undefined) return { kind: 'choice', words: words.map(String) }
  if (type === 'integer') return { kind: 'number' }
  const of = kindsByPattern.get(pattern)
  if (of !== undefined) return { kind: 'choice', of }
  if (format === 'uri') return { kind: 'url', maxLength }
  if (format === 'date-time' || name.endsWith('_at')) return { kind: 'time' }
  if (name === 'color' || name === 'cover_color') return { kind: 'color' }
  return { kind: maxLength === undefined || maxLength > LINE ? 'prose' : 'line', maxLength }
}

/** Whether the fields of an operation are members of the resource that it changes. A PUT names its member in its path. */
export function isUpdate(operation: Operation): boolean {
  const { method, path } = operation
  return method === 'PATCH' || (method === 'PUT' && fieldsOf(operation).some(({ name }) => path.endsWith(`/${name}`)))
}

/** What a form says about an operation. */
export interface Submitted {
  readonly params: Readonly<Record<string, string>>
  /** undefined: the operation has no body */
  readonly body: Readonly<Record<string, unknown>> | undefined
}

/**
 * Reads a form. A field that it does not have is left out, and one that is as it was (`was.` before its name) too, unless the operation
 * requires it; an empty one is null where that is allowed, and otherwise left out unless it was not empty.
 */
export function readFields(operation: Operation, form: URLSearchParams): Submitted {
  const params = Object.fromEntries(namesInPath(operation.path).map((name) => [name, form.get(name) ?? '']))
  if (operation.body === undefined) return { params, body: undefined }
  const members = fieldsOf(operation)
    .filter(({ name }) => !Object.hasOwn(params, name) && form.has(name))
    .flatMap((field): [string, unknown][] => {
      const { name, kind, isNullable, isRequired } = field
      const text = textOf(form.getAll(name).join('\n'), kind)
      const was = form.get(`was.${name}`)
      if (was !== null && !isRequired && isSame(textOf(was, kind), text, kind)) return []
      if (text !== '') return [[name, valueOf(field, text)]]
      if (isNullable && (was !== null || isRequired)) return [[name, null]]
      return was === null && !isRequired ? [] : [[name, LISTS.has(kind) ? [] : '']]
    })
  return { params, body: Object.fromEntries(members) }
}

/** The text of a field in one form: browsers send line breaks as CR LF, and times without a zone, which are in UTC. */
function textOf(given: string, kind: Field['kind']): string {
  const text = given.replaceAll('\r\n', '\n')
  if (kind === 'color') return text.trim().toLowerCase()
  if (kind !== 'time' || text === '') return kind === 'prose' ? text : text.trim()
  const at = new Date(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`)
  return Number.isNaN(at.getTime()) ? text : at.toISOString()
}

/** Forms have times to the minute: seconds that nobody has entered are no change. */
function isSame(was: string, text: string, kind: Field['kind']): boolean {
  return was === text || (kind === 'time' && text !== '' && was.slice(0, 16) === text.slice(0, 16))
}

/** A field as it was when its form was made, as the person has sent it, and as its object has it now. */
export function versionsOf(
  { name, kind }: Field,
  form: URLSearchParams,
  current: Readonly<Record<string, unknown>>,
): { readonly base: string | undefined; readonly mine: string; readonly theirs: string } {
  const was = form.get(`was.${name}`)
  const mine = textOf(form.getAll(name).join('\n'), kind)
  const base = was === null ? undefined : textOf(was, kind)
  const theirs = textOf(shownValue(current[name]), kind)
  return { base, mine: base !== undefined && isSame(base, mine, kind) ? base : mine, theirs }
}

/** Whether the fields that a form changes are still what they were when the form was made. */
export function isAsBefore(form: URLSearchParams, changed: readonly string[], current: Readonly<Record<string, unknown>>): boolean {
  const text = (value: string) => value.replaceAll('\r\n', '\n')
  return changed.every((name) => form.has(`was.${name}`) && text(form.get(`was.${name}`)!) === shownValue(current[name]))
}

function valueOf({ kind, words }: Field, text: string): unknown {
  if (kind === 'number') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (LISTS.has(kind))
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  if (words?.[0] === 'true') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

/** The value of a record as its field shows it. */
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.join('\n') : String(value)
}
