import { describe, expect, test } from 'vitest'
import { loadPolicy } from '../../src/authz/shipped-policy.ts'
import { prefetch } from '../../src/http/prefetch.ts'
import { ApiError } from '../../src/model/errors.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'

const engine = loadPolicy()
const BOARD = `brd_${'0'.repeat(20)}`
const row = (id: string) => operations.find((operation) => operation.id === id)!

/** What is prefetched for a request; undefined: nothing. @param scopes of the token; undefined: it was not seen */
function prefetched(
  operation: Operation,
  scopes: readonly string[] | undefined,
  params: Record<string, string> = { board_id: BOARD },
  isRemote = true,
) {
  const seenTokens = new Map(scopes === undefined ? [] : [['h', { scopes }]])
  let request: { readonly records: readonly unknown[] } | undefined
  const tx = { prefetch: (asked: typeof request) => void (request = asked) }
  prefetch({ engine, seenTokens, store: { isRemote } } as never, tx as never, { principal: { tokenHash: 'h' } } as never, {
    operation,
    params,
  })
  return request
}

describe('what a request prefetches', () => {
  test('the token, the membership and the target are read together', () => {
    expect(prefetched(row('boards.read'), ['kanban:read'])!.records).toEqual([
      'token:h',
      'membership:{0.user_id}',
      `board:${BOARD}`,
      `board_member:${BOARD}:{0.user_id}`,
    ])
  })

  test('nothing is prefetched from a store whose reads are no round trips', () => {
    expect(prefetched(row('boards.read'), ['kanban:read'], { board_id: BOARD }, false)).toBeUndefined()
  })

  test('nothing is prefetched for a token that was not seen, or whose scopes are insufficient', () => {
    expect(prefetched(row('boards.read'), undefined)).toBeUndefined()
    expect(prefetched(row('boards.read'), [])).toBeUndefined()
    expect(prefetched(row('boards.update'), ['kanban:read'])).toBeUndefined()
    expect(prefetched(row('boards.delete'), ['kanban:write'])).toBeUndefined()
    expect(prefetched(row('boards.update'), ['kanban:write'])).toBeDefined()
  })

  test('nothing is prefetched for a filtered list, or with a malformed id', () => {
    expect(prefetched(row('boards.list'), ['kanban:read'])).toBeUndefined()
    expect(prefetched(row('boards.read'), ['kanban:read'], { board_id: 'x' })).toBeUndefined()
  })

  test('only a malformed id is passed over: any other failure of a target is thrown', () => {
    const broken = (error: Error): Operation =>
      ({
        ...row('boards.read'),
        target: {
          reads: () => {
            throw error
          },
          from: () => ({}),
        },
      }) as never
    expect(() => prefetched(broken(new TypeError('bug')), ['kanban:read'])).toThrow(TypeError)
    expect(prefetched(broken(new ApiError('not_found')), ['kanban:read'])).toBeUndefined()
  })
})
