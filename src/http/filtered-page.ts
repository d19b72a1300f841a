import { Decisions } from '../authz/decisions.ts'
import { cutPage, encodeCursor, fittingItems, toPage, type ListPage, type PageQuery } from '../listing/pages.ts'
import type { Engine } from '../policy/engine.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import type { AwaitedEntry } from '../resources/result.ts'
import { countDecision, type AttemptRecord } from './decision-record.ts'

/**
 * Returns a page of the items that the caller can see. The permission table is asked about each candidate until the
 * page is full or the list ends, so hidden items never make a page shorter.
 */
export async function filteredPage(
  engine: Engine,
  operation: Operation & { kind: 'filtered_list' },
  request: OperationRequest,
  record: AttemptRecord,
): Promise<ListPage<unknown> & { readonly awaited?: AwaitedEntry }> {
  const { limit, cursor, after: begin = cursor } = request.query as PageQuery & { readonly after?: string }
  const { permission } = operation
  const decisions = Decisions.of(engine)
  // One more than the page can have: there is a next page.
  const size = limit + 1
  const found: { readonly data: unknown; readonly position: string }[] = []
  const listed = { permission, asked: 0, allowed: 0 }
  record.listed = listed
  const followed = operation.follow?.(request)
  let after = begin
  for (;;) {
    const { candidates, more: mayFollow } = await operation.candidates(request, after, size)
    for (const { position, item } of candidates) {
      after = position
      if (item === undefined) continue
      listed.asked++
      const decision = decisions.decide(item.permission ?? permission, request.caller, item.context)
      if (record.vectors !== undefined) countDecision(record.vectors, decision)
      if (decision.outcome !== 'allowed') continue
      found.push({ data: item.data, position })
      if (found.length > limit) break
      listed.allowed++
    }
    const items = found.map(({ data }) => data)
    if (mayFollow && found.length <= limit && fittingItems(items) === items.length) continue
    const { page, more } = cutPage(found, limit, ({ data }) => data)
    const data = page.map((one) => one.data)
    if (followed === undefined) return toPage(operation.id, data, page.at(-1)?.position, more)
    const position = (more ? page.at(-1)?.position : after) ?? followed.start
    return { data, nextCursor: encodeCursor(operation.id, position), awaited: followed.awaited }
  }
}
