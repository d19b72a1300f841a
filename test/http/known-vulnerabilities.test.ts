import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'
import { buildWorld, createScenario, exampleBody } from '../support/scenario.ts'

/** Vulnerabilities of other kanban services, which their names follow. Each test repeats the attack on this service. */
describe.each(drivers)('known vulnerabilities of other services, on $name', (driver) => {
  let service: Service
  let [ann, bob, stranger]: Person[] = []
  // Boards of Bob, of Ann (private), and of another workspace.
  let [board, hiddenBoard, foreignBoard]: TestBoard[] = []
  let [columnId, cardId, hiddenColumnId, hiddenCardId, foreignCardId]: string[] = []
  beforeAll(async () => {
    service = await Service.start(driver)
    const acme = await service.workspace('Acme')
    ann = await service.person(acme, 'owner', 'Ann')
    bob = await service.person(acme, 'member', 'Bob')
    stranger = await service.person(await service.workspace('Globex'), 'owner', 'Stranger')
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    board = await TestBoard.create(service, bob!)
    columnId = await board.column()
    cardId = await board.card(columnId)
    hiddenBoard = await TestBoard.create(service, ann!, 'private')
    hiddenColumnId = await hiddenBoard.column()
    hiddenCardId = await hiddenBoard.card(hiddenColumnId)
    foreignBoard = await TestBoard.create(service, stranger!)
    foreignCardId = await foreignBoard.card(await foreignBoard.column())
  })
  const asBob = (method: string, path: string, body?: unknown) => service.send(bob!.admin, method, path, body)

  test('a card cannot be deleted through another board (WeKan, Kanboard, Vikunja)', async () => {
    for (const id of [hiddenCardId, foreignCardId]) {
      expect((await asBob('DELETE', `/cards/${id}`)).status).toBe(404)
      expect((await asBob('DELETE', `/boards/${board!.id}/cards/${id}`)).status).toBe(404)
    }
    expect((await hiddenBoard!.get(`/cards/${hiddenCardId}`)).status).toBe(200)
    expect((await foreignBoard!.get(`/cards/${foreignCardId}`)).status).toBe(200)
  })

  test('the body of a request cannot name another board than the path (RestyaBoard)', async () => {
    expect((await asBob('POST', `/boards/${board!.id}/cards`, { column_id: columnId, title: 'x', board_id: hiddenBoard!.id })).status).toBe(
      422,
    )
    expect((await asBob('POST', `/boards/${board!.id}/cards`, { column_id: hiddenColumnId, title: 'x' })).status).toBe(404)
    expect((await asBob('POST', `/cards/${cardId}/move`, { column_id: hiddenColumnId })).status).toBe(404)
    expect(await hiddenBoard!.titles()).toEqual(['Card'])
  })

  test('a person who is not on the board cannot be assigned (WeKan)', async () => {
    expect((await hiddenBoard!.send('PUT', `/cards/${hiddenCardId}/assignees/${bob!.id}`)).status).toBe(404)
    expect((await board!.send('PUT', `/cards/${cardId}/assignees/${stranger!.id}`)).status).toBe(404)
  })

  test('a removed member cannot read anything on the board (WeKan)', async () => {
    await hiddenBoard!.add(bob!)
    expect((await asBob('GET', `/boards/${hiddenBoard!.id}/cards`)).body.data).toHaveLength(1)
    await hiddenBoard!.delete(`/boards/${hiddenBoard!.id}/members/${bob!.id}`)
    for (const path of [
      `/boards/${hiddenBoard!.id}/cards`,
      `/cards/${hiddenCardId}`,
      `/boards/${hiddenBoard!.id}/columns`,
      `/cards/${hiddenCardId}/comments`,
    ])
      expect([path, (await asBob('GET', path)).status]).toEqual([path, 404])
    expect((await asBob('GET', '/boards?limit=100')).text).not.toContain(hiddenBoard!.id)
  })

  test('the author of a comment and the creator of a board cannot be forged (WeKan)', async () => {
    expect((await asBob('POST', `/cards/${cardId}/comments`, { body: 'x', author_id: ann!.id })).status).toBe(422)
    expect((await asBob('POST', `/cards/${cardId}/comments`, { body: 'x' })).body.data.author_id).toBe(bob!.id)
    expect((await asBob('POST', '/boards', { name: 'x', creator_id: ann!.id })).status).toBe(422)
  })

  test('an update cannot assign members that move a resource to another board (Vikunja)', async () => {
    for (const member of ['board_id', 'workspace_id', 'id', 'archived_at', 'position'])
      expect([member, (await asBob('PATCH', `/columns/${columnId}`, { name: 'x', [member]: foreignBoard!.id })).status]).toEqual([
        member,
        422,
      ])
    for (const member of ['board_id', 'column_id', 'creator_id', 'assignee_ids', 'completed_at'])
      expect([member, (await asBob('PATCH', `/cards/${cardId}`, { title: 'x', [member]: foreignBoard!.id })).status]).toEqual([member, 422])
  })

  test('an attachment cannot be read by its id without access to its board (Vikunja)', async () => {
    const { id, file_id } = (await hiddenBoard!.attach(hiddenCardId!, { text: 'secret' })).body.data
    for (const path of [`/attachments/${id}`, `/attachments/${id}/content`]) {
      const reply = await asBob('GET', path)
      expect([reply.status, reply.text.includes('secret')]).toEqual([404, false])
    }
    expect((await asBob('POST', `/cards/${cardId}/attachments`, { file_id })).status).toBe(404)
  })

  test('valid tokens are accepted under load (Kan)', async () => {
    const replies = await Promise.all(Array.from({ length: 300 }, (_, i) => asBob('GET', i % 2 ? '/account' : `/cards/${cardId}`)))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  })

  test('a client address in a header does not replace a token (Kan)', async () => {
    const replies = await Promise.all(
      ['127.0.0.1', '10.0.0.1, 127.0.0.1', 'garbage'].map((address) =>
        service.send(null, 'GET', '/account', undefined, { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` }),
      ),
    )
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401])
  })

  test('a revision is compared in the same step as the write (veritas-kanban)', async () => {
    const etag = (await board!.get(`/cards/${cardId}`)).headers.get('etag')!
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) => board!.send('PATCH', `/cards/${cardId}`, { title: `${i}` }, { 'if-match': etag })),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 412)).toHaveLength(9)
  })

  test('a valid token is accepted by every operation (Vikunja)', async () => {
    const world = await buildWorld(service)
    for (const { id, method, path } of operations) {
      const scenario = (await createScenario(
        world,
        {
          'caller.role': 'owner',
          'caller.membership': 'active',
          'board.visibility': 'private',
          'board.caller': 'creator',
          'file.owner': 'caller',
          'comment.author': 'caller',
          'label.board': 'this',
        },
        { related: method === 'DELETE' },
      ))!
      const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) => scenario.params[name]!)
      const reply = await service.send(scenario.caller.admin, method, filled, exampleBody(id, scenario))
      // The scenario's other user has no access to the private board, so they cannot be assigned.
      expect([id, reply.status < 300]).toEqual([id, id !== 'cards.assign'])
    }
  })

  test('a repeated PUT creates no duplicate (Pipefy)', async () => {
    const label = await board!.label()
    for (const path of [`/cards/${cardId}/labels/${label}`, `/cards/${cardId}/assignees/${bob!.id}`]) {
      const first = await board!.put(path)
      const again = await board!.put(path)
      expect([again.text, again.headers.get('etag')]).toEqual([first.text, first.headers.get('etag')])
    }
    expect(await board!.read(cardId!)).toMatchObject({ label_ids: [label], assignee_ids: [bob!.id] })
  })

  test('a token is found with one read, without a slow hash (Kanboard)', async () => {
    await asBob('GET', '/account')
    await service.app.services.usage.settled()
    service.store.trips = 0
    await asBob('GET', `/cards/${cardId}`)
    expect(service.store.trips).toBe(1)
  })
})
