/** A sequential model of the service: one board with one card and three users, without storage or policy engine. */

export const people = ['ann', 'bob', 'cyd'] as const
export type Person = (typeof people)[number]
/** An ETag; null for a new one that no response has contained yet. */
type Tag = string | null

export interface State {
  /** users who have left the workspace, and revoked tokens */
  readonly gone: readonly string[]
  /** created by Ann; null once it is deleted */
  readonly board: { readonly name: string; readonly private: boolean; readonly members: readonly Person[]; readonly tag: Tag } | null
  readonly card: {
    readonly title: string
    readonly assignees: readonly Person[]
    readonly tag: Tag
    /** whether the record still has the assignment of somebody who has left */
    readonly pending: boolean
  }
}

/** An action: a request with a token, or an admin action. */
export type Action =
  | { readonly kind: 'leave'; readonly target: Person }
  | { readonly kind: 'revoke'; readonly token: string }
  | (Caller & { readonly kind: 'read board' | 'list boards' | 'delete board' | 'read card' | 'list cards' })
  | (Caller & { readonly kind: 'rename board' | 'rename card'; readonly name: string; readonly match?: string | undefined })
  | (Caller & { readonly kind: 'set visibility'; readonly private: boolean })
  | (Caller & { readonly kind: 'add member' | 'remove member' | 'assign' | 'unassign'; readonly target: Person })
interface Caller {
  readonly who: Person
  readonly token: string
}

/** The response to an action. */
export interface ModelResponse {
  readonly status: number
  readonly tag: string | null
  /** the part of the body that the model covers */
  readonly content?: Record<string, unknown>
}

/** The response that the model expects, and the state afterwards. */
interface Expected {
  readonly status: number
  /** undefined when the state does not change */
  readonly next?: State
  readonly content?: Record<string, unknown>
  /** the resource whose ETag the response has */
  readonly tagged?: 'board' | 'card'
}

/** The state after an action; undefined when the response is not possible in the given state. */
export function applyAction(state: State, action: Action, response: ModelResponse): State | undefined {
  const expected = expectedResponse(state, action)
  if (expected.status !== response.status) return undefined
  for (const [name, value] of Object.entries(expected.content ?? {}))
    if (JSON.stringify(response.content?.[name]) !== JSON.stringify(value)) return undefined
  const next = expected.next ?? state
  return expected.tagged === undefined ? next : withTag(next, expected.tagged, response.tag)
}

/** The state after an action without a response. */
export function applyUnanswered(state: State, action: Action): State {
  return expectedResponse(state, action).next ?? state
}

/** A known ETag must match the response. An ETag that is not known yet is learnt from the response. */
function withTag(state: State, resource: 'board' | 'card', tag: string | null): State | undefined {
  const known = state[resource]!.tag
  if (known !== null) return known === tag ? state : undefined
  return { ...state, [resource]: { ...state[resource], tag } }
}

function expectedResponse(state: State, action: Action): Expected {
  if (action.kind === 'leave') return expectedOfLeave(state, action.target)
  if (action.kind === 'revoke') return { status: 200, next: { ...state, gone: [...new Set([...state.gone, action.token])].toSorted() } }
  if (state.gone.includes(action.who) || state.gone.includes(action.token)) return { status: 401 }
  if (action.kind === 'list boards') return { status: 200, content: { boards: canSee(state, action.who) ? [state.board!.name] : [] } }
  if (!canSee(state, action.who)) return { status: 404 }
  const board = state.board!
  switch (action.kind) {
    case 'read board':
      return { status: 200, content: boardContent(board), tagged: 'board' }
    case 'read card':
      return { status: 200, content: state.card && cardContent(state), tagged: 'card' }
    case 'list cards':
      return { status: 200, content: cardContent(state) }
    case 'rename board': {
      if (action.match !== undefined && action.match !== board.tag) return { status: 412, tagged: 'board' }
      const renamed = { ...board, name: action.name, tag: null }
      return { status: 200, next: { ...state, board: renamed }, content: boardContent(renamed), tagged: 'board' }
    }
    case 'rename card': {
      if (action.match !== undefined && action.match !== state.card.tag) return { status: 412, tagged: 'card' }
      const next = { ...state, card: { ...state.card, title: action.name, tag: null } }
      return { status: 200, next, content: cardContent(next), tagged: 'card' }
    }
    case 'set visibility': {
      if (action.who !== 'ann') return { status: 403 }
      if (action.private === board.private) return { status: 200, content: boardContent(board), tagged: 'board' }
      const changed = { ...board, private: action.private, tag: null }
      const next = withoutPending(withoutInvisibleAssignees({ ...state, board: changed }))
      return { status: 200, next, content: boardContent(changed), tagged: 'board' }
    }
    case 'delete board':
      return action.who === 'ann' ? { status: 200, next: { ...state, board: null } } : { status: 403 }
    case 'add member':
      if (state.gone.includes(action.target)) return { status: 404 }
      if (action.who !== 'ann') return { status: 403 }
      return { status: 200, next: withMembers(state, [...board.members, action.target]), tagged: 'board' }
    case 'remove member': {
      if (!board.members.includes(action.target)) return { status: 404 }
      if (action.who !== 'ann') return { status: 403 }
      const members = board.members.filter((person) => person !== action.target)
      return { status: 200, next: withoutInvisibleAssignees(withMembers(state, members)), tagged: 'board' }
    }
    case 'assign': {
      if (!canSee(state, action.target)) return { status: 404 }
      const next = withAssignees(state, [...state.card.assignees, action.target])
      return { status: 200, next, content: cardContent(next), tagged: 'card' }
    }
    case 'unassign': {
      if (!state.card.assignees.includes(action.target)) return { status: 404 }
      const assignees = state.card.assignees.filter((person) => person !== action.target)
      return { status: 200, next: withAssignees(state, assignees), tagged: 'card' }
    }
  }
}

/**
 * Leaving ends the tokens, the explicit memberships and the assignments of a user atomically. Its commit changes one more record: an
 * assignment is pending if a membership of the board was removed.
 */
function expectedOfLeave(state: State, target: Person): Expected {
  if (state.gone.includes(target)) return { status: 404 }
  const withoutTarget = <T extends string>(list: readonly T[]) => list.filter((person) => person !== target)
  const { board, card } = state
  const next = board === null ? state : withMembers(state, withoutTarget(board.members))
  const left = withAssignees({ ...next, gone: [...next.gone, target].toSorted() }, withoutTarget(card.assignees))
  const pending = card.pending || (board?.members.includes(target) === true && card.assignees.includes(target))
  return { status: 200, next: { ...left, card: { ...left.card, pending } } }
}

/** Whoever looks for assignments that have ended finds those that are pending, and writes the card. */
function withoutPending(state: State): State {
  return state.card.pending ? { ...state, card: { ...state.card, pending: false, tag: null } } : state
}

function canSee({ gone, board }: State, person: Person): boolean {
  return board !== null && !gone.includes(person) && (!board.private || person === 'ann' || board.members.includes(person))
}

function withoutInvisibleAssignees(state: State): State {
  return withAssignees(
    state,
    state.card.assignees.filter((person) => canSee(state, person)),
  )
}

function withMembers(state: State, members: readonly Person[]): State {
  return { ...state, board: { ...state.board!, members: [...new Set(members)].filter((person) => person !== 'ann').toSorted() } }
}

function withAssignees(state: State, assignees: readonly Person[]): State {
  const distinct = [...new Set(assignees)]
  return distinct.length === state.card.assignees.length ? state : { ...state, card: { ...state.card, assignees: distinct, tag: null } }
}

function boardContent(board: NonNullable<State['board']>): Record<string, unknown> {
  return { name: board.name, private: board.private }
}

function cardContent({ card }: State): Record<string, unknown> {
  return { title: card.title, assignees: card.assignees }
}
