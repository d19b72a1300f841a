import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service, type Person } from '../support/service.ts'

const AT = '2026-11-01T00:00:00.000Z'
const times = { created_at: AT, updated_at: AT }
const number = (i: number) => String(i).padStart(20, '0')

describe.each(drivers)('limits, on $name', (driver) => {
  let service: Service
  let [ann, bob]: Person[] = []
  let board: TestBoard
  let [column, card]: string[] = []
  beforeAll(async () => {
    service = await Service.start(driver)
    const workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    board = await TestBoard.create(service, ann!)
    column = await board.column()
    card = await board.card(column)
  })

  /** Fills up to one below the limit behind the API's back: the last one is then asked for. */
  const fill = (count: number, put: (i: number) => [key: string, value: object]) =>
    service.write(ann!.workspaceId, async (tx) => {
      const records = Array.from({ length: count }, (_, i) => put(i))
      await tx.read(records.map(([key]) => key))
      for (const [key, value] of records) tx.put(key, value)
    })

  const stored: [what: string, limit: number, before: (limit: number) => Promise<unknown>, ask: () => Promise<any>][] = [
    [
      'columns of a board',
      limits.columnsPerBoard,
      (limit) =>
        fill(limit - 2, (i) => [
          keys.column(`col_${number(i)}`),
          { id: `col_${number(i)}`, board_id: board.id, name: 'x', position: `b${number(i)}`, archived_at: null, ...times },
        ]),
      () => board.send('POST', `/boards/${board.id}/columns`, { name: 'x' }),
    ],
    [
      'cards of a board',
      limits.cardsPerBoard,
      (limit) =>
        fill(limit - 2, (i) => [
          keys.card(`crd_${number(i)}`),
          {
            id: `crd_${number(i)}`,
            board_id: board.id,
            column_id: column,
            title: 'x',
            description: '',
            position: `a1${number(i)}1`,
            due_at: null,
            completed_at: null,
            archived_at: i % 2 ? AT : null,
            assignee_ids: [],
            label_ids: [],
            cover_attachment_id: null,
            creator_id: ann!.id,
            ...times,
          },
        ]),
      () => board.send('POST', `/boards/${board.id}/cards`, { column_id: column, title: 'x' }),
    ],
    [
      'labels of a board',
      limits.labelsPerBoard,
      (limit) =>
        fill(limit - 1, (i) => [
          keys.label(`lbl_${number(i)}`),
          { id: `lbl_${number(i)}`, board_id: board.id, name: 'x', color: '#000000', ...times },
        ]),
      () => board.send('POST', `/boards/${board.id}/labels`, { name: 'x', color: '#000000' }),
    ],
    [
      'subtasks of a card',
      limits.subtasksPerCard,
      (limit) =>
        fill(limit - 1, (i) => [
          keys.subtask(`sub_${number(i)}`),
          { id: `sub_${number(i)}`, card_id: card, title: 'x', completed_at: null, position: `a1${number(i)}1`, ...times },
        ]),
      () => board.send('POST', `/cards/${card}/subtasks`, { title: 'x' }),
    ],
    [
      'comments of a card',
      limits.commentsPerCard,
      (limit) =>
        fill(limit - 1, (i) => [
          keys.comment(`cmt_${number(i)}`),
          { id: `cmt_${number(i)}`, card_id: card, author_id: ann!.id, body: 'x', ...times },
        ]),
      () => board.send('POST', `/cards/${card}/comments`, { body: 'x' }),
    ],
    [
      'attachments of a card',
      limits.attachmentsPerCard,
      (limit) =>
        fill(limit - 1, (i) => [
          keys.attachment(`att_${number(i)}`),
          {
            id: `att_${number(i)}`,
            card_id: card,
            file_id: `fil_${number(i)}`,
            name: 'x',
            content_type: 'x/x',
            size: 0,
            attached_by_id: ann!.id,
            ...times,
          },
        ]),
      () => board.attach(card!),
    ],
  ]

  test.each(stored)('%s: %i, and the next is told which limit it was', async (_what, limit, before, ask) => {
    await before(limit)
    expect((await ask()).status).toBe(201)
    const reply = await ask()
    expect([reply.status, reply.body.error.code, reply.body.error.limit]).toEqual([409, 'conflict', limit])
    expect(reply.body.error.message.replaceAll(',', '')).toContain(String(limit))
  })

  test('members of a board', async () => {
    await fill(limits.membersPerBoard, (i) => [
      keys.boardMember(board.id, `usr_${number(i)}`),
      { board_id: board.id, user_id: `usr_${number(i)}`, board_created_at: AT, added_at: AT },
    ])
    expect((await board.send('PUT', `/boards/${board.id}/members/${bob!.id}`)).body.error).toMatchObject({
      code: 'conflict',
      limit: limits.membersPerBoard,
    })
  })

  test.each([
    ['assignees', 'assignee_ids', limits.assigneesPerCard, () => bob!.id, 'usr'],
    ['labels', 'label_ids', limits.labelsPerCard, () => board.label(), 'lbl'],
  ] as const)('%s of a card', async (what, member, limit, make, prefix) => {
    const id = await make()
    const other = await make()
    await service.write(ann!.workspaceId, async (tx) => {
      const present = (await tx.get(keys.card(card!)))!
      tx.put(keys.card(card!), {
        ...present,
        [member]: Array.from({ length: limit }, (_, i) => (i === 0 ? other : `${prefix}_${number(i)}`)),
      })
    })
    const ask = (which: string) => board.send('PUT', `/cards/${card}/${what}/${which}`)
    // What is there already is no more.
    expect((await ask(other)).status).toBe(200)
    if (id !== other) expect((await ask(id)).body.error).toMatchObject({ code: 'conflict', limit })
    else expect((await ask(ann!.id)).body.error).toMatchObject({ code: 'conflict', limit })
  })

  test('of many who come at once for the last place exactly one gets it', async () => {
    await stored[2]![2](limits.labelsPerBoard)
    const replies = await Promise.all(Array.from({ length: 8 }, () => stored[2]![3]()))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409, 409, 409])
    expect((await service.write(ann!.workspaceId, (tx) => tx.counts([indexes.labels(board.id)])))[0]).toBe(limits.labelsPerBoard)
  })

  test('whoever may not see it is told nothing of it', async () => {
    await stored[2]![2](limits.labelsPerBoard + 1)
    await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
    expect((await service.send(bob!.write, 'POST', `/boards/${board.id}/labels`, { name: 'x', color: '#000000' })).status).toBe(404)
  })

  const lengths: [what: string, limit: number, ask: (text: string) => Promise<any>][] = [
    ['a board name', limits.boardName, (name) => board.send('POST', '/boards', { name })],
    ['a board description', limits.boardDescription, (description) => board.send('PATCH', `/boards/${board.id}`, { description })],
    ['a column name', limits.columnName, (name) => board.send('PATCH', `/columns/${column}`, { name })],
    ['a card title', limits.cardTitle, (title) => board.send('PATCH', `/cards/${card}`, { title })],
    ['a card description', limits.cardDescription, (description) => board.send('PATCH', `/cards/${card}`, { description })],
    ['a label name', limits.labelName, (name) => board.send('POST', `/boards/${board.id}/labels`, { name, color: '#000000' })],
    ['a subtask title', limits.subtaskTitle, (title) => board.send('POST', `/cards/${card}/subtasks`, { title })],
    ['a comment', limits.commentBody, (body) => board.send('POST', `/cards/${card}/comments`, { body })],
  ]
  test.each(lengths)('%s: %i characters, in the worst way of writing them', async (_what, limit, ask) => {
    expect((await ask('\u{1f98a}'.repeat(limit / 2))).status).toBeLessThan(300)
    const reply = await ask('x'.repeat(limit + 1))
    expect([reply.status, reply.body.error.issues[0].message]).toEqual([422, expect.stringContaining(String(limit))])
  })

  test('even where every character is escaped, what fits the limits fits the body', () => {
    expect(limits.cardDescription * 6 + limits.cardTitle * 6 + 1000).toBeLessThan(limits.jsonBytes)
  })
})

test('the README names every limit', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8').replaceAll(',', '')
  for (const [name, value] of Object.entries(limits)) {
    const shown = typeof value === 'object' ? value.max : name === 'jsonBytes' ? '512 KiB' : name === 'uploadBytes' ? '25 MiB' : value
    expect([name, new RegExp(`\\| ${shown} (\\||$)`, 'm').test(readme)]).toEqual([name, true])
  }
})
