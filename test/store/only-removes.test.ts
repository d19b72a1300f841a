import { beforeEach, describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { listTokens, revokeToken } from '../../src/admin/tokens.ts'
import { decorateStore, StorageUnavailable, type Value } from '../../src/store/port.ts'
import { onlyRemoves } from '../../src/store/writes.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'
import { signedIn } from '../support/visitor.ts'

describe('a change that only revokes or removes', () => {
  const before = {
    'token:1': { name: 'a', revoked_at: null, scopes: ['x', 'y'], cover: 'c', updated_at: '1' },
    'membership:1': { role: 'owner', ended_at: null },
    'file_bytes:1': { bytes: 6, files: 2 },
    'file:1': { bytes: 6 },
  }
  const onlyRemovesIn = (put: Record<string, Value>) =>
    onlyRemoves(new Map(Object.entries(before).map(([key, value]) => [key, { value, revision: 'r' }])), new Map(Object.entries(put)))
  test.each<[isOne: boolean, what: string, put: Record<string, Value>]>([
    [true, 'nothing is written', {}],
    [true, 'a tombstone is written', { 'tombstone:1': { id: '1' } }],
    [true, 'a record notes that it was revoked', { 'token:1': { ...before['token:1'], revoked_at: '2', updated_at: '2' } }],
    [true, 'a record notes that it ended', { 'membership:1': { ...before['membership:1'], ended_at: '2' } }],
    [true, 'a list has fewer items', { 'token:1': { ...before['token:1'], scopes: ['y'] } }],
    [true, 'a member is emptied', { 'token:1': { ...before['token:1'], cover: null } }],
    [true, 'fewer bytes of files are counted', { 'file_bytes:1': { bytes: 5, files: 1 } }],
    [true, 'as many bytes of fewer files are counted', { 'file_bytes:1': { bytes: 6, files: 1 } }],
    [false, 'more bytes of files are counted', { 'file_bytes:1': { bytes: 7, files: 2 } }],
    [false, 'bytes of files are counted for the first time', { 'file_bytes:2': { bytes: 0, files: 0 } }],
    [false, 'another record has fewer bytes', { 'file:1': { bytes: 5 } }],
    [false, 'a record is new', { 'token:2': { revoked_at: '2' } }],
    [false, 'a member has another value', { 'membership:1': { ...before['membership:1'], role: 'member' } }],
    [false, 'a member is new', { 'membership:1': { ...before['membership:1'], note: 'x' } }],
    [false, 'a list has another item', { 'token:1': { ...before['token:1'], scopes: ['y', 'z'] } }],
    [false, 'a list replaces something else', { 'token:1': { ...before['token:1'], name: [] } }],
    [false, 'something else replaces a list', { 'token:1': { ...before['token:1'], scopes: 'x' } }],
    [false, 'one of two records is new', { 'tombstone:1': {}, 'token:2': {} }],
  ])('is recognized: %s if %s', (isOne, _what, put) => expect(onlyRemovesIn(put)).toBe(isOne))
})

describe('when storage accepts only changes that revoke or remove', () => {
  let service: Service
  let owner: Person
  let member: Person
  let board: TestBoard
  let isFull: boolean
  beforeEach(async () => {
    isFull = false
    service = await Service.start({
      ...memory,
      async open() {
        const opened = await memory.open()
        const store = decorateStore(opened.store, {
          commit: (partition, change) =>
            isFull && change.onlyRemoves !== true
              ? Promise.reject(new StorageUnavailable('the disk is full'))
              : opened.store.commit(partition, change),
        })
        return { ...opened, store }
      },
    })
    const workspaceId = await service.workspace()
    owner = await service.person(workspaceId, 'owner')
    member = await service.person(workspaceId)
    board = await TestBoard.create(service, owner)
  })

  test('deletions over HTTP succeed, and creations get 503', async () => {
    const column = await board.column()
    const [card, other] = [await board.card(column), await board.card(column)]
    const [comment, subtask, label] = [await board.comment(card), await board.subtask(card), await board.label()]
    await board.put(`/cards/${card}/assignees/${member.id}`)
    await board.put(`/cards/${card}/labels/${label}`)
    await board.put(`/cards/${other}/labels/${label}`)
    await board.add(member)
    const [cover, image] = [await board.image(card), await board.image(card)]
    await board.put(`/cards/${card}/cover`, { attachment_id: cover })
    isFull = true
    for (const path of [
      `/cards/${card}/assignees/${member.id}`,
      `/cards/${card}/labels/${label}`,
      `/labels/${label}`,
      `/comments/${comment}`,
      `/subtasks/${subtask}`,
      `/boards/${board.id}/members/${member.id}`,
      `/cards/${card}/cover`,
      `/attachments/${image}`,
      `/cards/${card}`,
      `/boards/${board.id}`,
    ])
      expect([path, (await board.send('DELETE', path)).status]).toEqual([path, 200])
    expect((await board.send('POST', '/boards', { name: 'x' })).status).toBe(503)
  })

  test('a leaked token can be revoked by a person who finds it, and by operators', async () => {
    isFull = true
    const body = new URLSearchParams({ token: member.read })
    const response = await service.app.fetch(new Request('http://x/revoke', { method: 'POST', body }))
    expect({ response: response.status, account: (await service.send(member.read, 'GET', '/account')).status }).toEqual({
      response: 200,
      account: 401,
    })
    for (const { id } of await listTokens(service.deps, member.workspaceId, member.id))
      await revokeToken(service.deps, member.workspaceId, id)
    expect((await service.send(member.write, 'GET', '/account')).status).toBe(401)
  })

  test('a token can be revoked on the page of its user, who signed in before', async () => {
    const visitor = await signedIn(service, member)
    const token = await visitor.create(member.workspaceId)
    await visitor.open('/settings/tokens')
    const revoke = /\/settings\/tokens\/[^"]+\/revoke(?=">Revoke<span class="unseen"> <bdi>CI<)/.exec(visitor.page!.text)![0]
    isFull = true
    // From a minute on, a request stores that its session is used.
    service.now += 120_000
    expect((await visitor.open(revoke)).status).toBe(200)
    const revoked = await visitor.submit({}, revoke)
    expect({ status: revoked.status, text: revoked.text }).toEqual({ status: 200, text: expect.stringContaining('The token is revoked') })
    expect((await service.send(token, 'GET', '/account')).status).toBe(401)
  })

  test('a membership can be ended, and a label deleted, if that takes several commits', async () => {
    const [column, label] = [await board.column(), await board.label()]
    for (const card of [await board.card(column), await board.card(column)]) {
      await board.put(`/cards/${card}/assignees/${member.id}`)
      await board.put(`/cards/${card}/labels/${label}`)
    }
    Object.assign(service.app.services, { batch: 1 })
    isFull = true
    await board.delete(`/labels/${label}`)
    expect(await endMembership({ ...service.deps, batch: 1 }, member.workspaceId, member.id)).toBe(true)
    expect((await service.send(member.read, 'GET', '/account')).status).toBe(401)
    await collectGarbage(service.adminDeps, member.workspaceId)
    const cards = await board.all(`/boards/${board.id}/cards`)
    expect(cards.map(({ label_ids, assignee_ids }) => [label_ids, assignee_ids])).toEqual([
      [[], []],
      [[], []],
    ])
  })
})
