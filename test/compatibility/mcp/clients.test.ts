import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDemo, type DemoService } from '../demo.ts'
import { inForm, type Form } from './arguments.ts'
import { endpointOf, headersOf, type Connection } from './client.ts'
import { startRelay, type Relay } from './relay.ts'
import { steps, type Step } from './scenario.ts'
import { clients } from './table.ts'

let service: DemoService
let relay: Relay
let schemas: Readonly<Record<string, object>>
let miras: string
beforeAll(async () => {
  service = await startDemo()
  relay = await startRelay(service.url)
  miras = service.tokenOf('kanban:write', 'Mira Patel')
  const client = new Client({ name: 'compatibility', version: '1' })
  const options = { requestInit: { headers: headersOf(olivia()) } }
  await client.connect(new StreamableHTTPClientTransport(endpointOf(olivia()), options) as never)
  const { tools } = await client.listTools()
  schemas = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]))
  await client.close()
})
afterAll(async () => {
  relay.close()
  await service.stop()
})
const olivia = () => ({ url: relay.url, token: service.tokenOf('kanban:write') })

describe.each(clients)('$name ($folder)', ({ refusesNull, connect }) => {
  let connection: Connection
  beforeAll(async () => {
    connection = await connect(olivia())
  })
  afterAll(() => connection.close())

  const full: Form = refusesNull ? 'with every default' : 'with every default, and null for all others'
  test.each<Form>(['as they are written', full])('does the work of a day, its arguments %s', async (form) => {
    const kept: Record<string, unknown> = {}
    for (const step of steps) {
      const { expected, keep = {}, what } = step
      const answer = await answerTo(step, kept, form)
      expect(answer, what).toMatchObject(filledIn(expected, kept) as object)
      for (const [name, path] of Object.entries(keep)) kept[name] = memberAt(answer, path)
    }
    expect(await readInParts(kept['long'] as string, form)).toMatchObject({ data: { id: kept['long'], description: QUOTES } })
  })

  const answerTo = async ({ tool, scope, person, args }: Step, kept: Kept, form: Form): Promise<unknown> => {
    const filled = args === undefined ? undefined : (filledIn(args, kept) as Record<string, unknown>)
    if (tool === undefined) return request(filledIn(person, kept) as string, filled)
    relay.token = scope && service.tokenOf(scope)
    return ask(tool, filled!, form).finally(() => (relay.token = undefined))
  }
  const ask = async (tool: string, args: Readonly<Record<string, unknown>>, form: Form): Promise<any> =>
    read(await connection.call(tool, inForm(form, schemas[tool]!, args) as Record<string, unknown>))

  /** A card whose JSON has more characters than an answer may have. */
  const readInParts = async (card_id: string, form: Form): Promise<unknown> => {
    await request(`PATCH /cards/${card_id}`, { description: QUOTES })
    let text = ''
    for (let offset: number | undefined; text === '' || offset !== null;) {
      const { part, next_offset } = await ask('find_cards', { operation: 'cards.read', card_id, ...(text === '' ? {} : { offset }) }, form)
      text += part
      offset = next_offset
    }
    return JSON.parse(text)
  }

  if (refusesNull)
    test('refuses null by itself where the schema does not allow it', async () => {
      const args = { operation: 'account.read', fields: null }
      expect(await connection.call('read_account_and_members', args)).not.toContain('user_id')
    })
})

const QUOTES = '"'.repeat(40_000)
type Kept = Readonly<Record<string, unknown>>

/** What a person does by HTTP. */
async function request(line: string, body?: object): Promise<unknown> {
  const [method, path] = line.split(' ') as [string, string]
  const headers = { authorization: `Bearer ${miras}`, 'content-type': 'application/json' }
  const response = await fetch(`${service.url}/v1${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
  const text = await response.text()
  return path.endsWith('/content') ? text : JSON.parse(text)
}

/** The JSON in what a model reads: some clients write words before it. */
function read(text: string): unknown {
  const start = text.indexOf('{')
  if (start === -1) return text
  try {
    return JSON.parse(text.slice(start))
  } catch {
    return text
  }
}

/** A value with what was kept in the place of `{name}`. */
function filledIn(value: unknown, kept: Kept): unknown {
  if (typeof value === 'string') return value.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(kept[name]))
  if (Array.isArray(value)) return value.map((item) => filledIn(item, kept))
  // A matcher is no plain object.
  if (typeof value !== 'object' || value === null || 'asymmetricMatch' in value) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filledIn(member, kept)]))
}

function memberAt(value: unknown, path: string): unknown {
  return path.split('.').reduce((one, name) => (one as Record<string, unknown>)[name], value)
}
