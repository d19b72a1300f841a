import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { setUpBoard, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { png } from '../support/pictures.ts'

/** Writes that leave a resource as it is, by the path of the resource. */
const unchanged = parse(readFileSync(new URL('../../fixtures/unchanged-writes.yaml', import.meta.url), 'utf8')) as Readonly<
  Record<string, readonly { request: string; body?: object }[]>
>

describe.each(drivers)('writes without effect, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('leave the resource, its ETag and its updated_at as they were', async () => {
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
    const { id: image, file_id: file } = (await board.attach(ids['full card']!, { name: 'a.png', type: 'image/png', text: png(1, 1) })).body
      .data
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
    for (const [resource, writes] of Object.entries(unchanged))
      for (const { request, body } of writes) {
        const before = await board.get(fill(resource))
        board.tick()
        const etag = before.headers.get('etag')!
        const [method, path] = fill(request).split(' ') as [string, string]
        const sent = body && JSON.parse(JSON.stringify(body, fillAll))
        const reply = await board.send(method, path, sent, { 'if-match': etag })
        expect({ request, sent: body, status: reply.status, body: reply.body, etag: reply.headers.get('etag') }).toEqual({
          request,
          sent: body,
          status: 200,
          body: before.body,
          etag,
        })
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
