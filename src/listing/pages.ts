import { z } from 'zod'
import { limits } from '../model/limits.ts'
import type { Index } from '../store/indexes.ts'
import type { Transaction } from '../store/transaction.ts'

/** One page of a list. */
export interface ListPage<T> {
  readonly data: readonly T[]
  /** null on the last page */
  readonly nextCursor: string | null
}

/** The query of a list: how many items, and after which. */
export interface PageQuery {
  readonly limit: number
  /** the entry of the last item returned */
  readonly cursor?: string | undefined
}

const limit = z
  .string()
  .regex(/^[1-9][0-9]{0,3}$/, `must be a whole number from 1 to ${limits.pageSize.max}`)
  .transform(Number)
  .pipe(z.number().max(limits.pageSize.max))

/** The members of a list's query. A cursor belongs to one list: another's is refused. */
export function pageQuery(list: string) {
  return { limit: limit.default(limits.pageSize.default), cursor: cursorOf(list).optional() }
}

/**
 * The cursor of one of several lists.
 * @param lists their names
 * @param chosen the name of the one that a query asks for; a position of another is refused
 */
export function choosePage<Shape extends z.ZodRawShape>(
  lists: readonly string[],
  shape: Shape,
  chosen: (query: z.output<z.ZodObject<Shape>>) => string,
): z.ZodType<z.output<z.ZodObject<Shape>> & PageQuery> {
  const cursor = z.string().transform((text, context) => {
    const found = lists.map((list) => [list, decodeCursor(list, text)] as const).find(([, position]) => position !== undefined)
    return found ?? refuse(context)
  })
  const whole = z.strictObject({ limit: limit.default(limits.pageSize.default), cursor: cursor.optional(), ...shape })
  return whole.transform((read, context) => {
    const query = read as z.output<z.ZodObject<Shape>> & { cursor?: readonly [list: string, position: string] }
    if (query.cursor !== undefined && query.cursor[0] !== chosen(query))
      context.addIssue({ code: 'custom', path: ['cursor'], message: NO_CURSOR })
    return { ...query, cursor: query.cursor?.[1] }
  }) as unknown as z.ZodType<z.output<z.ZodObject<Shape>> & PageQuery>
}

const NO_CURSOR = 'is no cursor of this list: take page.next_cursor of its last page, or leave it out'

function cursorOf(list: string) {
  return z.string().transform((text, context) => decodeCursor(list, text) ?? refuse(context))
}

function refuse(context: z.core.$RefinementCtx): never {
  context.addIssue({ code: 'custom', message: NO_CURSOR })
  return z.NEVER
}

/** A cursor: opaque, and no more than the list's name and the position of the last item returned. */
export function encodeCursor(list: string, position: string): string {
  return Buffer.from(`${list}\n${position}`).toString('base64url')
}

function decodeCursor(list: string, cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString()
  const position = text.slice(list.length + 1)
  const genuine = text.startsWith(`${list}\n`) && /^[\x20-\x7e]{1,200}$/.test(position) && encodeCursor(list, position) === cursor
  return genuine ? position : undefined
}

/**
 * Reads one page of an index, as it is answered.
 * @param shape makes the item of a record; default: the record itself
 */
export async function listPage<T, Item = T>(
  tx: Transaction,
  list: string,
  index: Index<T>,
  { limit: size, cursor }: PageQuery,
  shape: (value: T) => Item = (value) => value as unknown as Item,
): Promise<ListPage<Item>> {
  const { entries, values } = await tx.range(index, { after: cursor, limit: size + 1 })
  const items = values.slice(0, size).flatMap((value) => (value === undefined ? [] : [shape(value)]))
  return listAnswer(list, items, entries.at(Math.min(size, entries.length) - 1), entries.length > size)
}

/** A page as it is answered. */
export function listAnswer<T>(list: string, items: readonly T[], lastPosition: string | undefined, more: boolean): ListPage<T> {
  return { data: items, nextCursor: more && lastPosition !== undefined ? encodeCursor(list, lastPosition) : null }
}
