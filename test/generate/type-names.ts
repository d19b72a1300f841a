import { pascalCase } from '../../src/http/openapi/error-schemas.ts'
import type { JsonSchema } from '../../src/http/openapi/types.ts'
import { blockOf, membersOf, memberText, nameOf, objectOf, REFERENCE, type Keywords, type Member } from './type-text.ts'

type Named = readonly [name: string, schema: JsonSchema]

/**
 * Replaces repetitions by references: a schema with all members of another one extends it, and an object that several schemas have gets
 * a name, such as `EvaluationSubject`.
 */
export function withSharedTypes(named: readonly Named[]): Named[] {
  return withTimes(withNamedObjects(named.map((one) => extending(one, named))))
}

const TIMES = ['created_at', 'updated_at']

/** Puts the times that most resources have into an interface, which they extend. */
function withTimes(named: readonly Named[]): Named[] {
  const isTime = ({ name }: Member) => TIMES.includes(name)
  const extended = named.map(([name, schema]): Named => {
    const members = membersOf(schema)
    const others = objectOf(members.filter((member) => !isTime(member)))
    const hasBoth = members.filter(isTime).length === TIMES.length
    return hasBoth ? [name, { description: schema['description'], ...others, extending: 'Times' }] : [name, schema]
  })
  const first = named.map(([, schema]) => membersOf(schema).filter(isTime)).find(({ length }) => length === TIMES.length)!
  return [['Times', { description: 'The times of a resource.', ...objectOf(first) }], ...extended]
}

/** The members that a schema adds to the schemas that it refers to. */
function ownMembers(schema: JsonSchema): Member[] {
  const { allOf = [] } = schema as Keywords
  return [...membersOf(schema), ...allOf.flatMap((part) => membersOf(part))]
}

function basesOf(schema: JsonSchema): string[] {
  const { allOf = [] } = schema as Keywords
  return allOf.map(nameOf).filter((name) => name !== undefined)
}

/** The schema, as a reference to the largest other one whose members it has, and the members that it adds. */
function extending([name, schema]: Named, named: readonly Named[]): Named {
  const own = ownMembers(schema)
  const texts = new Set(own.map((member) => memberText(member)))
  const contained = named.filter(([, other]) => {
    const members = ownMembers(other)
    const sameBases = basesOf(other).join() === basesOf(schema).join()
    return sameBases && members.length > 1 && members.length < own.length && members.every((one) => texts.has(memberText(one)))
  })
  // Of two that are as large, the one whose name says that it is meant: a ListedCardWithCounts is a CardWithCounts.
  const order = ([other, one]: Named) => ownMembers(one).length + (name.endsWith(other) ? 0.5 : 0)
  const [base] = contained.toSorted((a, b) => order(b) - order(a))
  if (base === undefined) return [name, schema]
  const known = new Set(ownMembers(base[1]).map((member) => member.name))
  const added = objectOf(own.filter((member) => !known.has(member.name)))
  return [name, { description: schema['description'], allOf: [{ $ref: `${REFERENCE}${base[0]}` }, added] }]
}

/** Gives a name to each object that occurs in several places, and puts its schema behind the first of them. */
function withNamedObjects(named: readonly Named[]): Named[] {
  const uses = new Map<string, number>()
  const count: Visit = (schema) => {
    const text = textOf(schema)
    uses.set(text, (uses.get(text) ?? 0) + 1)
    return undefined
  }
  for (const [name, schema] of named) mapObjects(schema, name, count)
  const names = new Map(named.flatMap(([name, schema]) => (membersOf(schema).length > 0 ? [[textOf(schema), name] as const] : [])))
  return named.flatMap(([owner, schema]) => {
    const added: Named[] = []
    const mapped = mapObjects(schema, owner, (object, name) => {
      const text = textOf(object)
      if (!names.has(text)) {
        if (uses.get(text) === 1) return undefined
        names.set(text, name)
        added.push([name, object])
      }
      return { description: object['description'], typeName: names.get(text) }
    })
    return [[owner, mapped], ...added]
  })
}

/** What an object is replaced by; undefined: by nothing. */
type Visit = (object: JsonSchema, name: string) => JsonSchema | undefined

/** Calls `visit` with each object with members that is a member of something, and a name for it. */
function mapObjects(schema: JsonSchema, owner: string, visit: Visit): JsonSchema {
  const { properties, items, anyOf, allOf } = schema as Keywords
  const mapPart = (part: JsonSchema, name: string): JsonSchema => {
    const { type, description } = part as Keywords
    if (membersOf(part).length === 0) return mapObjects(part, name, visit)
    if (!Array.isArray(type)) return visit(part, name) ?? mapObjects(part, name, visit)
    return { description, anyOf: type.map((one: string) => mapPart(one === 'object' ? { ...part, type: one } : { type: one }, name)) }
  }
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, mapPart(part, owner + pascalCase(key))])) }),
    ...(items === undefined ? {} : { items: mapPart(items, owner) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((part) => mapPart(part, owner)) }),
    ...(allOf === undefined
      ? {}
      : {
          allOf: allOf.map((part) =>
            mapPart(
              part,
              `With${membersOf(part)
                .map(({ name }) => pascalCase(name))
                .join('')}`,
            ),
          ),
        }),
  }
}

/** Two objects are the same if their members are. */
function textOf(schema: JsonSchema): string {
  return blockOf(membersOf(schema))
}
