import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { blockOf } from '../support/documents.ts'
import { requirePython } from '../support/python.ts'
import { startService, type StartedService } from '../support/process.ts'

// What src/mcp/README.md tells people to write into the files of their clients.

let service: StartedService
let token: string
beforeAll(async () => {
  service = await startService()
  token = service.world.tokens.find((one: any) => one.display_name === 'Olivia Stone' && one.scopes.includes('kanban:write')).token
})
afterAll(() => service.stop())

test.each([
  ['Claude Code', blockOf('src/mcp/README.md', 'Bearer ${LANEKEEPER_TOKEN}'), '${LANEKEEPER_TOKEN}'],
  ['Cursor', blockOf('src/mcp/README.md', '${env:LANEKEEPER_TOKEN}'), '${env:LANEKEEPER_TOKEN}'],
  ['VS Code', blockOf('src/mcp/README.md', '${input:lanekeeper-token}'), '${input:lanekeeper-token}'],
])('with the configuration of %s, a client lists the tools', async (_client, block, variable) => {
  const configuration = JSON.parse(block.replace(variable, token).replace('http://127.0.0.1:3000', service.url))
  const { url: endpoint, headers } = (configuration.mcpServers ?? configuration.servers).lanekeeper
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } }))
  expect((await client.listTools()).tools.length).toBeGreaterThan(5)
  await client.close()
})

test('the command for clients that speak stdio is one of lanekeeper', () => {
  const { command, args, env } = JSON.parse(blockOf('src/mcp/README.md', '"command": "npx"')).mcpServers.lanekeeper
  // test/mcp/bridge.test.ts starts it.
  expect({ command, args: args.slice(0, 3), variables: Object.keys(env) }).toEqual({
    command: 'npx',
    args: ['lanekeeper', 'mcp', '--url'],
    variables: ['LANEKEEPER_TOKEN'],
  })
})

test('the program in Python works, and prints the refusal', async () => {
  requirePython()
  const program = blockOf('src/mcp/README.md', 'import json').replace('http://127.0.0.1:3000', service.url)
  const env = { PATH: process.env['PATH'], LANEKEEPER_TOKEN: token } as unknown as NodeJS.ProcessEnv
  const failure = await promisify(execFile)('python3', ['-c', program], { env }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ stdout: 'Sow\n', stderr: expect.stringContaining("'required_scope': 'kanban:admin'") })
})

test('with the four calls of the page of claims, a card is taken, worked on and completed', async () => {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } }))
  const lk = createClient({ url: service.url, token })
  const board_id = (await lk.boards.create({ name: 'Work' })).data.id
  const column_id = (await lk.columns.create({ board_id, name: 'Ready' })).data.id
  const card = (await lk.cards.create({ board_id, column_id, title: 'Sow' })).data
  // The first claim of the card has another number than the page shows.
  const calls = blockOf('src/http/claims.md', 'claim_next_card')
    .replaceAll('brd_…', board_id)
    .replaceAll('crd_…', card.id)
    .replaceAll(': 7 ', ': 1 ')
  const results: any[] = []
  for (const call of JSON.parse(calls)) results.push(await client.callTool(call))
  expect(results.map(({ isError }) => isError ?? false)).toEqual([false, false, false, false])
  expect(JSON.stringify(results[0].structuredContent)).toContain('"epoch":1')
  expect((await lk.cards.read({ card_id: card.id })).data.completed_at).not.toBeNull()
  expect(results[0].structuredContent.data).toMatchObject({ work: { state: 'claimed', attempts: 0 }, answered: null })
  expect((await lk.comments.list({ card_id: card.id })).data.map(({ body }) => body)).toEqual(['Sown.'])
  await client.close()
})

test('with each of the last calls of the page of claims, a card that is not completed is given back', async () => {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } }))
  const lk = createClient({ url: service.url, token })
  const board_id = (await lk.boards.create({ name: 'Work' })).data.id
  const column_id = (await lk.columns.create({ board_id, name: 'Ready' })).data.id
  const calls = JSON.parse(blockOf('src/http/claims.md', 'end_claim')) as { name: string; arguments: Record<string, unknown> }[]
  const states: unknown[] = []
  for (const { name, arguments: args } of calls) {
    const card_id = (await lk.cards.create({ board_id, column_id, title: 'Sow' })).data.id
    const { epoch } = (await lk.claims.take({ card_id })).data!
    const { if_claim, ...others } = args
    const without: any = await client.callTool({ name, arguments: { ...others, card_id } })
    if (args['operation'] !== 'claims.release')
      expect(without.structuredContent.error).toMatchObject({ code: 'precondition_required', next: expect.stringContaining('if_claim') })
    expect(if_claim).toBe(7)
    const result: any = await client.callTool({ name, arguments: { ...args, card_id, if_claim: epoch } })
    // It was released already.
    expect(result.isError ?? false).toBe(args['operation'] === 'claims.release')
    states.push((await lk.cards.read({ card_id, include: ['work'] })).data.work)
  }
  expect(states).toMatchObject([
    { state: 'waiting', attempts: 0 },
    { state: 'retrying', attempts: 1, reason: 'The shed is locked.' },
    // The call names how long nobody is offered the card.
    { state: 'retrying', attempts: 0 },
  ])
  await client.close()
})
