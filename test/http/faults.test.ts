import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { requestExamples } from '../support/request-examples.ts'
import { Service, type Person } from '../support/service.ts'
import { buildWorld, createScenario } from '../support/scenario.ts'

/** Faults that other kanban APIs shipped with. Each is brought about here as it was there. */
describe.each(drivers)('faults that others shipped, on $name', (driver) => {
  let service: Service
  let [ann, bob, stranger]: Person[] = []
  let [own, hidden, foreign]: TestBoard[] = []
  let [ownColumn, ownCard, hiddenColumn, hiddenCard, foreignCard]: string[] = []
  beforeAll(async () => {
    service = await Service.start(driver)
    const acme = await service.workspace('Acme')
    ann = await service.person(acme, 'owner', 'Ann')
    bob = await service.person(acme, 'member', 'Bob')
    stranger = await service.person(await service.workspace('Globex'), 'owner', 'Stranger')
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    own = await TestBoard.create(service, bob!)
    ownColumn = await own.column()
    ownCard = await own.card(ownColumn)
    hidden = await TestBoard.create(service, ann!, 'private')
    hiddenColumn = await hidden.column()
    hiddenCard = await hidden.card(hiddenColumn)
    foreign = await TestBoard.create(service, stranger!)
    foreignCard = await foreign.card(await foreign.column())
  })
  const asBob = (method: string, path: string, body?: unknown) => service.send(bob!.admin, method, path, body)

  test('deletion authorised on the board of the URL and done by card id alone (WeKan, Kanboard, Vikunja)', async () => {
    for (const card of [hiddenCard, foreignCard]) {
      expect((await asBob('DELETE', `/cards/${card}`)).status).toBe(404)
      expect((await asBob('DELETE', `/boards/${own!.id}/cards/${card}`)).status).toBe(404)
    }
    expect((await hidden!.get(`/cards/${hiddenCard}`)).status).toBe(200)
    expect((await foreign!.get(`/cards/${foreignCard}`)).status).toBe(200)
  })

  test('a board_id in the body that wins over that of the URL (RestyaBoard)', async () => {
    expect((await asBob('POST', `/boards/${own!.id}/cards`, { column_id: ownColumn, title: 'x', board_id: hidden!.id })).status).toBe(422)
    expect((await asBob('POST', `/boards/${own!.id}/cards`, { column_id: hiddenColumn, title: 'x' })).status).toBe(404)
    expect((await asBob('POST', `/cards/${ownCard}/move`, { column_id: hiddenColumn })).status).toBe(404)
    expect(await hidden!.titles()).toEqual(['Card'])
  })

  test('an assignee who is not on the board (WeKan)', async () => {
    expect((await hidden!.send('PUT', `/cards/${hiddenCard}/assignees/${bob!.id}`)).status).toBe(404)
    expect((await own!.send('PUT', `/cards/${ownCard}/assignees/${stranger!.id}`)).status).toBe(404)
  })

  test('a removed member who still sees titles (WeKan)', async () => {
    await hidden!.add(bob!)
    expect((await asBob('GET', `/boards/${hidden!.id}/cards`)).body.data).toHaveLength(1)
    await hidden!.delete(`/boards/${hidden!.id}/members/${bob!.id}`)
    for (const path of [
      `/boards/${hidden!.id}/cards`,
      `/cards/${hiddenCard}`,
      `/boards/${hidden!.id}/columns`,
      `/cards/${hiddenCard}/comments`,
    ])
      expect([path, (await asBob('GET', path)).status]).toEqual([path, 404])
    expect((await asBob('GET', '/boards?limit=100')).text).not.toContain(hidden!.id)
  })

  test('a forged author (WeKan)', async () => {
    expect((await asBob('POST', `/cards/${ownCard}/comments`, { body: 'x', author_id: ann!.id })).status).toBe(422)
    expect((await asBob('POST', `/cards/${ownCard}/comments`, { body: 'x' })).body.data.author_id).toBe(bob!.id)
    expect((await asBob('POST', '/boards', { name: 'x', creator_id: ann!.id })).status).toBe(422)
  })

  test('mass assignment that moves a column to another tenant (Vikunja)', async () => {
    for (const member of ['board_id', 'workspace_id', 'id', 'archived_at', 'position'])
      expect([member, (await asBob('PATCH', `/columns/${ownColumn}`, { name: 'x', [member]: foreign!.id })).status]).toEqual([member, 422])
    for (const member of ['board_id', 'column_id', 'creator_id', 'assignee_ids', 'completed_at'])
      expect([member, (await asBob('PATCH', `/cards/${ownCard}`, { title: 'x', [member]: foreign!.id })).status]).toEqual([member, 422])
  })

  test('an attachment that is read by its bare id (Vikunja)', async () => {
    const { id, file_id } = (await hidden!.attach(hiddenCard!, { text: 'secret' })).body.data
    for (const path of [`/attachments/${id}`, `/attachments/${id}/content`]) {
      const reply = await asBob('GET', path)
      expect([reply.status, reply.text.includes('secret')]).toEqual([404, false])
    }
    expect((await asBob('POST', `/cards/${ownCard}/attachments`, { file_id })).status).toBe(404)
  })

  test('401 for valid tokens under load (Kan)', async () => {
    const replies = await Promise.all(Array.from({ length: 300 }, (_, i) => asBob('GET', i % 2 ? '/account' : `/cards/${ownCard}`)))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  })

  test('an address that a header claims changes nothing (Kan)', async () => {
    const replies = await Promise.all(
      ['127.0.0.1', '10.0.0.1, 127.0.0.1', 'garbage'].map((address) =>
        service.send(null, 'GET', '/account', undefined, { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` }),
      ),
    )
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401])
  })

  test('a revision that is checked outside the lock (veritas-kanban)', async () => {
    const etag = (await own!.get(`/cards/${ownCard}`)).headers.get('etag')!
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) => own!.send('PATCH', `/cards/${ownCard}`, { title: `${i}` }, { 'if-match': etag })),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 412)).toHaveLength(9)
  })

  test('a valid token that is refused on some routes only (Vikunja)', async () => {
    const world = await buildWorld(service)
    for (const { id, method, path } of operations) {
      const stage = (await createScenario(world, {
        'caller.role': 'owner',
        'caller.membership': 'active',
        'board.visibility': 'private',
        'board.caller': 'creator',
        'file.owner': 'caller',
        'comment.author': 'caller',
        'label.board': 'this',
      }))!
      await requestExamples[id]!.prepare?.(stage, service)
      const at = path.replace(/\{(\w+)\}/g, (_all, name: string) => stage.params[name]!)
      const reply = await service.send(stage.caller.admin, method, at, requestExamples[id]!.body?.(stage, undefined))
      // The stage's other person is on no private board, so he cannot be assigned.
      expect([id, reply.status < 300]).toEqual([id, id !== 'cards.assign'])
    }
  })

  test('duplicates from retries, where saying it again changes nothing (Pipefy)', async () => {
    const label = await own!.label()
    for (const path of [`/cards/${ownCard}/labels/${label}`, `/cards/${ownCard}/assignees/${bob!.id}`]) {
      const first = await own!.put(path)
      const again = await own!.put(path)
      expect([again.text, again.headers.get('etag')]).toEqual([first.text, first.headers.get('etag')])
    }
    expect(await own!.read(ownCard!)).toMatchObject({ label_ids: [label], assignee_ids: [bob!.id] })
  })

  test('a slow hash at every request (Kanboard): one read finds the token', async () => {
    await asBob('GET', '/account')
    await service.app.services.usage.settled()
    service.store.trips = 0
    await asBob('GET', `/cards/${ownCard}`)
    expect(service.store.trips).toBe(2)
  })
})
