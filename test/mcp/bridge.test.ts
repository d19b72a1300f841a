import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { Bridge } from '../../src/cli/mcp.ts'
import { revisions, setUpMcp } from '../support/mcp.ts'
import { CommandHost, main, requireBuild } from '../support/process.ts'
import { newFolder } from '../support/run.ts'

const mcp = setUpMcp()

describe('lanekeeper mcp', () => {
  const host = new CommandHost({})
  const connect = async (env: Record<string, string>, revision: (typeof revisions)[number], ...args: string[]) => {
    requireBuild()
    const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy'
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const command = { command: process.execPath, args: [main, 'mcp', '--url', mcp.listener.url, ...args], env, stderr: 'pipe' as const }
    await client.connect(new StdioClientTransport(command))
    return client
  }

  test.each([
    [revisions[0], 'the environment'],
    [revisions[1], 'a file'],
  ] as const)('connects a client of the revision %s that speaks stdio, with a token from %s', async (revision, source) => {
    const file = join(newFolder(), 'token')
    await writeFile(file, `${mcp.ann.write}\n`)
    const client = await (source === 'a file'
      ? connect({}, revision, '--token-file', file)
      : connect({ LANEKEEPER_TOKEN: mcp.ann.write }, revision))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('create_card')
    const created = await client.callTool({
      name: 'create_boards_columns_labels',
      arguments: { operation: 'boards.create', name: `Größe ${revision}` },
    })
    const { data } = created.structuredContent as any
    expect((await mcp.service.send(mcp.ann.read, 'GET', `/boards/${data.id}`)).body.data).toEqual(data)
    const args = { operation: 'boards.delete', board_id: data.id }
    const refused = await client.callTool({ name: 'delete_boards_or_cards', arguments: args })
    expect(refused.isError).toBe(true)
    expect(JSON.stringify(refused.content)).toContain('Use a token with the scope kanban:admin.')
    await client.close()
  })

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['without a token', ['--url', 'http://localhost:1'], {}, /^LANEKEEPER_TOKEN: the access token is missing/],
    [
      'with a malformed token',
      ['--url', 'http://localhost:1'],
      { LANEKEEPER_TOKEN: 'secret text' },
      /^LANEKEEPER_TOKEN: this is no access/,
    ],
    ['without a file', ['--url', 'http://localhost:1', '--token-file', '/does/not/exist'], {}, /^token-file: ENOENT/],
    ['without a URL', [], { LANEKEEPER_TOKEN: 'lk_pat_x' }, /^url: the URL of the service is missing/],
    ['with a token as an option', ['--token', 'lk_pat_x'], {}, /unknown option '--token'/],
  ])('%s ends with the exit code 2 and says why', async (_, args, env, message) => {
    const { code, stdout, stderr } = await host.run(['mcp', ...args], env)
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(stderr).not.toContain('secret text')
  })
})

describe('the bridge', () => {
  const servers: Server[] = []
  afterAll(() => servers.forEach((server) => (server.closeAllConnections(), server.close())))

  /**
   * Passes lines to a server that answers as given.
   * @param inTurn whether each line is passed on after the answer to the one before
   * @returns the lines that the client gets, and the requests
   */
  const run = async (
    lines: readonly string[],
    answer: { status: number; type?: string; body: string; location?: string },
    { inTurn = false } = {},
  ) => {
    const requests: { headers: Record<string, unknown>; body: string }[] = []
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      requests.push({ headers: request.headers, body })
      const type = answer.type === undefined ? {} : { 'content-type': answer.type }
      const location = answer.location === undefined ? {} : { location: answer.location }
      response.writeHead(answer.status, { ...type, ...location }).end(answer.body)
    }).listen(0, '127.0.0.1')
    servers.push(server)
    await new Promise((resolve) => server.once('listening', resolve))
    const output: any[] = []
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    const input = new PassThrough()
    const done = new Bridge(url, 'lk_pat_x', (line) => void output.push(JSON.parse(line))).run(input)
    if (inTurn) {
      for (const [i, line] of lines.entries()) {
        input.write(`${line}\n`)
        await expect.poll(() => output.length).toBe(i + 1)
      }
      input.end()
    } else input.end(lines.join('\n'))
    await done
    return { output, requests }
  }
  const message = (method: string, params?: object, id: unknown = 7) => JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const json = 'application/json'

  test('sends the token and what the revision 2026-07-28 requires, also for names that no header can have', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    const { requests } = await run([message('tools/call', { name: 'größe', _meta: meta })], { status: 200, type: json, body: '{"id":7}' })
    expect(requests[0]!.headers).toMatchObject({
      authorization: 'Bearer lk_pat_x',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': `=?base64?${Buffer.from('größe').toString('base64')}?=`,
    })
  })

  test('states the revision that the client and the service have agreed on', async () => {
    const answer = { status: 200, type: json, body: '{"id":7,"result":{"protocolVersion":"2025-11-25"}}' }
    const { requests } = await run([message('initialize'), message('ping')], answer, { inTurn: true })
    expect(requests.map(({ headers }) => headers['mcp-protocol-version'])).toEqual([undefined, '2025-11-25'])
  })

  test('passes on each message of a stream', async () => {
    const body = ': comment\n\nevent: message\ndata: {"id":1,\ndata: "a":2}\n\nid: 5\ndata: {"id":7}\r\n\r\n'
    const { output } = await run([message('ping')], { status: 200, type: 'text/event-stream', body })
    expect(output).toEqual([{ id: 1, a: 2 }, { id: 7 }])
  })

  test('gives an error of the transport the id of the request', async () => {
    const body = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No."}}'
    const { output } = await run([message('ping', undefined, 'a')], { status: 401, type: json, body })
    expect(output).toEqual([{ jsonrpc: '2.0', id: 'a', error: { code: -32_000, message: 'No.' } }])
  })

  test.each([
    ['a proxy that fails', { status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' }, 'HTTP 502'],
    ['an answer that is no JSON', { status: 200, type: json, body: '<' }, 'JSON'],
    // The token must not be sent to another address.
    ['a redirect', { status: 307, body: '', location: 'http://127.0.0.1:1/' }, 'redirect'],
  ])('answers the request after %s', async (_, answer, reason) => {
    const { output, requests } = await run([message('ping')], answer)
    expect(output).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: -32_000, message: expect.stringContaining(reason) } }])
    expect(requests).toHaveLength(1)
  })

  test('answers nothing to a notification, and reports its failure on stderr', async () => {
    const report = vi.spyOn(console, 'error').mockReturnValue()
    const notification = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect((await run([notification], { status: 202, body: '' })).output).toEqual([])
    expect((await run([notification], { status: 401, type: json, body: '{"id":null,"error":{"message":"No."}}' })).output).toEqual([])
    expect(report.mock.calls.join()).toContain('No.')
    report.mockRestore()
  })

  test('ends a request that the client cancels, and answers the others', async () => {
    const cancel = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    const lines = [message('ping', undefined, 1), cancel, message('ping', undefined, 2), 'no JSON', '']
    const { output } = await run(lines, { status: 200, type: json, body: '{"id":2}' })
    expect(output).toHaveLength(2)
    expect(output).toContainEqual({ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'The line is not valid JSON.' } })
    expect(output).toContainEqual({ id: 2 })
  })
})
