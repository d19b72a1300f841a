import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkIndexes } from '../../src/store/index-check.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { runs } from '../support/effort.ts'
import { Service, type Reply } from '../support/service.ts'

/** What the model knows of a card. Its place is that in the list of all cards. */
interface ModelCard {
  readonly id: string
  columnId: string
  isCompleted: boolean
  isArchived: boolean
  blockers: string[]
}

/** The cards of a board, and what is ready, computed anew for each question from its definition. */
class Model {
  readonly cards = new Map<string, ModelCard>()
  readonly columns = new Map<string, { isArchived: boolean }>()

  isBlocking = (id: string): boolean => !this.cards.get(id)!.isCompleted && !this.cards.get(id)!.isArchived
  isReady = ({ isCompleted, isArchived, columnId, blockers }: ModelCard): boolean =>
    !isCompleted && !isArchived && !this.columns.get(columnId)!.isArchived && !blockers.some(this.isBlocking)
  /** Whether a card waits for another one, directly or through others. */
  waitsFor = (id: string, other: string): boolean =>
    this.cards.get(id)!.blockers.some((blocker) => blocker === other || this.waitsFor(blocker, other))
  delete(id: string): void {
    this.cards.delete(id)
    for (const card of this.cards.values()) card.blockers = card.blockers.filter((blocker) => blocker !== id)
  }
}

const kinds = ['create', 'add', 'add', 'add', 'remove', 'complete', 'archive', 'move', 'delete', 'column', 'batch'] as const
const step = fc.record({ kind: fc.constantFrom(...kinds), a: fc.nat(99), b: fc.nat(99), c: fc.nat(3) })
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A history on one board, beside its model. */
class History {
  readonly #board: TestBoard
  readonly #model = new Model()

  constructor(board: TestBoard) {
    this.#board = board
  }

  async begin(): Promise<void> {
    for (let i = 0; i < 2; i++) this.#model.columns.set(await this.#board.column(), { isArchived: false })
    for (let i = 0; i < 4; i++) await this.#perform({ kind: 'create', a: i, b: 0, c: 0 })
  }

  async step(given: Step): Promise<void> {
    this.#board.tick()
    await this.#perform(given)
    await this.#compare()
  }

  /** Requests something, and applies it to the model if the model allows it: the response must say the same. */
  async #perform({ kind, a, b, c }: Step): Promise<void> {
    const model = this.#model
    const card = at([...model.cards.values()], a)
    const [columnId, column] = at([...model.columns], b)!
    const send = (method: string, path: string, body?: unknown) => this.#board.send(method, path, body)
    if (kind === 'create') {
      const blocker_ids = [...new Set([at([...model.cards.keys()], b), at([...model.cards.keys()], c)])]
        .filter((id) => id !== undefined)
        .slice(0, c)
      const reply = await send('POST', `/boards/${this.#board.id}/cards`, { column_id: columnId, title: 'Card', blocker_ids })
      if (this.#expect(reply, !column.isArchived)) this.#add(reply.body.data.id, columnId, blocker_ids)
    } else if (kind === 'column') {
      if (this.#expect(await send('POST', `/columns/${columnId}/${column.isArchived ? 'restore' : 'archive'}`), true))
        column.isArchived = !column.isArchived
    } else if (card === undefined) return
    else if (kind === 'add') {
      const blocker = at([...model.cards.values()], b)!
      const isAllowed = card.blockers.includes(blocker.id) || (card !== blocker && !model.waitsFor(blocker.id, card.id))
      const reply = await send('PUT', `/cards/${card.id}/blockers/${blocker.id}`)
      if (this.#expect(reply, isAllowed) && !card.blockers.includes(blocker.id)) card.blockers.push(blocker.id)
    } else if (kind === 'remove') {
      // Half of the time it is no blocker of the card.
      const blocker = (c % 2 === 0 ? at(card.blockers, b) : undefined) ?? at([...model.cards.keys()], b)!
      this.#expect(await send('DELETE', `/cards/${card.id}/blockers/${blocker}`), card.blockers.includes(blocker), 404)
      card.blockers = card.blockers.filter((id) => id !== blocker)
    } else if (kind === 'complete') {
      card.isCompleted = c > 0
      this.#expect(await send('PUT', `/cards/${card.id}/completion`, { completed: card.isCompleted }), true)
    } else if (kind === 'archive') {
      card.isArchived = c > 1
      this.#expect(await send('POST', `/cards/${card.id}/${card.isArchived ? 'archive' : 'restore'}`), true)
    } else if (kind === 'move') {
      const reply = await send('POST', `/cards/${card.id}/move`, { column_id: columnId, to: c > 1 ? 'first' : 'last' })
      if (this.#expect(reply, !column.isArchived)) card.columnId = columnId
    } else if (kind === 'delete') {
      this.#expect(await send('DELETE', `/cards/${card.id}`), true)
      model.delete(card.id)
    } else await this.#batch(card, a + b, columnId, column.isArchived)
  }

  /** Creates a card, makes it a blocker, and completes one, in one commit. */
  async #batch(card: ModelCard, other: number, columnId: string, isArchived: boolean): Promise<void> {
    const completed = at([...this.#model.cards.values()], other)!
    const operations = [
      { operation: 'cards.create', body: { column_id: columnId, title: 'Card', blocker_ids: [completed.id] } },
      { operation: 'cards.complete', params: { card_id: completed.id }, body: { completed: true } },
      { operation: 'blockers.add', params: { card_id: card.id, blocker_id: '$0' } },
    ]
    const closesCycle = completed === card || this.#model.waitsFor(completed.id, card.id)
    const reply = await this.#board.send('POST', `/boards/${this.#board.id}/batch`, { operations })
    if (!this.#expect(reply, !isArchived && !closesCycle)) return
    const { id } = reply.body.data.results[0].data
    this.#add(id, columnId, [completed.id])
    completed.isCompleted = true
    card.blockers.push(id)
  }

  #add(id: string, columnId: string, blockers: string[]): void {
    this.#model.cards.set(id, { id, columnId, isCompleted: false, isArchived: false, blockers: [...blockers] })
  }

  #expect(reply: Reply, isAllowed: boolean, otherwise = 409): boolean {
    expect([reply.status < 300 ? 'done' : reply.status, reply.text]).toEqual([isAllowed ? 'done' : otherwise, reply.text])
    return isAllowed
  }

  async #compare(): Promise<void> {
    const { id: boardId, service, creator } = this.#board
    const list = async (query: string) => (await this.#board.all(`/boards/${boardId}/cards?${query}`, 3)).map(({ id }) => id)
    const search = async (query: string) => (await this.#board.all(`/cards?board_id=${boardId}&${query}`, 3)).map(({ id }) => id)
    const cards = await this.#board.all(`/boards/${boardId}/cards`, 3)
    expect(cards.map(({ blocker_ids }) => blocker_ids)).toEqual(cards.map(({ id }) => this.#model.cards.get(id)!.blockers))
    const shown = cards.map(({ id }) => id as string)
    const expected = (ready: boolean) => shown.filter((id) => this.#model.isReady(this.#model.cards.get(id)!) === ready)
    const [columnId] = [...this.#model.columns.keys()]
    for (const ready of [true, false]) {
      const found = expected(ready)
      expect([ready, await list(`ready=${ready}`)]).toEqual([ready, found])
      expect(await search(`ready=${ready}&sort=position`)).toEqual(found)
      expect((await search(`ready=${ready}`)).toSorted()).toEqual(found.toSorted())
      if (this.#model.columns.get(columnId!)!.isArchived) continue
      const ofColumn = found.filter((id) => this.#model.cards.get(id)!.columnId === columnId)
      expect(await list(`ready=${ready}&column_id=${columnId}`)).toEqual(ofColumn)
      expect(await list(`ready=${ready}&completed=false`)).toEqual(found.filter((id) => !this.#model.cards.get(id)!.isCompleted))
    }
    expect(await list('ready=true&archived=true')).toEqual([])
    expect(await list('ready=false&archived=true')).toEqual(await list('archived=true'))
    for await (const damage of checkIndexes(service.store, creator.workspaceId)) expect(damage).toEqual([])
  }
}

function at<T>(items: readonly T[], n: number): T | undefined {
  return items[n % Math.max(items.length, 1)]
}

describe.each(drivers)('ready cards, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const ann = await service.person(await service.workspace(), 'member')

  test('after each step of a random history, the lists equal the model, and the indexes the records', async () => {
    const history = fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
      const run = new History(await TestBoard.create(service, ann))
      await run.begin()
      for (const one of steps) await run.step(one)
    })
    await fc.assert(history, runs(8))
  })

  test('random requests at the same time leave no cycle, and the ready cards are those that their definition says', async () => {
    const requests = fc.array(
      fc.tuple(fc.constantFrom('add', 'add', 'remove', 'complete', 'archive', 'restore', 'delete'), fc.nat(5), fc.nat(5)),
      { minLength: 8, maxLength: 16 },
    )
    const property = fc.asyncProperty(requests, async (given) => {
      const board = await TestBoard.create(service, ann)
      const columnId = await board.column()
      const ids: string[] = []
      for (let i = 0; i < 6; i++) ids.push(await board.card(columnId, `${i}`))
      await Promise.all(
        given.map(([kind, a, b]) => {
          if (kind === 'add') return board.send('PUT', `/cards/${ids[a]}/blockers/${ids[b]}`)
          if (kind === 'remove') return board.send('DELETE', `/cards/${ids[a]}/blockers/${ids[b]}`)
          if (kind === 'complete') return board.send('PUT', `/cards/${ids[a]}/completion`, { completed: b > 1 })
          if (kind === 'delete') return board.send('DELETE', `/cards/${ids[a]}`)
          return board.send('POST', `/cards/${ids[a]}/${kind}`)
        }),
      )
      const cards = [...(await board.all(`/boards/${board.id}/cards`)), ...(await board.all(`/boards/${board.id}/cards?archived=true`))]
      const model = new Model()
      model.columns.set(columnId, { isArchived: false })
      for (const { id, column_id, completed_at, archived_at, blocker_ids } of cards)
        model.cards.set(id, {
          id,
          columnId: column_id,
          isCompleted: completed_at !== null,
          isArchived: archived_at !== null,
          blockers: blocker_ids,
        })
      // A cycle would never end.
      for (const { id } of cards) expect(model.waitsFor(id, id)).toBe(false)
      const ready = [...model.cards.values()].filter(model.isReady).map(({ id }) => id)
      expect((await board.all(`/boards/${board.id}/cards?ready=true`)).map(({ id }) => id).toSorted()).toEqual(ready.toSorted())
      for await (const damage of checkIndexes(service.store, ann.workspaceId)) expect(damage).toEqual([])
    })
    await fc.assert(property, runs(15))
  })
})
