import type { z } from 'zod'
import { OWN_ID } from '../model/fields.ts'
import { isUserMember, membersOf } from './body-members.ts'

// `me` becomes the id of the caller before a request is validated. Whatever follows is as if the id had been written: facts, errors,
// records, and what an Idempotency-Key is compared with (api: Contract 3, number 1).

/** The parameter of a path that is the id of a user. */
const USER = 'user_id'

/** The parameters of a path. */
export function withOwnParameter(params: Readonly<Record<string, string>>, userId: string): Readonly<Record<string, string>> {
  return params[USER] === OWN_ID ? { ...params, [USER]: userId } : params
}

/** The path of a request. @param template that of its operation */
export function withOwnPath(template: string, path: string, userId: string): string {
  if (!template.includes(`{${USER}}`)) return path
  const names = template.split('/')
  const parts = path.split('/').map((part, i) => (names[i] === `{${USER}}` && part === OWN_ID ? userId : part))
  return parts.join('/')
}

/** The members of a query or a body that is not validated yet. @param schema undefined: nothing is accepted */
export function withOwnMembers(schema: z.ZodType | undefined, value: unknown, userId: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = userMembersOf(schema).filter((name) => Object.hasOwn(value, name))
  if (given.length === 0) return value
  return { ...value, ...Object.fromEntries(given.map((name) => [name, withOwnId((value as Record<string, unknown>)[name], userId)])) }
}

const userMembers = new WeakMap<z.ZodType, readonly string[]>()

/** The members that are ids of users. The documentation of a schema says so, which is slow to read. */
function userMembersOf(schema: z.ZodType | undefined): readonly string[] {
  if (schema === undefined) return []
  let names = userMembers.get(schema)
  if (names === undefined) {
    const members = Object.entries(membersOf(schema)).filter(([, member]) => isUserMember(member))
    userMembers.set(schema, (names = members.map(([name]) => name)))
  }
  return names
}

/** An id, or a list of ids. */
export function withOwnId(value: unknown, userId: string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => (item === OWN_ID ? userId : item))
  return value === OWN_ID ? userId : value
}
