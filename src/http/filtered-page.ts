import { factsFor } from '../authz/facts.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import { encodeCursor, type PageQuery } from '../listing/pages.ts'
import type { Engine } from '../policy/engine.ts'
import type { DecisionRecord } from './services.ts'

/** A page of what the caller may see, filled past what is hidden. */
export interface FilteredPage {
  readonly items: readonly unknown[]
  readonly nextCursor: string | null
}

/** Asks the permission table about each candidate of a list, until the page is full or there are no more. */
export async function filteredPage(
  engine: Engine,
  operation: Operation & { kind: 'each' },
  request: OperationRequest,
  trace: DecisionRecord,
): Promise<FilteredPage> {
  const { limit, cursor } = request.query as PageQuery
  const pair = operation.needs.join(' ')
  const groups = engine.vocabulary.permissions.get(pair)!.groups
  const size = limit + 1
  const items: unknown[] = []
  const listed = { pair, asked: 0, shown: 0 }
  trace.listed = listed
  let last: string | undefined
  let position = cursor
  for (;;) {
    const candidates = await operation.candidates(request, position, size)
    for (const { position: own, found } of candidates) {
      position = own
      if (found === undefined) continue
      listed.asked++
      const decision = engine.decide(pair, factsFor(engine.vocabulary, groups, request.caller, found.situation))
      if (decision.outcome !== 'allowed') continue
      if (items.length === limit) return { items, nextCursor: encodeCursor(operation.id, last!) }
      items.push(found.data)
      listed.shown++
      last = own
    }
    if (candidates.length < size) return { items, nextCursor: null }
  }
}
