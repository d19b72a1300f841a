import { asyncProperty, assert, constant, constantFrom, integer, oneof, array, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rotateToken, endToken, findToken } from '../../src/auth/tokens/issue.ts'
import { DAY } from '../../src/model/time.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { runs } from '../support/effort.ts'

const WORKERS = 3
const CARDS = 3

const worker = integer({ min: 0, max: WORKERS - 1 })
const card = integer({ min: 0, max: CARDS - 1 })
const ttl = constantFrom(10, 60)
const step = oneof(
  { weight: 4, arbitrary: record({ do: constant('next' as const), worker, ttl }) },
  { weight: 4, arbitrary: record({ do: constant('take' as const), worker, card, ttl, ifClaim: constantFrom(true, false) }) },
  { weight: 2, arbitrary: record({ do: constant('release' as const), worker, card, ifClaim: constantFrom(true, false) }) },
  { weight: 5, arbitrary: record({ do: constant('write' as const), worker, card }) },
  { weight: 2, arbitrary: record({ do: constant('complete' as const), card, value: constantFrom(true, false, false) }) },
  { weight: 1, arbitrary: record({ do: constant('archive' as const), card, value: constantFrom(true, false, false) }) },
  { weight: 1, arbitrary: record({ do: constant('archive_column' as const), value: constantFrom(true, false, false) }) },
  { weight: 4, arbitrary: record({ do: constant('wait' as const), seconds: constantFrom(1, 9, 10, 50, 60) }) },
  { weight: 1, arbitrary: record({ do: constant('rotate' as const), worker }) },
  { weight: 1, arbitrary: record({ do: constant('revoke' as const), worker }) },
)

/** What the contract says about a card, without records: who holds it, with which epoch, until when. */
interface ModelCard {
  epoch: number
  holder: number | undefined
  expires: number
  /** whether somebody has ended the last claim */
  ended: boolean
  completed: boolean
  archived: boolean
  comments: number
}

/**
 * Claims by the text of the contract. A worker's token can be replaced, which changes nothing, or revoked: the worker then goes on with a new one,
 * and what it held is held by nobody. Each worker remembers the epoch that it was last given for each card, as a program would, and never forgets it.
 */
class Model {
  readonly cards: ModelCard[]
  readonly remembered: number[][]
  /** the changes of claims that the feed must have: the place of the card, what was done, and the epoch */
  readonly feed: [at: number, action: string, epoch: number][] = []
  columnArchived = false
  now = 0

  constructor() {
    this.cards = Array.from({ length: CARDS }, () => ({
      epoch: 0,
      holder: undefined,
      expires: 0,
      ended: true,
      completed: false,
      archived: false,
      comments: 0,
    }))
    this.remembered = Array.from({ length: WORKERS }, () => this.cards.map(() => 1))
  }

  holderOf(at: number): number | undefined {
    const { holder, expires } = this.cards[at]!
    return this.now < expires ? holder : undefined
  }
  isOpen(at: number): boolean {
    const { completed, archived } = this.cards[at]!
    return !completed && !archived && !this.columnArchived
  }
  holds(worker: number, at: number): boolean {
    return this.holderOf(at) === worker && this.cards[at]!.epoch === this.remembered[worker]![at]
  }
  /** Somebody ends a claim, also if its token has ended before: nothing was written about that. */
  end(at: number): void {
    const { ended, expires, epoch } = this.cards[at]!
    if (!ended && this.now < expires) this.feed.push([at, 'released', epoch])
    Object.assign(this.cards[at]!, { holder: undefined, ended: true })
  }
  grant(worker: number, at: number, seconds: number): void {
    const one = this.cards[at]!
    if (this.holderOf(at) !== worker) this.feed.push([at, 'claimed', ++one.epoch])
    Object.assign(one, { holder: worker, expires: this.now + seconds, ended: false })
    this.remembered[worker]![at] = one.epoch
  }
  ready(): number | undefined {
    const found = this.cards.findIndex((_one, at) => this.isOpen(at) && this.holderOf(at) === undefined)
    return found === -1 ? undefined : found
  }
}

describe.each(drivers)('claims against random histories, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('are those of the model', async () => {
    const { service, workspaceId, bob, ann } = setup
    const { clock } = service.deps
    const send = (token: string, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      service.send(token, method, path, body, headers)
    await assert(
      asyncProperty(array(step, { minLength: 1, maxLength: 40, size: 'max' }), async (steps) => {
        const model = new Model()
        const began = service.now
        const start = (await setup.board.get(`/boards/${setup.board.id}?include=labels`)).body.data.changes_cursor as string
        const column = await setup.board.column()
        const ids: string[] = []
        for (let i = 0; i < CARDS; i++) ids.push(await setup.board.card(column, `Card ${i}`))
        // Nothing ends the claim of a card in another column.
        const other = await setup.board.card(await setup.board.column())
        await send(ann.write, 'PUT', `/cards/${other}/claim`, { ttl: 3600 })
        const issue = () => service.token(workspaceId, bob.id, ['kanban:write'])
        const tokens = [await issue(), await issue(), await issue()]
        const tokenId = async (at: number): Promise<string> => (await send(tokens[at]!, 'GET', '/account')).body.data.token.id
        const held = (at: number, one: number) => ({ 'if-claim': String(model.remembered[at]![one]) })
        try {
          for (const one of steps) {
            switch (one.do) {
              case 'next': {
                const expected = model.ready()
                const { status, body } = await send(tokens[one.worker]!, 'POST', `/boards/${setup.board.id}/claims`, {
                  column_id: column,
                  ttl: one.ttl,
                })
                if (expected !== undefined) model.grant(one.worker, expected, one.ttl)
                const epoch = expected === undefined ? undefined : model.cards[expected]!.epoch
                expect([status, body.data?.id, body.data?.claim.epoch]).toEqual([
                  epoch === undefined ? 200 : 201,
                  ids[expected ?? -1],
                  epoch,
                ])
                break
              }
              case 'take': {
                const headers = one.ifClaim ? held(one.worker, one.card) : {}
                const etag = async () => (await send(ann.read, 'GET', `/cards/${ids[one.card]}`)).headers.get('etag')
                const before = await etag()
                const { status, body } = await send(tokens[one.worker]!, 'PUT', `/cards/${ids[one.card]}/claim`, { ttl: one.ttl }, headers)
                expect(await etag()).toBe(before)
                const holder = model.holderOf(one.card)
                const isFenced = one.ifClaim && !model.holds(one.worker, one.card)
                const isRefused = (holder !== undefined && holder !== one.worker) || !model.isOpen(one.card)
                expect(status).toBe(isFenced ? 412 : isRefused ? 409 : 200)
                if (status === 409 && holder !== undefined && holder !== one.worker)
                  expect(body.error.claim).toEqual((await send(ann.read, 'GET', `/cards/${ids[one.card]}/claim`)).body.data)
                if (isFenced || isRefused) break
                model.grant(one.worker, one.card, one.ttl)
                expect([body.data.epoch, Date.parse(body.data.renewed_at)]).toEqual([model.cards[one.card]!.epoch, service.now])
                break
              }
              case 'release': {
                const headers = one.ifClaim ? held(one.worker, one.card) : {}
                const { status } = await send(tokens[one.worker]!, 'DELETE', `/cards/${ids[one.card]}/claim`, undefined, headers)
                const isFenced = one.ifClaim && !model.holds(one.worker, one.card)
                expect(status).toBe(isFenced ? 412 : 200)
                if (!isFenced && model.holderOf(one.card) === one.worker) model.end(one.card)
                break
              }
              case 'write': {
                const path = `/cards/${ids[one.card]}/comments`
                const { status } = await send(tokens[one.worker]!, 'POST', path, { body: 'Done' }, held(one.worker, one.card))
                expect(status).toBe(model.holds(one.worker, one.card) ? 201 : 412)
                if (status === 201) model.cards[one.card]!.comments++
                break
              }
              case 'complete':
                await setup.board.put(`/cards/${ids[one.card]}/completion`, { completed: one.value })
                if (one.value) model.end(one.card)
                model.cards[one.card]!.completed = one.value
                break
              case 'archive':
                await setup.board.post(`/cards/${ids[one.card]}/${one.value ? 'archive' : 'restore'}`)
                if (one.value) model.end(one.card)
                model.cards[one.card]!.archived = one.value
                break
              case 'archive_column':
                await setup.board.post(`/columns/${column}/${one.value ? 'archive' : 'restore'}`)
                if (one.value && !model.columnArchived) for (const at of ids.keys()) model.end(at)
                model.columnArchived = one.value
                break
              case 'wait':
                service.now += one.seconds * 1000
                model.now += one.seconds
                break
              case 'rotate': {
                const request = { userId: bob.id, tokenId: await tokenId(one.worker), lifetime: DAY }
                tokens[one.worker] = (await service.write(workspaceId, (tx) => rotateToken(tx, request, service.deps))).plaintext
                break
              }
              case 'revoke': {
                const id = await tokenId(one.worker)
                await service.write(workspaceId, async (tx) => endToken(tx, (await findToken(tx, id))!, clock))
                tokens[one.worker] = await issue()
                for (const at of ids.keys()) if (model.holderOf(at) === one.worker) model.cards[at]!.holder = undefined
                break
              }
            }
            const { id: board } = setup.board
            const lists = [
              (await send(ann.read, 'GET', `/boards/${board}?include=cards,claim`)).body.data.cards,
              (await send(ann.read, 'GET', `/boards/${board}/cards?include=claim&column_id=${column}`)).body.data,
              (await send(ann.read, 'GET', `/cards?include=claim&column_id=${column}`)).body.data,
            ] as { id: string; claim: any }[][]
            for (const [at, id] of ids.entries()) {
              const holder = model.holderOf(at)
              const claim = (await send(ann.read, 'GET', `/cards/${id}/claim`)).body.data
              const card = (await send(ann.read, 'GET', `/cards/${id}?include=claim`)).body.data
              expect(card.claim).toEqual(claim)
              for (const listed of lists.flat().filter((one_) => one_.id === id)) expect(listed.claim).toEqual(claim)
              const { epoch, expires } = model.cards[at]!
              const times = { expires_at: new Date(began + 1000 * expires).toISOString(), renewed_at: expect.any(String) }
              expect(claim).toEqual(
                holder === undefined ? null : { card_id: id, holder_id: bob.id, token_id: await tokenId(holder), epoch, ...times },
              )
            }
          }
          expect((await send(ann.read, 'GET', `/cards/${other}/claim`)).body.data).toMatchObject({ holder_id: ann.id, epoch: 1 })
          const feed = (await setup.board.get(`/boards/${setup.board.id}/changes?limit=100&after=${start}`)).body.data as any[]
          for (const [at, id] of ids.entries()) {
            const claim = (await send(ann.read, 'GET', `/cards/${id}/claim`)).body.data
            const changes = feed.filter((change) => change.kind === 'claim' && change.id === id)
            expect(changes.map(({ action, epoch, data }) => [at, action, epoch, data])).toEqual(
              model.feed.filter(([of]) => of === at).map((change) => [...change, claim]),
            )
            expect((await send(ann.read, 'GET', `/cards/${id}/comments?limit=100`)).body.data).toHaveLength(model.cards[at]!.comments)
          }
        } finally {
          for (const [at] of tokens.entries()) {
            const id = await tokenId(at)
            await service.write(workspaceId, async (tx) => endToken(tx, (await findToken(tx, id))!, clock))
          }
          await setup.board.post(`/columns/${column}/archive`)
        }
      }),
      runs(25),
    )
  })
})
