import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addMember, endMembership } from '../../src/admin/memberships.ts'
import { addUser } from '../../src/admin/users.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { Reminders } from '../../src/reminders/reminders.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { drivers } from '../support/drivers.ts'
import { runs } from '../support/effort.ts'
import { inWebApp } from '../support/in-web-app.ts'
import { Service } from '../support/service.ts'
import { ATTEMPTS, Model, type Doer, type ModelBoard, type ModelCard, type Name, type Way } from './notices-model.ts'

const HOUR = 60 * 60 * 1000
const NAMES = ['Ann', 'Bob', 'Cleo', 'Dan'] as const
const PEOPLE = NAMES.map((_name, who) => who)
/** Those whose memberships can end: they have created no board. */
const LEAVERS: ReadonlySet<Name> = new Set([2, 3])
/** What looks like a mention of somebody: nobody's id, and no mentions. */
const NOISE = ['@usr_00000000000000000000', 'x@usr_', '@Ann']

const who = fc.constantFrom(...PEOPLE)
const few = fc.uniqueArray(who, { maxLength: 3 })
/** Each kind of step as often as it stands here. */
const KINDS =
  'card card card assign assign unassign describe comment comment comment comment edit uncomment ask ask ask answer answer answer fail fail both due due due later later later delete member member visibility end rejoin rejoin'.split(
    ' ',
  )
const step = fc.record({
  kind: fc.constantFrom(...KINDS),
  who,
  way: fc.constantFrom<Way>('web', 'one', 'two'),
  card: fc.nat({ max: 9 }),
  at: fc.nat({ max: 9 }),
  few,
  whom: who,
})
type Step = Readonly<{ kind: string; who: Name; way: Way; card: number; at: number; few: readonly Name[]; whom: Name }>

/** Takes the steps in the service and in the model, and compares what each person is told. */
class History {
  readonly #service: Service
  readonly #model = new Model(PEOPLE.length)
  #workspaceId = ''
  readonly #ids: string[] = []
  readonly #tokens: Record<'one' | 'two', string>[] = []

  constructor(service: Service) {
    this.#service = service
  }

  async begin(): Promise<void> {
    const service = this.#service
    this.#workspaceId = await service.workspace()
    for (const name of NAMES) {
      const user = await addUser(service.deps, { display_name: name })
      this.#ids.push(user.id)
      await this.#join(this.#ids.length - 1)
    }
    for (const creator of [0, 1]) {
      const by = { who: creator, way: 'web' } as const
      const board = await this.#done(by, 'POST', '/boards', { name: 'Board' })
      const column = await this.#done(by, 'POST', `/boards/${board.id}/columns`, { name: 'Column', max_attempts: ATTEMPTS })
      this.#model.boards.push({ id: board.id, column: column.id, creator, isPrivate: false, members: new Set() })
    }
  }

  async step(one: Step): Promise<void> {
    this.#service.now += 1000
    const by = { who: one.who, way: one.way }
    if (one.kind === 'end' || one.kind === 'rejoin') await this.#change(one)
    else if (['later', 'member', 'visibility'].includes(one.kind)) await this.#access(one)
    else if (this.#model.isActive(by.who)) await this.#act(one, by)
    await this.#compare(one.kind)
  }

  async #change({ kind, whom }: Step): Promise<void> {
    const [model, id] = [this.#model, this.#ids[whom]!]
    if (!LEAVERS.has(whom) || model.isActive(whom) !== (kind === 'end')) return
    if (kind === 'end') {
      await endMembership(this.#service.adminDeps, this.#workspaceId, id)
      return model.end(whom)
    }
    model.rejoin(whom)
    await this.#join(whom)
  }

  /** What the creator of a board does, or time. */
  async #access({ kind, at, whom }: Step): Promise<void> {
    const board = this.#model.boards[at % 2]!
    const by = { who: board.creator, way: 'web' } as const
    if (kind === 'later') {
      this.#service.now += 8 * HOUR
      return this.#look()
    }
    if (kind === 'visibility') {
      board.isPrivate = !board.isPrivate
      await this.#done(by, 'PUT', `/boards/${board.id}/visibility`, { visibility: board.isPrivate ? 'private' : 'workspace' })
    } else if (this.#model.isActive(whom) && whom !== board.creator) {
      const isMember = board.members.has(whom)
      await this.#done(by, isMember ? 'DELETE' : 'PUT', `/boards/${board.id}/members/${this.#ids[whom]}`)
      if (isMember) board.members.delete(whom)
      else board.members.add(whom)
    }
    this.#model.unassign(board)
  }

  /** What somebody does with a card. */
  async #act(one: Step, by: Doer): Promise<void> {
    const { kind, at, whom, few: named } = one
    const [model, mention] = [this.#model, { body: this.#text(named, at) }]
    if (kind === 'card') return this.#create(model.boards[at % 2]!, one, by)
    const card = model.cards[one.card % Math.max(1, model.cards.length)]
    if (card === undefined) return
    const [path, mayRead] = [`/cards/${card.id}`, model.mayRead(by.who, card.board)]
    const { comments } = card
    const comment = comments[at % Math.max(1, comments.length)]
    const question = comments.find(({ isQuestion, isAnswered }) => isQuestion && !isAnswered)
    const send = (method: string, target: string, body?: unknown, isAllowed = true) =>
      this.#expect(by, mayRead && isAllowed, method, target, body)
    const said = (id: string, isQuestion = false) => ({ id, author: by.who, card, isQuestion, mentioned: named, isAnswered: false })
    switch (kind) {
      case 'assign':
        if (await send('PUT', `${path}/assignees/${this.#ids[whom]}`, undefined, model.mayRead(whom, card.board)))
          model.assign(card, [whom], by)
        return
      case 'unassign':
        if (await send('DELETE', `${path}/assignees/${this.#ids[whom]}`, undefined, card.assignees.has(whom))) card.assignees.delete(whom)
        return
      case 'describe':
        if (await send('PATCH', path, { description: mention.body })) model.describe(card, named, by)
        return
      case 'comment': {
        const data = await send('POST', `${path}/comments`, mention)
        if (data) model.comment(said(data.id), by)
        return
      }
      case 'both': {
        // Two causes in one commit.
        if (!model.mayRead(whom, card.board)) return
        const operations = [
          { operation: 'cards.assign', params: { card_id: card.id, user_id: this.#ids[whom] } },
          { operation: 'comments.create', params: { card_id: card.id }, body: mention },
        ]
        const data = await send('POST', `/boards/${card.board.id}/batch`, { operations })
        if (!data) return
        model.assign(card, [whom], by)
        model.comment(said(data.results[1].data.id), by)
        return
      }
      case 'edit':
        if (comment !== undefined && (await send('PATCH', `/comments/${comment.id}`, mention, comment.author === by.who)))
          model.edit(comment, named, by)
        return
      case 'uncomment':
        if (comment !== undefined && (await send('DELETE', `/comments/${comment.id}`, undefined, comment.author === by.who)))
          card.comments = comments.filter((other) => other !== comment)
        return
      case 'ask':
      case 'fail': {
        if (by.way === 'web' || question !== undefined || card.attempts === ATTEMPTS) return
        const claim = await send('PUT', `${path}/claim`, {})
        if (!claim) return
        const headers = { 'if-claim': String(claim.epoch) }
        if (kind === 'fail') {
          await this.#expect(by, true, 'POST', `${path}/claim/failure`, { reason: 'No paint.' }, headers)
          return model.fail(card, by)
        }
        const { data } = await this.#send(by, 'POST', `${path}/claim/question`, { question: mention.body }, headers)
        return model.comment(said(data.question_id ?? data.id, true), by)
      }
      case 'answer': {
        if (question === undefined) return
        const data = await send('POST', `${path}/answer`, mention)
        if (data) model.comment(said(data.id), by, question)
        return
      }
      case 'due': {
        const due = this.#service.now + ((at % 5) + 1) * 8 * HOUR
        if (!(await send('PATCH', path, { due_at: new Date(due).toISOString() }))) return
        Object.assign(card, { due, isTold: false })
        return this.#look()
      }
      default:
        if (await send('DELETE', path)) model.cards.splice(model.cards.indexOf(card), 1)
    }
  }

  async #create(board: ModelBoard, { few: mentioned, whom, at }: Step, by: Doer): Promise<void> {
    const model = this.#model
    const assigned = at % 3 === 0 && model.mayRead(whom, board) ? [whom] : []
    const body = {
      column_id: board.column,
      title: 'Paint',
      assignee_ids: assigned.map((one) => this.#ids[one]),
      description: this.#text(mentioned, at),
    }
    const data = await this.#expect(by, model.mayRead(by.who, board), 'POST', `/boards/${board.id}/cards`, body)
    if (!data) return
    const card = { id: data.id, board, creator: by.who, assignees: new Set(assigned), mentioned, comments: [] }
    model.create({ ...card, attempts: 0, due: undefined, isTold: false } satisfies ModelCard, by)
  }

  /** Two processes look at once. */
  async #look(): Promise<void> {
    const { app, deps, now } = this.#service
    const all = [0, 1].map(() => new Reminders({ services: () => app.services, random: deps.random }))
    await Promise.all(all.map((reminders) => reminders.look()))
    this.#model.look(now)
  }

  #text(people: readonly Name[], at: number): string {
    return [NOISE[at % NOISE.length]!, ...people.map((one) => `@${this.#ids[one]}`)].join(', ')
  }

  async #join(place: Name): Promise<void> {
    const { deps } = this.#service
    const user = (await this.#service.write(GLOBAL, (tx) => tx.get(keys.user(this.#ids[place]!))))!
    await addMember(deps, this.#workspaceId, user, place === 0 ? 'owner' : 'member')
    const issue = async (name: string) =>
      (await this.#service.write(this.#workspaceId, (tx) => issueToken(tx, { userId: user.id, name, scopes: ['kanban:admin'] }, deps)))
        .plaintext
    this.#tokens[place] = { one: await issue('one'), two: await issue('two') }
  }

  async #send({ who: place, way }: Doer, method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    const person = { id: this.#ids[place]!, workspaceId: this.#workspaceId }
    if (way === 'web') return inWebApp(this.#service, person, method, path, body)
    const { status, body: answer } = await this.#service.send(this.#tokens[place]![way], method, path, body, headers)
    return { status, data: answer.data ?? answer }
  }

  /** @returns what was answered; undefined if it was refused, as it had to be */
  async #expect(
    by: Doer,
    isAllowed: boolean,
    ...request: [method: string, path: string, body?: unknown, headers?: Record<string, string>]
  ) {
    const { status, data } = await this.#send(by, ...request)
    expect([status < 300, request, data]).toEqual([isAllowed, request, data])
    return isAllowed ? (data ?? {}) : undefined
  }

  #done(by: Doer, method: string, path: string, body?: unknown) {
    return this.#expect(by, true, method, path, body)
  }

  async #compare(kind: string): Promise<void> {
    for (const place of PEOPLE) {
      if (!this.#model.isActive(place)) continue
      const token = this.#tokens[place]!.two
      const found: any[] = []
      for (let after = ''; ;) {
        const { body } = await this.#service.send(token, 'GET', `/notices?limit=100${after}`)
        if (body.data.length === 0) break
        found.push(...body.data)
        after = `&after=${body.page.next_cursor}`
      }
      const shown = found.map((one) => [one.kind, one.card_id, one.comment_id, one.actor_id, one.token_name].join(' '))
      const expected = this.#model.shownTo(place).map((one) => {
        const { who: doer, way } = one.by ?? { way: 'web' }
        const actor = doer === undefined ? null : this.#ids[doer]
        return [one.kind, one.card.id, one.comment?.id, actor, way === 'web' ? null : way].join(' ')
      })
      expect([kind, NAMES[place], shown]).toEqual([kind, NAMES[place], expected])
    }
  }
}

describe.each(drivers)('the notices of people, on $name', async (driver) => {
  // Small batches: what a membership that has ended leaves is there for a while.
  const service = await Service.forSuite(driver, { batch: 2 })

  test('are as the model says after each step of a random history, each once, and none that they may not see', async () => {
    const history = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
      const run = new History(service)
      await run.begin()
      for (const one of steps) await run.step(one)
    })
    await fc.assert(history, runs(4))
  })
})
