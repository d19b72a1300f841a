import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Replay } from '../../src/decision-log/replay.ts'
import { DAY } from '../../src/model/time.ts'
import { Scene, ways } from '../support/access-ends.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { linesOf, logDisk, recordRequests } from '../support/decision-log.ts'
import { handWrittenCells, handWrittenOperations } from '../support/hand-written-decisions.ts'
import { memory } from '../support/memory.ts'
import { edit } from '../support/other-policy.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'
import { Service, type Person } from '../support/service.ts'
import { StubReceivers, Subscription } from './stub-receivers.ts'

const OK = { status: 204 }
/** Why a webhook is suspended, by what the hand-written decisions answer. */
const REASONS = {
  401: 'The membership of its creator has ended.',
  404: 'Its creator may not read the board any more.',
} as const

const receivers = new StubReceivers()
const setup = setUpBoard(memory, { sendDelivery: receivers.send })
beforeAll(() => setup.service.app.deliverer.start())
afterAll(() => setup.service.app.deliverer.stop())

/** A webhook whose receiver hangs with the first change. */
async function hanging(board: TestBoard, cardId: string, creator: Person): Promise<Subscription> {
  const webhook = await Subscription.create(receivers, board, {}, creator)
  webhook.receiver.behave('hang', OK)
  await board.patch(`/cards/${cardId}`, { title: `The first for ${webhook.id}` })
  await webhook.receiver.got(1)
  return webhook
}

/** A private board of Ann, Bob among its members, with a webhook of his whose receiver hangs. */
async function privateBoard() {
  const { board, bob, cardId } = setup
  await board.makePrivate()
  await board.add(bob)
  const webhook = await hanging(board, cardId, bob)
  return { webhook, board, bob, cardId, member: `/boards/${board.id}/members/${bob.id}` }
}

const cells = handWrittenCells(handWrittenOperations.find(({ id }) => id === 'boards.changes')!)
describe('a change is sent only if the hand-written decisions let the creator of the webhook read it then', () => {
  test.each(cells.map((cell) => [Object.values(cell.facts).join(', '), cell] as const))('%s', async (_facts, { facts, response }) => {
    const { service, workspaceId, ann } = setup
    const creator = await service.person(workspaceId, facts['caller.role'] as 'owner' | 'admin' | 'member')
    const board = await TestBoard.create(service, facts['board.caller'] === 'creator' ? creator : ann)
    if (facts['board.caller'] === 'member') await board.add(creator)
    const cardId = await board.card(await board.column())
    const webhook = await hanging(board, cardId, creator)
    await board.patch(`/cards/${cardId}`, { title: 'The second' })
    if (facts['board.visibility'] === 'private') await board.makePrivate()
    if (facts['caller.membership'] === 'ended') await service.leaveOnly(workspaceId, creator.id)
    webhook.receiver.answerHanging(OK)
    if (response === 'ok') await webhook.delivered(2)
    else await webhook.until({ state: 'suspended', reason: REASONS[response as 401 | 404] })
    const titles = webhook.receiver.entries.map(({ data }) => data.title)
    expect(titles.includes('The second')).toBe(response === 'ok')
    expect(webhook.receiver.received).toHaveLength(response === 'ok' ? 2 : 1)
  })

  test('the hand-written decisions have 36 cases', () => {
    expect(cells.map(({ response }) => response).toSorted()).toEqual([
      ...Array<number>(18).fill(401),
      ...Array<number>(3).fill(404),
      ...Array<string>(15).fill('ok'),
    ])
  })
})

/** A webhook needs no token and no session: only what ends the access of the person suspends it. */
const [lost, kept] = [
  ways.filter(({ ends }) => ends['the web app'] === 'not_found'),
  ways.filter(({ ends }) => Object.values(ends).includes('goes on')),
]
describe.each([
  ['a change is not sent', lost],
  ['a change is sent', kept],
] as const)('%s', (_what, those) => {
  test.each(those.map((way) => [way.when, way] as const))('when %s', async (_when, way) => {
    const service = await Service.start(memory, { sendDelivery: receivers.send })
    service.app.deliverer.start()
    const scene = await Scene.begin(service, { visibility: way.visibility ?? 'private' })
    const webhook = await hanging(scene.board, scene.cardId, scene.bob)
    await scene.change('The second')
    await way.end(scene)
    webhook.receiver.answerHanging(OK)
    if (those === kept) await webhook.delivered(2)
    else if (way.isLast === true) await expect.poll(() => webhook.receiver.received.length).toBe(1)
    else await webhook.until({ state: 'suspended', reason: expect.stringMatching(/^(Its creator may not read|The membership)/) as any })
    await service.app.deliverer.stop()
    expect(webhook.receiver.received).toHaveLength(those === kept ? 2 : 1)
    await service.stop()
  })
})

test('a delivery is not repeated after access was taken away', async () => {
  const { webhook, board, member } = await privateBoard()
  webhook.receiver.answerHanging({ status: 500 })
  await webhook.until({ state: 'failing' })
  await board.delete(member)
  await webhook.due()
  await webhook.until({ state: 'suspended', reason: REASONS[404], failing_since: null })
  expect(webhook.receiver.received).toHaveLength(1)
})

test('a delivery is not sent if access was taken away while it waited for a place', async () => {
  const { board, ann, bob, cyd, cardId } = setup
  const other = await TestBoard.create(setup.service, ann)
  // All places of the workspace. The last one is for somebody who has none.
  const all: Subscription[] = []
  for (const [i, person] of [ann, ann, ann, ann, cyd].entries()) {
    const webhook = await Subscription.create(receivers, other, { url: `https://hooks-${i}.example/` }, person)
    webhook.receiver.behave('hang', OK)
    all.push(webhook)
    await other.column()
    await webhook.receiver.got(1)
  }
  const webhook = await Subscription.create(receivers, board, {}, bob)
  await board.patch(`/cards/${cardId}`, { title: 'New' })
  await board.makePrivate()
  for (const { receiver } of all) receiver.answerHanging(OK)
  await webhook.until({ state: 'suspended' })
  expect(webhook.receiver.received).toEqual([])
})

test.each([
  ['later', 1],
  ['at the same moment', 0],
  ['a day before, by a clock that was set back', -DAY],
])('a webhook does not go on when its creator joins the workspace again %s, until they enable it', async (_when, elapsed) => {
  const { service, board, workspaceId, cardId } = setup
  const bob = await service.person(workspaceId)
  const webhook = await hanging(board, cardId, bob)
  await service.leaveOnly(workspaceId, bob.id)
  service.now += elapsed
  await service.rejoin(bob)
  if (elapsed < 0) service.now -= elapsed
  await board.patch(`/cards/${cardId}`, { title: 'For a member' })
  webhook.receiver.answerHanging(OK)
  await webhook.until({ state: 'suspended', reason: REASONS[401] })
  expect(webhook.receiver.received).toHaveLength(1)
  const admin = await service.token(workspaceId, bob.id, ['kanban:admin'])
  expect((await service.send(admin, 'PATCH', `/webhooks/${webhook.id}`, { enabled: true })).status).toBe(200)
  await webhook.delivered(2)
})

test('only its creator, with access, can enable a webhook that is suspended: it goes on where it was', async () => {
  const { webhook, board, bob, member } = await privateBoard()
  const { ann, cyd, service } = setup
  await board.add(cyd)
  const enable = async ({ admin }: Person) => (await service.send(admin, 'PATCH', `/webhooks/${webhook.id}`, { enabled: true })).status
  const all = async () => [await enable(ann), await enable(cyd), await enable(bob)]
  await board.delete(member)
  webhook.receiver.answerHanging(OK)
  const suspended = await webhook.until({ state: 'suspended' })
  expect(await all()).toEqual([403, 403, 404])
  await board.add(bob)
  expect({ ann: await enable(ann), cyd: await enable(cyd) }).toEqual({ ann: 403, cyd: 403 })
  expect(await webhook.progress()).toEqual(suspended)
  expect(webhook.receiver.received).toHaveLength(1)
  expect(await enable(bob)).toBe(200)
  const { body } = await webhook.delivered(2)
  expect(body.data.after).toBe(webhook.receiver.received[0]!.body.data.next)
})

test('each delivery has its decision in the log, which is decided again as it was', async () => {
  const disk = await logDisk()
  const log = await recordRequests(setup.service, disk)
  const { webhook, board, bob, member } = await privateBoard()
  await board.delete(member)
  webhook.receiver.answerHanging(OK)
  await webhook.until({ state: 'suspended' })
  Object.assign(setup.service.app.services, { decisionLog: undefined })
  await log.close()
  const lines = (await linesOf(disk)).filter(({ surface }) => surface === 'webhook')
  const of = (status: number) => lines.filter((line) => line.status === status)
  expect(of(200).at(-1)).toMatchObject({ kind: 'decision', operation: 'boards.changes', user_id: bob.id, token_id: null })
  expect(of(404)).toMatchObject([{ kind: 'decision', hidden: { definition: 'board.access' }, user_id: bob.id, token_id: null }])
  const replay = (engine: typeof shipped, recorded: readonly object[]) => {
    const replayed = new Replay(engine)
    for (const [i, line] of recorded.entries()) replayed.add(JSON.stringify(line), { file: 'log', line: i + 1 })
    return [replayed.records, ...replayed.differences.map(({ kind, about }) => `${kind} ${about}`)]
  }
  expect(replay(shipped, lines)).toEqual([lines.length])
  // Other tables would have decided both otherwise.
  const other = (from: string, to: string) => load(edit(shippedFiles, [['permissions', from, to]]))
  const ofCreators = other('board.caller: { $in: [creator, member] } }', 'board.caller: creator }')
  expect(replay(ofCreators, of(200))).toEqual([of(200).length, 'narrowed read Board'])
  const ofAll = other('caller.membership: active, board.visibility: workspace', 'caller.membership: active')
  expect(replay(ofAll, of(404))).toEqual([1, 'widened board.access'])
})
