import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoService } from '../demo.ts'

let service: DemoService
beforeAll(async () => {
  service = await startDemo()
})
afterAll(() => service.stop())

test('the official SDK 1.32 connects, lists the tools and reads the account', async () => {
  const client = new Client({ name: 'compatibility', version: '1' })
  const headers = { authorization: `Bearer ${service.tokenOf('kanban:read')}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } }) as never)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('find_cards')
  const result = await client.callTool({ name: 'read_account_and_members', arguments: { operation: 'account.read' } })
  expect(JSON.stringify(result.content)).toContain('kanban:read')
  await client.close()
})
