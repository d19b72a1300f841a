import { factsFor } from '../authz/facts.ts'
import { fittingItems, toPage, type ListPage, type PageQuery } from '../listing/pages.ts'
import type { Engine } from '../policy/engine.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import type { DecisionRecord } from './services.ts'

/**
 * Returns a page of the items that the caller can see. The permission table is asked about each candidate until the
 * page is full or the list ends, so hidden items never make a page shorter.
 */
export async function filteredPage(
  engine: Engine,
  operation: Operation & { kind: 'filtered_list' },
  request: OperationRequest,
  record: DecisionRecord,
): Promise<ListPage<unknown>> {
  const { limit, cursor } = request.query as PageQuery
  const permission = operation.needs.join(' ')
  const { groups } = engine.vocabulary.permissions.get(permission)!
  const size = limit + 1
  const data: unknown[] = []
  const listed = { permission, asked: 0, allowed: 0 }
  record.listed = listed
  const positions: string[] = []
  let after = cursor
  for (;;) {
    const candidates = await operation.candidates(request, after, size)
    for (const { position, item } of candidates) {
      after = position
      if (item === undefined) continue
      listed.asked++
      const decision = engine.decide(permission, factsFor(engine.vocabulary, groups, request.caller, item.context))
      if (decision.outcome !== 'allowed') continue
      if (data.length === limit) return cut(operation.id, data, positions, true)
      data.push(item.data)
      listed.allowed++
      positions.push(position)
    }
    if (candidates.length < size) return cut(operation.id, data, positions, false)
  }
}

/** Makes a page of the items that fit into it. */
function cut(list: string, data: readonly unknown[], positions: readonly string[], more: boolean): ListPage<unknown> {
  const count = fittingItems(data)
  return toPage(list, data.slice(0, count), positions[count - 1], more || count < data.length)
}
