import { createRuntime, createServerProxy } from 'mcporter'
import { endpointOf, headersOf, type McpClient } from '../client.ts'

/** Its proxy adds every default that a schema states. */
export const mcporter: McpClient = {
  name: 'mcporter',
  folder: 'mcporter',
  async connect(address) {
    const command = { kind: 'http', url: endpointOf(address), headers: headersOf(address) } as const
    const runtime = await createRuntime({ servers: [{ name: 'lanekeeper', command }] as never })
    const proxy = createServerProxy(runtime, 'lanekeeper', { cacheSchemas: false }) as Record<string, any>
    return {
      call: async (name, args) => (await proxy[name](args)).text(),
      close: () => runtime.close(),
    }
  },
}
