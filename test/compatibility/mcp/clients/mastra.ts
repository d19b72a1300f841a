import { MCPClient } from '@mastra/mcp'
import { endpointOf, headersOf, type McpClient } from '../client.ts'

/** An agent runs `execute`, and sends its output to the model as JSON; an error becomes the message of its exception. */
export const mastra: McpClient = {
  name: 'Mastra',
  folder: '@mastra/mcp',
  async connect(address) {
    const server = { url: endpointOf(address), requestInit: { headers: headersOf(address) } }
    const client = new MCPClient({ servers: { lanekeeper: server } })
    const tools: Record<string, any> = await client.listTools()
    return {
      async call(name, args) {
        try {
          return JSON.stringify(await tools[`lanekeeper_${name}`].execute(args, {}))
        } catch (error) {
          return (error as Error).message
        }
      },
      close: () => client.disconnect(),
    }
  },
}
