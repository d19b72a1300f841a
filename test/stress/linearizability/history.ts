import { addMember, endMembership } from '../../../src/admin/memberships.ts'
import { revokeToken } from '../../../src/admin/tokens.ts'
import type { Deps } from '../../../src/admin/deps.ts'
import { addUser } from '../../../src/admin/users.ts'
import { createWorkspace } from '../../../src/admin/workspaces.ts'
import { transact } from '../../../src/store/transact.ts'
import { issueToken } from '../../../src/auth/tokens/issue.ts'
import { isLinearizable, type Event } from './checker.ts'
import { applyAction, applyUnanswered, people, type ModelAnswer, type Action, type Person, type State } from './model.ts'

/** A request, without who makes it. */
interface Wanted {
  readonly method: string
  readonly path: string
  readonly body?: object | undefined
  /** If-Match */
  readonly match?: string | undefined
}

/** How requests get to a service, which may be several processes; `lost` where the connection went before the answer. */
export type Send = (
  request: Wanted & { readonly token: string },
) => Promise<'lost' | { readonly status: number; readonly tag: string | null; readonly body: any }>

/** A history that was lived through. */
export interface History {
  readonly initial: State
  readonly events: readonly (Event<State> & { readonly told: string })[]
}

interface Ground {
  readonly workspace: string
  readonly users: Readonly<Record<Person, string>>
  readonly tokens: Readonly<Record<string, { readonly id: string; readonly plaintext: string }>>
  readonly board: string
  readonly card: string
}

const random = (below: number): number => Math.floor(Math.random() * below)
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!

const CLIENTS = 5
const DEEDS = 5

/**
 * Lives through a random history: several clients at once, each doing one thing after the other, and the operator among them.
 * @param begin how the beginning is made, where the way of all others loses requests
 */
export async function live(tools: Deps, send: Send, begin = send): Promise<History> {
  const { ground, initial } = await prepare(tools, begin)
  const events: History['events'][number][] = []
  let now = 0
  const client = async (operator: boolean): Promise<void> => {
    const seen: { board?: string; card?: string } = {}
    for (let i = 0; i < (operator ? 2 : DEEDS); i++) {
      const deed = operator ? interfere() : choose(seen)
      const start = now++
      const answer = await act(tools, send, ground, deed)
      const end = answer === 'lost' ? Infinity : now++
      const told = `${start}–${end} ${JSON.stringify(deed)} → ${JSON.stringify(answer)}`
      if (answer === 'lost') events.push({ start, end, told, optional: true, apply: (state) => applyUnanswered(state, deed) })
      // 503 says with certainty that nothing was done, or it counts as lost.
      else if (answer.status !== 503) events.push({ start, end, told, optional: false, apply: (state) => applyAction(state, deed, answer) })
      if (answer !== 'lost' && answer.tag !== null && 'who' in deed) seen[/card|assign/.test(deed.kind) ? 'card' : 'board'] = answer.tag
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i === 0)))
  return { initial, events }
}

/** What was told, where no order explains it; undefined where one does. */
export function violation({ initial, events }: History): string | undefined {
  if (isLinearizable(initial, events)) return undefined
  const told = events.toSorted((a, b) => a.start - b.start).map((event) => event.told)
  return [`no order explains this, from ${JSON.stringify(initial)}:`, ...told].join('\n')
}

function interfere(): Action {
  return random(3) === 0 ? { kind: 'leave', target: pick(people) } : { kind: 'revoke', token: `${pick(people)} ${random(2)}` }
}

function choose(seen: { board?: string; card?: string }): Action {
  const who = pick(people)
  const by = { who, token: `${who} ${random(2)}` }
  const target = pick(['bob', 'cyd'] as const)
  const name = `n${random(1e9)}`
  const kind = pick([
    ...(['read board', 'list boards', 'read card', 'list cards', 'add member', 'remove member', 'unassign'] as const),
    ...(['rename board', 'rename card', 'assign', 'set visibility', 'set visibility', 'rename board', 'rename card', 'assign'] as const),
    ...(random(4) === 0 ? (['delete board'] as const) : []),
  ])
  switch (kind) {
    case 'rename board':
    case 'rename card':
      return { kind, ...by, name, match: random(2) === 0 ? seen[kind === 'rename card' ? 'card' : 'board'] : undefined }
    case 'set visibility':
      return { kind, who: 'ann', token: `ann ${random(2)}`, private: random(2) === 0 }
    case 'add member':
    case 'remove member':
      return { kind, who: 'ann', token: `ann ${random(2)}`, target }
    case 'assign':
    case 'unassign':
      return { kind, ...by, target }
    default:
      return { kind, ...by }
  }
}

async function act(tools: Deps, send: Send, ground: Ground, deed: Action): Promise<'lost' | ModelAnswer> {
  if (deed.kind === 'leave')
    return { status: (await endMembership(tools, ground.workspace, ground.users[deed.target])) ? 200 : 404, tag: null }
  if (deed.kind === 'revoke') {
    await revokeToken(tools, ground.workspace, ground.tokens[deed.token]!.id)
    return { status: 200, tag: null }
  }
  const answer = await send({ token: ground.tokens[deed.token]!.plaintext, ...requestOf(deed, ground) })
  if (answer === 'lost') return 'lost'
  const { status, tag, body } = answer
  if (status === 412) return { status, tag: body.error.current_etag }
  return { status, tag, shown: status < 300 ? show(deed, body.data, ground) : {} }
}

function requestOf(deed: Extract<Action, { who: Person }>, { board, card, users }: Ground): Wanted {
  const match = 'match' in deed ? deed.match : undefined
  switch (deed.kind) {
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
      return { method: 'PATCH', path: `/boards/${board}`, body: { name: deed.name }, match }
    case 'rename card':
      return { method: 'PATCH', path: `/cards/${card}`, body: { title: deed.name }, match }
    case 'set visibility':
      return { method: 'PUT', path: `/boards/${board}/visibility`, body: { visibility: deed.private ? 'private' : 'workspace' } }
    case 'add member':
    case 'remove member':
      return { method: deed.kind === 'add member' ? 'PUT' : 'DELETE', path: `/boards/${board}/members/${users[deed.target]}` }
    case 'assign':
    case 'unassign':
      return { method: deed.kind === 'assign' ? 'PUT' : 'DELETE', path: `/cards/${card}/assignees/${users[deed.target]}` }
  }
}

function show(deed: Action, data: any, { users }: Ground): Record<string, unknown> {
  if (deed.kind === 'list boards') return { boards: data.map(({ name }: { name: string }) => name) }
  const thing = deed.kind === 'list cards' ? data[0] : data
  const assignees = thing?.assignee_ids?.map((id: string) => people.find((person) => users[person] === id))
  return { name: thing?.name, private: thing?.visibility === 'private', title: thing?.title, assignees }
}

/** A workspace of its own for each history, with what the model begins with. */
async function prepare(tools: Deps, send: Send): Promise<{ ground: Ground; initial: State }> {
  const { id: workspace } = await createWorkspace(tools, 'Acme')
  const users: Record<string, string> = {}
  const tokens: Record<string, { id: string; plaintext: string }> = {}
  for (const person of people) {
    const user = await addUser(tools, { display_name: person })
    users[person] = user.id
    await addMember(tools, workspace, user, 'member')
    for (const number of [0, 1]) {
      const wanted = { userId: user.id, name: 'test', scopes: ['kanban:admin'] }
      const { token, plaintext } = await transact(tools.store, workspace, tools.random, (tx) =>
        issueToken(tx, wanted, tools.clock, tools.random),
      )
      tokens[`${person} ${number}`] = { id: token.id, plaintext }
    }
  }
  const make = async (path: string, body: object) => {
    const made = await send({ token: tokens['ann 0']!.plaintext, method: 'POST', path, body })
    if (made === 'lost' || made.status !== 201) throw new Error(`the beginning could not be made: ${JSON.stringify(made)}`)
    return { id: made.body.data.id as string, tag: made.tag }
  }
  const board = await make('/boards', { name: 'Board' })
  const column = await make(`/boards/${board.id}/columns`, { name: 'Column' })
  const card = await make(`/boards/${board.id}/cards`, { column_id: column.id, title: 'Card' })
  const ground: Ground = { workspace, users: users as Ground['users'], tokens, board: board.id, card: card.id }
  return {
    ground,
    initial: {
      gone: [],
      board: { name: 'Board', private: false, members: [], tag: board.tag },
      card: { title: 'Card', assignees: [], tag: card.tag },
    },
  }
}
