import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { setUpMcp } from '../support/mcp.ts'

const mcp = setUpMcp()

/** The response to a message, with its body as it was sent. */
async function send(accepted: string | undefined, method: string, params: object = {}) {
  const response = await mcp.send(mcp.ann.admin, method, params, accepted === undefined ? {} : { 'accept-encoding': accepted })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}

test('the list of tools, the result of a tool and a resource are compressed', async () => {
  const board = await TestBoard.create(mcp.service, mcp.ann)
  await board.card(await board.column(), 'Long', { description: 'Änderung und Übersicht. '.repeat(100) })
  const messages: [string, object][] = [
    ['tools/list', {}],
    ['tools/call', { name: 'find_cards', arguments: { operation: 'cards.list', board_id: board.id } }],
    ['resources/read', { uri: `lanekeeper://boards/${board.id}` }],
  ]
  for (const message of messages) {
    const plain = await send(undefined, ...message)
    const { response, bytes } = await send('br', ...message)
    expect({ status: response.status, isWhole: brotliDecompressSync(bytes).equals(plain.bytes) }).toEqual({ status: 200, isWhole: true })
    expect(bytes.length).toBeLessThan(plain.bytes.length / 2)
    expect([...response.headers]).toEqual(
      expect.arrayContaining([
        ['content-encoding', 'br'],
        ['content-length', String(bytes.length)],
        ['content-type', plain.response.headers.get('content-type')],
        ['vary', 'Authorization, Accept-Encoding'],
      ]),
    )
    expect(plain.response.headers.get('content-length')).toBe(String(plain.bytes.length))
  }
})

test('a response that is a stream of events is sent as it is', async () => {
  const headers = { 'accept-encoding': 'br, gzip', accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
  const init = { method: 'POST', headers: { ...headers, authorization: `Bearer ${mcp.ann.admin}` }, body }
  const response = await mcp.service.app.fetch(new Request('http://localhost/mcp', init))
  expect({ contentType: response.headers.get('content-type'), contentEncoding: response.headers.get('content-encoding') }).toEqual({
    contentType: 'text/event-stream',
    contentEncoding: null,
  })
  const text = await response.text()
  expect({ isEvent: text.startsWith('event: message\ndata: {'), isLong: text.length > 2000 }).toEqual({ isEvent: true, isLong: true })
})
