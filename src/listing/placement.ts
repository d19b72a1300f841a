import { z } from 'zod'
import { andThen, type Awaitable } from '../model/awaitable.ts'
import { notFound } from '../model/errors.ts'
import { documented, neighborField } from '../model/fields.ts'
import { isId, type IdKind } from '../model/ids.ts'
import type { Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'

/** A place in an ordered list, as a request names it: next to another item, or at one end. */
export interface Placement {
  readonly before?: string | undefined
  readonly after?: string | undefined
  readonly to?: 'first' | 'last' | undefined
}

/** The same place with the named item loaded. */
export type ResolvedPlacement<T> = { readonly before: T } | { readonly after: T } | { readonly to: 'first' | 'last' }

/** Body members for a place: at most one of them. */
export const place = {
  before: neighborField('The item of the same list that it is placed before.').optional(),
  after: neighborField('The item of the same list that it is placed after.').optional(),
  to: documented(z.enum(['first', 'last']), { description: 'The end of the list where it is placed.' }).optional(),
}

/** The place of a new item if the request names none. */
export const AT_END = { to: 'last' } as const

const MEMBERS = ['before', 'after', 'to'] as const

/** Refuses a body with more than one place and, if one is required, a body without. */
export function onePlacement<Shape extends z.ZodType<Placement, Placement>>(shape: Shape, required?: 'required') {
  return shape.check((context) => {
    const given = MEMBERS.filter((member) => (context.value as Placement)[member] !== undefined)
    if (given.length > 1)
      context.issues.push({ code: 'custom', input: context.value, path: [given[1]!], message: `cannot be combined with "${given[0]}"` })
    if (given.length === 0 && required)
      context.issues.push({ code: 'custom', input: context.value, message: 'must have one of before, after, to' })
  })
}

/** Returns a body rule that refuses to place the item of the path next to itself. */
export function notNextToItself(param: string) {
  return (params: Readonly<Record<string, string>>, { before, after }: Placement) => {
    const id = params[param]
    if (before !== id && after !== id) return undefined
    return { path: before === id ? 'before' : 'after', message: 'must name another item than the one that is moved' }
  }
}

/**
 * Loads the item that `before` or `after` names.
 * @param belongs whether an item is in the same board (or card). Another one is answered like an absent one.
 * @returns undefined if the request names no place
 * @throws {ApiError} `not_found`
 */
export function resolvePlacement<T>(
  tx: Transaction,
  { before, after, to }: Placement,
  kind: IdKind,
  keyOf: (id: string) => Key<T>,
  belongs: (item: T) => boolean,
): Awaitable<ResolvedPlacement<T> | undefined> {
  const id = before ?? after
  if (id === undefined) return to && { to }
  return andThen(isId(kind, id) ? tx.get(keyOf(id)) : undefined, (item): ResolvedPlacement<T> => {
    if (item === undefined || !belongs(item)) throw notFound(before === undefined ? 'after' : 'before')
    return before === undefined ? { after: item } : { before: item }
  })
}

/** The item that a placement is relative to, if it is relative. */
export function neighborOf<T>(placement: ResolvedPlacement<T> | undefined): T | undefined {
  const { before, after } = (placement ?? {}) as { readonly before?: T; readonly after?: T }
  return before ?? after
}
