import type { Person, Service } from '../../support/service.ts'
import type { Model, ModelBoard, ModelCard, ModelColumn, Outcome } from './model.ts'

/** A step of a history. `actor`, `a`, `b` and `c` are numbers that select among the existing people and resources. */
export interface Step {
  readonly kind: string
  readonly actor: number
  readonly a: number
  readonly b: number
  readonly c: number
}

/** What a history runs on: a service, the people of one workspace, and the model of the workspace. */
export interface Fixture {
  readonly service: Service
  readonly people: readonly Person[]
  readonly model: Model
}

/** A request with the outcome that the model expects. `apply` updates the model after a success. */
export interface PlannedRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly form?: FormData
  readonly expected: Outcome
  readonly apply: (data: any) => void
}

/** Plans a request of one kind. @returns undefined when there is nothing to request */
export type Planner = (selection: Selection, step: Step, fixture: Fixture) => PlannedRequest | undefined

/** The people and resources that a step refers to. */
export interface Selection {
  readonly person: Person
  readonly otherPerson: Person
  readonly board: ModelBoard
  readonly column: ModelColumn
  readonly card: ModelCard
  readonly otherCard: ModelCard
  readonly otherColumn: ModelColumn
  readonly label: string
  /** the outcome of a request about the board that every user who can see it may make, that only its creator may make, and about the card */
  readonly onBoard: Outcome
  readonly ofCreator: Outcome
  readonly onCard: Outcome
}

/** Selected when there is no resource of the kind. */
const ABSENT_LABEL = 'lbl_00000000000000000000'
export const absentCard: ModelCard = {
  id: 'crd_00000000000000000000',
  title: '',
  archived: false,
  done: false,
  assignees: [],
  labels: [],
  subtasks: [],
  comments: [],
  attachments: [],
  cover: null,
}
export const absentColumn: ModelColumn = { id: 'col_00000000000000000000', archived: false, cards: [] }
const absentBoard: ModelBoard = { id: 'brd_00000000000000000000', creator: '', private: true, members: [], labels: [], columns: [] }

export const pick = <T>(list: readonly T[], n: number, fallback: T): T => (list.length === 0 ? fallback : list[n % list.length]!)

export function select({ people, model }: Fixture, { actor, a, b, c }: Step): Selection {
  const board = pick(model.boards, a, absentBoard)
  const cards = board.columns.flatMap((column) => column.cards)
  const card = pick(cards, b, absentCard)
  const person = people[actor % people.length]!
  const onBoard = failIf(!model.canSee(person.id, board), 404)
  return {
    person,
    otherPerson: people[c % people.length]!,
    board,
    column: board.columns.find((column) => column.cards.includes(card)) ?? pick(board.columns, b, absentColumn),
    card,
    otherCard: pick(cards, c, absentCard),
    otherColumn: pick(board.columns, c, absentColumn),
    label: pick(board.labels, c, ABSENT_LABEL),
    onBoard,
    ofCreator: first(onBoard, failIf(board.creator !== person.id, 403)),
    onCard: first(exists(card), onBoard),
  }
}

/** The first outcome that is not ok. */
export const first = (...outcomes: Outcome[]): Outcome => outcomes.find((outcome) => outcome !== 'ok') ?? 'ok'

/** 404 for an absent resource. */
export const exists = (resource: unknown): Outcome =>
  ([undefined, absentCard, absentColumn, absentBoard, ABSENT_LABEL] as unknown[]).includes(resource) ? 404 : 'ok'

export const failIf = (condition: boolean, outcome: Outcome): Outcome => (condition ? outcome : 'ok')
