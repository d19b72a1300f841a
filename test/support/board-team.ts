import { expect } from 'vitest'
import { memory } from './memory.ts'
import { Service, type Person, type ServiceOptions } from './service.ts'
import { signedIn, type Visitor, type VisitorOptions } from './visitor.ts'

/** Calls of the API, which must succeed. */
export type Api = (method: string, path: string, body?: unknown, person?: Person) => Promise<any>

/** Calls the API as a person, unless another one is named. */
function apiOf(service: Service, owner: Person): Api {
  return async (method, path, body, person = owner) => {
    const reply = await service.send(person.admin, method, path, body)
    expect({ method, path, isDone: reply.status < 300, text: reply.text }).toEqual({ method, path, isDone: true, text: reply.text })
    return reply.body.data
  }
}

/** Starts a service in memory, behind a proxy. It stops after the suite that awaits it. */
export function startForSuite(options: ServiceOptions = {}): Promise<Service> {
  return Service.forSuite(memory, { proxies: 1, ...options })
}

/** The owner of a workspace, who is signed in, with a board. */
export interface BoardTeam {
  readonly owner: Person
  readonly visitor: Visitor
  readonly api: Api
  /** the path of the workspace */
  readonly base: string
  readonly boardId: string
  readonly columns: readonly string[]
}

/** Creates a workspace with its owner and a board. */
export async function buildTeam(
  service: Service,
  columnNames: readonly string[] = ['To do', 'Doing'],
  board: object = {},
  at: VisitorOptions = {},
): Promise<BoardTeam> {
  const owner = await service.person(await service.workspace('Acme'), 'owner', 'Olivia Stone')
  const api = apiOf(service, owner)
  const boardId: string = (await api('POST', '/boards', { name: 'Spring', ...board })).id
  const columns: string[] = []
  for (const name of columnNames) columns.push((await api('POST', `/boards/${boardId}/columns`, { name })).id)
  return { owner, visitor: await signedIn(service, owner, at), api, base: `/app/${owner.workspaceId}`, boardId, columns }
}
