import { describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { setUpMcp } from '../support/mcp.ts'

const mcp = setUpMcp()
const HEADER_MISMATCH = -32_020
const encoded = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`
const TOOL = 'create_boards_columns_labels'

/** Calls a tool that creates a label, with other headers than its message has. @returns the status, the code, and whether there is a label */
async function createLabel(headers: Record<string, string | null>, meta: object = {}) {
  const board = await TestBoard.create(mcp.service, mcp.ann)
  const args = { operation: 'labels.create', board_id: board.id, name: 'New', color: '#123456' }
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: TOOL,
      arguments: args,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
        ...meta,
      },
    },
  }
  const all: Record<string, string | null> = {
    authorization: `Bearer ${mcp.ann.write}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': TOOL,
    ...headers,
  }
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)
  const response = await mcp.service.app.fetch(
    new Request('http://localhost/mcp', { method: 'POST', headers: sent, body: JSON.stringify(body) }),
  )
  const reply = (await response.json()) as any
  return [response.status, reply.error?.code, (await board.all(`/boards/${board.id}/labels`)).length]
}

describe('a call whose headers', () => {
  test.each<[string, Record<string, string | null>]>([
    ['name another method', { 'mcp-method': 'tools/list' }],
    ['name the method in other letters', { 'mcp-method': 'Tools/Call' }],
    ['name two methods', { 'mcp-method': 'tools/list, tools/call' }],
    ['name no method', { 'mcp-method': null }],
    ['name an empty method', { 'mcp-method': '' }],
    ['name another tool', { 'mcp-name': 'read_boards' }],
    ['name another tool in Base64', { 'mcp-name': encoded('read_boards') }],
    ['name a tool in Base64 that is none', { 'mcp-name': '=?base64?%%%?=' }],
    ['name two tools', { 'mcp-name': `read_boards, ${TOOL}` }],
    ['name no tool', { 'mcp-name': null }],
    ['name an empty tool', { 'mcp-name': '' }],
    ['name another revision', { 'mcp-protocol-version': '2025-11-25' }],
    ['name two revisions', { 'mcp-protocol-version': '2025-11-25, 2026-07-28' }],
    ['name no revision', { 'mcp-protocol-version': null }],
  ])('%s is refused, and does nothing', async (_title, headers) => {
    expect(await createLabel(headers)).toEqual([400, HEADER_MISMATCH, 0])
  })

  test.each<[string, Record<string, string | null>]>([
    ['are as the message', {}],
    ['have the tool in Base64', { 'mcp-name': encoded(TOOL) }],
    ['have spaces around the tool', { 'mcp-name': `  ${TOOL} ` }],
  ])('%s is made', async (_title, headers) => {
    expect(await createLabel(headers)).toEqual([200, undefined, 1])
  })

  test('a message of another revision than its headers is refused too', async () => {
    const [status, , labels] = await createLabel({}, { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' })
    expect([status, labels]).toEqual([400, 0])
  })
})
