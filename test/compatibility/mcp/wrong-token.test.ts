import { spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo, type DemoService } from '../demo.ts'
import { newFolder, ownProcess } from '../../support/run.ts'
import type { McpClient } from './client.ts'
import { aiSdk, aiSdk1 } from './clients/ai-sdk.ts'
import { langchain } from './clients/langchain.ts'
import { remoteCommand } from './clients/mcp-remote.ts'
import { mcporter } from './clients/mcporter.ts'
import { openaiAgents } from './clients/openai-agents.ts'
import { sdk, sdk10, sdk110, sdkStdio } from './clients/sdk.ts'

let service: DemoService
beforeAll(async () => {
  service = await startDemo()
})
afterAll(() => service.stop())
const address = () => ({ url: service.url, token: 'lk_pat_wrong' })

const SENTENCE = /The user can create one in the web app, at \/settings\./
const NO_OAUTH = /There is no OAuth here: a person creates an access token in the web app, at \/settings/

// Mastra and Google's SDK are left out: the one logs what has happened, and has no tools; the other is given a client of the official SDK.
test.each<[McpClient, RegExp]>([
  [sdk, SENTENCE],
  [sdkStdio, SENTENCE],
  [sdk110, SENTENCE],
  [sdk10, SENTENCE],
  [aiSdk, SENTENCE],
  [aiSdk1, SENTENCE],
  [langchain, SENTENCE],
  [openaiAgents, /HTTP 401/],
  // Looks for OAuth after the 401, and shows what it was told there.
  [mcporter, new RegExp(`^${NO_OAUTH.source}`)],
])('$name tells its user what to do about a wrong token', async ({ connect }, told) => {
  const attempt = async (): Promise<string> => (await connect(address())).call('read_account_and_members', { operation: 'account.read' })
  await expect(attempt()).rejects.toThrow(told)
})

test('mcp-remote ends with a sentence about a wrong token', async () => {
  const { command, args } = remoteCommand(address())
  const env = { PATH: process.env['PATH'], MCP_REMOTE_CONFIG_DIR: newFolder() }
  const child = ownProcess(spawn(command, args, { env, stdio: ['pipe', 'ignore', 'pipe'] }))
  let log = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text))
  await new Promise((resolve) => child.on('close', resolve))
  expect(log).toMatch(NO_OAUTH)
})
