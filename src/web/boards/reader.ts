import { readAsPerson, type PersonResult } from '../../http/person.ts'
import type { Caller } from '../../authz/context.ts'
import type { SignedInContext } from '../page-context.ts'

type Texts = Readonly<Record<string, string | undefined>>

/** Reads what pages show, for the person who is signed in and in one workspace. */
export interface Reader {
  readonly workspaceId: string
  read(operation: string, params?: Readonly<Record<string, string>>, query?: Texts): Promise<PersonResult>
  /** the person in this workspace. Something must have been read before. */
  caller(): Caller
}

export function readerOf({ web, session, requestId, request }: SignedInContext, workspaceId: string): Reader {
  let caller: Caller | undefined
  return {
    workspaceId,
    async read(operation, params = {}, query = {}) {
      const services = web.services()
      const read = { userId: session.user_id, workspaceId, operation, params, query, requestId, request }
      const result = await readAsPerson(services, read)
      caller = result.caller
      return result
    },
    caller() {
      if (caller === undefined) throw new TypeError('nothing was read yet')
      return caller
    },
  }
}

/** Reads the pages of a list one after another. @param maxPages after which it ends, complete or not */
export async function readAll<Item>(
  reader: Reader,
  [operation, params, query]: readonly [string, Readonly<Record<string, string>>?, Texts?],
  maxPages: number,
  isEnough: (items: readonly Item[]) => boolean = () => false,
): Promise<{ items: Item[]; cursor: string | undefined }> {
  const items: Item[] = []
  let cursor = query?.['cursor']
  for (let page = 0; page < maxPages; page++) {
    const { data, nextCursor } = await reader.read(operation, params, { ...query, limit: '100', cursor })
    items.push(...(data as Item[]))
    cursor = nextCursor ?? undefined
    if (cursor === undefined || isEnough(items)) break
  }
  return { items, cursor }
}
