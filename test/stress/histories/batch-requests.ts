import { seededRandom } from '../../support/random.ts'
import { reposition, type ModelCard, type ModelColumn } from './model.ts'
import { absentCard, pick, type Planner } from './selection.ts'

/** An operation, and numbers that select what it names. */
export interface Choice {
  /** one of {@link placementKinds} */
  readonly kind: string
  /** the column, the card or the card of the subtask that it is about */
  readonly item: number
  /** the column of a card, or the subtask */
  readonly list: number
  /** the place in the list: an end, or beside a neighbor */
  readonly side: number
  readonly neighbor: number
}

interface BatchItem {
  readonly operation: string
  readonly params?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Adds an operation to a batch: changes the lists as it must, and returns what to send. @param id of the record that it creates */
type Plan = (columns: ModelColumn[], choice: Choice, id: string) => BatchItem | undefined

interface Destination {
  readonly before?: string
  readonly after?: string
  readonly to?: string
}

/** @param neighbors the items that it may name */
function destinationOf(neighbors: readonly { readonly id: string }[], { side, neighbor }: Choice): Destination {
  const beside = pick(neighbors, neighbor, undefined)
  // Beside others more often than at an end: there are more such places.
  if (side % 3 === 0 || beside === undefined) return { to: side % 2 ? 'first' : 'last' }
  return side % 3 === 1 ? { before: beside.id } : { after: beside.id }
}

/** Without a place, something new comes last. */
function destinationOfNew(neighbors: readonly { readonly id: string }[], choice: Choice): Destination {
  return choice.side % 7 === 0 ? {} : destinationOf(neighbors, choice)
}

const without = <T extends { readonly id: string }>(list: readonly T[], item: T) => list.filter(({ id }) => id !== item.id)
const isActive = ({ archived }: { readonly archived: boolean }) => !archived

function withCard(plan: (card: ModelCard, choice: Choice, id: string) => BatchItem | undefined): Plan {
  return (columns, choice, id) => {
    const cards = columns.flatMap((column) => column.cards)
    return cards.length === 0 ? undefined : plan(pick(cards, choice.item, absentCard), choice, id)
  }
}

function setArchived(kind: 'column' | 'card', item: { readonly id: string; archived: boolean }, archived: boolean): BatchItem {
  item.archived = archived
  return { operation: `${kind}s.${archived ? 'archive' : 'restore'}`, params: { [`${kind}_id`]: item.id } }
}

/** The operations that place something. All of them succeed. */
const plans: Readonly<Record<string, Plan>> = {
  'create column': (columns, choice, id) => {
    const destination = destinationOfNew(columns, choice)
    reposition(columns, { id, archived: false, cards: [] }, destination)
    return { operation: 'columns.create', body: { name: id, ...destination } }
  },
  'move column': (columns, choice) => {
    const column = pick(columns, choice.item, undefined)
    if (column === undefined) return undefined
    const destination = destinationOf(without(columns, column), choice)
    reposition(columns, column, destination)
    return { operation: 'columns.move', params: { column_id: column.id }, body: destination }
  },
  'archive or restore column': (columns, { item, list }) => {
    const column = pick(columns, item, undefined)
    // Rarely archived: no card can be placed in an archived column.
    return column && setArchived('column', column, !column.archived && list % 3 === 0)
  },
  'create card': (columns, choice, id) => {
    const open = columns.filter(isActive)
    if (open.length === 0) return undefined
    const column = pick(open, choice.list, open[0]!)
    const destination = destinationOfNew(column.cards.filter(isActive), choice)
    reposition(column.cards, { ...structuredClone(absentCard), id, title: id }, destination)
    return { operation: 'cards.create', body: { column_id: column.id, title: id, ...destination } }
  },
  'move card': (columns, choice) => {
    const open = columns.filter(isActive)
    const from = pick(
      columns.filter(({ cards }) => cards.length > 0),
      choice.item,
      undefined,
    )
    if (from === undefined || open.length === 0) return undefined
    const card = pick(from.cards, choice.item, absentCard)
    const to = pick(open, choice.list, open[0]!)
    const destination = destinationOf(without(to.cards, card).filter(isActive), choice)
    if (from !== to) from.cards.splice(from.cards.indexOf(card), 1)
    reposition(to.cards, card, destination)
    // Beside another card, the column need not be named.
    const named = destination.to === undefined && choice.list % 2 ? {} : { column_id: to.id }
    return { operation: 'cards.move', params: { card_id: card.id }, body: { ...named, ...destination } }
  },
  'archive or restore card': withCard((card, { list }) => setArchived('card', card, list % 2 === 0)),
  'create subtask': withCard((card, choice, id) => {
    const destination = destinationOfNew(card.subtasks, choice)
    reposition(card.subtasks, { id, title: id }, destination)
    return { operation: 'subtasks.create', params: { card_id: card.id }, body: { title: id, ...destination } }
  }),
  'move subtask': withCard((card, choice) => {
    const subtask = pick(card.subtasks, choice.list, undefined)
    if (subtask === undefined) return undefined
    const destination = destinationOf(without(card.subtasks, subtask), choice)
    reposition(card.subtasks, subtask, destination)
    return { operation: 'subtasks.update', params: { subtask_id: subtask.id }, body: destination }
  }),
  'delete subtask': withCard((card, { list }) => {
    const subtask = pick(card.subtasks, list, undefined)
    if (subtask === undefined) return undefined
    card.subtasks.splice(card.subtasks.indexOf(subtask), 1)
    return { operation: 'subtasks.delete', params: { subtask_id: subtask.id } }
  }),
}

export const placementKinds = Object.keys(plans)

/** A batch, and the lists after it. */
interface PlannedBatch {
  readonly operations: readonly BatchItem[]
  /** The lists of the board, where `$0` stands for what the first operation creates. */
  readonly columns: ModelColumn[]
}

/** Plans a batch of placements on a board, from plain lists of its columns, their cards and the subtasks of these. */
export function planBatch(before: readonly ModelColumn[], choices: readonly Choice[]): PlannedBatch {
  const columns = structuredClone(before) as ModelColumn[]
  const operations: BatchItem[] = []
  for (const choice of choices) {
    const item = plans[choice.kind]!(columns, choice, `$${operations.length}`)
    if (item !== undefined) operations.push(item)
  }
  return { operations, columns }
}

/** Replaces what stands for the ids by those that a batch has answered. */
export function withIds(columns: readonly ModelColumn[], results: readonly { readonly data: { readonly id: string } }[]): ModelColumn[] {
  return JSON.parse(JSON.stringify(columns), (name, value: unknown) =>
    name === 'id' && typeof value === 'string' && value.startsWith('$') ? results[Number(value.slice(1))]!.data.id : value,
  ) as ModelColumn[]
}

/** Batches of placements, as steps of a history. */
export const batchRequests: Readonly<Record<string, Planner>> = {
  'batch of placements': ({ board, onBoard }, { b, c }) => {
    const random = seededRandom(100 * b + c)
    const number = () => random(100)
    const choices = Array.from({ length: 2 + random(8) }, () => ({
      kind: placementKinds[random(placementKinds.length)]!,
      item: number(),
      list: number(),
      side: number(),
      neighbor: number(),
    }))
    const { operations, columns } = planBatch(board.columns, choices)
    if (operations.length === 0) return undefined
    return {
      method: 'POST',
      path: `/boards/${board.id}/batch`,
      body: { operations },
      expected: onBoard,
      apply: ({ results }) => void (board.columns = withIds(columns, results)),
    }
  },
}
