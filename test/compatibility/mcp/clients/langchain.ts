import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { endpointOf, headersOf, type McpClient } from '../client.ts'

/** An agent invokes a tool with the call of the model, and gets a message for it; an error becomes the message of its exception. */
export const langchain: McpClient = {
  name: "LangChain's MCP adapters",
  folder: '@langchain/mcp-adapters',
  refusesNull: true,
  async connect(address) {
    const server = { transport: 'http', url: endpointOf(address).href, headers: headersOf(address) } as const
    const client = new MultiServerMCPClient({ mcpServers: { lanekeeper: server } })
    const tools = await client.getTools()
    return {
      async call(name, args) {
        const tool = tools.find((one) => one.name === name)!
        try {
          const message = await tool.invoke({ type: 'tool_call', id: 'call', name, args })
          // The JSON of the only part, which also has the structured content.
          return (JSON.parse(message.content) as { readonly text: string }).text
        } catch (error) {
          return (error as Error).message
        }
      },
      close: () => client.close(),
    }
  },
}
