import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { card } from '../support/records.ts'
import type { Reply } from '../support/service.ts'

const AT = '2026-11-01T00:00:00.000Z'
const times = { created_at: AT, updated_at: AT }
const digits = (i: number) => String(i).padStart(20, '0')
const idOf = (kind: string, i: number) => `${kind}_${digits(i)}`

describe.each(drivers)('limits, on $name', (driver) => {
  const setup = setUpBoard(driver)

  /** Writes records to the store directly, so that a limit is reached quickly. */
  const fill = (count: number, recordOf: (i: number) => [key: string, value: object]) =>
    setup.service.write(setup.workspaceId, async (tx) => {
      const records = Array.from({ length: count }, (_, i) => recordOf(i))
      await tx.read(records.map(([key]) => key))
      for (const [key, value] of records) tx.put(key, value)
    })

  /** A limit on stored resources. The message of its 409 names the limit. */
  interface StoredLimit {
    readonly limit: number
    readonly message: string
    /** the number of such resources that the setup creates */
    readonly existing: number
    readonly recordOf: (i: number) => [key: string, value: object]
    readonly create: () => Promise<Reply>
  }

  const labels: StoredLimit = {
    limit: 200,
    message: 'A board has at most 200 labels.',
    existing: 0,
    recordOf: (i) => [keys.label(idOf('lbl', i)), { id: idOf('lbl', i), board_id: setup.board.id, name: 'x', color: '#000000', ...times }],
    create: () => setup.board.send('POST', `/boards/${setup.board.id}/labels`, { name: 'x', color: '#000000' }),
  }
  const storedLimits: StoredLimit[] = [
    {
      limit: 200,
      message: 'A board has at most 200 active columns.',
      existing: 1,
      recordOf: (i) => [
        keys.column(idOf('col', i)),
        {
          id: idOf('col', i),
          board_id: setup.board.id,
          name: 'x',
          position: `b${digits(i)}1`,
          // Those beyond the limit do not count.
          wip_limit: null,
          archived_at: i >= 200 ? AT : null,
          ...times,
        },
      ],
      create: () => setup.board.send('POST', `/boards/${setup.board.id}/columns`, { name: 'x' }),
    },
    {
      limit: 5000,
      message: 'A board has at most 5000 active cards.',
      existing: 1,
      recordOf: (i) => [
        keys.card(idOf('crd', i)),
        card({
          id: idOf('crd', i),
          board_id: setup.board.id,
          column_id: setup.columnId,
          title: 'x',
          position: `a1${digits(i)}1`,
          archived_at: i >= 5000 ? AT : null,
          creator_id: setup.ann.id,
          ...times,
        }),
      ],
      create: () => setup.board.send('POST', `/boards/${setup.board.id}/cards`, { column_id: setup.columnId, title: 'x' }),
    },
    labels,
    {
      limit: 200,
      message: 'A card has at most 200 subtasks.',
      existing: 0,
      recordOf: (i) => [
        keys.subtask(idOf('sub', i)),
        {
          id: idOf('sub', i),
          card_id: setup.cardId,
          title: 'x',
          completed_at: null,
          position: `a1${digits(i)}1`,
          ...times,
        },
      ],
      create: () => setup.board.send('POST', `/cards/${setup.cardId}/subtasks`, { title: 'x' }),
    },
    {
      limit: 5000,
      message: 'A card has at most 5000 comments.',
      existing: 0,
      recordOf: (i) => [
        keys.comment(idOf('cmt', i)),
        { id: idOf('cmt', i), card_id: setup.cardId, author_id: setup.ann.id, body: 'x', ...times },
      ],
      create: () => setup.board.send('POST', `/cards/${setup.cardId}/comments`, { body: 'x' }),
    },
    {
      limit: 100,
      message: 'A card has at most 100 attachments.',
      existing: 0,
      recordOf: (i) => [
        keys.attachment(idOf('att', i)),
        {
          id: idOf('att', i),
          card_id: setup.cardId,
          file_id: idOf('fil', i),
          name: 'x',
          content_type: 'x/x',
          size: 0,
          attached_by_id: setup.ann.id,
          ...times,
        },
      ],
      create: () => setup.board.attach(setup.cardId),
    },
  ]

  test.each(storedLimits)('$message The next one is answered with 409', async ({ limit, message, existing, recordOf, create }) => {
    await fill(limit - existing - 1, recordOf)
    // Archived ones, where there are any.
    if (/active/.test(message)) await fill(10, (i) => recordOf(limit + i))
    expect((await create()).status).toBe(201)
    const reply = await create()
    expect([reply.status, reply.body.error]).toMatchObject([409, { code: 'conflict', limit, message }])
  })

  test('restoring a column or a card beyond a limit is answered with 409, and with 200 as soon as there is room', async () => {
    const { board } = setup
    const [columns, cards] = storedLimits
    const [column, card] = [await board.column(), await board.card(setup.columnId)]
    await board.post(`/cards/${card}/archive`)
    await board.post(`/columns/${column}/archive`)
    await fill(199, columns!.recordOf)
    const full = await board.send('POST', `/columns/${column}/restore`)
    expect([full.status, full.body.error]).toMatchObject([409, { code: 'conflict', limit: 200, message: columns!.message }])
    await board.post(`/columns/${idOf('col', 0)}/archive`)
    expect((await board.send('POST', `/columns/${column}/restore`)).status).toBe(200)
    await fill(4999, cards!.recordOf)
    const fullOfCards = await board.send('POST', `/cards/${card}/restore`)
    expect([fullOfCards.status, fullOfCards.body.error]).toMatchObject([409, { code: 'conflict', limit: 5000, message: cards!.message }])
    // What is active already stays so.
    expect((await board.send('POST', `/cards/${setup.cardId}/restore`)).status).toBe(200)
    await board.post(`/cards/${setup.cardId}/archive`)
    expect((await board.send('POST', `/cards/${card}/restore`)).status).toBe(200)
  })

  test('the cards of an archived column do not count, until they are moved out of it or it is restored', async () => {
    const { board } = setup
    const cards = storedLimits[1]!
    const hidden = await board.column()
    const inside = [await board.card(hidden), await board.card(hidden), await board.card(hidden)]
    await board.post(`/cards/${inside[2]}/archive`)
    await board.post(`/columns/${hidden}/archive`)
    await fill(4997, cards.recordOf)
    const refused = (reply: Reply) =>
      expect([reply.status, reply.body.error]).toMatchObject([409, { code: 'conflict', limit: 5000, message: cards.message }])
    const move = (id: string) => board.send('POST', `/cards/${id}/move`, { column_id: setup.columnId })
    const create = () => cards.create()
    // 4998 of 5000 are active, and two are hidden.
    expect((await create()).status).toBe(201)
    refused(await board.send('POST', `/columns/${hidden}/restore`))
    // An archived card stays hidden when its column does, and when it is moved.
    expect((await board.send('POST', `/cards/${inside[2]}/restore`)).status).toBe(200)
    await board.post(`/cards/${inside[2]}/archive`)
    expect((await move(inside[2]!)).status).toBe(200)
    expect((await move(inside[0]!)).status).toBe(200)
    refused(await create())
    refused(await move(inside[1]!))
    refused(await board.send('POST', `/cards/${inside[2]}/restore`))
    await board.post(`/cards/${setup.cardId}/archive`)
    expect((await board.send('POST', `/columns/${hidden}/restore`)).status).toBe(200)
    refused(await create())
  })

  test('of concurrent requests that make hidden and new cards active exactly as many succeed as there is room', async () => {
    const { board } = setup
    const cards = storedLimits[1]!
    const hidden = await board.column()
    const inside = await Promise.all(Array.from({ length: 4 }, () => board.card(hidden)))
    await board.post(`/columns/${hidden}/archive`)
    await fill(4997, cards.recordOf)
    const replies = await Promise.all([
      ...inside.map((id) => board.send('POST', `/cards/${id}/move`, { column_id: setup.columnId })),
      ...Array.from({ length: 4 }, () => cards.create()),
    ])
    expect(replies.map(({ status }) => status).filter((status) => status < 300)).toHaveLength(2)
    expect(new Set(replies.map(({ status }) => status).filter((status) => status >= 300))).toEqual(new Set([409]))
  })

  test('A board has at most 500 explicit members. The next one is answered with 409', async () => {
    const { bob, board } = setup
    const member = { board_id: board.id, board_created_at: AT, added_at: AT }
    await fill(500, (i) => [keys.boardMember(board.id, idOf('usr', i)), { ...member, user_id: idOf('usr', i) }])
    const reply = await board.send('PUT', `/boards/${board.id}/members/${bob.id}`)
    const error = { code: 'conflict', limit: 500, message: 'A board has at most 500 explicit members.' }
    expect([reply.status, reply.body.error]).toMatchObject([409, error])
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
      const reply = await board.send('PUT', `/cards/${cardId}/${path}/${next}`)
      expect([reply.status, reply.body.error]).toMatchObject([409, { code: 'conflict', limit, message }])
    },
  )

  test('of several concurrent requests for the last place below a limit exactly one succeeds', async () => {
    await fill(labels.limit - 1, labels.recordOf)
    const replies = await Promise.all(Array.from({ length: 8 }, labels.create))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409, 409, 409])
    const [count] = await setup.service.write(setup.workspaceId, (tx) => tx.counts([indexes.labels(setup.board.id)]))
    expect(count).toBe(200)
  })

  test('a person without access to a board is answered with 404, not with its limit', async () => {
    const { service, bob, board } = setup
    await fill(labels.limit, labels.recordOf)
    await board.makePrivate()
    const reply = await service.send(bob.write, 'POST', `/boards/${board.id}/labels`, { name: 'x', color: '#000000' })
    expect(reply.status).toBe(404)
  })

  test.each<[string, number, (text: string) => Promise<Reply>]>([
    ['a board name', 200, (name) => setup.board.send('POST', '/boards', { name })],
    ['a board description', 10_000, (description) => setup.board.send('PATCH', `/boards/${setup.board.id}`, { description })],
    ['a column name', 200, (name) => setup.board.send('PATCH', `/columns/${setup.columnId}`, { name })],
    ['a card title', 500, (title) => setup.board.send('PATCH', `/cards/${setup.cardId}`, { title })],
    ['a card description', 50_000, (description) => setup.board.send('PATCH', `/cards/${setup.cardId}`, { description })],
    ['a label name', 100, (name) => setup.board.send('POST', `/boards/${setup.board.id}/labels`, { name, color: '#000000' })],
    ['a subtask title', 500, (title) => setup.board.send('POST', `/cards/${setup.cardId}/subtasks`, { title })],
    ['a comment', 20_000, (body) => setup.board.send('POST', `/cards/${setup.cardId}/comments`, { body })],
  ])('%s has at most %i UTF-16 code units', async (_text, limit, write) => {
    const longest = '\u{1f98a}'.repeat(limit / 2)
    expect(Object.values((await write(longest)).body.data)).toContain(longest)
    const reply = await write('x'.repeat(limit + 1))
    expect([reply.status, reply.body.error.issues[0].message]).toEqual([422, expect.stringContaining(String(limit))])
  })
})

test('a card of the maximum size fits into a body, even if each of its characters is escaped', () => {
  // `\uXXXX` has six bytes.
  expect(limits.cardDescription * 6 + limits.cardTitle * 6 + 1000).toBeLessThan(limits.jsonBytes)
})

test('the page of limits states every limit', () => {
  const page = readFileSync(new URL('../../src/http/limits.md', import.meta.url), 'utf8').replaceAll(',', '')
  for (const [name, value] of Object.entries(limits)) {
    const stated =
      typeof value === 'object'
        ? value.max
        : name === 'jsonBytes'
          ? '512 KiB'
          : name === 'pageBytes'
            ? '1 MiB'
            : name === 'uploadBytes'
              ? '25 MiB'
              : name === 'attachedTextBytes'
                ? '64 KiB'
                : name === 'keptBytes'
                  ? '8 KiB'
                  : value
    expect([name, new RegExp(`\\| ${stated} (\\||$)`, 'm').test(page)]).toEqual([name, true])
  }
})
