import { addMember, endMembership } from '../../../src/admin/memberships.ts'
import { revokeToken } from '../../../src/admin/tokens.ts'
import { addUser } from '../../../src/admin/users.ts'
import { createWorkspace } from '../../../src/admin/workspaces.ts'
import { issueToken } from '../../../src/auth/tokens/issue.ts'
import { type Deps, transact } from '../../../src/store/transact.ts'
import { isLinearizable, type Event } from './checker.ts'
import { applyAction, applyUnanswered, people, type Action, type ModelResponse, type Person, type State } from './model.ts'

/** A request without its credentials. */
interface ModelRequest {
  readonly method: string
  readonly path: string
  readonly body?: object | undefined
  /** If-Match */
  readonly match?: string | undefined
}

/** Sends a request to a service, which may consist of several processes. `unanswered`: the response is missing. */
export type Send = (
  request: ModelRequest & { readonly token: string },
) => Promise<'unanswered' | { readonly status: number; readonly tag: string | null; readonly body: any }>

/** A concurrent history: what several clients did, and the responses. */
export interface History {
  readonly initial: State
  readonly events: readonly (Event<State> & { readonly description: string })[]
}

/** The resources that a history uses. */
interface Fixture {
  readonly workspace: string
  readonly users: Readonly<Record<Person, string>>
  readonly tokens: Readonly<Record<string, { readonly id: string; readonly plaintext: string }>>
  readonly board: string
  readonly card: string
}

/** ETags that a client has received. */
type KnownTags = { board?: string; card?: string }

const random = (below: number): number => Math.floor(Math.random() * below)
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!

/** Concurrent clients, including one administrator. */
const CLIENTS = 5
const ACTIONS_PER_CLIENT = 5
const ACTIONS_OF_ADMIN = 2

/**
 * Runs a random history: several concurrent clients, each with a sequence of actions, and an administrator.
 * @param sendSetup sends the requests that create the fixture; it must not lose responses
 */
export async function runHistory(deps: Deps, send: Send, sendSetup = send): Promise<History> {
  const { fixture, initial } = await createFixture(deps, sendSetup)
  const events: History['events'][number][] = []
  let now = 0
  const runClient = async (isAdmin: boolean): Promise<void> => {
    const tags: KnownTags = {}
    for (let i = 0; i < (isAdmin ? ACTIONS_OF_ADMIN : ACTIONS_PER_CLIENT); i++) {
      const action = isAdmin ? adminAction() : clientAction(tags)
      const start = now++
      const response = await perform(deps, send, fixture, action)
      const end = response === 'unanswered' ? Infinity : now++
      const description = `${start}–${end} ${JSON.stringify(action)} → ${JSON.stringify(response)}`
      if (response === 'unanswered')
        events.push({ start, end, description, optional: true, apply: (state) => applyUnanswered(state, action) })
      // This 503 says with certainty that nothing was changed. The other 503 counts as unanswered.
      else if (response.status !== 503)
        events.push({ start, end, description, optional: false, apply: (state) => applyAction(state, action, response) })
      if (response !== 'unanswered' && response.tag !== null && 'who' in action)
        tags[/card|assign/.test(action.kind) ? 'card' : 'board'] = response.tag
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => runClient(i === 0)))
  return { initial, events }
}

/** A description of the history when it is not linearizable, otherwise undefined. */
export function violation({ initial, events }: History): string | undefined {
  if (isLinearizable(initial, events)) return undefined
  const descriptions = events.toSorted((a, b) => a.start - b.start).map((event) => event.description)
  return [`no sequential order explains this history, from ${JSON.stringify(initial)}:`, ...descriptions].join('\n')
}

function adminAction(): Action {
  return random(3) === 0 ? { kind: 'leave', target: pick(people) } : { kind: 'revoke', token: `${pick(people)} ${random(2)}` }
}

function clientAction(tags: KnownTags): Action {
  const who = pick(people)
  const caller = { who, token: `${who} ${random(2)}` }
  const target = pick(['bob', 'cyd'] as const)
  const name = `n${random(1e9)}`
  // A kind that is listed twice is chosen twice as often.
  const kind = pick([
    ...(['read board', 'list boards', 'read card', 'list cards', 'add member', 'remove member', 'unassign'] as const),
    ...(['rename board', 'rename card', 'assign', 'set visibility', 'set visibility', 'rename board', 'rename card', 'assign'] as const),
    ...(random(4) === 0 ? (['delete board'] as const) : []),
  ])
  switch (kind) {
    case 'rename board':
    case 'rename card':
      return { kind, ...caller, name, match: random(2) === 0 ? tags[kind === 'rename card' ? 'card' : 'board'] : undefined }
    case 'set visibility':
      return { kind, who: 'ann', token: `ann ${random(2)}`, private: random(2) === 0 }
    case 'add member':
    case 'remove member':
      return { kind, who: 'ann', token: `ann ${random(2)}`, target }
    case 'assign':
    case 'unassign':
      return { kind, ...caller, target }
    default:
      return { kind, ...caller }
  }
}

async function perform(deps: Deps, send: Send, fixture: Fixture, action: Action): Promise<'unanswered' | ModelResponse> {
  if (action.kind === 'leave')
    return { status: (await endMembership(deps, fixture.workspace, fixture.users[action.target])) ? 200 : 404, tag: null }
  if (action.kind === 'revoke') {
    await revokeToken(deps, fixture.workspace, fixture.tokens[action.token]!.id)
    return { status: 200, tag: null }
  }
  const response = await send({ token: fixture.tokens[action.token]!.plaintext, ...requestOf(action, fixture) })
  if (response === 'unanswered') return 'unanswered'
  const { status, tag, body } = response
  if (status === 412) return { status, tag: body.error.current_etag }
  return { status, tag, content: status < 300 ? contentOf(action, body.data, fixture) : {} }
}

function requestOf(action: Extract<Action, { who: Person }>, { board, card, users }: Fixture): ModelRequest {
  const match = 'match' in action ? action.match : undefined
  switch (action.kind) {
    case 'read board':
      return { method: 'GET', path: `/boards/${board}` }
    case 'list boards':
      return { method: 'GET', path: '/boards' }
    case 'read card':
      return { method: 'GET', path: `/cards/${card}` }
    case 'list cards':
      return { method: 'GET', path: `/boards/${board}/cards` }
    case 'delete board':
      return { method: 'DELETE', path: `/boards/${board}` }
    case 'rename board':
      return { method: 'PATCH', path: `/boards/${board}`, body: { name: action.name }, match }
    case 'rename card':
      return { method: 'PATCH', path: `/cards/${card}`, body: { title: action.name }, match }
    case 'set visibility':
      return { method: 'PUT', path: `/boards/${board}/visibility`, body: { visibility: action.private ? 'private' : 'workspace' } }
    case 'add member':
    case 'remove member':
      return { method: action.kind === 'add member' ? 'PUT' : 'DELETE', path: `/boards/${board}/members/${users[action.target]}` }
    case 'assign':
    case 'unassign':
      return { method: action.kind === 'assign' ? 'PUT' : 'DELETE', path: `/cards/${card}/assignees/${users[action.target]}` }
  }
}

/** The part of a response's data that the model covers. */
function contentOf(action: Action, data: any, { users }: Fixture): Record<string, unknown> {
  if (action.kind === 'list boards') return { boards: data.map(({ name }: { name: string }) => name) }
  const resource = action.kind === 'list cards' ? data[0] : data
  const assignees = resource?.assignee_ids?.map((id: string) => people.find((person) => users[person] === id))
  return { name: resource?.name, private: resource?.visibility === 'private', title: resource?.title, assignees }
}

/** Creates a workspace for one history, in the initial state of the model. */
async function createFixture(deps: Deps, send: Send): Promise<{ fixture: Fixture; initial: State }> {
  const { id: workspace } = await createWorkspace(deps, 'Acme')
  const users: Record<string, string> = {}
  const tokens: Record<string, { id: string; plaintext: string }> = {}
  for (const person of people) {
    const user = await addUser(deps, { display_name: person })
    users[person] = user.id
    await addMember(deps, workspace, user, 'member')
    for (const number of [0, 1]) {
      const tokenRequest = { userId: user.id, name: 'test', scopes: ['kanban:admin'] }
      const { token, plaintext } = await transact(deps.store, workspace, deps.random, (tx) => issueToken(tx, tokenRequest, deps))
      tokens[`${person} ${number}`] = { id: token.id, plaintext }
    }
  }
  const create = async (path: string, body: object) => {
    const response = await send({ token: tokens['ann 0']!.plaintext, method: 'POST', path, body })
    if (response === 'unanswered' || response.status !== 201)
      throw new Error(`the fixture could not be created: ${JSON.stringify(response)}`)
    return { id: response.body.data.id as string, tag: response.tag }
  }
  const board = await create('/boards', { name: 'Board' })
  const column = await create(`/boards/${board.id}/columns`, { name: 'Column' })
  const card = await create(`/boards/${board.id}/cards`, { column_id: column.id, title: 'Card' })
  return {
    fixture: { workspace, users: users as Fixture['users'], tokens, board: board.id, card: card.id },
    initial: {
      gone: [],
      board: { name: 'Board', private: false, members: [], tag: board.tag },
      card: { title: 'Card', assignees: [], tag: card.tag, pending: false },
    },
  }
}
