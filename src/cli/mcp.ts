import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { ConfigError, readOrigin } from '../config.ts'

interface McpFlags {
  readonly url?: string
  readonly tokenFile?: string
}

/** Adds `lanekeeper mcp`, for clients that start a program instead of calling a URL. Only this command loads the bridge. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('connect an MCP client that speaks stdio to the MCP endpoint of a running service')
    .option('--url <url>', 'the URL of the service, such as https://kanban.example (env: LANEKEEPER_URL)')
    .option('--token-file <file>', 'the file with the access token (env: LANEKEEPER_TOKEN, the token itself)')
    .action(async (flags: McpFlags) => {
      const url = readOrigin(flags, process.env)
      if (url === undefined) throw new ConfigError('url: the URL of the service is missing')
      const token = readToken(flags, process.env)
      if (isUnprotected(url)) console.error('the token is sent unencrypted: use the https URL of the service')
      const { Bridge } = await import('./mcp-bridge.ts')
      await new Bridge(`${url}/mcp`, token, (message) => void process.stdout.write(`${message}\n`)).run(process.stdin)
    })
}

/** Reads the token. It is no option, because every user of the machine can see the arguments of a process. @throws {ConfigError} */
function readToken({ tokenFile }: McpFlags, env: NodeJS.ProcessEnv): string {
  const source = tokenFile === undefined ? 'LANEKEEPER_TOKEN' : 'token-file'
  const token = (tokenFile === undefined ? env['LANEKEEPER_TOKEN'] : readFile(tokenFile))?.trim()
  if (token === undefined || token === '') throw new ConfigError(`${source}: the access token is missing`)
  // The message does not repeat it.
  if (!/^\w+$/.test(token)) throw new ConfigError(`${source}: this is no access token`)
  return token
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`token-file: ${(error as Error).message}`)
  }
}

function isUnprotected(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname)
}
