/** Where a client finds the service. */
export interface Address {
  /** of the service, without a path */
  readonly url: string
  readonly token: string
}

/** A client that is connected. */
export interface Connection {
  /** Calls a tool as the client's loop does when a model asks for it. @returns what the model would then read */
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<string>
  close(): Promise<unknown>
}

/** An MCP client that others wrote. */
export interface McpClient {
  readonly name: string
  /** the folder in node_modules whose package.json has its version */
  readonly folder: string
  /** It validates arguments by the schema of the tool before it sends them, so a null that the schema does not allow never leaves it. */
  readonly refusesNull?: true
  connect(address: Address): Promise<Connection>
}

/** The headers that a client is configured with. */
export function headersOf({ token }: Address): { readonly Authorization: string } {
  return { Authorization: `Bearer ${token}` }
}

/** The endpoint. */
export function endpointOf({ url }: Address): URL {
  return new URL(`${url}/mcp`)
}

interface Part {
  readonly type?: string
  readonly text?: string
}

/** The text of content: all that most loops pass on to a model. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return (content as readonly Part[]).map(({ type, text }) => (type === 'text' ? text! : `[${type}]`)).join('\n')
}
