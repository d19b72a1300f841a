import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import type { Mail } from '../../src/mail/mailer.ts'
import { DAY, HOUR, MINUTE } from '../../src/model/time.ts'
import { send } from '../../src/webhooks/send.ts'
import { Targets } from '../../src/webhooks/targets.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { atRest, VirtualClock } from '../support/virtual-clock.ts'
import { giveAccount } from '../support/visitor.ts'
import { startReceiver } from './receiver.ts'
import { StubReceivers, Subscription, type Behavior } from './stub-receivers.ts'

const SECOND = 1000
const OK = { status: 204 }

describe('a webhook', () => {
  const receivers = new StubReceivers()
  const mails: Mail[] = []
  const setup = setUpBoard(memory, { sendDelivery: receivers.send, mail: (mail) => void mails.push(mail), url: 'https://kanban.example' })
  beforeAll(async () => {
    await giveAccount(setup.service, setup.ann)
    setup.service.app.deliverer.start()
  })
  // Stopped by the last test, too.
  afterAll(() => setup.service.app.deliverer.stop())
  let renamed = 0
  const rename = (title = `Title ${++renamed}`) => setup.board.patch(`/cards/${setup.cardId}`, { title })
  /** A webhook that has a change to deliver. */
  const begin = async (...behaviors: readonly Behavior[]): Promise<Subscription> => {
    const webhook = await Subscription.create(receivers, setup.board)
    webhook.receiver.behave(...behaviors)
    await rename()
    return webhook
  }
  /** Requires that the creator of a webhook on the board was told so many times that it was disabled, and nobody else. */
  const told = async (times = 1): Promise<void> => {
    const { service, board, ann, bob } = setup
    const kindsOf = async ({ read }: Person) => {
      const { body } = await service.send(read, 'GET', '/notices?limit=100&order=desc')
      return body.data.filter(({ board_id }: any) => board_id === board.id).map(({ kind, actor_id }: any) => [kind, actor_id])
    }
    expect(await kindsOf(ann)).toEqual(Array.from({ length: times }, () => ['webhook_disabled', null]))
    expect(await kindsOf(bob)).toEqual([])
  }

  test('that fails is tried again after 5 s, 30 s, 2 min, 10 min and 30 min, a fifth more or less, and delays no other', async () => {
    const [failing, other] = [await begin({ status: 503 }), await Subscription.create(receivers, setup.board)]
    const since = setup.board.now
    const delays = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 30 * MINUTE]
    for (const [i, delay] of delays.entries()) {
      const { next_at } = await failing.until({ failures: i + 1 })
      expect(await failing.read()).toMatchObject({ state: 'failing', reason: 'The receiver answered 503.', failing_since: since })
      const part = (Date.parse(next_at!) - setup.service.now) / delay
      expect(part).toBeGreaterThanOrEqual(0.8)
      expect(part).toBeLessThanOrEqual(1.2)
      setup.service.now = Date.parse(next_at!) - 1
      await rename()
      await other.delivered(i + 1)
      await failing.due()
      await failing.receiver.got(i + 2)
    }
    failing.receiver.behave(OK)
    await failing.until({ failures: 7 })
    await failing.due()
    await failing.delivered(9)
    expect(await failing.read()).toMatchObject({ state: 'active', reason: null, failing_since: null })
    expect(failing.receiver.seqs.length).toBe(7)
  })

  test.each<[what: string, answer: Behavior, shortest: number, longest: number]>([
    ['nothing', { status: 429 }, 4 * SECOND, 6 * SECOND],
    ['less than the delay', { status: 429, retryAfter: 1 }, 4 * SECOND, 6 * SECOND],
    ['an hour', { status: 429, retryAfter: 3600 }, HOUR, HOUR],
    ['an hour, with another status', { status: 503, retryAfter: 3600 }, HOUR, HOUR],
    ['a day', { status: 503, retryAfter: 86_400 }, DAY, DAY],
    ['more than a day', { status: 429, retryAfter: 10 * 86_400 }, DAY, DAY],
  ])('whose receiver asks for %s is tried again when both allow it', async (_what, answer, shortest, longest) => {
    const webhook = await begin(answer, OK)
    const { next_at } = await webhook.until({ failures: 1 })
    const delay = Date.parse(next_at!) - setup.service.now
    expect(delay).toBeGreaterThanOrEqual(shortest)
    expect(delay).toBeLessThanOrEqual(longest)
    await webhook.due()
    await webhook.delivered(2)
  })

  test('whose receiver answers 410 is disabled at once, with a notice to its creator', async () => {
    const webhook = await begin({ status: 410 })
    await webhook.until({ state: 'disabled', failures: 0, next_at: null, cursor: webhook.begin })
    expect((await webhook.read()).reason).toMatch(/^The receiver answered 410/)
    await told()
  })

  test('that is enabled again and again while its receiver answers 410 is a notice each time, and one mail for a minute', async () => {
    setup.service.now += HOUR
    const webhook = await begin({ status: 410 })
    await webhook.until({ state: 'disabled' })
    for (let round = 2; round <= 12; round++) {
      await webhook.patch({ enabled: true })
      await webhook.receiver.got(round)
      await webhook.until({ state: 'disabled' })
    }
    await told(12)
    mails.length = 0
    setup.service.now += HOUR
    await setup.service.app.noticeMailer.look()
    expect(mails.filter(({ text }) => text.includes(setup.board.id)).map(({ subject }) => subject)).toEqual([
      '12 notices: Your webhook to hooks.example on "Board" was disabled. Its page says why.',
    ])
  })

  test('that has failed for three days is disabled, with a notice to its creator', async () => {
    const webhook = await begin({ error: 'connection refused' })
    const { failing_since } = await webhook.until({ failures: 1, reason: 'connection refused' })
    setup.service.now = Date.parse(failing_since!) + 3 * DAY - 1
    setup.service.app.deliverer.lookAgain(webhook.id)
    await webhook.until({ state: 'failing', failures: 2 })
    await webhook.due()
    await webhook.until({ state: 'disabled', failing_since, reason: 'It has failed for three days. connection refused' })
    await told()
    expect(webhook.receiver.received).toHaveLength(3)
  })

  test('whose cursor is older than the feed is disabled, with a notice to its creator, and can go on from now', async () => {
    const webhook = await begin({ status: 500 }, OK)
    await webhook.until({ failures: 1 })
    await rename()
    setup.service.now += DAY
    await collectGarbage({ ...setup.service.adminDeps, changes: { age: 7 * DAY, count: 1 } }, setup.workspaceId)
    setup.service.app.deliverer.lookAgain(webhook.id)
    await webhook.until({ state: 'disabled', reason: 'The feed does not keep the changes after its cursor any more.' })
    await told()
    await webhook.patch({ enabled: true, after: 'now' })
    await rename()
    expect((await webhook.delivered(2)).body.data.entries).toHaveLength(1)
  })

  test('that is enabled goes on at its cursor, or from now', async () => {
    const webhook = await begin(OK)
    const { body } = await webhook.delivered(1)
    await webhook.patch({ enabled: false })
    await rename('While it is disabled')
    expect(await webhook.read()).toMatchObject({ state: 'disabled', reason: 'It was disabled by its creator.', cursor: body.data.next })
    await webhook.patch({ enabled: true })
    const second = await webhook.delivered(2)
    expect(second.body.data).toMatchObject({ after: body.data.next, entries: [{ data: { title: 'While it is disabled' } }] })
    await webhook.patch({ enabled: false })
    await rename('Left out')
    const { cursor } = await webhook.patch({ enabled: true, after: 'now' })
    await setup.board.comment(setup.cardId)
    const third = await webhook.delivered(3)
    expect(third.body.data).toMatchObject({ after: cursor, entries: [{ kind: 'comment' }] })
    expect(cursor).not.toBe(second.body.data.next)
  })

  test('that gets another URL is tried when it is time, with the same id, and its three days begin anew', async () => {
    const webhook = await begin({ status: 500 }, { status: 500 }, OK)
    const before = await webhook.until({ failures: 1 })
    setup.service.now += SECOND
    await webhook.patch({ url: 'https://other.example/' })
    expect(await webhook.progress()).toEqual({ ...before, failing_since: setup.board.now })
    await webhook.due()
    const { next_at } = await webhook.until({ failures: 2 })
    expect(Date.parse(next_at!) - setup.service.now).toBeGreaterThan(20 * SECOND)
    await webhook.due()
    await webhook.delivered(3)
    const { received } = webhook.receiver
    expect(received.map(({ url }) => url.slice(8, 13))).toEqual(['hooks', 'other', 'other'])
    expect(new Set(received.map(({ id }) => id)).size).toBe(1)
  })

  test('that gets another URL while it is enabled is tried at once', async () => {
    const webhook = await begin({ status: 500 }, OK)
    await webhook.until({ failures: 1 })
    await webhook.patch({ url: 'https://other.example/', enabled: true })
    expect((await webhook.delivered(2)).url).toBe('https://other.example/')
  })

  test.each<[what: string, answer: Exclude<Behavior, 'hang'>]>([
    ['fails', { status: 500, retryAfter: 86_400 }],
    ['answers 410', { status: 410 }],
  ])('whose URL is changed while its receiver %s is tried there after the usual time', async (_what, answer) => {
    const webhook = await begin('hang', OK)
    await webhook.receiver.got(1)
    await webhook.patch({ url: 'https://other.example/' })
    webhook.receiver.answerHanging(answer)
    const reason = 'It failed before its URL was changed.'
    const { next_at } = await webhook.until({ state: 'failing', failures: 1, reason, failing_since: setup.board.now })
    const delay = Date.parse(next_at!) - setup.service.now
    expect(delay).toBeGreaterThanOrEqual(4 * SECOND)
    expect(delay).toBeLessThanOrEqual(6 * SECOND)
    expect(webhook.receiver.received).toHaveLength(1)
    await webhook.due()
    expect((await webhook.delivered(2)).url).toBe('https://other.example/')
  })

  test('whose URL is changed and that is enabled while its receiver fails is tried at once', async () => {
    const webhook = await begin('hang', OK)
    await webhook.receiver.got(1)
    setup.service.now += SECOND
    await webhook.patch({ url: 'https://other.example/', enabled: true })
    webhook.receiver.answerHanging({ status: 500 })
    expect((await webhook.delivered(2)).url).toBe('https://other.example/')
  })

  test('has one delivery in flight, whatever is changed meanwhile, and delays no other while its receiver hangs', async () => {
    const [slow, other] = [await begin('hang', OK), await Subscription.create(receivers, setup.board)]
    await slow.receiver.got(1)
    await slow.patch({ url: 'https://other.example/', kinds: ['card'] })
    await slow.patch({ enabled: false })
    await slow.patch({ enabled: true })
    for (let i = 1; i <= 3; i++) {
      await rename()
      setup.service.app.deliverer.lookAgain(slow.id)
      await other.delivered(i)
    }
    expect(slow.receiver.received).toHaveLength(1)
    slow.receiver.answerHanging(OK)
    await slow.delivered(2)
    expect(slow.receiver.atOnce).toBe(1)
    expect(slow.receiver.received.map(({ body }) => body.data.entries.length)).toEqual([1, 3])
  })

  test('that was delivered to while it was disabled does not deliver that again', async () => {
    const webhook = await begin('hang', OK)
    const { body } = await webhook.receiver.got(1)
    await webhook.patch({ enabled: false })
    webhook.receiver.answerHanging(OK)
    await webhook.until({ state: 'disabled', cursor: body.data.next! })
    await webhook.patch({ enabled: true })
    await rename()
    expect((await webhook.delivered(2)).body.data.after).toBe(body.data.next)
  })

  test('that is set to another place while its receiver hangs goes on there', async () => {
    const webhook = await begin('hang', OK)
    const first = await webhook.receiver.got(1)
    await rename('Left out')
    const { cursor } = await webhook.patch({ enabled: true, after: 'now' })
    webhook.receiver.answerHanging({ status: 500 })
    await rename()
    const second = await webhook.delivered(2)
    expect(second.body.data.after).toBe(cursor)
    expect(second.id).not.toBe(first.id)
  })

  test('that is deleted while its receiver hangs leaves nothing', async () => {
    const [webhook, other] = [await begin('hang', OK), await Subscription.create(receivers, setup.board)]
    await webhook.receiver.got(1)
    await webhook.delete()
    webhook.receiver.answerHanging(OK)
    await rename()
    await other.delivered(1)
    expect(webhook.receiver.received).toHaveLength(1)
    expect((await setup.service.recordKeys(setup.workspaceId)).filter((key) => key.endsWith(webhook.id))).toEqual([])
  })

  // The last one: a deliverer does not start again.
  test('whose receiver answers while the process ends has delivered that, and begins nothing', async () => {
    const webhook = await begin('hang', OK)
    await webhook.receiver.got(1)
    await rename()
    const stopped = setup.service.app.deliverer.stop()
    await nextTurn()
    webhook.receiver.answerHanging(OK)
    await stopped
    expect(await webhook.progress()).toMatchObject({ cursor: webhook.receiver.received[0]!.body.data.next, begun: null })
    expect(webhook.receiver.received).toHaveLength(1)
  })
})

test('at most five deliveries of a workspace are under way, and 50 in all', async () => {
  const underWay = new Map<string, number>()
  const sum = () => [...underWay.values()].reduce((all, one) => all + one, 0)
  const most = { ofOne: 0, ofAll: 0 }
  const ends: (() => void)[] = []
  let isHeld = true
  const sendDelivery: typeof send = async ({ url }) => {
    underWay.set(url, (underWay.get(url) ?? 0) + 1)
    most.ofOne = Math.max(most.ofOne, underWay.get(url)!)
    most.ofAll = Math.max(most.ofAll, sum())
    if (isHeld) await new Promise<void>((resolve) => ends.push(resolve))
    underWay.set(url, underWay.get(url)! - 1)
    return OK
  }
  const service = await Service.start(memory, { sendDelivery })
  const webhooks: Subscription[] = []
  service.app.deliverer.start()
  for (let i = 0; i < 14; i++) {
    const workspaceId = await service.workspace()
    const people = await Promise.all([1, 2, 3, 4].map(() => service.person(workspaceId)))
    const board = await TestBoard.create(service, people[0]!)
    const url = `https://of-workspace-${i}.example/`
    const create = async (person: number) => webhooks.push(await Subscription.create(new StubReceivers(), board, { url }, people[person]))
    // Alone, and one person after the other, the first workspace has all of its places: the last one is for a person who has none.
    for (const [person, inAll] of [
      [0, 3],
      [1, 4],
      [2, 5],
    ] as const) {
      while (webhooks.length < 7 * i + inAll) await create(person)
      await board.column()
      if (i === 0) await expect.poll(sum).toBe(inAll)
    }
    // A fourth person would have a sixth place.
    for (const person of [3, 1]) await create(person)
    await board.column()
  }
  // The last five are for workspaces that have none.
  await expect.poll(sum).toBeGreaterThanOrEqual(45)
  for (let i = 0; i < webhooks.length; i++) {
    await expect.poll(() => ends.length).toBeGreaterThan(0)
    ends.shift()!()
  }
  isHeld = false
  for (const end of ends) end()
  for (const webhook of webhooks) await webhook.until({ begun: null })
  expect(most.ofOne).toBe(5)
  expect(most.ofAll).toBeLessThanOrEqual(50)
  await service.app.deliverer.stop()
  await service.stop()
})

describe('a receiver on the network that', () => {
  const clock = new VirtualClock()
  const setup = setUpBoard(memory, {
    webhookTargets: Targets.from('http://127.0.0.1:*'),
    sendDelivery: (delivery, options) => send(delivery, { ...options, timers: clock }),
  })
  beforeAll(() => setup.service.app.deliverer.start())
  afterAll(() => setup.service.app.deliverer.stop())
  const write = (text: string) => (socket: Socket) => void socket.write(text)
  const end = (text: string) => (socket: Socket) => void socket.end(text)
  const slowly = (text: string) => (socket: Socket) => [...text].forEach((byte) => setImmediate(() => socket.write(byte)))
  const answer = (status: string, body = '') => `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`

  test.each<[what: string, answer: (socket: Socket) => void, reason: string | null]>([
    ['does not answer', () => {}, 'timed out'],
    ['answers byte by byte, and not to the end', slowly('HTTP/1.1 200 OK\r\nX-Header: aaaaaaaa'), 'timed out'],
    ['answers byte by byte', slowly(answer('200 OK')), null],
    ['closes the connection', end(''), 'connection reset'],
    ['resets the connection', (socket) => void socket.resetAndDestroy(), 'connection reset'],
    ['redirects', write('HTTP/1.1 307 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n'), 'The receiver answered 307.'],
    ['has too much to do', write(answer('429 Later')), 'The receiver answered 429.'],
    ['does not speak HTTP', write('SSH-2.0-OpenSSH_9.9\r\n'), 'answer is not valid HTTP'],
    ['says two lengths', write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok'), 'answer is not valid HTTP'],
    ['says more than it sends', end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok'), null],
    ['says less than it sends', write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, and more'), null],
    ['sends without end', write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(100_000)}`), null],
  ])('%s', async (_what, first, reason) => {
    let answers = 0
    const receiver = await startReceiver((socket) => (answers++ === 0 ? first : write(answer('204 No Content')))(socket))
    const url = `http://127.0.0.1:${receiver.port}/`
    const webhook = await Subscription.create(new StubReceivers(), setup.board, { url })
    await setup.board.patch(`/cards/${setup.cardId}`, { title: 'New' })
    await receiver.arrived(1)
    if (reason === 'timed out') await clock.pass(10_000, () => atRest(() => false))
    if (reason !== null) {
      await webhook.until({ state: 'failing', reason, failures: 1 })
      await webhook.due()
      await receiver.arrived(2)
    }
    await webhook.until({ state: 'active', begun: null })
    expect((await webhook.progress()).cursor).not.toBe(webhook.begin)
    expect(receiver.requests).toHaveLength(reason === null ? 1 : 2)
    const [ids, bodies] = [/^webhook-id: (.*)$/m, /\r\n\r\n.*/].map((part) => new Set(receiver.requests.map((one) => part.exec(one)![0])))
    expect({ ids: ids!.size, bodies: bodies!.size }).toEqual({ ids: 1, bodies: 1 })
    receiver.close()
  })
})
