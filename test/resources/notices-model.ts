/** Who must know of what, as src/http/notices.md says it. Written without the code of the service. */

/** The people of a history, by their places. The first two create the boards, and their memberships never end. */
export type Name = number
/** How somebody does something: in the web app, or with one of two tokens. */
export type Way = 'web' | 'one' | 'two'

export interface Doer {
  readonly who: Name
  readonly way: Way
}

export interface ModelBoard {
  readonly id: string
  readonly column: string
  readonly creator: Name
  isPrivate: boolean
  readonly members: Set<Name>
}

export interface ModelCard {
  readonly id: string
  readonly board: ModelBoard
  readonly creator: Name
  assignees: Set<Name>
  mentioned: readonly Name[]
  comments: ModelComment[]
  attempts: number
  /** in milliseconds since 1970 */
  due: number | undefined
  isTold: boolean
}

export interface ModelComment {
  readonly id: string
  readonly author: Name
  readonly card: ModelCard
  readonly isQuestion: boolean
  mentioned: readonly Name[]
  isAnswered: boolean
}

/** A notice as the list shows it, and what it depends on. */
interface ModelNotice {
  readonly kind: string
  readonly card: ModelCard
  readonly comment: ModelComment | undefined
  readonly by: Doer | undefined
  /** which membership of its person it belongs to */
  readonly membership: number
}

const DAY = 24 * 60 * 60 * 1000
export const ATTEMPTS = 2

/** Each kind with those who may get it: the first that fits is the one. */
type Wanted = readonly (readonly [kind: string, people: readonly Name[]])[]

export class Model {
  readonly cards: ModelCard[] = []
  readonly boards: ModelBoard[] = []
  /** how many memberships each person has had; negative: the last one has ended */
  readonly memberships: number[]
  readonly #notices: ModelNotice[][]

  constructor(people: number) {
    this.memberships = Array.from({ length: people }, () => 1)
    this.#notices = Array.from({ length: people }, () => [])
  }

  isActive = (who: Name) => this.memberships[who]! > 0

  mayRead(who: Name, { isPrivate, creator, members }: ModelBoard): boolean {
    return this.isActive(who) && (!isPrivate || creator === who || members.has(who))
  }

  assign(card: ModelCard, whom: readonly Name[], by: Doer): void {
    const added = whom.filter((one) => !card.assignees.has(one))
    for (const one of added) card.assignees.add(one)
    this.#tell([['assigned', added]], card, by)
  }

  create(card: ModelCard, by: Doer): void {
    this.cards.push(card)
    this.#tell(
      [
        ['assigned', [...card.assignees]],
        ['mentioned', card.mentioned],
      ],
      card,
      by,
    )
  }

  describe(card: ModelCard, mentioned: readonly Name[], by: Doer): void {
    const added = mentioned.filter((one) => !card.mentioned.includes(one))
    card.mentioned = mentioned
    this.#tell([['mentioned', added]], card, by)
  }

  comment(comment: ModelComment, by: Doer, answered?: ModelComment): void {
    const { card, isQuestion, mentioned } = comment
    const commenters = card.comments.map(({ author }) => author).filter((one) => one !== by.who)
    const first: Wanted = isQuestion
      ? [['question', this.#peopleOf(card)]]
      : answered === undefined
        ? []
        : [['answered', [answered.author]]]
    if (answered !== undefined) answered.isAnswered = true
    card.comments.push(comment)
    this.#tell([...first, ['mentioned', mentioned], ['commented', [...card.assignees, ...commenters]]], card, by, comment)
  }

  edit(comment: ModelComment, mentioned: readonly Name[], by: Doer): void {
    const added = mentioned.filter((one) => !comment.mentioned.includes(one))
    comment.mentioned = mentioned
    this.#tell([['mentioned', added]], comment.card, by, comment)
  }

  fail(card: ModelCard, by: Doer): void {
    if (++card.attempts === ATTEMPTS) this.#tell([['card_stuck', this.#peopleOf(card)]], card, by)
  }

  /** Time tells of what is due within a day, by the times in the order in which they come. */
  look(now: number): void {
    for (const card of this.cards.toSorted((a, b) => (a.due ?? 0) - (b.due ?? 0))) {
      if (card.due === undefined || card.isTold || card.due <= now || card.due > now + DAY) continue
      card.isTold = true
      this.#tell([['due', this.#peopleOf(card)]], card, undefined)
    }
  }

  /** Whoever may not read a board any more is assigned to none of its cards. */
  unassign(board: ModelBoard): void {
    for (const card of this.cards)
      if (card.board === board) card.assignees = new Set([...card.assignees].filter((one) => this.mayRead(one, board)))
  }

  end(who: Name): void {
    this.memberships[who] = -this.memberships[who]!
    for (const { members } of this.boards) members.delete(who)
    for (const { assignees } of this.cards) assignees.delete(who)
  }

  rejoin(who: Name): void {
    this.memberships[who] = 1 - this.memberships[who]!
  }

  /** The notices that a person sees now, the oldest first. */
  shownTo(who: Name) {
    return this.#notices[who]!.filter(
      ({ card, comment, membership }) =>
        membership === this.memberships[who] &&
        this.mayRead(who, card.board) &&
        this.cards.includes(card) &&
        (comment === undefined || card.comments.includes(comment)),
    )
  }

  /** Whose card it is: so each question reaches somebody. */
  #peopleOf({ assignees, creator, board }: ModelCard): readonly Name[] {
    if (assignees.size > 0) return [...assignees]
    return [this.mayRead(creator, board) ? creator : board.creator]
  }

  #tell(wanted: Wanted, card: ModelCard, by: Doer | undefined, comment?: ModelComment): void {
    for (const [who, notices] of this.#notices.entries()) {
      const [kind] = wanted.find(([, people]) => people.includes(who)) ?? []
      const isSelf = by?.way === 'web' && by.who === who
      if (kind !== undefined && this.mayRead(who, card.board) && !isSelf)
        notices.push({ kind, card, comment, by, membership: this.memberships[who]! })
    }
  }
}
