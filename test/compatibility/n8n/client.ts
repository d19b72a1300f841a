import { createRequire } from 'node:module'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { endpointOf, headersOf, type McpClient } from '../mcp/client.ts'

// n8n is CommonJS. The files of this package for `import` do not load in Node.js: they name each other without `.js`.
const { jsonSchemaToZod } = createRequire(import.meta.url)('@n8n/json-schema-to-zod')

/** How the node "MCP Client Tool" of n8n makes a tool (`McpClientTool/utils.ts`): n8n itself is too large to install. */
export const n8n: McpClient = {
  name: "n8n's schemas with LangChain's tools",
  folder: 'n8n/node_modules/@n8n/json-schema-to-zod',
  refusesNull: true,
  async connect(address) {
    const client = new Client({ name: 'compatibility', version: '1' })
    const options = { requestInit: { headers: headersOf(address) } }
    await client.connect(new StreamableHTTPClientTransport(endpointOf(address), options) as never)
    const tools = (await client.listTools()).tools.map(({ name, description = '', inputSchema }) => {
      const func = async (args: Record<string, unknown>) => {
        const { content } = (await client.callTool({ name, arguments: args })) as any
        return content[0].text as string
      }
      return new DynamicStructuredTool({ name, description, schema: jsonSchemaToZod(inputSchema), func })
    })
    return {
      async call(name, args) {
        try {
          return String(await tools.find((tool) => tool.name === name)!.invoke(args))
        } catch (error) {
          return (error as Error).message
        }
      },
      close: () => client.close(),
    }
  },
}
