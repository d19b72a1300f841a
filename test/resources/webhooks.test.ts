import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { newId, systemRandom as random } from '../../src/model/ids.ts'
import { HOUR } from '../../src/model/time.ts'
import { keys } from '../../src/store/keys.ts'
import { Targets } from '../../src/webhooks/targets.ts'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { conflict, invalid, notFound } from './refusals.ts'

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/
const url = 'https://ci.example/hook'
/** The addresses of all names, which a test may change. */
const names = { address: '192.88.98.1' }
const webhookTargets = Targets.from('10.1.0.0/16', { lookup: async () => [{ address: names.address, family: 4 }] })

/** What a receiver does before it answers. */
let onDelivery: (() => Promise<void>) | undefined

describe.each(drivers)('webhooks, on $name', (driver) => {
  const sent: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: any }[] = []
  const setup = setUpBoard(driver, {
    webhookTargets,
    sendDelivery: async ({ url, headers, body }) => {
      sent.push({ url, headers, body: JSON.parse(body) })
      await onDelivery?.()
      return { status: 204 }
    },
  })
  const create = async (body: object = {}) => (await setup.board.post(`/boards/${setup.board.id}/webhooks`, { url, ...body })).body.data
  const refused = (body: object) => setup.board.send('POST', `/boards/${setup.board.id}/webhooks`, { url, ...body })
  const read = async ({ id }: { readonly id: string }) => (await setup.board.get(`/webhooks/${id}`)).body.data

  test('show their secret when they are created, and never again', async () => {
    const created = await create()
    const { secret, ...shown } = created
    expect(secret).toMatch(SECRET)
    const { page } = (await setup.board.get(`/boards/${setup.board.id}/changes`)).body
    expect(shown).toEqual({
      id: expect.stringMatching(/^whk_/),
      board_id: setup.board.id,
      creator_id: setup.board.creator.id,
      url,
      kinds: null,
      has_authorization: false,
      state: 'active',
      reason: null,
      cursor: page.next_cursor,
      failing_since: null,
      created_at: setup.board.now,
      updated_at: setup.board.now,
    })
    expect(await read(created)).toEqual(shown)
    const list = await setup.board.get(`/boards/${setup.board.id}/webhooks?limit=100`)
    expect(list.body.data).toContainEqual(shown)
    for (const key of await setup.service.recordKeys(setup.board.creator.workspaceId)) expect(key).not.toContain(secret)
    expect(list.text).not.toContain('whsec_')
  })

  test.each<[what: string, body: object, path: string]>([
    ['without a URL', { url: undefined }, 'url'],
    ['with an empty one', { url: '' }, 'url'],
    ['with http', { url: 'http://ci.example/' }, 'url'],
    ['with a password', { url: 'https://a:b@ci.example/' }, 'url'],
    ['to a private address', { url: 'https://192.168.0.1/' }, 'url'],
    ['with a URL that is too long', { url: `https://ci.example/${'x'.repeat(limits.webhookUrl)}` }, 'url'],
    ['of no kind', { kinds: [] }, 'kinds'],
    ['of an unknown kind', { kinds: ['cards'] }, 'kinds.0'],
    ['of a kind twice', { kinds: ['card', 'card'] }, 'kinds.1'],
    ['from no place of a feed', { after: 'x' }, 'after'],
    ['with a secret of its own', { secret: 'whsec_' }, 'secret'],
  ])('are refused %s', async (_what, body, path) => {
    expect(await refused(body)).toMatchObject(invalid(path))
  })

  test('send a header that nobody can read again, and that no other receiver gets', async () => {
    const header = 'Bearer hunter2-hunter2'
    const webhook = await create({ authorization: header })
    expect({ hasAuthorization: webhook.has_authorization, authorization: webhook.authorization }).toStrictEqual({
      hasAuthorization: true,
      authorization: undefined,
    })
    const send = async () => {
      await setup.board.send('POST', `/webhooks/${webhook.id}/test`)
      return sent.at(-1)!.headers['authorization']
    }
    expect(await send()).toBe(header)
    const { creator } = setup.board
    const stored = await setup.service.write(creator.workspaceId, (tx) => tx.get(keys.webhook(webhook.id)))
    expect(JSON.stringify([stored, setup.service.records, (await setup.board.get(`/webhooks/${webhook.id}`)).text])).not.toContain(
      'hunter2',
    )
    const patch = (body: object) => setup.board.send('PATCH', `/webhooks/${webhook.id}`, body)
    // It is for one receiver: whoever may change the webhook must not get it by another URL.
    expect(await patch({ url: 'https://evil.example/' })).toMatchObject(invalid('authorization'))
    expect((await patch({ url: `${url}/other` })).body.data.has_authorization).toBe(true)
    expect(await send()).toBe(header)
    expect((await patch({ url: 'https://other.example/', authorization: 'Basic eA==' })).body.data.has_authorization).toBe(true)
    expect(await send()).toBe('Basic eA==')
    await setup.board.send('POST', `/webhooks/${webhook.id}/secret`)
    expect(await send()).toBe('Basic eA==')
    expect((await patch({ authorization: null })).body.data.has_authorization).toBe(false)
    expect(await send()).toBeUndefined()
  })

  test.each(['', 'x'.repeat(501), 'Bearer a\r\nX-Evil: 1', ' Bearer a', 'Bearer a ', 'Bearer ü', 7, {}])(
    'are refused with the authorization %j',
    async (authorization) => {
      const webhook = await create()
      expect(await refused({ authorization })).toMatchObject(invalid('authorization'))
      expect(await setup.board.send('PATCH', `/webhooks/${webhook.id}`, { authorization })).toMatchObject(invalid('authorization'))
    },
  )

  test('are refused if their name has an address that is not allowed', async () => {
    const webhook = await create()
    for (const [address, result] of [
      ['10.2.0.1', invalid('url')],
      ['10.1.0.1', { status: 201 }],
    ] as const) {
      names.address = address
      expect(await refused({ url: 'https://build.example/' })).toMatchObject(result)
    }
    names.address = '127.0.0.1'
    expect(await setup.board.send('PATCH', `/webhooks/${webhook.id}`, { url: 'https://build.example/' })).toMatchObject(invalid('url'))
    names.address = '192.88.98.1'
    expect((await read(webhook)).url).toBe(url)
  })

  test('change in the stated members, and keep the rest', async () => {
    const created = await create({ kinds: ['card'] })
    const { secret: _, ...before } = created
    const path = `/webhooks/${created.id}`
    const updated_at = setup.board.tick()
    const other = 'https://ci.example/other'
    const shown = { ...before, updated_at }
    expect((await setup.board.patch(path, { url: other })).body.data).toEqual({ ...shown, url: other })
    expect((await setup.board.patch(path, { kinds: null })).body.data).toEqual({ ...shown, url: other, kinds: null })
    const off = { state: 'disabled', reason: 'It was disabled by its creator.' }
    expect((await setup.board.patch(path, { enabled: false })).body.data).toEqual({ ...shown, url: other, kinds: null, ...off })
    expect((await setup.board.patch(path, { kinds: ['work'] })).body.data).toMatchObject({ kinds: ['work'], ...off })
    await setup.board.card(setup.columnId)
    expect((await setup.board.patch(path, { enabled: true })).body.data).toMatchObject({
      state: 'active',
      reason: null,
      cursor: before.cursor,
    })
    const { page } = (await setup.board.get(`/boards/${setup.board.id}/changes?limit=100&after=${before.cursor}`)).body
    expect(page.next_cursor).not.toBe(before.cursor)
    expect((await setup.board.patch(path, { enabled: true, after: 'now' })).body.data).toMatchObject({ cursor: page.next_cursor })
    expect((await setup.board.patch(path, { enabled: true, after: before.cursor })).body.data).toMatchObject({ cursor: before.cursor })
  })

  test.each<[body: object, path: string]>([
    [{}, ''],
    [{ after: 'now' }, 'after'],
    [{ after: 'now', enabled: false }, 'after'],
    [{ enabled: null }, 'enabled'],
    [{ enabled: true, state: 'active' }, 'state'],
  ])('do not accept the change %j', async (body, path) => {
    const { id } = await create()
    expect(await setup.board.send('PATCH', `/webhooks/${id}`, body)).toMatchObject(invalid(path))
  })

  test('sign with the old secret, too, for 24 hours after a new one was made', async () => {
    const { id, secret } = await create()
    const rotated = (await setup.board.post(`/webhooks/${id}/secret`)).body.data
    expect(rotated.secret).toMatch(SECRET)
    expect(rotated.secret).not.toBe(secret)
    const signatures = async (): Promise<number> => {
      await setup.board.post(`/webhooks/${id}/test`)
      return sent.at(-1)!.headers['webhook-signature']!.split(' ').length
    }
    expect(await signatures()).toBe(2)
    const begin = setup.service.now
    setup.service.now = begin + 24 * HOUR - 1
    expect(await signatures()).toBe(2)
    setup.service.now = begin + 24 * HOUR
    expect(await signatures()).toBe(1)
    // Each of several has its own 24 hours, of at most four.
    for (const expected of [2, 3, 4, 5, 5]) {
      await setup.board.post(`/webhooks/${id}/secret`)
      expect(await signatures()).toBe(expected)
      setup.service.now += HOUR
    }
    setup.service.now = begin + 48 * HOUR + 1
    expect(await signatures()).toBe(5)
    setup.service.now += HOUR
    expect(await signatures()).toBe(4)
  })

  test('do not begin, or go on, at a place that the feed of the board does not have', async () => {
    const webhook = await create()
    const other = (await setup.board.post('/boards', { name: 'Other' })).body.data.id
    await setup.board.post(`/boards/${other}/labels`, { name: 'Label', color: '#123456' })
    const { page } = (await setup.board.get(`/boards/${other}/changes`)).body
    const [, revision] = Buffer.from(page.next_cursor, 'base64url').toString().split('\n')
    const future = Buffer.from(`boards.changes\n${revision!.replace(/^\d/, '9')}`).toString('base64url')
    const expired = { status: 410, body: { error: { code: 'cursor_expired' } } }
    for (const after of [page.next_cursor, future]) {
      expect(await refused({ after })).toMatchObject(expired)
      expect(await setup.board.send('PATCH', `/webhooks/${webhook.id}`, { enabled: true, after })).toMatchObject(expired)
    }
    await setup.service.write(setup.board.creator.workspaceId, async (tx) => {
      const key = keys.webhookProgress(webhook.id)
      tx.put(key, { ...(await tx.get(key))!, cursor: page.next_cursor, state: 'disabled' })
    })
    expect(await setup.board.send('PATCH', `/webhooks/${webhook.id}`, { enabled: true })).toMatchObject({
      status: 410,
      body: { error: { message: expect.stringContaining('enable it with "after": "now"') } },
    })
    expect((await setup.board.patch(`/webhooks/${webhook.id}`, { enabled: true, after: 'now' })).body.data.state).toBe('active')
  })

  test('are tested without entries, and the result is the newest of their deliveries', async () => {
    const webhook = await create()
    const { data } = (await setup.board.post(`/webhooks/${webhook.id}/test`)).body
    expect(data).toEqual({
      id: sent.at(-1)!.headers['webhook-id'],
      at: setup.board.now,
      entries: 0,
      status: 204,
      duration_ms: 0,
      error: null,
    })
    const { body } = sent.at(-1)!
    expect(body.data).toEqual({ webhook_id: webhook.id, board_id: setup.board.id, after: null, next: null, entries: [] })
    expect((await setup.board.get(`/webhooks/${webhook.id}/deliveries`)).body.data).toEqual([data])
    expect((await read(webhook)).cursor).toBe(webhook.cursor)
  })

  test('are tested once for each request, whatever the receiver does to them, and one test at a time', async () => {
    const { id } = await create()
    const before = sent.length
    onDelivery = async () => {
      expect(await setup.board.send('POST', `/webhooks/${id}/test`)).toMatchObject(conflict('The webhook is being tested already.'))
      await setup.board.patch(`/webhooks/${id}`, { kinds: ['card'] })
    }
    const { data } = (await setup.board.post(`/webhooks/${id}/test`)).body
    onDelivery = undefined
    expect(sent.length - before).toBe(1)
    expect((await setup.board.get(`/webhooks/${id}/deliveries`)).body.data).toEqual([data])
  })

  test('are gone when they are deleted, with their deliveries', async () => {
    const { id } = await create()
    await setup.board.post(`/webhooks/${id}/test`)
    expect((await setup.board.delete(`/webhooks/${id}`)).body.data).toEqual({ id, deleted: true })
    for (const path of ['', '/deliveries']) expect(await setup.board.get(`/webhooks/${id}${path}`)).toMatchObject(notFound)
    const keys = await setup.service.recordKeys(setup.board.creator.workspaceId)
    expect(keys.filter((key) => key.includes(id) && !key.startsWith('tombstone:'))).toEqual([])
  })

  test('are at most ten of a board', async () => {
    const first = await create()
    for (let i = 1; i < limits.webhooksPerBoard; i++) await create()
    expect(await refused({})).toMatchObject(conflict('A board has at most 10 webhooks.'))
    await setup.board.delete(`/webhooks/${first.id}`)
    await create()
  })

  test.each<[whose: string, most: number, count: number, message: string]>([
    ['a person', 100, 100, 'A person has at most 100 webhooks in a workspace.'],
    ['a workspace', 1000, 0, 'A workspace has at most 1000 webhooks.'],
  ])('are at most so many of %s, also if several are created at once', async (_whose, most, ofPerson, message) => {
    const { service } = setup
    const person = await service.person(await service.workspace())
    const boards: TestBoard[] = []
    for (let i = 0; i < 4; i++) boards.push(await TestBoard.create(service, person))
    const send = (i: number) => boards[i]!.send('POST', `/boards/${boards[i]!.id}/webhooks`, { url })
    const first = await send(0)
    const stored = await service.write(person.workspaceId, (tx) => tx.get(keys.webhook(first.body.data.id)))
    // All but two: the changes of boards that nobody reads here.
    await service.write(person.workspaceId, async (tx) => {
      for (let i = 3; i <= most; i++) {
        const [id, board_id, other] = [newId('webhook', random), newId('board', random), newId('user', random)]
        tx.create(keys.webhook(id), { ...stored!, id, board_id, ...(ofPerson === 0 && { creator_id: other }) })
      }
    })
    const replies = await Promise.all([0, 1, 2, 3].map(send))
    const refusals = replies.filter(({ status }) => status !== 201)
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const refusal of refusals) expect(refusal).toMatchObject(conflict(message))
    for (const refusal of refusals) expect(refusal.body.error.limit).toBe(most)
    await boards[0]!.delete(`/webhooks/${first.body.data.id}`)
    expect((await send(2)).status).toBe(201)
    expect((await send(2)).status).toBe(409)
  })
})
