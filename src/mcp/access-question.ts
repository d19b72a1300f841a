import { userIdPattern, OWN_ID } from '../model/fields.ts'
import { idPattern, idPrefixes, type IdKind } from '../model/ids.ts'
import type { Refuse } from '../model/validation.ts'
import { isIdSchema, isObject, readValue } from './argument-values.ts'
import { schemaOf } from './callable.ts'
import type { ToolList } from './tool-list.ts'

// The API answers a malformed id like an absent one, so a question about it gets the answer no. To a model, that means that it may not do
// what it asked about. So the ids of a question are read like the ids of the operation that it is about.

type Members = Readonly<Record<string, unknown>>

/** Whether an argument of an operation says what a question is about. */
export function isAskedAbout(operationId: string, name: string): boolean {
  return operationId.startsWith('access.') && (name === 'resource' || name === 'subject')
}

/**
 * Reads the ids of a resource or a subject.
 * @param name the argument
 * @param value as its schema reads it
 * @param action the operation that the question is about; undefined: any
 */
export function readAskedAbout(list: ToolList, name: string, value: unknown, action: unknown, refuse: Refuse): unknown {
  if (!isObject(value)) return value
  const { type, id, properties } = value
  const pattern = patternOf(type)
  return {
    ...value,
    ...(pattern === undefined || id === undefined
      ? {}
      : { id: readValue({ type: 'string', pattern }, id, { path: `${name}.id`, refuse }) }),
    ...(!isObject(properties) || name === 'subject' ? {} : { properties: readProperties(list, properties, type, action, refuse) }),
  }
}

function readProperties(list: ToolList, properties: Members, type: unknown, action: unknown, refuse: Refuse): Members {
  const read = Object.entries(properties).map(([name, value]) => {
    const schema = schemaOfId(list, name, type, action)
    const path = `resource.properties.${name}`
    return [name, schema === undefined || value === null ? value : readValue(schema, value, { path, refuse })] as const
  })
  return Object.fromEntries(read)
}

/** The schema of a member that is an id: of the operation, or of any on such a resource. */
function schemaOfId(list: ToolList, name: string, type: unknown, action: unknown) {
  const asked = list.callableOf(action)
  const onResource = () =>
    list.all.flatMap(({ callables }) => callables).filter((one) => Object.hasOwn(one.arguments.path, `${String(type)}_id`))
  const schemas = (asked === undefined ? onResource() : [asked]).map((one) => schemaOf(one, name))
  return schemas.find((schema) => schema !== undefined && isIdSchema(schema))
}

/** The shape of the id of a resource of a type; undefined if no id has this type. */
function patternOf(type: unknown): string | undefined {
  if (type === 'user') return userIdPattern
  if (typeof type !== 'string' || !Object.hasOwn(idPrefixes, type)) return undefined
  const pattern = idPattern(type as IdKind)
  return type === 'workspace' || type === 'token' ? `^(?:${OWN_ID}|${pattern.slice(1, -1)})$` : pattern
}
