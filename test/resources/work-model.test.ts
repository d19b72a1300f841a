import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkIndexes } from '../../src/store/index-check.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { runs } from '../support/effort.ts'
import { Service, type Person } from '../support/service.ts'

/** How many attempts the columns allow, in their order. */
const MAXIMA = [2, 3, null, 2, 3] as const
/** Whether they complete the cards that come into them. */
const COMPLETING = [false, false, false, true, true] as const
const CARDS = 4
const TTL = 10
const SECOND = 1000

/** A card as src/http/claims.md, "Work that fails or asks", describes it. Written without the code of the service. */
interface ModelCard {
  readonly id: string
  column: number
  place: number
  /** null: it is not completed */
  outcome: 'succeeded' | 'failed' | null
  isArchived: boolean
  blocker: ModelCard | undefined
  /** who holds it, and until when: in milliseconds since 1970 */
  claim: { worker: number; epoch: number; until: number } | undefined
  epoch: number
  /** whether it was moved to another column under the last claim */
  wasMoved: boolean
  maximum: number | null
  attempts: number
  reason: string | null
  failedAt: number | null
  notBefore: number | null
  hasQuestion: boolean
  /** worker → until when and as of which ETag of the card it is not offered to them, because they have released it */
  released: Map<number, { until: number; etag: string }>
}

const isBlocking = (card: ModelCard) => card.outcome !== 'succeeded' && !card.isArchived
const FORGOTTEN = { attempts: 0, reason: null, failedAt: null, notBefore: null }

class Model {
  readonly cards: ModelCard[] = []
  now: number

  constructor(now: number) {
    this.now = now
  }

  /** Claims that have run out are attempts. */
  settle(): void {
    for (const card of this.cards) {
      if (card.claim === undefined || this.now < card.claim.until) continue
      const counted = { attempts: card.attempts + 1, reason: null, failedAt: card.claim.until, notBefore: null }
      if (!card.wasMoved) Object.assign(card, counted)
      card.claim = undefined
    }
  }

  stateOf(card: ModelCard): string {
    if (card.outcome !== null) return 'done'
    if (card.isArchived) return 'archived'
    if (card.claim !== undefined) return 'claimed'
    if (card.hasQuestion) return 'waiting'
    if (card.maximum !== null && card.attempts >= card.maximum) return 'stuck'
    if (card.blocker !== undefined && isBlocking(card.blocker)) return 'blocked'
    return card.notBefore !== null && this.now < card.notBefore ? 'retrying' : 'ready'
  }

  get ordered(): ModelCard[] {
    return this.cards.toSorted((a, b) => a.column - b.column || a.place - b.place)
  }

  complete(card: ModelCard, outcome: ModelCard['outcome']): void {
    if (outcome !== card.outcome) card.released.clear()
    if (outcome !== null && card.outcome === null) Object.assign(card, { claim: undefined, ...FORGOTTEN })
    card.outcome = outcome
  }

  grant(card: ModelCard, worker: number): void {
    const maximum = MAXIMA[card.column]!
    card.claim = { worker, epoch: ++card.epoch, until: this.now + TTL * SECOND }
    card.wasMoved = false
    card.notBefore = null
    card.maximum = maximum === null ? null : Math.max(maximum, card.attempts + 1)
  }
}

const card = fc.nat(CARDS - 1)
const worker = fc.nat(1)
const step = fc.oneof(
  fc.record({ kind: fc.constant('next' as const), worker }),
  fc.record({ kind: fc.constant('take' as const), card, worker }),
  fc.record({ kind: fc.constant('fail' as const), card, seconds: fc.constantFrom(undefined, 0, 7) }),
  fc.record({ kind: fc.constantFrom('ask', 'answer', 'withdraw', 'retry', 'release', 'archive', 'restore', 'touch', 'block'), card }),
  fc.record({
    kind: fc.constant('complete' as const),
    card,
    outcome: fc.constantFrom(null, undefined, 'succeeded' as const, 'failed' as const),
  }),
  fc.record({ kind: fc.constant('move' as const), card, column: fc.nat(MAXIMA.length - 1) }),
  fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(3, 7, 10, 30, 60) }),
)
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

/** Sends the requests of a history, and compares what the service says with the model after each. */
class History {
  readonly #board: TestBoard
  readonly #workers: readonly string[]
  readonly #model: Model
  #columns: string[] = []
  #places = 0

  constructor(board: TestBoard, workers: readonly string[]) {
    this.#board = board
    this.#workers = workers
    this.#model = new Model(board.service.now)
  }

  async begin(): Promise<void> {
    for (const [i, max_attempts] of MAXIMA.entries())
      this.#columns.push(await this.#board.column('Column', { max_attempts, completes: COMPLETING[i] }))
    for (let i = 0; i < CARDS; i++) {
      const id = await this.#board.card(this.#columns[0]!)
      const empty = { claim: undefined, epoch: 0, wasMoved: false, maximum: null, hasQuestion: false, blocker: undefined }
      this.#model.cards.push({
        id,
        column: 0,
        place: this.#places++,
        outcome: null,
        isArchived: false,
        released: new Map(),
        ...empty,
        ...FORGOTTEN,
      })
    }
  }

  async step(one: Step): Promise<void> {
    const model = this.#model
    if (one.kind === 'wait') {
      this.#board.service.now += one.seconds * SECOND
      model.now = this.#board.service.now
    }
    model.settle()
    if (one.kind === 'next') await this.#next(one.worker)
    else if (one.kind !== 'wait') await this.#change(model.cards[one.card]!, one)
    await this.#compare()
  }

  /** Whether a card is offered to a worker: not for a minute after they have released it, unless it has changed. */
  async #isOffered({ id, released }: ModelCard, number: number): Promise<boolean> {
    const one = released.get(number)
    return one === undefined || this.#model.now >= one.until || (await this.#etagOf(id)) !== one.etag
  }

  /** The first ready card that is offered to a worker. */
  async #firstFor(number: number): Promise<ModelCard | undefined> {
    for (const found of this.#model.ordered.filter((one) => this.#model.stateOf(one) === 'ready'))
      if (await this.#isOffered(found, number)) return found
    return undefined
  }

  async #etagOf(id: string): Promise<string> {
    return (await this.#board.get(`/cards/${id}`)).headers.get('etag')!
  }

  async #next(number: number): Promise<void> {
    const model = this.#model
    const first = await this.#firstFor(number)
    const { body } = await this.#send(number, 'POST', `/boards/${this.#board.id}/claims`, { ttl: TTL })
    expect(body.data?.id).toBe(first?.id)
    if (first !== undefined) model.grant(first, number)
  }

  async #change(found: ModelCard, one: Exclude<Step, { kind: 'wait' | 'next' }>): Promise<void> {
    const model = this.#model
    const path = `/cards/${found.id}`
    const { claim } = found
    const held = claim && { 'if-claim': `${claim.epoch}` }
    const by = claim?.worker ?? 0
    switch (one.kind) {
      case 'take': {
        const mine = claim?.worker === one.worker
        const isFree = claim === undefined && !['done', 'archived', 'stuck', 'waiting'].includes(model.stateOf(found))
        await this.#expect(mine || isFree, one.worker, 'PUT', `${path}/claim`, { ttl: TTL })
        if (mine) found.claim!.until = model.now + TTL * SECOND
        else if (isFree) model.grant(found, one.worker)
        return
      }
      case 'fail': {
        const body = { reason: 'x', ...(one.seconds !== undefined && { retry_after: one.seconds }) }
        await this.#expect(claim !== undefined, by, 'POST', `${path}/claim/failure`, body, held)
        if (claim === undefined) return
        const attempts = found.attempts + 1
        const seconds = one.seconds ?? Math.min(3600, 30 * 2 ** (attempts - 1))
        const notBefore = seconds === 0 ? null : model.now + seconds * SECOND
        Object.assign(found, { claim: undefined, attempts, reason: 'x', failedAt: model.now, notBefore })
        return
      }
      case 'ask':
        await this.#expect(claim !== undefined, by, 'POST', `${path}/claim/question`, { question: 'x' }, held)
        if (claim !== undefined) Object.assign(found, { claim: undefined, hasQuestion: true })
        return
      case 'answer':
        await this.#expect(found.hasQuestion, 1, 'POST', `${path}/answer`, { body: 'x' })
        found.hasQuestion = false
        return
      case 'withdraw': {
        const { question_id } = (await this.#board.get(`${path}?include=work`)).body.data.work
        if (question_id !== null) await this.#send(0, 'DELETE', `/comments/${question_id}`)
        found.hasQuestion = false
        return
      }
      case 'retry':
        await this.#expect(true, 0, 'POST', `${path}/retry`)
        found.released.clear()
        Object.assign(found, FORGOTTEN)
        return
      case 'release':
        await this.#expect(true, by, 'DELETE', `${path}/claim`)
        if (claim !== undefined) found.released.set(by, { until: model.now + 60 * SECOND, etag: await this.#etagOf(found.id) })
        found.claim = undefined
        return
      case 'touch':
        await this.#expect(true, 0, 'PATCH', path, { title: `Title ${Math.random()}` })
        return
      case 'block': {
        // The next card of the list: no cycle, and it has one blocker at most.
        const blocker = model.cards[model.cards.indexOf(found) + 1]
        if (blocker === undefined) return
        const isAdded = found.blocker === undefined
        await this.#expect(true, 0, isAdded ? 'PUT' : 'DELETE', `${path}/blockers/${blocker.id}`)
        found.blocker = isAdded ? blocker : undefined
        return
      }
      case 'archive':
      case 'restore':
        await this.#expect(true, 0, 'POST', `${path}/${one.kind}`)
        if (one.kind === 'archive') found.claim = undefined
        found.isArchived = one.kind === 'archive'
        return
      case 'complete':
        await this.#expect(true, 0, 'PUT', `${path}/completion`, { completed: one.outcome !== null, outcome: one.outcome })
        model.complete(found, one.outcome === undefined ? 'succeeded' : one.outcome)
        return
      default: {
        await this.#expect(true, 0, 'POST', `${path}/move`, { column_id: this.#columns[one.column], to: 'last' })
        found.place = this.#places++
        const from = found.column
        if (one.column === from) return
        found.released.clear()
        Object.assign(found, { column: one.column, ...FORGOTTEN, wasMoved: claim !== undefined || found.wasMoved })
        if (found.epoch > 0) found.maximum = MAXIMA[one.column]!
        if (COMPLETING[from] !== COMPLETING[one.column]) model.complete(found, COMPLETING[one.column] ? 'succeeded' : null)
      }
    }
  }

  async #expect(
    isDone: boolean,
    by: number,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<void> {
    const { status, text } = await this.#send(by, method, path, body, headers)
    expect([status < 300, text]).toEqual([isDone, text])
  }

  #send(by: number, method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    return this.#board.service.send(this.#workers[by]!, method, path, body, headers)
  }

  async #compare(): Promise<void> {
    const [model, board] = [this.#model, this.#board]
    const time = (at: number | null) => (at === null ? null : new Date(at).toISOString())
    for (const one of model.cards) {
      const { work } = (await board.get(`/cards/${one.id}?include=work`)).body.data
      const { attempts, reason } = one
      expect({ ...work, question_id: work.question_id !== null }).toEqual({
        state: model.stateOf(one),
        attempts,
        reason,
        failed_at: time(one.failedAt),
        not_before: time(one.notBefore),
        question_id: one.hasQuestion,
      })
    }
    const active = model.ordered.filter(({ isArchived }) => !isArchived)
    const listed = async (query: string) => (await board.all(`/boards/${board.id}/cards?${query}`, 2)).map(({ id }) => id)
    for (const state of ['done', 'claimed', 'waiting', 'stuck', 'blocked', 'retrying', 'ready'])
      expect([state, await listed(`work_state=${state}`)]).toEqual([
        state,
        active.filter((one) => model.stateOf(one) === state).map(({ id }) => id),
      ])
    const ready = active.filter((one) => model.stateOf(one) === 'ready').map(({ id }) => id)
    expect(await listed('ready=true')).toEqual(ready)
    const first = await this.#send(0, 'POST', `/boards/${board.id}/claims?dry_run=true`, {})
    expect(first.body.data?.id).toBe((await this.#firstFor(0))?.id)
    for await (const damage of checkIndexes(board.service.store, board.creator.workspaceId)) expect(damage).toEqual([])
  }
}

describe.each(drivers)('the work on cards, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const ann: Person = await service.person(await service.workspace(), 'member')
  const other = await service.token(ann.workspaceId, ann.id, ['kanban:write'])

  test('equals the model after each step of a random history, and so do the lists and the next card', async () => {
    const history = fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
      const run = new History(await TestBoard.create(service, ann), [ann.write, other])
      await run.begin()
      for (const one of steps) await run.step(one)
    })
    await fc.assert(history, runs(10))
  })
})
