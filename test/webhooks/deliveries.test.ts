import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Mail } from '../../src/mail/mailer.ts'
import { HOUR, timestamp } from '../../src/model/time.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { blockOf } from '../support/documents.ts'
import { drivers } from '../support/drivers.ts'
import { Service } from '../support/service.ts'
import { giveAccount } from '../support/visitor.ts'
import { StubReceivers, Subscription, type Received } from './stub-receivers.ts'

const LIMIT = 256 * 1024

/** The violations of the chain of some deliveries in their order, repetitions included. */
function chainOf(begin: string, received: readonly Received[]): string[] {
  const found: string[] = []
  let [after, next, id] = [begin, begin, '']
  for (const [i, { id: ofThis, body }] of received.entries()) {
    if (ofThis !== id) after = next
    if (body.data.after !== after) found.push(`delivery ${i} does not begin where the one before has ended`)
    ;[id, next] = [ofThis, body.data.next!]
  }
  return found
}

describe.each(drivers)('deliveries, on $name', (driver) => {
  const receivers = new StubReceivers()
  const mails: Mail[] = []
  const setup = setUpBoard(driver, { sendDelivery: receivers.send, mail: (mail) => void mails.push(mail), url: 'https://kanban.example' })
  beforeAll(() => setup.service.app.deliverer.start())
  afterAll(() => setup.service.app.deliverer.stop())
  const rename = (title: string) => setup.board.patch(`/cards/${setup.cardId}`, { title })
  const feed = async (after: string) => (await setup.board.get(`/boards/${setup.board.id}/changes?limit=100&after=${after}`)).body
  const describeOne = (name: string) => setup.board.patch(`/cards/${setup.cardId}`, { description: name.repeat(10_000) })

  test('have the change that follows the creation, with what the feed says of it', async () => {
    const webhook = await Subscription.create(receivers, setup.board)
    await rename('New')
    const { body, headers, url } = await webhook.delivered(1)
    const { data, page } = await feed(webhook.begin)
    expect(body).toEqual({
      type: 'board.changed',
      timestamp: data.at(-1).at,
      data: { webhook_id: webhook.id, board_id: setup.board.id, after: webhook.begin, next: page.next_cursor, entries: data },
    })
    expect(data.map(({ kind, action }: any) => `${kind} ${action}`)).toEqual(['card updated'])
    expect(url).toBe('https://hooks.example/kanban')
    const shown = JSON.parse(blockOf('src/http/webhooks.md', '"board.changed"'))
    expect([body, body.data].map(Object.keys)).toEqual([shown, shown.data].map(Object.keys))
    expect(Object.keys(data[0])).toEqual(expect.arrayContaining(Object.keys(shown.data.entries[0])))
    expect(Object.keys(headers).toSorted()).toEqual(['user-agent', 'webhook-id', 'webhook-signature', 'webhook-timestamp'])
    expect(headers['webhook-timestamp']).toBe(String(Math.floor(setup.service.now / 1000)))
    expect(await webhook.read()).toMatchObject({ state: 'active', reason: null, cursor: page.next_cursor, failing_since: null })
    const [attempt] = await webhook.deliveries()
    expect(attempt).toMatchObject({
      id: headers['webhook-id'],
      at: timestamp(() => setup.service.now),
      entries: 1,
      status: 204,
      error: null,
    })
  })

  test('begin at a cursor that was given', async () => {
    const { page } = (await setup.board.get(`/boards/${setup.board.id}/changes?limit=1`)).body
    const webhook = await Subscription.create(receivers, setup.board, { after: page.next_cursor })
    const { body } = await webhook.delivered(1)
    expect(body.data.after).toBe(page.next_cursor)
    expect(body.data.entries.map(({ kind, action }: any) => `${kind} ${action}`)).toEqual(['column created', 'card created'])
  })

  test('end with one notice and one mail to the creator if the receiver is gone', async () => {
    const { service, board, ann } = setup
    const email = await giveAccount(service, ann)
    const webhook = await Subscription.create(receivers, board)
    webhook.receiver.behave({ status: 410 })
    await rename('New')
    await webhook.until({ state: 'disabled' })
    const { body } = await service.send(ann.read, 'GET', '/notices?limit=100')
    const text = 'Your webhook to hooks.example on "Board" was disabled. Its page says why.'
    const nobody = { actor_id: null, token_name: null, card_id: null, comment_id: null }
    expect(body.data).toMatchObject([{ kind: 'webhook_disabled', board_id: board.id, text, read_at: null, ...nobody }])
    for (let round = 0; round < 3; round++) {
      service.now += HOUR
      await service.app.noticeMailer.look()
    }
    const page = `https://kanban.example/app/${setup.workspaceId}/boards/${board.id}/webhooks`
    expect(mails).toMatchObject([{ to: email, subject: text, text: expect.stringContaining(`${text}\n${page}\n`) }])
  })

  test('have at most 100 entries each, all in order, and each begins where the one before has ended', async () => {
    const operations = Array.from({ length: 90 }, (_, i) => ({
      operation: 'cards.create',
      body: { column_id: setup.columnId, title: `Card ${i}` },
    }))
    const webhook = await Subscription.create(receivers, setup.board)
    webhook.receiver.behave('hang', { status: 204 })
    await rename('First')
    await webhook.receiver.got(1)
    for (let i = 0; i < 3; i++) await setup.board.post(`/boards/${setup.board.id}/batch`, { operations })
    webhook.receiver.answerHanging({ status: 204 })
    await webhook.delivered(4)
    const { received, seqs } = webhook.receiver
    expect(received.map(({ body }) => body.data.entries.length)).toEqual([1, 100, 100, 70])
    expect(seqs).toEqual(Array.from({ length: 271 }, (_, i) => seqs[0]! + i))
    expect(chainOf(webhook.begin, received)).toEqual([])
    expect(new Set(received.map(({ id }) => id)).size).toBe(4)
    expect(webhook.receiver.atOnce).toBe(1)
  })

  test('have at most 256 KiB each', async () => {
    const webhook = await Subscription.create(receivers, setup.board)
    webhook.receiver.behave('hang', { status: 204 })
    await describeOne('ä🎉"\n')
    await webhook.receiver.got(1)
    // Each is about 80 KiB.
    const cards = Array.from({ length: 7 }, (_, i) => ({
      column_id: setup.columnId,
      title: `Card ${i}`,
      description: 'ä🎉"\n'.repeat(10_000),
    }))
    for (const card of cards) await setup.board.post(`/boards/${setup.board.id}/cards`, card)
    webhook.receiver.answerHanging({ status: 204 })
    await expect.poll(() => webhook.receiver.seqs.length).toBe(8)
    const { received } = webhook.receiver
    expect(received.map(({ body }) => body.data.entries.length)).toEqual([1, 2, 2, 2, 1])
    expect(received.every(({ text }) => Buffer.byteLength(text) <= LIMIT)).toBe(true)
    expect(received.flatMap(({ body }) => body.data.entries).every(({ data }) => data.description.length === 50_000)).toBe(true)
    await webhook.delivered(5)
    expect(chainOf(webhook.begin, received)).toEqual([])
  })

  test('have no objects, if these have grown since the first attempt so that they do not fit', async () => {
    const cards = [setup.cardId]
    for (let i = 0; i < 5; i++) cards.push(await setup.board.card(setup.columnId))
    const webhook = await Subscription.create(receivers, setup.board)
    webhook.receiver.behave('hang', { status: 500 }, { status: 204 })
    await rename('Small')
    await webhook.receiver.got(1)
    for (const card of cards) await setup.board.patch(`/cards/${card}`, { title: 'Small' })
    webhook.receiver.answerHanging({ status: 204 })
    const small = await webhook.receiver.got(2)
    await webhook.until({ state: 'failing' })
    for (const card of cards) await setup.board.patch(`/cards/${card}`, { description: 'ä🎉"\n'.repeat(10_000) })
    await webhook.due()
    const again = await webhook.receiver.got(3)
    expect(again.id).toBe(small.id)
    const withoutData = small.body.data.entries.map((entry) => ({ ...entry, data: null }))
    expect(again.body.data).toEqual({ ...small.body.data, entries: withoutData })
  })

  test('leave out the kinds that are not asked for, and the chain has no gap', async () => {
    const webhook = await Subscription.create(receivers, setup.board, { kinds: ['comment'] })
    const comment = (text: string) => setup.board.comment(setup.cardId, text)
    await rename('Left out')
    await comment('One')
    await webhook.delivered(1)
    await rename('Left out')
    await rename('Left out, too')
    const left = await setup.board.get(`/boards/${setup.board.id}/changes?limit=100`)
    // What is left out is passed, and a delivery does not show that.
    await webhook.until({ cursor: left.body.page.next_cursor })
    await comment('Two')
    await rename('Left out at the end')
    await webhook.delivered(2)
    const { received } = webhook.receiver
    expect(received.flatMap(({ body }) => body.data.entries.map(({ kind, data }) => [kind, data.body]))).toEqual([
      ['comment', 'One'],
      ['comment', 'Two'],
    ])
    expect(chainOf(webhook.begin, received)).toEqual([])
    expect((await webhook.deliveries()).map(({ entries }) => entries)).toEqual([1, 1])
  })

  test('have another id with other kinds', async () => {
    const webhook = await Subscription.create(receivers, setup.board, { kinds: ['comment'] })
    webhook.receiver.behave({ status: 500 })
    const operations = [
      { operation: 'cards.update', params: { card_id: setup.cardId }, body: { title: 'New' } },
      { operation: 'comments.create', params: { card_id: setup.cardId }, body: { body: 'Hello' } },
    ]
    await setup.board.post(`/boards/${setup.board.id}/batch`, { operations })
    await webhook.until({ state: 'failing' })
    await webhook.patch({ kinds: null })
    webhook.receiver.behave({ status: 204 })
    await webhook.due()
    await webhook.delivered(2)
    const [first, second] = webhook.receiver.received
    expect([first, second].map((one) => one!.body.data.entries.map(({ kind }) => kind))).toEqual([['comment'], ['card', 'comment']])
    expect(second!.id).not.toBe(first!.id)
    expect(second!.body.data.after).toBe(webhook.begin)
  })

  test('have the same id and entries at each attempt, also after a restart, and another id with other entries', async () => {
    const webhook = await Subscription.create(receivers, setup.board)
    webhook.receiver.behave({ status: 500 }, 'hang')
    await rename('First')
    const first = await webhook.receiver.got(1)
    await webhook.until({ state: 'failing' })
    await rename('Second')
    await webhook.due()
    await webhook.receiver.got(2)
    // Without an answer, nothing is known of the second attempt.
    await setup.service.app.deliverer.stop()
    expect(await webhook.deliveries()).toHaveLength(1)
    const { place, deps, now } = setup.service
    const store = (await place.openAgain?.()) ?? place.store
    const options = { sendDelivery: receivers.send, secretKeys: deps.secretKeys }
    const other = await Service.start({ name: driver.name, open: async () => ({ ...place, store }) }, options)
    other.now = now
    webhook.receiver.behave({ status: 204 })
    other.app.deliverer.start()
    await webhook.delivered(4)
    await other.app.deliverer.stop()
    const { received } = webhook.receiver
    expect(received.slice(0, 3).map(({ id }) => id)).toEqual([first.id, first.id, first.id])
    const entries = received.map(({ body }) => body.data.entries.map(({ seq, action }) => `${seq} ${action}`))
    expect(entries.slice(0, 3)).toEqual([entries[0], entries[0], entries[0]])
    expect(entries.map(({ length }) => length)).toEqual([1, 1, 1, 1])
    expect(received[3]!.id).not.toBe(first.id)
    expect(chainOf(webhook.begin, received)).toEqual([])
    await other.app.services.usage.settled()
    if (place.openAgain !== undefined) await store.close()
  })
})

describe('a webhook', () => {
  const receivers = new StubReceivers()
  const setup = setUpBoard(drivers[0]!, { sendDelivery: receivers.send })
  beforeAll(() => setup.service.app.deliverer.start())
  afterAll(() => setup.service.app.deliverer.stop())
  const rename = (title: string) => setup.board.patch(`/cards/${setup.cardId}`, { title })

  test('sends a delivery without entries when it is tested, also while it is disabled', async () => {
    const webhook = await Subscription.create(receivers, setup.board)
    await webhook.patch({ enabled: false })
    webhook.receiver.behave({ status: 418 }, { error: 'connection refused' })
    const [first, second] = [await webhook.post('/test'), await webhook.post('/test')]
    expect(first).toMatchObject({ entries: 0, status: 418, error: null })
    expect(second).toMatchObject({ entries: 0, status: null, error: 'connection refused' })
    const sent = await webhook.receiver.got(2)
    const data = { webhook_id: webhook.id, board_id: setup.board.id, after: null, next: null, entries: [] }
    expect(sent.body).toEqual({ type: 'board.changed', timestamp: setup.board.now, data })
    expect(sent.id).toBe(second.id)
    expect(first.id).not.toBe(second.id)
    expect(await webhook.deliveries()).toEqual([second, first])
    expect(await webhook.read()).toMatchObject({ state: 'disabled', reason: 'It was disabled by its creator.', cursor: webhook.begin })
  })

  test('keeps its last 50 attempts, the newest first', async () => {
    const webhook = await Subscription.create(receivers, setup.board)
    webhook.receiver.behave({ status: 500 })
    await rename('New')
    for (let failures = 1; failures <= 51; failures++) {
      await webhook.until({ failures })
      await webhook.due()
    }
    await webhook.until({ failures: 52 })
    const attempts = await webhook.deliveries()
    expect(attempts).toHaveLength(50)
    expect(attempts.map(({ at }) => at)).toEqual(
      attempts
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    )
    expect(new Set(attempts.map(({ id }) => id)).size).toBe(1)
    await webhook.delete()
  })

  test('sends nothing of what has happened before it, and nothing when nothing happens', async () => {
    const [idle, busy] = [
      await Subscription.create(receivers, setup.board),
      await Subscription.create(receivers, await TestBoard.create(setup.service, setup.ann)),
    ]
    await busy.service.send(setup.ann.write, 'POST', `/boards/${(await busy.read()).board_id}/columns`, { name: 'Column' })
    await busy.delivered(1)
    expect(idle.receiver.received).toEqual([])
    expect(await idle.deliveries()).toEqual([])
    expect((await idle.progress()).cursor).toBe(idle.begin)
  })
})
