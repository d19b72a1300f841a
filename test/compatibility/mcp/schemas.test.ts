import { mcpToTool } from '@google/genai'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { getAllMcpTools, MCPServerStreamableHttp, type FunctionTool } from '@openai/agents'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDemo, type DemoService, type Scope } from '../demo.ts'
import { endpointOf, headersOf, type Address } from './client.ts'
import { anthropic, gemini, openAiStrict, schemasIn, vsCode, type ModelTool, type Rule } from './rules.ts'

let service: DemoService
beforeAll(async () => {
  service = await startDemo()
})
afterAll(() => service.stop())

async function connect(address: Address): Promise<Client> {
  const client = new Client({ name: 'compatibility', version: '1' })
  const options = { requestInit: { headers: headersOf(address) } }
  await client.connect(new StreamableHTTPClientTransport(endpointOf(address), options) as never)
  return client
}

/** As VS Code and Claude Code get them. */
async function listed(address: Address): Promise<ModelTool[]> {
  const client = await connect(address)
  const { tools } = await client.listTools()
  await client.close()
  return tools.map(({ name, description = '', inputSchema }) => ({ name, description, schema: inputSchema }))
}

/** As @openai/agents sends them. A tool whose schema it cannot make strict is sent as it is, and OpenAI then refuses it with `strict`. */
async function madeStrict(address: Address): Promise<ModelTool[]> {
  const requestInit = { headers: headersOf(address) }
  const server = new MCPServerStreamableHttp({ url: endpointOf(address).href, name: 'lanekeeper', requestInit })
  await server.connect()
  const tools = (await getAllMcpTools({ mcpServers: [server], convertSchemasToStrict: true })) as FunctionTool[]
  await server.close()
  expect(tools.filter(({ strict }) => !strict).map(({ name }) => name)).toEqual([])
  return tools.map(({ name, description, parameters }) => ({ name, description, schema: parameters }))
}

/** As @google/genai declares them. */
async function declared(address: Address): Promise<ModelTool[]> {
  const client = await connect(address)
  const { functionDeclarations = [] } = (await mcpToTool(client).tool()) as any
  await client.close()
  return functionDeclarations.map(({ name, description, parametersJsonSchema: schema }: any) => ({ name, description, schema }))
}

const models: readonly [who: string, rules: readonly Rule[], toolsOf: (address: Address) => Promise<ModelTool[]>][] = [
  ['VS Code', vsCode, listed],
  ['Anthropic', anthropic, listed],
  ['OpenAI in strict mode', openAiStrict, madeStrict],
  ['Gemini', gemini, declared],
]
/** The scope, how many tools its tokens see, and the longest list in bytes: what is added must not cost the context of every agent. */
const lists: readonly [Scope, tools: number, bytes: number][] = [
  ['kanban:read', 6, 12_000],
  ['kanban:write', 20, 35_000],
  ['kanban:admin', 21, 36_700],
]

describe.each(lists)('the tools of a token with %s', (scope, count, bytes) => {
  const address = () => ({ url: service.url, token: service.tokenOf(scope) })

  test.each(models)('are accepted by %s', async (_who, rules, toolsOf) => {
    const tools = await toolsOf(address())
    expect(tools).toHaveLength(count)
    const broken = tools.flatMap((tool) =>
      [...schemasIn(tool.schema)].flatMap(([schema, path]) =>
        rules.filter(({ isWrong }) => isWrong(schema, { path, tool })).map(({ what }) => `${[tool.name, ...path].join('.')}: ${what}`),
      ),
    )
    expect(broken).toEqual([])
  })

  test('are valid schemas of the draft 2020-12, without a keyword that nobody knows', async () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, formats: { 'date-time': true } })
    for (const { schema } of await listed(address())) expect(ajv.compile(schema)).toBeTypeOf('function')
  })

  test(`are a list of at most ${bytes} bytes`, async () => {
    const client = await connect(address())
    expect(Buffer.byteLength(JSON.stringify((await client.listTools()).tools))).toBeLessThanOrEqual(bytes)
    await client.close()
  })
})
