import { beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../src/mcp/catalog.ts'
import { TestBoard } from '../support/board.ts'
import { setUpMcp } from '../support/mcp.ts'

// What a request costs according to RateLimit, below /v1 and as a call of MCP (src/http/limits.md, "What a request costs").

const PLENTY = 1_000_000
const mcp = setUpMcp({ rateLimits: { quotas: { token: PLENTY, workspace: PLENTY, address: 10 } } })
let board: TestBoard
let fat: TestBoard
let cards: string[]
beforeAll(async () => {
  board = await TestBoard.create(mcp.service, mcp.ann)
  const column = await board.column()
  cards = []
  for (let i = 0; i < 3; i++) cards.push(await board.card(column))
  fat = await TestBoard.create(mcp.service, mcp.ann)
  const wide = await fat.column()
  for (let i = 0; i < 6; i++) await fat.card(wide, `Card ${i}`, { description: 'x'.repeat(50_000) })
})

const remaining = (headers: Headers) => Number(/"token";r=(\d+)/.exec(headers.get('ratelimit')!)![1])
const question = () => ({
  subject: { type: 'user', id: 'me' },
  action: { name: 'cards.read' },
  resource: { type: 'card', id: cards[0] },
})
const times = <T>(count: number, item: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i))

interface Costly {
  readonly operation: string
  readonly method: string
  readonly path: () => string
  readonly body?: () => object
  /** of the tool, if they differ from the body's */
  readonly args: () => object
  readonly units: number
}

const rows: Readonly<Record<string, Costly>> = {
  'a read': { operation: 'account.read', method: 'GET', path: () => '/account', args: () => ({}), units: 1 },
  'a page of 300 KB': {
    operation: 'cards.list',
    method: 'GET',
    path: () => `/boards/${fat.id}/cards`,
    args: () => ({ board_id: fat.id }),
    units: 5,
  },
  'a snapshot of a board of 300 KB': {
    operation: 'boards.read',
    method: 'GET',
    path: () => `/boards/${fat.id}?include=cards`,
    args: () => ({ board_id: fat.id, include: ['cards'] }),
    units: 5,
  },
  'a batch of 25 operations': {
    operation: 'boards.batch',
    method: 'POST',
    path: () => `/boards/${board.id}/batch`,
    body: () => ({
      operations: times(25, (i) => ({ operation: 'cards.complete', params: { card_id: cards[i % 3] }, body: { completed: i % 2 === 0 } })),
    }),
    args: () => ({ board_id: board.id }),
    units: 25,
  },
  'a search for the 17 to 20 operations on a board': {
    operation: 'access.search_action',
    method: 'POST',
    path: () => '/access/search/action',
    body: () => ({ resource: { type: 'board', id: board.id } }),
    args: () => ({}),
    units: 5,
  },
  'an evaluation of 100 questions': {
    operation: 'access.evaluate_all',
    method: 'POST',
    path: () => '/access/evaluations',
    body: () => ({ evaluations: times(100, question) }),
    args: () => ({}),
    units: 25,
  },
}

describe('the units that a request costs', () => {
  /** What is spent between two reads of the account, without them. */
  const spentBy = async (send: () => Promise<Headers>): Promise<number[]> => {
    const account = async () => remaining((await mcp.service.send(mcp.ann.admin, 'GET', '/account')).headers)
    const before = await account()
    const stated = remaining(await send())
    return [before - stated, before - (await account()) - 1]
  }

  test.each(Object.entries(rows))('%s', async (_name, { operation, method, path, body, args, units }) => {
    const direct = async () => {
      const { status, text, headers } = await mcp.service.send(mcp.ann.admin, method, path(), body?.())
      expect(status, text).toBe(200)
      return headers
    }
    const tool = tools.find(({ operations }) => operations.includes(operation))
    const called = async () => {
      const { status, result, error, headers } = await mcp.call(mcp.ann.admin, tool!.name, { operation, ...args(), ...body?.() })
      expect({ status, isError: result?.isError, error }).toStrictEqual({ status: 200, isError: undefined, error: undefined })
      return headers
    }
    expect(await spentBy(direct)).toEqual([units, units])
    // What no tool offers is only below /v1.
    if (tool !== undefined) expect(await spentBy(called)).toEqual([units, units])
  })

  test('a page that the client already has costs only the check', async () => {
    const path = `/boards/${fat.id}/cards`
    const etag = (await mcp.service.send(mcp.ann.admin, 'GET', path)).headers.get('etag')!
    const again = async () => {
      const { status, headers } = await mcp.service.send(mcp.ann.admin, 'GET', path, undefined, { 'if-none-match': etag })
      expect(status).toBe(304)
      return headers
    }
    expect(await spentBy(again)).toEqual([5, 5])
  })

  test('a search costs by the text that it examines', async () => {
    const column = await fat.column()
    for (let i = 0; i < 21; i++) await fat.card(column, `Another ${i}`, { description: 'y'.repeat(50_000) })
    const search = `/boards/${fat.id}/cards?q=nothing&column_id=${column}`
    expect(await spentBy(async () => (await mcp.service.send(mcp.ann.admin, 'GET', search)).headers)).toEqual([3, 3])
  })
})
