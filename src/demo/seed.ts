import { randomUUID } from 'node:crypto'
import type { Passwords } from '../auth/accounts/passwords.ts'
import { setAccount } from '../auth/accounts/sign-up.ts'
import { randomText } from '../model/ids.ts'
import { scopes } from '../model/token.ts'
import { handle } from '../http/pipeline.ts'
import type { Services } from '../http/services.ts'
import type { Role, User } from '../model/workspace.ts'
import { addMember, endMembership } from '../admin/memberships.ts'
import { type Deps, transact } from '../store/transact.ts'
import { addUser } from '../admin/users.ts'
import { createWorkspace } from '../admin/workspaces.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { issueToken } from '../auth/tokens/issue.ts'
import type { World, WorldBoard, WorldCard } from './world.ts'
import { DAY, timestamp } from '../model/time.ts'

/** The demo data, with the credentials to use it. The plaintext tokens and passwords are not stored. */
export interface Demo {
  readonly workspaces: readonly { readonly id: string; readonly name: string }[]
  readonly people: readonly DemoPerson[]
  readonly tokens: readonly DemoToken[]
  readonly boards: readonly DemoBoard[]
}

/** A user who can sign in to the web app. */
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
  readonly scopes: readonly string[]
  /** `left`: the token's user has left the workspace, so the token is refused */
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

type DemoDeps = Deps & { readonly passwords: Passwords }
type Fetch = (request: Request) => Promise<Response>

/** Sends requests below /v1 that no rate limit counts: whoever sets a low one may have the demo data, too. */
export function uncounted(services: () => Services): Fetch {
  return async (request) => {
    const path = new URL(request.url).pathname.slice('/v1'.length)
    const asked = { request, requestId: randomUUID(), method: request.method, path, search: '' }
    return handle({ ...services(), rateLimits: undefined }, asked)
  }
}

/**
 * Creates the demo data. Workspaces, users and tokens are created with administration commands, everything else with
 * API requests of the users.
 * @throws {Error} if one of the requests fails
 */
export async function seedDemo(deps: DemoDeps, fetch: Fetch, world: World): Promise<Demo> {
  const demo = {
    workspaces: [] as { id: string; name: string }[],
    people: [] as DemoPerson[],
    tokens: [] as DemoToken[],
    boards: [] as DemoBoard[],
  }
  for (const { key: workspaceKey, name, people, boards } of world.workspaces) {
    const workspace = await createWorkspace(deps, name)
    demo.workspaces.push({ id: workspace.id, name: workspace.name })
    const users = new Map<string, { user: User; token: string }>()
    for (const person of people) {
      const user = await addUser(deps, { display_name: person.name })
      await addMember(deps, workspace.id, user, person.role)
      demo.people.push(await createAccount(deps, user, `${person.key}@${workspaceKey}.example`))
      const tokens = await issueTokens(deps, workspace.id, user, person.left ? 'left' : 'active', person.role)
      demo.tokens.push(...tokens)
      users.set(person.key, { user, token: tokens.at(-1)!.token })
      if (person.left) await endMembership(deps, workspace.id, user.id)
    }
    const idOf = (key: string) => users.get(key)!.user.id
    const send: Send = (key, method, path, body) => sendRequest(fetch, users.get(key)!.token, method, path, body)
    for (const board of boards) {
      const { name: boardName, visibility, creator, members } = board
      const id = await seedBoard(send, idOf, board, deps.clock())
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

/** Creates an account with a random password of 80 bits. */
async function createAccount(
  { store, clock, random, passwords }: DemoDeps,
  { id, display_name }: User,
  email: string,
): Promise<DemoPerson> {
  const password = Array.from({ length: 4 }, () => randomText(random, 4)).join('-')
  const passwordHash = await passwords.hash(password)
  await transact(store, GLOBAL, random, (tx) => setAccount(tx, { userId: id, email, passwordHash }, clock))
  return { user_id: id, display_name, email, password }
}

/** Issues one token per scope, in ascending scope order. */
async function issueTokens(deps: Deps, workspaceId: string, user: User, state: DemoToken['state'], role: Role): Promise<DemoToken[]> {
  const tokens: DemoToken[] = []
  for (const scope of scopes) {
    const { plaintext } = await transact(deps.store, workspaceId, deps.random, (tx) =>
      issueToken(tx, { userId: user.id, name: `demo ${scope}`, scopes: [scope] }, deps),
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

async function sendRequest(fetch: Fetch, token: string, method: string, path: string, body?: unknown): Promise<{ id: string }> {
  const headers = new Headers({ authorization: `Bearer ${token}` })
  const init: RequestInit = { method, headers }
  if (body instanceof FormData) init.body = body
  else if (body !== undefined) {
    headers.set('content-type', 'application/json')
    init.body = JSON.stringify(body)
  }
  const response = await fetch(new Request(`http://demo/v1${path}`, init))
  if (!response.ok) throw new Error(`creating the demo data failed: ${method} ${path} answered ${response.status} ${await response.text()}`)
  return ((await response.json()) as { data: { id: string } }).data
}

/** Sends a request as one of the users and returns the `data` of the response. */
export type Send = (person: string, method: string, path: string, body?: unknown) => Promise<{ id: string }>

/**
 * Creates a board with its content. Each part is created by the user that the fixture names.
 * @param now milliseconds since 1970; due dates are relative to it
 */
async function seedBoard(send: Send, idOf: (person: string) => string, board: WorldBoard, now: number): Promise<string> {
  const { creator, name, description, cover_color, visibility } = board
  const { id } = await send(creator, 'POST', '/boards', { name, description, cover_color })
  for (const person of board.members) await send(creator, 'PUT', `/boards/${id}/members/${idOf(person)}`)
  if (visibility === 'private') await send(creator, 'PUT', `/boards/${id}/visibility`, { visibility })
  const columns = new Map<string, string>()
  for (const column of [...board.columns, ...board.archived_columns])
    columns.set(
      column,
      (await send(creator, 'POST', `/boards/${id}/columns`, { name: column, completes: board.completing_columns.includes(column) })).id,
    )
  const labels = new Map<string, string>()
  for (const [label, color] of Object.entries(board.labels))
    labels.set(label, (await send(creator, 'POST', `/boards/${id}/labels`, { name: label, color })).id)
  for (const card of board.cards) await seedCard(send, idOf, { creator, boardId: id, columns, labels }, card, now)
  for (const column of board.archived_columns) await send(creator, 'POST', `/columns/${columns.get(column)}/archive`)
  return id
}

/** The board of a card. */
interface SeededBoard {
  readonly creator: string
  readonly boardId: string
  /** name → id */
  readonly columns: ReadonlyMap<string, string>
  /** name → id */
  readonly labels: ReadonlyMap<string, string>
}

async function seedCard(
  send: Send,
  idOf: (person: string) => string,
  { creator, boardId, columns, labels }: SeededBoard,
  card: WorldCard,
  now: number,
): Promise<void> {
  const due_at = card.due === undefined ? null : new Date(now + card.due * DAY).toISOString()
  const { title, description } = card
  const { id } = await send(creator, 'POST', `/boards/${boardId}/cards`, {
    column_id: columns.get(card.in),
    title,
    ...(description && { description }),
    due_at,
  })
  for (const label of card.labels) await send(creator, 'PUT', `/cards/${id}/labels/${labels.get(label)}`)
  for (const person of card.assignees) await send(creator, 'PUT', `/cards/${id}/assignees/${idOf(person)}`)
  for (const { title: subtask, done } of card.subtasks)
    await send(creator, 'POST', `/cards/${id}/subtasks`, { title: subtask, completed: done })
  for (const { by, body } of card.comments) await send(by, 'POST', `/cards/${id}/comments`, { body })
  for (const { by, name, type, text, base64, visibility } of card.attachments) {
    const form = new FormData()
    form.set('visibility', visibility)
    form.set('file', new File([base64 === undefined ? text! : Buffer.from(base64, 'base64')], name, { type }))
    const attachment = await send(by, 'POST', `/cards/${id}/files`, form)
    if (card.cover === name) await send(by, 'PUT', `/cards/${id}/cover`, { attachment_id: attachment.id })
  }
  if (card.done) await send(creator, 'PUT', `/cards/${id}/completion`, { completed: true })
  if (card.archived) await send(creator, 'POST', `/cards/${id}/archive`)
}

/**
 * Begins the creation of the demo data, which happens once per storage. The marker is written before the data, so
 * data that was created in part is not created a second time.
 * @returns `begun` if this process should create the data; otherwise the state of the data that exists
 */
export async function beginDemo({ store, clock, random }: Deps): Promise<'begun' | 'there' | 'unfinished'> {
  return transact(store, GLOBAL, random, async (tx) => {
    const marker = await tx.get(keys.demo())
    if (marker !== undefined) return marker.finished_at === null ? 'unfinished' : 'there'
    tx.put(keys.demo(), { begun_at: timestamp(clock), finished_at: null })
    return 'begun'
  })
}

/** Records that the demo data is complete. */
export async function finishDemo({ store, clock, random }: Deps): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    const marker = (await tx.get(keys.demo()))!
    tx.put(keys.demo(), { ...marker, finished_at: timestamp(clock) })
  })
}
