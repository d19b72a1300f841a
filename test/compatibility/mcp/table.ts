import { mastra0 } from '../mastra-0/client.ts'
import { n8n } from '../n8n/client.ts'
import type { McpClient } from './client.ts'
import { aiSdk, aiSdk1 } from './clients/ai-sdk.ts'
import { genai } from './clients/genai.ts'
import { langchain } from './clients/langchain.ts'
import { mastra } from './clients/mastra.ts'
import { mcpRemote } from './clients/mcp-remote.ts'
import { mcporter } from './clients/mcporter.ts'
import { openaiAgents } from './clients/openai-agents.ts'
import { sdk, sdk10, sdk110, sdkStdio } from './clients/sdk.ts'

/** All clients that are tried. */
export const clients: readonly McpClient[] = [
  sdk,
  sdkStdio,
  sdk110,
  sdk10,
  aiSdk,
  aiSdk1,
  openaiAgents,
  langchain,
  n8n,
  mastra,
  mastra0,
  genai,
  mcpRemote,
  mcporter,
]
