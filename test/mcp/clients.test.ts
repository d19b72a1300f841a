import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blockOf } from '../support/documents.ts'
import { startProcess, type RunningProcess } from '../support/process.ts'

// What src/mcp/README.md tells people to write into the files of their clients.

let service: RunningProcess
let url: string
let token: string
beforeAll(async () => {
  service = startProcess(['--json'])
  const start = JSON.parse(await service.until('\n'))
  url = start.url
  token = start.tokens.find((one: any) => one.display_name === 'Olivia Stone' && one.scopes.includes('kanban:write')).token
})
afterAll(() => service.stop())

test.each([
  ['Claude Code', blockOf('src/mcp/README.md', 'Bearer ${LANEKEEPER_TOKEN}'), '${LANEKEEPER_TOKEN}'],
  ['Cursor', blockOf('src/mcp/README.md', '${env:LANEKEEPER_TOKEN}'), '${env:LANEKEEPER_TOKEN}'],
  ['VS Code', blockOf('src/mcp/README.md', '${input:lanekeeper-token}'), '${input:lanekeeper-token}'],
])('with the configuration of %s, a client lists the tools', async (_client, block, variable) => {
  const configuration = JSON.parse(block.replace(variable, token).replace('http://127.0.0.1:3000', url))
  const { url: endpoint, headers } = (configuration.mcpServers ?? configuration.servers).lanekeeper
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } }))
  expect((await client.listTools()).tools.length).toBeGreaterThan(5)
  await client.close()
})

test('the command for clients that speak stdio is one of lanekeeper', () => {
  const { command, args, env } = JSON.parse(blockOf('src/mcp/README.md', '"command": "npx"')).mcpServers.lanekeeper
  // test/mcp/bridge.test.ts starts it.
  expect([command, args.slice(0, 3), Object.keys(env)]).toEqual(['npx', ['lanekeeper', 'mcp', '--url'], ['LANEKEEPER_TOKEN']])
})

const hasPython = (() => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

// Python is no requirement of the tests.
test.skipIf(!hasPython)('the program in Python works, and prints the refusal', async () => {
  const program = blockOf('src/mcp/README.md', 'import json').replace('http://127.0.0.1:3000', url)
  const env = { PATH: process.env['PATH'], LANEKEEPER_TOKEN: token } as unknown as NodeJS.ProcessEnv
  const failure = await promisify(execFile)('python3', ['-c', program], { env }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ stdout: 'Sow\n', stderr: expect.stringContaining("'required_scope': 'kanban:admin'") })
})
