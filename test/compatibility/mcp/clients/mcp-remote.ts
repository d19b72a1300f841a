import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { newFolder } from '../../../support/run.ts'
import { endpointOf, headersOf, type Address, type McpClient } from '../client.ts'
import { connectSdk } from './sdk.ts'

/** How a host starts it. */
export function remoteCommand(address: Address): { readonly command: string; readonly args: string[] } {
  const program = fileURLToPath(new URL('../../node_modules/mcp-remote/dist/proxy.js', import.meta.url))
  const header = `Authorization: ${headersOf(address).Authorization}`
  return { command: process.execPath, args: [program, endpointOf(address).href, '--header', header] }
}

/** A bridge for hosts that only speak stdio. */
export const mcpRemote: McpClient = {
  name: 'mcp-remote',
  folder: 'mcp-remote',
  connect(address) {
    const env = { PATH: process.env['PATH']!, MCP_REMOTE_CONFIG_DIR: newFolder() }
    const transport = new StdioClientTransport({ ...remoteCommand(address), env, stderr: 'ignore' })
    return connectSdk(new Client({ name: 'compatibility', version: '1' }), transport)
  },
}
