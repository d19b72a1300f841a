/**
 * MCP clients that others wrote, as packages of npm, with the versions that `npm run test:compatibility` tries the service with. A test
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

/** Generators of clients and libraries for HTTP, in the same way. A test compares them with the package and with src/http/README.md. */
export const httpClients: Readonly<Record<string, readonly string[]>> = {
  'openapi-typescript': ['7.13.0'],
  'openapi-fetch': ['0.17.0'],
  '@hey-api/openapi-ts': ['0.99.0'],
  orval: ['8.38.0'],
  'swagger-typescript-api': ['13.13.0'],
  oazapfts: ['7.5.0'],
  'openapi-typescript-codegen': ['0.31.0'],
  'typed-openapi': ['2.2.7'],
  '@kubb/cli': ['4.39.3'],
  'openapi-zod-client': ['1.18.3'],
  'openapi-client-axios': ['7.9.1'],
  axios: ['1.21.1'],
  got: ['14.6.6'],
  undici: ['7.30.2'],
  'node-fetch': ['3.3.2'],
  eventsource: ['4.1.1'],
}

/** Packages in one sentence: `a` 2 and 1, `b` 3. */
export function versionsInWords(packages: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(packages)
    .map(([name, versions]) => `\`${name}\` ${[versions.slice(0, -1).join(', '), versions.at(-1)].filter(Boolean).join(' and ')}`)
    .join('; ')
}
