/**
 * MCP clients that others wrote, as packages of npm, with the versions with which `npm run test:compatibility` tries the service. A test
 * compares them with the package of test/compatibility and with src/mcp/README.md.
 */
export const mcpClients: Readonly<Record<string, readonly string[]>> = {
  '@modelcontextprotocol/sdk': ['1.32.2', '1.10.2', '1.0.4'],
  '@ai-sdk/mcp': ['2.0.99', '1.0.102'],
  '@openai/agents': ['0.20.0'],
  '@langchain/mcp-adapters': ['1.1.4'],
  '@n8n/json-schema-to-zod': ['1.16.0'],
  '@mastra/mcp': ['2.0.0', '0.14.5'],
  '@google/genai': ['3.3.0'],
  'mcp-remote': ['0.15.1'],
  mcporter: ['0.9.0'],
}

/** Packages in one sentence: `a` 2 and 1, `b` 3. */
export function versionsInWords(packages: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(packages)
    .map(([name, versions]) => `\`${name}\` ${[versions.slice(0, -1).join(', '), versions.at(-1)].filter(Boolean).join(' and ')}`)
    .join('; ')
}
