import { Decisions } from '../authz/decisions.ts'
import { cutPage, fittingItems, toPage, type ListPage, type PageQuery } from '../listing/pages.ts'
import type { Engine } from '../policy/engine.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
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
): Promise<ListPage<unknown>> {
  const { limit, cursor } = request.query as PageQuery
  const { permission } = operation
  const decisions = Decisions.of(engine)
  // One more than the page can have: there is a next page.
  const size = limit + 1
  const found: { readonly data: unknown; readonly position: string }[] = []
  const listed = { permission, asked: 0, allowed: 0 }
  record.listed = listed
  let after = cursor
  for (;;) {
    const { candidates, more: mayFollow } = await operation.candidates(request, after, size)
    for (const { position, item } of candidates) {
      after = position
      if (item === undefined) continue
      listed.asked++
      const decision = decisions.decide(permission, request.caller, item.context)
      if (record.vectors !== undefined) countDecision(record.vectors, decision)
      if (decision.outcome !== 'allowed') continue
      found.push({ data: item.data, position })
      if (found.length > limit) break
      listed.allowed++
    }
    const items = found.map(({ data }) => data)
    if (mayFollow && found.length <= limit && fittingItems(items) === items.length) continue
    const { page, more } = cutPage(found, limit, ({ data }) => data)
    return toPage(
      operation.id,
      page.map(({ data }) => data),
      page.at(-1)?.position,
      more,
    )
  }
}
