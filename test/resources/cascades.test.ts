import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addMember, endMembership } from '../../src/admin/memberships.ts'
import { keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

describe.each(drivers)('what follows from a change, on $name', (driver) => {
  let service: Service
  let workspaceId: string
  let [ann, bob, cyd]: Person[] = []
  let board: TestBoard
  let [column, card]: string[] = []
  beforeAll(async () => {
    service = await Service.start(driver)
    workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
    cyd = await service.person(workspaceId, 'member', 'Cyd')
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    board = await TestBoard.create(service, ann!)
    column = await board.column()
    card = await board.card(column)
  })
  const assign = (...people: Person[]) => Promise.all(people.map((person) => board.put(`/cards/${card}/assignees/${person.id}`)))
  const assignees = async (id = card) => ((await board.read(id!)).assignee_ids as string[]).toSorted()
  const ids = (...people: Person[]) => people.map(({ id }) => id).toSorted()
  const etag = async () => (await board.get(`/cards/${card}`)).headers.get('etag')

  test('making a board private unassigns whoever cannot see it any more, and nobody else', async () => {
    await board.add(bob!)
    await assign(ann!, bob!, cyd!)
    await board.post(`/cards/${card}/archive`)
    const before = await etag()
    await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
    expect(await assignees()).toEqual(ids(ann!, bob!))
    expect(await etag()).not.toBe(before)
    await board.put(`/boards/${board.id}/visibility`, { visibility: 'workspace' })
    expect(await assignees()).toEqual(ids(ann!, bob!))
  })

  test('removing a member of a private board unassigns him; of a workspace board it does not', async () => {
    await board.add(bob!)
    await assign(ann!, bob!)
    await board.delete(`/boards/${board.id}/members/${bob!.id}`)
    expect(await assignees()).toEqual(ids(ann!, bob!))
    await board.add(bob!)
    await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
    await board.delete(`/boards/${board.id}/members/${bob!.id}`)
    expect(await assignees()).toEqual(ids(ann!))
    expect((await service.send(bob!.read, 'GET', `/cards/${card}`)).status).toBe(404)
  })

  test('ending a membership takes tokens, board memberships and assignments with it, for good', async () => {
    const dan = await service.person(workspaceId, 'admin', 'Dan')
    await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
    await board.add(dan)
    await assign(dan, ann!)
    await endMembership(service.deps, workspaceId, dan.id)
    expect(await assignees()).toEqual(ids(ann!))
    expect((await board.all(`/boards/${board.id}/members`)).map(({ user_id }) => user_id)).toEqual([ann!.id])
    expect((await board.all('/members')).map(({ user_id }) => user_id)).not.toContain(dan.id)
    expect((await board.send('PUT', `/boards/${board.id}/members/${dan.id}`)).status).toBe(404)
    await addMember(
      service.deps,
      workspaceId,
      { id: dan.id, display_name: 'Dan', avatar_url: null, created_at: '', updated_at: '' },
      'admin',
    )
    for (const token of [dan.read, dan.write, dan.admin]) expect((await service.send(token, 'GET', '/account')).status).toBe(401)
    const anew = await service.token(workspaceId, dan.id, ['kanban:admin'])
    expect((await service.send(anew, 'GET', `/boards/${board.id}`)).status).toBe(404)
    expect(await assignees()).toEqual(ids(ann!))
  })

  test('a creator who left and came back is the creator again', async () => {
    const eve = await service.person(workspaceId, 'member', 'Eve')
    const hers = await TestBoard.create(service, eve, 'private')
    await hers.add(bob!)
    await endMembership(service.deps, workspaceId, eve.id)
    expect((await service.send(bob!.read, 'GET', `/boards/${hers.id}/members`)).body.data.map(({ user_id }: any) => user_id)).toEqual([
      bob!.id,
    ])
    await addMember(
      service.deps,
      workspaceId,
      { id: eve.id, display_name: 'Eve', avatar_url: null, created_at: '', updated_at: '' },
      'member',
    )
    const anew = await service.token(workspaceId, eve.id, ['kanban:admin'])
    expect((await service.send(anew, 'GET', '/boards?limit=100')).body.data.map(({ id }: any) => id)).toContain(hers.id)
    expect((await service.send(anew, 'GET', `/boards/${hers.id}/members`)).body.data[0]).toMatchObject({ user_id: eve.id, creator: true })
  })

  test('taking someone off a card works whatever he may do by now', async () => {
    await service.write(workspaceId, async (tx) => {
      const present = (await tx.get(keys.card(card!)))!
      tx.put(keys.card(card!), { ...present, assignee_ids: [cyd!.id] })
    })
    await board.put(`/boards/${board.id}/visibility`, { visibility: 'workspace' })
    await board.delete(`/cards/${card}/assignees/${cyd!.id}`)
    expect(await assignees()).toEqual([])
    expect((await board.send('DELETE', `/cards/${card}/assignees/${cyd!.id}`)).status).toBe(404)
  })

  test('deleting a label takes it off its cards', async () => {
    const [red, blue] = [await board.label('red'), await board.label('blue')]
    for (const label of [red, blue]) await board.put(`/cards/${card}/labels/${label}`)
    const before = await etag()
    await board.delete(`/labels/${red}`)
    expect((await board.read(card!)).label_ids).toEqual([blue])
    expect(await etag()).not.toBe(before)
    expect((await board.send('DELETE', `/cards/${card}/labels/${red}`)).status).toBe(404)
    expect((await board.send('PUT', `/cards/${card}/labels/${red}`)).status).toBe(404)
  })

  test('deleting a card takes all that hangs on it, at once', async () => {
    const subtask = (await board.post(`/cards/${card}/subtasks`, { title: 'x' })).body.data.id
    const comment = (await board.post(`/cards/${card}/comments`, { body: 'x' })).body.data.id
    const attachment = (await board.attach(card!)).body.data.id
    await board.delete(`/cards/${card}`)
    for (const path of [
      `/cards/${card}`,
      `/cards/${card}/comments`,
      `/subtasks/${subtask}`,
      `/comments/${comment}`,
      `/attachments/${attachment}`,
      `/attachments/${attachment}/content`,
    ])
      expect([path, (await board.get(path)).status]).toEqual([path, 404])
    expect((await board.send('POST', `/cards/${card}/comments`, { body: 'late' })).status).toBe(404)
    expect((await board.send('PATCH', `/comments/${comment}`, { body: 'late' })).status).toBe(404)
  })

  test('deleting a board takes all that is on it, at once', async () => {
    const label = await board.label()
    const comment = (await board.post(`/cards/${card}/comments`, { body: 'x' })).body.data.id
    await board.delete(`/boards/${board.id}`)
    for (const path of [`/boards/${board.id}/columns`, `/columns/${column}`, `/cards/${card}`, `/labels/${label}`, `/comments/${comment}`])
      expect([path, (await board.get(path)).status]).toEqual([path, 404])
    expect((await board.send('POST', `/boards/${board.id}/cards`, { column_id: column, title: 'late' })).status).toBe(404)
    expect((await board.send('POST', `/cards/${card}/move`, { to: 'first' })).status).toBe(404)
  })

  test('archiving a column takes its cards out of the active lists, and restoring brings them back', async () => {
    const away = await board.card(column!, 'archived by itself')
    await board.post(`/cards/${away}/archive`)
    await board.post(`/columns/${column}/archive`)
    expect([await board.titles(), await board.titles('?archived=true')]).toEqual([[], ['Card', 'archived by itself']])
    expect((await board.all(`/boards/${board.id}/columns`)).length).toBe(0)
    expect((await board.all(`/boards/${board.id}/columns?archived=true`)).map(({ id }) => id)).toEqual([column])
    expect((await board.get(`/cards/${card}`)).status).toBe(200)
    await board.post(`/columns/${column}/restore`)
    expect([await board.titles(), await board.titles('?archived=true')]).toEqual([['Card'], ['archived by itself']])
  })

  test('archive, restore and completion are what they are, however often they are said', async () => {
    const first = (await board.put(`/cards/${card}/completion`, { completed: true })).body.data
    service.now += 1000
    expect((await board.put(`/cards/${card}/completion`, { completed: true })).body.data).toEqual(first)
    const archived = (await board.post(`/cards/${card}/archive`)).body.data
    service.now += 1000
    expect((await board.post(`/cards/${card}/archive`)).body.data).toEqual(archived)
    expect((await board.post(`/cards/${card}/restore`)).body.data).toMatchObject({
      archived_at: null,
      completed_at: first.completed_at,
      position: first.position,
    })
    expect((await board.put(`/cards/${card}/completion`, { completed: false })).body.data.completed_at).toBeNull()
  })

  test('a detached cover is no cover', async () => {
    const attachment = (await board.attach(card!, { name: 'a.png', type: 'image/png' })).body.data.id
    await board.put(`/cards/${card}/cover`, { attachment_id: attachment })
    expect((await board.read(card!)).cover_attachment_id).toBe(attachment)
    await board.delete(`/attachments/${attachment}`)
    expect((await board.read(card!)).cover_attachment_id).toBeNull()
    expect((await board.send('DELETE', `/cards/${card}/cover`)).status).toBe(200)
  })

  describe('and nothing that arrives at the same moment survives it', () => {
    const children: [what: string, (board: TestBoard, card: string, column: string) => Promise<any>][] = [
      ['a comment', (on, id) => on.send('POST', `/cards/${id}/comments`, { body: 'x' })],
      ['a subtask', (on, id) => on.send('POST', `/cards/${id}/subtasks`, { title: 'x' })],
      ['an attachment', (on, id) => on.attach(id)],
      ['a card', (on, _id, where) => on.send('POST', `/boards/${on.id}/cards`, { column_id: where, title: 'x' })],
      ['an assignment', (on, id) => on.send('PUT', `/cards/${id}/assignees/${on.creator.id}`)],
    ]
    test.each(children)('%s against the deletion of its board', async (_what, act) => {
      service.store.beforeCommit = async () => void (await board.delete(`/boards/${board.id}`))
      const reply = await act(board, card!, column!)
      // An upload commits a note before its bytes: the board is gone before the file is there, all the same.
      expect(reply.status).toBe(404)
    })

    test('an assignment against the loss of access', async () => {
      await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
      await board.add(bob!)
      service.store.beforeCommit = async () => void (await board.delete(`/boards/${board.id}/members/${bob!.id}`))
      expect((await board.send('PUT', `/cards/${card}/assignees/${bob!.id}`)).status).toBe(404)
      expect(await assignees()).toEqual([])
    })

    test('a label against its deletion', async () => {
      const label = await board.label()
      service.store.beforeCommit = async () => void (await board.delete(`/labels/${label}`))
      expect((await board.send('PUT', `/cards/${card}/labels/${label}`)).status).toBe(404)
      const other = await board.label()
      const late = await board.card(column!)
      service.store.beforeCommit = async () => void (await board.put(`/cards/${late}/labels/${other}`))
      await board.delete(`/labels/${other}`)
      expect((await board.read(late)).label_ids).toEqual([])
    })
  })
})
