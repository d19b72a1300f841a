import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'

describe.each(drivers)('subtasks, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const list = (limit = 100) => setup.board.all(`/cards/${setup.cardId}/subtasks`, limit)
  const titles = async () => (await list()).map(({ title }) => title)

  test('a subtask can be created as completed', async () => {
    const { board, cardId } = setup
    const created = await board.post(`/cards/${cardId}/subtasks`, { title: 'Done', completed: true })
    expect(created.body.data.completed_at).toBe(board.now)
  })

  test('subtasks are listed in their order, which creates and updates can set', async () => {
    const { board, cardId } = setup
    const b = await board.subtask(cardId, 'b')
    await board.subtask(cardId, 'd')
    const a = await board.subtask(cardId, 'a', { before: b })
    await board.subtask(cardId, 'c', { after: b })
    expect(await titles()).toEqual(['a', 'b', 'c', 'd'])
    await board.patch(`/subtasks/${a}`, { after: b, completed: true })
    expect((await list(1)).map(({ title, completed_at }) => [title, completed_at !== null])).toEqual([
      ['b', false],
      ['a', true],
      ['c', false],
      ['d', false],
    ])
    await board.patch(`/subtasks/${a}`, { before: b })
    expect(await titles()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('a completed subtask keeps the time of its first completion, until it is not completed any more', async () => {
    const { board, cardId } = setup
    const path = `/subtasks/${await board.subtask(cardId)}`
    const completed_at = board.tick()
    const changes = [{ completed: true }, { completed: true }, { title: 'New' }, { completed: false }]
    const times: unknown[] = []
    for (const change of changes) {
      times.push((await board.patch(path, change)).body.data.completed_at)
      board.tick()
    }
    expect(times).toEqual([completed_at, completed_at, completed_at, null])
  })
})
