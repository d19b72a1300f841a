import { describe, expect, test } from 'vitest'
import { loadPolicy } from '../../src/app.ts'
import { readsAhead, SeenTokens, toReadAhead } from '../../src/http/prefetch.ts'
import { ApiError } from '../../src/model/errors.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'

const engine = loadPolicy()
const BOARD = `brd_${'0'.repeat(20)}`
const row = (id: string) => operations.find((operation) => operation.id === id)!

/** What is read ahead for a request; undefined: nothing. @param scopes of the token; undefined: it was not seen */
function readAhead(operation: Operation, scopes: readonly string[] | undefined, params: Record<string, string> = { board_id: BOARD }) {
  const seen = new SeenTokens()
  if (scopes !== undefined) seen.add('h', { scopes } as never)
  return readsAhead(engine, { operation, params }, { hash: 'h' } as never, seen)
}

describe('reading ahead for a request', () => {
  test('the token, the membership and the target are read together', () => {
    expect(readAhead(row('boards.read'), ['kanban:read'])!.records).toEqual([
      'token:h',
      'membership:{0.user_id}',
      `board:${BOARD}`,
      `board_member:${BOARD}:{0.user_id}`,
    ])
  })

  test('nothing is read ahead for a token that was not seen, or whose scopes are insufficient', () => {
    expect(readAhead(row('boards.read'), undefined)).toBeUndefined()
    expect(readAhead(row('boards.read'), [])).toBeUndefined()
    expect(readAhead(row('boards.update'), ['kanban:read'])).toBeUndefined()
    expect(readAhead(row('boards.delete'), ['kanban:write'])).toBeUndefined()
    expect(readAhead(row('boards.update'), ['kanban:write'])).toBeDefined()
  })

  test('nothing is read ahead for a filtered list, or with a malformed id', () => {
    expect(readAhead(row('boards.list'), ['kanban:read'])).toBeUndefined()
    expect(readAhead(row('boards.read'), ['kanban:read'], { board_id: 'x' })).toBeUndefined()
  })

  test('what was read is returned as the records of the credentials and those of the target', () => {
    const request = readAhead(row('boards.read'), ['kanban:read'])!
    expect(toReadAhead(request, ['token', 'membership', 'board', undefined, 'further'])).toEqual({
      credentials: ['token', 'membership'],
      target: ['board', undefined],
    })
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
    expect(() => readAhead(broken(new TypeError('bug')), ['kanban:read'])).toThrow(TypeError)
    expect(readAhead(broken(new ApiError('not_found')), ['kanban:read'])).toBeUndefined()
  })
})
