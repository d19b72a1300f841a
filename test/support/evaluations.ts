import type { HandWrittenOperation } from './hand-written-decisions.ts'
import type { Reply } from './service.ts'

/** The members of bodies that the decision depends on: ids, lists of them, and what is decided item by item. Of notices, `before` is a time. */
const NAMES = /_ids?$|^(before|after|subtasks)$/
const STATUS: Readonly<Record<string, number>> = {
  insufficient_scope: 403,
  forbidden: 403,
  not_found: 404,
  validation_failed: 422,
  conflict: 409,
}

/**
 * The question whether a request would be allowed, from the contract: the first parameter of the path is the resource, the other
 * ones and the ids of the body are its properties.
 * @param fields the members of the body, if the permission is decided by member
 */
export function questionOf(
  { id, path }: Pick<HandWrittenOperation, 'id' | 'path'>,
  params: Readonly<Record<string, string>>,
  body: object = {},
  fields?: object,
): object {
  const [first, ...others] = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const named = fields === undefined ? Object.entries(body).filter(([name]) => NAMES.test(name) && id !== 'notices.mark') : []
  return {
    subject: { type: 'user', id: 'me' },
    action: { name: id, ...(fields && { properties: fields }) },
    resource: {
      ...(first === undefined ? { type: 'workspace', id: 'me' } : { type: first.replace(/_id$/, ''), id: params[first] }),
      properties: Object.fromEntries([...others.map((name) => [name, params[name]]), ...named]),
    },
  }
}

/** The outcome that an evaluation states, in the words of `outcomeOf`. */
export function evaluatedOutcome({ status, body }: Reply): string {
  if (status !== 200) return `${status} ${body.error?.code}`
  const { decision, context } = body.data
  return decision ? 'ok' : `${STATUS[context.code]} ${context.code}`
}
