import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard, storeCopies } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Reply } from '../support/service.ts'

const AT = '2026-11-01T00:00:00.000Z'
const idOf = (kind: string, i: number) => `${kind}_${String(i).padStart(20, '0')}`

describe.each(drivers)('limits, on $name', (driver) => {
  const setup = setUpBoard(driver)

  const fill = (kind: string, id: string, count: number, members: object = {}) =>
    storeCopies(setup.board, `${kind}:${id}`, count, () => members)

  /** A limit on stored resources. The message of its 409 names the limit. */
  const createOn = (path: string, body: object) => () =>
    setup.board.send('POST', path.replace('{board}', setup.board.id).replace('{card}', setup.cardId), body)
  const storedLimits: readonly (readonly [limit: number, message: string, kind: string, create: () => Promise<Reply>])[] = [
    [200, 'A board has at most 200 active columns.', 'column', createOn('/boards/{board}/columns', { name: 'x' })],
    [5000, 'A board has at most 5000 active cards.', 'card', () => createCard()],
    [200, 'A board has at most 200 labels.', 'label', () => createLabel()],
    [200, 'A card has at most 200 subtasks.', 'subtask', createOn('/cards/{card}/subtasks', { title: 'x' })],
    [5000, 'A card has at most 5000 comments.', 'comment', createOn('/cards/{card}/comments', { body: 'x' })],
    [100, 'A card has at most 100 attachments.', 'attachment', () => setup.board.attach(setup.cardId)],
  ]
  const createCard = () => setup.board.send('POST', `/boards/${setup.board.id}/cards`, { column_id: setup.columnId, title: 'x' })
  const createLabel = () => setup.board.send('POST', `/boards/${setup.board.id}/labels`, { name: 'x', color: '#000000' })
  const expectFull = ({ status, body }: Reply, limit = 5000, message = 'A board has at most 5000 active cards.') =>
    expect({ status, error: body.error }).toMatchObject({ status: 409, error: { code: 'conflict', limit, message } })

  test.each(storedLimits)('at most %i: %s The next one is answered with 409', async (limit, message, kind, create) => {
    const { id } = (await create()).body.data
    // The setup has one column and one card. Archived ones do not count.
    const isActive = message.includes('active')
    await fill(kind, id, limit - 2 - Number(isActive))
    if (isActive) await fill(kind, id, 10, { archived_at: AT })
    expect((await create()).status).toBe(201)
    expectFull(await create(), limit, message)
  })

  test('restoring a column beyond a limit is answered with 409, and with 200 as soon as there is room', async () => {
    const { board } = setup
    const column = await board.column()
    await board.post(`/columns/${column}/archive`)
    const [other] = await fill('column', setup.columnId, 199)
    expectFull(await board.send('POST', `/columns/${column}/restore`), 200, 'A board has at most 200 active columns.')
    // What is active already stays so.
    expect((await board.send('POST', `/columns/${other}/restore`)).status).toBe(200)
    await board.post(`/columns/${other}/archive`)
    expect((await board.send('POST', `/columns/${column}/restore`)).status).toBe(200)
  })

  test('the cards of an archived column do not count, until they are moved out of it or it is restored', async () => {
    const { board } = setup
    const hidden = await board.column()
    const inside = [await board.card(hidden), await board.card(hidden), await board.card(hidden)]
    await board.post(`/cards/${inside[2]}/archive`)
    await board.post(`/columns/${hidden}/archive`)
    await fill('card', setup.cardId, 4997)
    const move = (id: string) => board.send('POST', `/cards/${id}/move`, { column_id: setup.columnId })
    // 4998 of 5000 are active, and two are hidden.
    expect((await createCard()).status).toBe(201)
    expectFull(await board.send('POST', `/columns/${hidden}/restore`))
    // An archived card stays hidden when its column does, and when it is moved.
    expect((await board.send('POST', `/cards/${inside[2]}/restore`)).status).toBe(200)
    await board.post(`/cards/${inside[2]}/archive`)
    expect((await move(inside[2]!)).status).toBe(200)
    expect((await move(inside[0]!)).status).toBe(200)
    expectFull(await createCard())
    expectFull(await move(inside[1]!))
    expectFull(await board.send('POST', `/cards/${inside[2]}/restore`))
    await board.post(`/cards/${setup.cardId}/archive`)
    expect((await board.send('POST', `/columns/${hidden}/restore`)).status).toBe(200)
    expectFull(await createCard())
  })

  test('A board has at most 500 explicit members. The next one is answered with 409', async () => {
    const { bob, board } = setup
    await setup.service.write(setup.workspaceId, async (tx) => {
      const ids = Array.from({ length: 500 }, (_, i) => idOf('usr', i))
      await tx.read(ids.map((id) => keys.boardMember(board.id, id)))
      for (const user_id of ids)
        tx.put(keys.boardMember(board.id, user_id), { board_id: board.id, user_id, board_created_at: AT, added_at: AT })
    })
    expectFull(await board.send('PUT', `/boards/${board.id}/members/${bob.id}`), 500, 'A board has at most 500 explicit members.')
  })

  test.each([
    ['A card has at most 20 assignees.', 'assignees', 'assignee_ids', 20, 'usr', async () => [setup.bob.id, setup.ann.id]],
    ['A card has at most 30 labels.', 'labels', 'label_ids', 30, 'lbl', async () => [await setup.board.label(), await setup.board.label()]],
  ] as const)(
    '%s The next one is answered with 409, but repeating one of them is not',
    async (message, path, member, limit, kind, create) => {
      const { board, cardId } = setup
      const [present, next] = await create()
      await setup.service.write(setup.workspaceId, async (tx) => {
        const card = (await tx.get(keys.card(cardId)))!
        const ids = Array.from({ length: limit }, (_, i) => (i === 0 ? present! : idOf(kind, i)))
        tx.put(keys.card(cardId), { ...card, [member]: ids })
      })
      expect((await board.send('PUT', `/cards/${cardId}/${path}/${present}`)).status).toBe(200)
      expectFull(await board.send('PUT', `/cards/${cardId}/${path}/${next}`), limit, message)
    },
  )

  test('of several concurrent requests for the last place below a limit exactly one succeeds', async () => {
    await fill('label', await setup.board.label(), 198)
    const replies = await Promise.all(Array.from({ length: 8 }, createLabel))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409, 409, 409])
    const [count] = await setup.service.write(setup.workspaceId, (tx) => tx.counts([indexes.labels(setup.board.id)]))
    expect(count).toBe(200)
  })

  test('a person without access to a board is answered with 404, not with its limit', async () => {
    const { service, bob, board } = setup
    await fill('label', await board.label(), 199)
    await board.makePrivate()
    const reply = await service.send(bob.write, 'POST', `/boards/${board.id}/labels`, { name: 'x', color: '#000000' })
    expect(reply.status).toBe(404)
  })

  test.each<[what: string, limit: number, method: string, path: string, member: string, more?: object]>([
    ['a board name', 200, 'POST', '/boards', 'name'],
    ['a board description', 10_000, 'PATCH', '/boards/{board}', 'description'],
    ['a column name', 200, 'PATCH', '/columns/{column}', 'name'],
    ['a card title', 500, 'PATCH', '/cards/{card}', 'title'],
    ['a card description', 50_000, 'PATCH', '/cards/{card}', 'description'],
    ['a label name', 100, 'POST', '/boards/{board}/labels', 'name', { color: '#000000' }],
    ['a subtask title', 500, 'POST', '/cards/{card}/subtasks', 'title'],
    ['a comment', 20_000, 'POST', '/cards/{card}/comments', 'body'],
  ])('%s has at most %i characters, whatever their size in UTF-16', async (_what, limit, method, path, member, more) => {
    const ids = { board: setup.board.id, column: setup.columnId, card: setup.cardId }
    const target = path.replace(/\{(\w+)\}/, (_all, name: keyof typeof ids) => ids[name])
    const write = (text: string) => setup.board.send(method, target, { [member]: text, ...more })
    const longest = '\u{1f98a}'.repeat(limit)
    expect((await write(longest)).body.data[member]).toBe(longest)
    const reply = await write(`${longest}x`)
    expect({ status: reply.status, message: reply.body.error.issues[0].message }).toEqual({
      status: 422,
      message: expect.stringContaining(String(limit)),
    })
  })
})

test('a card of the maximum size fits into a body, even if each of its letters is escaped', () => {
  // `\uXXXX` has six bytes. Only tens of thousands of emoji, which are two of them each, would be too many.
  expect(limits.cardDescription * 6 + limits.cardTitle * 6 + 1000).toBeLessThan(limits.jsonBytes)
})

/** The limits that the page states in other units. */
const SIZES: Readonly<Record<string, string>> = {
  jsonBytes: '512 KiB',
  pageBytes: '1 MiB',
  uploadBytes: '25 MiB',
  attachedTextBytes: '64 KiB',
  keptBytes: '8 KiB',
  workspaceBytes: '10 GiB',
}

test('the page of limits states every limit', () => {
  const page = readFileSync(new URL('../../src/http/limits.md', import.meta.url), 'utf8').replaceAll(',', '')
  for (const [name, value] of Object.entries(limits)) {
    const stated = typeof value === 'object' ? value.max : (SIZES[name] ?? value)
    expect([name, new RegExp(`\\| ${stated} (\\||$)`, 'm').test(page)]).toEqual([name, true])
  }
})
