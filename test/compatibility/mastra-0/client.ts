import { MCPClient } from '@mastra/mcp'
import { endpointOf, headersOf, type McpClient } from '../mcp/client.ts'

/** An agent runs `execute`, and sends its output to the model as JSON. */
export const mastra0: McpClient = {
  name: 'the previous Mastra',
  folder: 'mastra-0/node_modules/@mastra/mcp',
  refusesNull: true,
  async connect(address) {
    const server = { url: endpointOf(address), requestInit: { headers: headersOf(address) } }
    const client = new MCPClient({ servers: { lanekeeper: server } })
    const tools: Record<string, any> = await client.getTools()
    return {
      call: async (name, args) => JSON.stringify(await tools[`lanekeeper_${name}`].execute({ context: args })),
      close: () => client.disconnect(),
    }
  },
}
