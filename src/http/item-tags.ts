import type { Operation, OperationRequest } from '../resources/operation.ts'
import { shownRevision } from '../resources/pending-removals.ts'
import { entityTag } from './preconditions.ts'

/**
 * The items of a page, with their ETags if the query asks for them: `include=etag`. They are those of a read of each item, in the state that
 * the page shows.
 */
export function withItemTags({ itemEntity }: Operation, { tx, query }: Pick<OperationRequest, 'tx' | 'query'>, data: unknown): unknown {
  const { include } = query as { readonly include?: ReadonlySet<string> }
  if (itemEntity === undefined || include?.has('etag') !== true) return data
  const items = data as readonly { readonly id: string }[]
  return items.map((item) => ({ ...item, etag: entityTag(shownRevision(tx, itemEntity(item.id))!) }))
}
