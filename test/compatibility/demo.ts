import { startService, type StartedService } from '../support/process.ts'

export type Scope = 'kanban:read' | 'kanban:write' | 'kanban:admin'

/** A service with the demo data in memory, in a process of its own. */
export interface DemoService extends StartedService {
  /** a token of a person, by default of Olivia, the owner of the demo workspace, whose greatest scope this is */
  tokenOf(scope: Scope, person?: string): string
}

interface World {
  readonly tokens: readonly { readonly display_name: string; readonly token: string; readonly scopes: readonly string[] }[]
}

/** Starts the service. @param env further settings */
export async function startDemo(env: Record<string, string> = {}): Promise<DemoService> {
  const service = await startService([], env)
  const { tokens } = service.world as World
  return {
    ...service,
    tokenOf: (scope, person = 'Olivia Stone') =>
      tokens.find(({ display_name, scopes }) => display_name === person && scopes.at(-1) === scope)!.token,
  }
}
