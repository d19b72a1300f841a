import { getAllMcpTools, MCPServerStreamableHttp, RunContext, type FunctionTool } from '@openai/agents'
import { endpointOf, headersOf, textOf, type McpClient } from '../client.ts'

/** In strict mode, a model of OpenAI sends every argument, null for those that it does not use. */
export const openaiAgents: McpClient = {
  name: 'OpenAI Agents, schemas made strict',
  folder: '@openai/agents',
  async connect(address) {
    const url = endpointOf(address).href
    const server = new MCPServerStreamableHttp({ url, name: 'lanekeeper', requestInit: { headers: headersOf(address) } })
    await server.connect()
    const tools = (await getAllMcpTools({ mcpServers: [server], convertSchemasToStrict: true })) as FunctionTool[]
    return {
      async call(name, args) {
        const output: any = await tools.find((tool) => tool.name === name)!.invoke(new RunContext(), JSON.stringify(args))
        return typeof output === 'string' ? output : textOf([output].flat())
      },
      close: () => server.close(),
    }
  },
}
