import { createMCPClient } from '@ai-sdk/mcp'
import { experimental_createMCPClient as createMCPClient1 } from 'ai-sdk-mcp-1'
import { endpointOf, headersOf, textOf, type Address, type Connection, type McpClient } from '../client.ts'

/** `generateText` runs `execute`, and sends what `toModelOutput` makes of its result to the model. */
async function connect(create: typeof createMCPClient, address: Address): Promise<Connection> {
  const client = await create({ transport: { type: 'http', url: endpointOf(address).href, headers: headersOf(address) } })
  const tools = (await client.tools()) as Record<string, any>
  return {
    async call(name, args) {
      const context = { toolCallId: 'call', messages: [] }
      const output = await tools[name].execute(args, context)
      const { type, value } = await tools[name].toModelOutput({ ...context, input: args, output })
      return type === 'content' ? textOf(value) : JSON.stringify(value)
    },
    close: () => client.close(),
  }
}

export const aiSdk: McpClient = {
  name: 'the AI SDK',
  folder: '@ai-sdk/mcp',
  connect: (address) => connect(createMCPClient, address),
}
/** Of the AI SDK 6. */
export const aiSdk1: McpClient = {
  name: 'the previous AI SDK',
  folder: 'ai-sdk-mcp-1',
  connect: (address) => connect(createMCPClient1 as unknown as typeof createMCPClient, address),
}
