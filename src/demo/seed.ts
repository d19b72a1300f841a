import type { Passwords } from '../auth/accounts/passwords.ts'
import { setAccount } from '../auth/accounts/sign-up.ts'
import { randomText } from '../model/ids.ts'
import { scopes } from '../model/token.ts'
import type { Role, User } from '../model/workspace.ts'
import { addMember, endMembership } from '../admin/memberships.ts'
import type { Deps } from '../admin/deps.ts'
import { addUser } from '../admin/users.ts'
import { createWorkspace } from '../admin/workspaces.ts'
import { GLOBAL } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { issueToken } from '../auth/tokens/issue.ts'
import { seedBoard, type Send } from './boards.ts'
import type { World } from './world.ts'

/** What a person needs to know of the demo world to use it. Plaintext tokens are here and nowhere else. */
export interface Demo {
  readonly workspaces: readonly { readonly id: string; readonly name: string }[]
  readonly people: readonly DemoPerson[]
  readonly tokens: readonly DemoToken[]
  readonly boards: readonly DemoBoard[]
}

/** Who can sign in to the web app. */
export interface DemoPerson {
  readonly user_id: string
  readonly display_name: string
  readonly email: string
  readonly password: string
}

export interface DemoToken {
  readonly user_id: string
  readonly display_name: string
  readonly role: Role
  readonly workspace_id: string
  /** as chosen */
  readonly scopes: readonly string[]
  /** `left`: its user has left the workspace, so it opens nothing */
  readonly state: 'active' | 'left'
  readonly token: string
}

export interface DemoBoard {
  readonly id: string
  readonly name: string
  readonly workspace_id: string
  readonly visibility: string
  readonly creator_id: string
  readonly member_ids: readonly string[]
}

type Fetch = (request: Request) => Promise<Response>

/**
 * Fills an empty store with the demo world: people by the operator's means, since no request can make any;
 * all else by requests of those people, through the one way in.
 */
export async function seedDemo(tools: Deps & { readonly passwords: Passwords }, fetch: Fetch, world: World): Promise<Demo> {
  const demo = {
    workspaces: [] as { id: string; name: string }[],
    people: [] as DemoPerson[],
    tokens: [] as DemoToken[],
    boards: [] as DemoBoard[],
  }
  for (const { key: workspaceKey, name, people, boards } of world.workspaces) {
    const workspace = await createWorkspace(tools, name)
    demo.workspaces.push({ id: workspace.id, name: workspace.name })
    const seeded = new Map<string, { user: User; token: string }>()
    for (const person of people) {
      const user = await addUser(tools, { display_name: person.name })
      await addMember(tools, workspace.id, user, person.role)
      demo.people.push(await giveAccount(tools, user, `${person.key}@${workspaceKey}.example`))
      const tokens = await issueTokens(tools, workspace.id, user, person.left ? 'left' : 'active', person.role)
      demo.tokens.push(...tokens)
      seeded.set(person.key, { user, token: tokens.at(-1)!.token })
      if (person.left) await endMembership(tools, workspace.id, user.id)
    }
    const idOf = (key: string) => seeded.get(key)!.user.id
    const send: Send = (key, method, path, body) => call(fetch, seeded.get(key)!.token, method, path, body)
    for (const board of boards) {
      const { name: boardName, visibility, creator, members } = board
      const id = await seedBoard(send, idOf, board, tools.clock())
      demo.boards.push({
        id,
        name: boardName,
        workspace_id: workspace.id,
        visibility,
        creator_id: idOf(creator),
        member_ids: members.map(idOf),
      })
    }
  }
  return demo
}

/** A password of 80 random bits, another one at each start. */
async function giveAccount(
  tools: Deps & { readonly passwords: Passwords },
  { id, display_name }: User,
  email: string,
): Promise<DemoPerson> {
  const { store, clock, random, passwords } = tools
  const password = Array.from({ length: 4 }, () => randomText(random, 4)).join('-')
  const passwordHash = await passwords.hash(password)
  await transact(store, GLOBAL, random, (tx) => setAccount(tx, { userId: id, email, passwordHash }, clock))
  return { user_id: id, display_name, email, password }
}

/** One token of each scope, least first. */
async function issueTokens(
  { store, clock, random }: Deps,
  workspaceId: string,
  user: User,
  state: DemoToken['state'],
  role: Role,
): Promise<DemoToken[]> {
  const tokens: DemoToken[] = []
  for (const scope of scopes) {
    const { plaintext } = await transact(store, workspaceId, random, (tx) =>
      issueToken(tx, { userId: user.id, name: `demo ${scope}`, scopes: [scope] }, clock, random),
    )
    tokens.push({
      user_id: user.id,
      display_name: user.display_name,
      role,
      workspace_id: workspaceId,
      scopes: [scope],
      state,
      token: plaintext,
    })
  }
  return tokens
}

async function call(fetch: Fetch, token: string, method: string, path: string, body?: unknown): Promise<{ id: string }> {
  const headers = new Headers({ authorization: `Bearer ${token}` })
  const init: RequestInit = { method, headers }
  if (body instanceof FormData) init.body = body
  else if (body !== undefined) {
    headers.set('content-type', 'application/json')
    init.body = JSON.stringify(body)
  }
  const response = await fetch(new Request(`http://demo/v1${path}`, init))
  if (!response.ok) throw new Error(`the demo world cannot be made: ${method} ${path} answered ${response.status} ${await response.text()}`)
  return ((await response.json()) as { data: { id: string } }).data
}
