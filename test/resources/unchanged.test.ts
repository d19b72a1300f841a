import { describe, expect, test } from 'vitest'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'

/** Writes that leave a resource as it is, with the path of the resource. Ids stand in braces. */
const unchanged: readonly (readonly [method: string, path: string, body: object | undefined, resource: string])[] = [
  ['PATCH', '/boards/{board}', { name: 'Board', description: '' }, '/boards/{board}'],
  ['PUT', '/boards/{board}/visibility', { visibility: 'workspace' }, '/boards/{board}'],
  ['PATCH', '/columns/{column}', { name: 'Column' }, '/columns/{column}'],
  ['POST', '/columns/{column}/move', { to: 'first' }, '/columns/{column}'],
  ['POST', '/columns/{column}/move', { before: '{last column}' }, '/columns/{column}'],
  ['POST', '/columns/{last column}/move', { to: 'last' }, '/columns/{last column}'],
  ['POST', '/columns/{column}/restore', undefined, '/columns/{column}'],
  ['PATCH', '/cards/{card}', { title: 'card', due_at: null }, '/cards/{card}'],
  ['POST', '/cards/{card}/move', { column_id: '{column}' }, '/cards/{card}'],
  ['POST', '/cards/{card}/move', { column_id: '{column}', to: 'first' }, '/cards/{card}'],
  ['POST', '/cards/{card}/move', { before: '{last card}' }, '/cards/{card}'],
  ['POST', '/cards/{last card}/move', { after: '{card}' }, '/cards/{last card}'],
  ['POST', '/cards/{last card}/move', { to: 'last' }, '/cards/{last card}'],
  ['PUT', '/cards/{card}/completion', { completed: false }, '/cards/{card}'],
  ['POST', '/cards/{card}/restore', undefined, '/cards/{card}'],
  ['DELETE', '/cards/{card}/cover', undefined, '/cards/{card}'],
  ['PATCH', '/labels/{label}', { name: 'Label', color: '#123456' }, '/labels/{label}'],
  ['PATCH', '/subtasks/{subtask}', { title: 'subtask', completed: false }, '/subtasks/{subtask}'],
  ['PATCH', '/subtasks/{subtask}', { before: '{last subtask}' }, '/subtasks/{subtask}'],
  ['PATCH', '/subtasks/{last subtask}', { to: 'last' }, '/subtasks/{last subtask}'],
  ['PATCH', '/comments/{comment}', { body: 'A comment' }, '/comments/{comment}'],
  ['POST', '/columns/{archived column}/archive', undefined, '/columns/{archived column}'],
  ['POST', '/cards/{archived card}/archive', undefined, '/cards/{archived card}'],
  ['PUT', '/cards/{full card}/completion', { completed: true }, '/cards/{full card}'],
  ['PUT', '/cards/{full card}/assignees/me', undefined, '/cards/{full card}'],
  ['PUT', '/cards/{full card}/labels/{label}', undefined, '/cards/{full card}'],
  ['PUT', '/cards/{full card}/blockers/{card}', undefined, '/cards/{full card}'],
  ['PUT', '/cards/{full card}/cover', { attachment_id: '{image}' }, '/cards/{full card}'],
  ['PATCH', '/files/{file}', { visibility: 'board' }, '/files/{file}'],
]

describe.each(drivers)('writes without effect, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('they leave the resource, its ETag and its updated_at as they were', async () => {
    const board = await TestBoard.create(setup.service, setup.ann)
    const [column, lastColumn] = [await board.column('Column'), await board.column('Last')]
    const [card, lastCard] = [await board.card(column, 'card'), await board.card(column, 'last')]
    await board.patch(`/boards/${board.id}`, { name: 'Board' })
    const create = async (path: string, body: object): Promise<string> => (await board.post(path, body)).body.data.id
    const ids: Record<string, string> = {
      board: board.id,
      column,
      'last column': lastColumn,
      card,
      'last card': lastCard,
      label: await create(`/boards/${board.id}/labels`, { name: 'Label', color: '#123456' }),
      subtask: await create(`/cards/${card}/subtasks`, { title: 'subtask' }),
      'last subtask': await create(`/cards/${card}/subtasks`, { title: 'last' }),
      comment: await create(`/cards/${card}/comments`, { body: 'A comment' }),
      'archived column': setup.columnId,
      'archived card': await board.card(lastColumn, 'archived'),
      'full card': await board.card(lastColumn, 'full'),
    }
    const { id: image, file_id: file } = (await board.attach(ids['full card']!, { name: 'a.png', type: 'image/png' })).body.data
    Object.assign(ids, { image, file })
    await board.post(`/columns/${ids['archived column']}/archive`)
    await board.post(`/cards/${ids['archived card']}/archive`)
    for (const [path, body] of [
      ['completion', { completed: true }],
      ['assignees/me', undefined],
      [`labels/${ids['label']}`, undefined],
      [`blockers/${card}`, undefined],
      ['cover', { attachment_id: image }],
    ] as const)
      await board.put(`/cards/${ids['full card']}/${path}`, body)
    const fill = (text: string) => text.replace(/\{([^}]+)\}/g, (_all, name: string) => ids[name]!)
    const fillAll = (_name: string, value: unknown) => (typeof value === 'string' ? fill(value) : value)
    for (const [method, path, body, resource] of unchanged) {
      const before = await board.get(fill(resource))
      board.tick()
      const etag = before.headers.get('etag')!
      const sent = body === undefined ? undefined : JSON.parse(JSON.stringify(body, fillAll))
      const reply = await board.send(method, fill(path), sent, { 'if-match': etag })
      expect([path, body, reply.status, reply.body, reply.headers.get('etag')]).toEqual([path, body, 200, before.body, etag])
    }
  })

  test('the updated_at of a resource never goes back', async () => {
    const { service, board, cardId } = setup
    const later = board.tick()
    expect((await board.patch(`/cards/${cardId}`, { title: 'New' })).body.data.updated_at).toBe(later)
    // Another process, whose clock is behind.
    service.now -= 60_000
    const { body } = await board.patch(`/cards/${cardId}`, { title: 'Newer' })
    expect(body.data).toMatchObject({ title: 'Newer', updated_at: later })
  })
})
