import { stateOf } from '../../auth/tokens/lifecycle.ts'
import type { Change } from '../../model/change.ts'
import type { Comment } from '../../model/comment.ts'
import { DAY, timestamp } from '../../model/time.ts'
import type { TokenRecord } from '../../model/token.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { isLostAttempt } from '../boards/work.ts'
import type { ListedCard } from '../listed-card.ts'
import { newestTokens, type UsedToken } from '../memberships.ts'
import type { Reader } from '../reader.ts'
import { ifAllowed } from '../workspace/permission.ts'

/** Cards of each kind that are read. */
const CARDS = '100'
/** Boards whose feeds are read, and the changes that are read of each. The boards with the newest changes of cards come first. */
const BOARDS = 8
const CHANGES = '50'
/** Active tokens of a workspace whose use is read for those who may see all of them, and tokens of a person. */
const TOKENS = 500
const OWN_TOKENS = 50

/** A token that worked in the last day. */
export interface Agent {
  readonly id: string
  readonly name: string
  readonly userId: string
  /** the last that is known of it, RFC 3339 */
  seenAt: string
  /** the cards that it holds */
  readonly holds: ListedCard[]
  /** the cards that wait for an answer to a question of it */
  readonly asks: ListedCard[]
  /** attempts that it has failed in the last day, among the changes that were read */
  failures: number
  /** requests since yesterday, in UTC, all and denied ones; undefined: the person may not see that */
  calls?: { readonly all: number; readonly refused: number }
  /** the path of the page that revokes it; undefined: the person may not, or it has ended */
  revoke?: string
  /** whether it was revoked or has expired, as far as the person may know */
  hasEnded?: true
}

/** What a page of agents shows. */
export interface Agents {
  /** those that hold a card first, and then by their names: who looks at the page finds each where it was */
  readonly agents: readonly Agent[]
  /** cards that wait for an answer, and cards that are stuck or were failed */
  readonly waiting: readonly ListedCard[]
  readonly stuck: readonly ListedCard[]
  /** card → its question */
  readonly questions: ReadonlyMap<string, Comment>
  /** whether the use of all tokens is known, and not of the person's own only */
  readonly isComplete: boolean
}

/**
 * Reads who worked in the last day. No index has that. Its sources are the cards that are claimed, the feeds of the boards that were
 * changed last, each as the person may read it, and the counters of use: of all active tokens for those who may see them (row X7), or
 * else of the person's own.
 */
export async function readAgents(reader: Reader, readQuestions: QuestionReader): Promise<Agents> {
  const search = async (query: Readonly<Record<string, string>>) =>
    (await reader.read('cards.search', {}, { limit: CARDS, ...query })).data as readonly ListedCard[]
  const work = (work_state: string) => search({ completed: 'false', include: 'claim,work', work_state })
  const [claimed, waiting, stuck, recent] = await Promise.all([
    work('claimed'),
    work('waiting'),
    work('stuck'),
    search({ sort: 'updated_at' }),
  ])
  const questions = await readQuestions(reader, waiting)
  const found = new FoundAgents(reader.context.web.clock() - DAY)
  for (const card of claimed) if (card.claim != null) found.addClaim(card, card.claim)
  for (const card of waiting) found.addQuestion(card, questions.get(card.id))
  const boards = [...new Set([...claimed, ...recent].map(({ board_id }) => board_id))].slice(0, BOARDS)
  const feeds = await Promise.all(
    boards.map((board_id) => reader.find<readonly Change[]>('boards.changes', { board_id }, { order: 'desc', limit: CHANGES })),
  )
  for (const change of feeds.flatMap((feed) => feed ?? [])) found.addChange(change)
  const { tokens, isComplete, ended } = await readUsed(reader)
  for (const one of tokens) found.addUse(one.token, one.revoke)
  found.markEnded(ended)
  return { agents: found.list(), waiting, stuck, questions, isComplete }
}

/** Reads the questions of cards. */
type QuestionReader = (reader: Reader, cards: readonly ListedCard[]) => Promise<ReadonlyMap<string, Comment>>

/** Active tokens with their use, and the path of the page that revokes each; and which others have ended. */
async function readUsed(reader: Reader) {
  const { context, workspaceId } = reader
  const { web, session } = context
  const decided = await ifAllowed(context, 'workspace.tokens', (tx) => usedTokens(tx, web.clock()))
  if ('result' in decided) {
    const path = `/settings/workspace/${workspaceId}/tokens`
    const active = new Set(decided.result.map(({ id }) => id))
    return {
      isComplete: true,
      tokens: decided.result.map((token) => ({ token, revoke: `${path}/${token.id}/revoke` })),
      ended: (id: string) => decided.result.length < TOKENS && !active.has(id),
    }
  }
  const own = await reader.transact((tx) => newestTokens(tx, session.user_id, OWN_TOKENS, web.clock))
  const isUsable = (token: UsedToken) => stateOf(token, web.clock()) === 'active'
  const others = new Set(own.filter((token) => !isUsable(token)).map(({ id }) => id))
  return {
    isComplete: false,
    tokens: own.filter(isUsable).map((token) => ({ token, revoke: `/settings/tokens/${workspaceId}/${token.id}/revoke` })),
    ended: (id: string) => others.has(id),
  }
}

/** The active tokens of a workspace, from one index, with the use of each. */
async function usedTokens(tx: Transaction, now: number): Promise<readonly UsedToken[]> {
  const { values } = await tx.range(indexes.endingTokens(), { after: timestamp(() => now), limit: TOKENS, weak: true })
  const tokens = values.filter((token): token is TokenRecord => token !== undefined && stateOf(token, now) === 'active')
  const uses = await tx.read(tokens.map(({ hash }) => keys.tokenUse(hash)))
  return tokens.map((token, i) => ({ ...token, use: uses[i] ?? null }))
}

/** Joins what is known of tokens from several sources. */
class FoundAgents {
  readonly #agents = new Map<string, Agent>()
  /** RFC 3339 */
  readonly #since: string

  /** @param since milliseconds since 1970: what is older does not count */
  constructor(since: number) {
    this.#since = timestamp(() => since)
  }

  addClaim(card: ListedCard, { token_id, token_name, holder_id, renewed_at }: NonNullable<ListedCard['claim']>): void {
    this.#seen(token_id, token_name, holder_id, renewed_at).holds.push(card)
  }

  addQuestion(card: ListedCard, question: Comment | undefined): void {
    if (question?.token_id == null) return
    // Whoever waits for an answer is shown, however long ago it asked.
    this.#seen(question.token_id, question.token_name ?? 'A token', question.author_id, question.created_at).asks.push(card)
  }

  addChange(change: Change): void {
    const { token_id, token_name, actor_id, at, kind, action } = change
    if (token_id === null || actor_id === null || at < this.#since) return
    const agent = this.#seen(token_id, token_name ?? 'A token', actor_id, at)
    if (kind === 'work' && action === 'failed' && !isLostAttempt(change)) agent.failures++
  }

  addUse({ id, name, user_id, use }: UsedToken, revoke: string): void {
    const isUsed = use !== null && use.at >= this.#since
    if (!isUsed && !this.#agents.has(id)) return
    const agent = this.#seen(id, name, user_id, use?.at ?? '')
    const days = use?.days?.filter(({ day }) => day >= this.#since.slice(0, 10)) ?? []
    agent.calls = days.reduce((sum, { calls, refusals }) => ({ all: sum.all + calls, refused: sum.refused + refusals }), {
      all: 0,
      refused: 0,
    })
    agent.revoke = revoke
  }

  /** @param hasEnded whether the person may know that a token has ended */
  markEnded(hasEnded: (id: string) => boolean): void {
    for (const agent of this.#agents.values()) if (hasEnded(agent.id)) agent.hasEnded = true
  }

  list(): readonly Agent[] {
    return [...this.#agents.values()].toSorted(
      (a, b) => Math.sign(b.holds.length) - Math.sign(a.holds.length) || a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1),
    )
  }

  #seen(id: string, name: string, userId: string, at: string): Agent {
    let agent = this.#agents.get(id)
    if (agent === undefined) this.#agents.set(id, (agent = { id, name, userId, seenAt: at, holds: [], asks: [], failures: 0 }))
    else if (agent.seenAt < at) agent.seenAt = at
    return agent
  }
}
