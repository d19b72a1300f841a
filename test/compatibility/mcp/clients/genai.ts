import { mcpToTool } from '@google/genai'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { endpointOf, headersOf, textOf, type McpClient } from '../client.ts'

/** The part of Google's SDK that calls tools. It needs no model. */
export const genai: McpClient = {
  name: 'Google Gen AI',
  folder: '@google/genai',
  async connect(address) {
    const client = new Client({ name: 'compatibility', version: '1' })
    const options = { requestInit: { headers: headersOf(address) } }
    await client.connect(new StreamableHTTPClientTransport(endpointOf(address), options) as never)
    const tool = mcpToTool(client)
    return {
      async call(name, args) {
        const [part] = await tool.callTool([{ name, args: { ...args } }])
        const response: any = part!.functionResponse!.response
        return textOf((response.error ?? response).content)
      },
      close: () => client.close(),
    }
  },
}
