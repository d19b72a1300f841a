import { LRUCache } from 'lru-cache'
import type { Column } from '../../model/column.ts'

/** How many columns one process remembers, of all boards together. */
const REMEMBERED = 20_000

/**
 * The columns of boards whose cards this process has listed. They may have changed since, so they only decide which cards are
 * read together with the columns. A wrong guess costs another read.
 */
const columns = new LRUCache<string, readonly Column[]>({ maxSize: REMEMBERED, sizeCalculation: ({ length }) => length + 1 })

export function rememberColumns(boardId: string, found: readonly Column[]): void {
  columns.set(boardId, found)
}

/** The columns of a board when its cards were last listed; none if they were not. */
export function rememberedColumns(boardId: string): readonly Column[] {
  return columns.get(boardId) ?? []
}
