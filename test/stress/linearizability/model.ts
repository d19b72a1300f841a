/** A board with one card and three people, as one would explain it: no storage, no policy engine. */

export const people = ['ann', 'bob', 'cyd'] as const
export type Person = (typeof people)[number]
/** An ETag; null where it is a new one that nobody was told yet. */
type Tag = string | null

export interface State {
  /** of people who left, and of tokens that were revoked */
  readonly gone: readonly string[]
  /** Ann made it. null once it is deleted */
  readonly board: { readonly name: string; readonly private: boolean; readonly members: readonly Person[]; readonly tag: Tag } | null
  readonly card: { readonly title: string; readonly assignees: readonly Person[]; readonly tag: Tag }
}

/** What is asked for, over HTTP with a token, or by the operator. */
export type Action =
  | { readonly kind: 'leave'; readonly target: Person }
  | { readonly kind: 'revoke'; readonly token: string }
  | (By & { readonly kind: 'read board' | 'list boards' | 'delete board' | 'read card' | 'list cards' })
  | (By & { readonly kind: 'rename board' | 'rename card'; readonly name: string; readonly match?: string | undefined })
  | (By & { readonly kind: 'set visibility'; readonly private: boolean })
  | (By & { readonly kind: 'add member' | 'remove member' | 'assign' | 'unassign'; readonly target: Person })
type By = { readonly who: Person; readonly token: string }

/** What it was answered. */
export interface ModelAnswer {
  readonly status: number
  readonly tag: string | null
  /** what the body shows of the model: of the board, of the card, or how many there are */
  readonly shown?: Record<string, unknown>
}

/** What the model says to a deed: the status, what there is afterwards, what is shown, and whose ETag goes with it. */
interface Verdict {
  readonly status: number
  readonly next?: State
  readonly shown?: Record<string, unknown>
  readonly tagged?: 'board' | 'card'
}

/** What there is after a deed that was answered so; undefined where it cannot have been. */
export function applyAction(state: State, deed: Action, answer: ModelAnswer): State | undefined {
  const verdict = judge(state, deed)
  if (verdict.status !== answer.status) return undefined
  for (const [name, value] of Object.entries(verdict.shown ?? {}))
    if (JSON.stringify(answer.shown?.[name]) !== JSON.stringify(value)) return undefined
  const next = verdict.next ?? state
  return verdict.tagged === undefined ? next : withTag(next, verdict.tagged, answer.tag)
}

/** What there is after a deed of which nobody knows how it was answered. */
export function applyUnanswered(state: State, deed: Action): State {
  return judge(state, deed).next ?? state
}

/** An ETag that is known must be what is answered; one that nobody was told yet is known from now on. */
function withTag(state: State, of: 'board' | 'card', tag: string | null): State | undefined {
  const known = state[of]!.tag
  if (known !== null) return known === tag ? state : undefined
  return { ...state, [of]: { ...state[of], tag } }
}

function judge(state: State, deed: Action): Verdict {
  if (deed.kind === 'leave') return judgeLeave(state, deed.target)
  if (deed.kind === 'revoke') return { status: 200, next: { ...state, gone: [...new Set([...state.gone, deed.token])].toSorted() } }
  if (state.gone.includes(deed.who) || state.gone.includes(deed.token)) return { status: 401 }
  if (deed.kind === 'list boards') return { status: 200, shown: { boards: sees(state, deed.who) ? [state.board!.name] : [] } }
  if (!sees(state, deed.who)) return { status: 404 }
  const board = state.board!
  switch (deed.kind) {
    case 'read board':
      return { status: 200, shown: boardShown(board), tagged: 'board' }
    case 'read card':
      return { status: 200, shown: state.card && cardShown(state), tagged: 'card' }
    case 'list cards':
      return { status: 200, shown: cardShown(state) }
    case 'rename board': {
      if (deed.match !== undefined && deed.match !== board.tag) return { status: 412, tagged: 'board' }
      const renamed = { ...board, name: deed.name, tag: null }
      return { status: 200, next: { ...state, board: renamed }, shown: boardShown(renamed), tagged: 'board' }
    }
    case 'rename card': {
      if (deed.match !== undefined && deed.match !== state.card.tag) return { status: 412, tagged: 'card' }
      const next = { ...state, card: { ...state.card, title: deed.name, tag: null } }
      return { status: 200, next, shown: cardShown(next), tagged: 'card' }
    }
    case 'set visibility': {
      if (deed.who !== 'ann') return { status: 403 }
      if (deed.private === board.private) return { status: 200, shown: boardShown(board), tagged: 'board' }
      const changed = { ...board, private: deed.private, tag: null }
      return { status: 200, next: unassignWhoLost({ ...state, board: changed }), shown: boardShown(changed), tagged: 'board' }
    }
    case 'delete board':
      return deed.who === 'ann' ? { status: 200, next: { ...state, board: null } } : { status: 403 }
    case 'add member':
      if (state.gone.includes(deed.target)) return { status: 404 }
      if (deed.who !== 'ann') return { status: 403 }
      return { status: 200, next: withMembers(state, [...board.members, deed.target]), tagged: 'board' }
    case 'remove member':
      if (!board.members.includes(deed.target)) return { status: 404 }
      if (deed.who !== 'ann') return { status: 403 }
      return {
        status: 200,
        next: unassignWhoLost(
          withMembers(
            state,
            board.members.filter((person) => person !== deed.target),
          ),
        ),
        tagged: 'board',
      }
    case 'assign': {
      if (!sees(state, deed.target)) return { status: 404 }
      const next = withAssignees(state, [...state.card.assignees, deed.target])
      return { status: 200, next, shown: cardShown(next), tagged: 'card' }
    }
    case 'unassign': {
      if (!state.card.assignees.includes(deed.target)) return { status: 404 }
      const next = withAssignees(
        state,
        state.card.assignees.filter((person) => person !== deed.target),
      )
      return { status: 200, next, tagged: 'card' }
    }
  }
}

/** Leaving ends the tokens, the explicit memberships and the assignments of a person, at one moment. */
function judgeLeave(state: State, target: Person): Verdict {
  if (state.gone.includes(target)) return { status: 404 }
  const without = <T extends string>(list: readonly T[]) => list.filter((person) => person !== target)
  const next = state.board === null ? state : withMembers(state, without(state.board.members))
  return { status: 200, next: withAssignees({ ...next, gone: [...next.gone, target].toSorted() }, without(next.card.assignees)) }
}

function sees({ gone, board }: State, person: Person): boolean {
  return board !== null && !gone.includes(person) && (!board.private || person === 'ann' || board.members.includes(person))
}

function unassignWhoLost(state: State): State {
  return withAssignees(
    state,
    state.card.assignees.filter((person) => sees(state, person)),
  )
}

function withMembers(state: State, members: readonly Person[]): State {
  return { ...state, board: { ...state.board!, members: [...new Set(members)].filter((person) => person !== 'ann').toSorted() } }
}

function withAssignees(state: State, assignees: readonly Person[]): State {
  const distinct = [...new Set(assignees)]
  return distinct.length === state.card.assignees.length ? state : { ...state, card: { ...state.card, assignees: distinct, tag: null } }
}

function boardShown(board: NonNullable<State['board']>): Record<string, unknown> {
  return { name: board.name, private: board.private }
}

function cardShown({ card }: State): Record<string, unknown> {
  return { title: card.title, assignees: card.assignees }
}
