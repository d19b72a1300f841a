import { Client as Current } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as CurrentStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as CurrentHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client as Client10 } from 'mcp-sdk-1-0/client/index.js'
import { StdioClientTransport as Stdio10 } from 'mcp-sdk-1-0/client/stdio.js'
import { Client as Client110 } from 'mcp-sdk-1-10/client/index.js'
import { StreamableHTTPClientTransport as Http110 } from 'mcp-sdk-1-10/client/streamableHttp.js'
import { main } from '../../../support/process.ts'
import { endpointOf, headersOf, textOf, type Address, type Connection, type McpClient } from '../client.ts'

const http = (address: Address) => [endpointOf(address), { requestInit: { headers: headersOf(address) } }] as const
/** `lanekeeper mcp`, for clients that only speak stdio. */
const stdio = ({ url, token }: Address) => ({
  command: process.execPath,
  args: [main, 'mcp', '--url', url],
  env: { LANEKEEPER_TOKEN: token, PATH: process.env['PATH']! },
})

/** A client of the official SDK, which hosts build upon. Hosts differ in what they show of a result; all show the text. */
export async function connectSdk(client: Current, transport: unknown): Promise<Connection> {
  await client.connect(transport as CurrentHttp)
  return {
    call: async (name, args) => textOf((await client.callTool({ name, arguments: args })).content),
    close: () => client.close(),
  }
}

const info = { name: 'compatibility', version: '1' }
const capabilities = { capabilities: {} }

export const sdk: McpClient = {
  name: 'the official SDK over HTTP',
  folder: '@modelcontextprotocol/sdk',
  connect: (address) => connectSdk(new Current(info), new CurrentHttp(...http(address))),
}
export const sdkStdio: McpClient = {
  name: 'the official SDK over stdio',
  folder: '@modelcontextprotocol/sdk',
  connect: (address) => connectSdk(new Current(info), new CurrentStdio(stdio(address))),
}
/** The first one that has Streamable HTTP. */
export const sdk110: McpClient = {
  name: 'the official SDK of April 2025 over HTTP',
  folder: 'mcp-sdk-1-10',
  connect: (address) => connectSdk(new Client110(info) as unknown as Current, new Http110(...http(address))),
}
/** Knows only the revision 2024-11-05. */
export const sdk10: McpClient = {
  name: 'the official SDK of 2024 over stdio',
  folder: 'mcp-sdk-1-0',
  connect: (address) => connectSdk(new Client10(info, capabilities) as unknown as Current, new Stdio10(stdio(address))),
}
