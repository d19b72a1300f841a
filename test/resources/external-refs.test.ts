import { describe, expect, test } from 'vitest'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { conflict, invalid } from './refusals.ts'

describe.each(drivers)('external references of cards, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const otherBoard = async () => {
    const board = await TestBoard.create(setup.service, setup.ann)
    return { board, columnId: await board.column() }
  }
  const create = (external_ref: string | null, boardOf = setup.board, column_id = setup.columnId) =>
    boardOf.send('POST', `/boards/${boardOf.id}/cards`, { column_id, title: 'New', external_ref })
  const taken = (card_id: string) => ({
    ...conflict('Another card of the board has this external_ref.'),
    body: { error: { code: 'conflict', card_id } },
  })

  test('no two cards of a board have the same one; deletion and null free it', async () => {
    const { board, cardId } = setup
    const first = (await create('JIRA-1')).body.data
    expect(first.external_ref).toBe('JIRA-1')
    const same = () => board.send('PATCH', `/cards/${cardId}`, { external_ref: 'JIRA-1' })
    expect(await create('JIRA-1')).toMatchObject(taken(first.id))
    expect(await create(' JIRA-1 ')).toMatchObject(taken(first.id))
    expect(await same()).toMatchObject(taken(first.id))
    // Case matters, and so does every other letter.
    for (const other of ['jira-1', 'JIRA-11', 'JIRA-', 'ÄÖ ☃ : / * \\ {x}', 'x'.repeat(200)]) expect((await create(other)).status).toBe(201)
    // A card keeps its own.
    expect((await board.patch(`/cards/${first.id}`, { external_ref: 'JIRA-1', title: 'Renamed' })).body.data.title).toBe('Renamed')
    await board.post(`/cards/${first.id}/archive`)
    expect(await same()).toMatchObject(taken(first.id))
    await board.patch(`/cards/${first.id}`, { external_ref: null })
    expect((await same()).status).toBe(200)
    expect(await create('JIRA-1')).toMatchObject(taken(cardId))
    await board.delete(`/cards/${cardId}`)
    expect((await create('JIRA-1')).status).toBe(201)
  })

  test('a batch sees its own, and two boards have one each', async () => {
    const { board, columnId } = setup
    const one = (external_ref: string) => ({ operation: 'cards.create', body: { column_id: columnId, title: 'New', external_ref } })
    const batch = (...operations: object[]) => board.send('POST', `/boards/${board.id}/batch`, { operations })
    expect(await batch(one('A'), one('A'))).toMatchObject({ status: 409, body: { error: { code: 'conflict', index: 1 } } })
    const done = await batch(one('A'), { operation: 'cards.update', params: { card_id: '$0' }, body: { external_ref: 'B' } }, one('A'))
    expect([done.status, await board.titles('?external_ref=A'), await board.titles('?external_ref=B')]).toEqual([200, ['New'], ['New']])
    const other = await otherBoard()
    expect((await create('A', other.board, other.columnId)).status).toBe(201)
  })

  test('a malformed one is refused', async () => {
    for (const ref of ['', ' ', 'x'.repeat(201), 'a\nb', '\ud800', 7 as never])
      expect(await create(ref)).toMatchObject(invalid('external_ref'))
    for (const query of ['', `external_ref=${'x'.repeat(201)}`, 'external_ref=%0A'])
      expect((await setup.board.get(`/boards/${setup.board.id}/cards?external_ref=&${query}`)).status).toBe(422)
  })

  test('it is a filter of both lists of cards, beside all others', async () => {
    const { board, bob, service, columnId, ann } = setup
    const other = await otherBoard()
    const [a, b] = [(await create('S-1')).body.data.id, (await create('S-1', other.board, other.columnId)).body.data.id]
    const archived = (await create('S-9')).body.data.id
    await board.post(`/cards/${archived}/archive`)
    await board.put(`/cards/${a}/assignees/${ann.id}`)
    const found = async (path: string, token = ann.read) => (await board.all(path, 1, token)).map(({ id }) => id).toSorted()
    const here = `/boards/${board.id}/cards?external_ref=`
    const expected: [path: string, ids: string[]][] = [
      [`${here}S-1`, [a]],
      [`${here}s-1`, []],
      [`${here}S-9`, []],
      [`${here}S-9&archived=true`, [archived]],
      [`${here}S-1&archived=true`, []],
      [`${here}S-1&column_id=${columnId}`, [a]],
      [`${here}S-1&column_id=${await board.column()}`, []],
      [`${here}S-1&completed=true`, []],
      [`${here}S-1&ready=true`, [a]],
      [`${here}S-1&ready=false`, []],
      [`${here}S-1&work_state=ready,done`, [a]],
      [`${here}S-1&work_state=blocked`, []],
      [`${here}S-1&assignee_id=me`, [a]],
      [`${here}S-1&q=new`, [a]],
      ...['updated_at', 'created_at', 'due_at', 'position'].flatMap((sort): [string, string[]][] => [
        [`/cards?external_ref=S-1&sort=${sort}`, [a, b].toSorted()],
        [`/cards?external_ref=S-1&sort=${sort}&board_id=${other.board.id}`, [b]],
        [`/cards?external_ref=S-1&sort=${sort}&assignee_id=me`, [a]],
        [`/cards?external_ref=S-9&sort=${sort}`, []],
        [`/cards?external_ref=S-9&sort=${sort}&archived=true`, [archived]],
        [`/cards?external_ref=nobody&sort=${sort}`, []],
      ]),
    ]
    for (const [path, ids] of expected) expect([path, await found(path)]).toEqual([path, ids])
    await other.board.makePrivate()
    for (const sort of ['updated_at', 'position']) expect(await found(`/cards?external_ref=S-1&sort=${sort}`, bob.read)).toEqual([a])
    expect((await service.send(ann.read, 'GET', `${here}S-1&cursor=x`)).status).toBe(422)
  })

  test('of requests at the same time that give one to different cards, one succeeds', async () => {
    const { board, columnId, cardId } = setup
    const replies = await Promise.all([
      ...Array.from({ length: 6 }, () => create('RACE')),
      board.send('PATCH', `/cards/${cardId}`, { external_ref: 'RACE' }),
      board.send('POST', `/boards/${board.id}/batch`, {
        operations: [{ operation: 'cards.create', body: { column_id: columnId, title: 'New', external_ref: 'RACE' } }],
      }),
    ])
    const [winner, ...more] = await board.all(`/boards/${board.id}/cards?external_ref=RACE`)
    expect(more).toEqual([])
    expect(replies.filter(({ status }) => status < 300)).toHaveLength(1)
    for (const reply of replies.filter(({ status }) => status >= 300)) expect(reply).toMatchObject(taken(winner.id))
    expect((await board.all(`/boards/${board.id}/cards`)).filter(({ external_ref }) => external_ref === 'RACE')).toHaveLength(1)
  })
})
